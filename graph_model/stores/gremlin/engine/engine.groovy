// The embedded engine: a Gremlin Server in a JVM of its own, started by server.py.
//
//   java ... engine <settings.yaml> <ready file> <process id of the owner> [<settings of the read port>]
//
// Compiled once by script.py, because compiling takes half of a start.
//
// Why not GremlinServer's own main class:
//   * the JVM must end with its owner, however the owner ends (kill -9 too);
//   * text requests are parsed by the Gremlin grammar, the one that Neptune speaks. Groovy would run
//     any program that reaches the port, also from every page that a browser on this machine shows;
//   * for the same reason a WebSocket opened by a page of another origin is refused, and so is plain
//     HTTP: a request in an address needs no Origin, and without an answer it would wait for ever;
//   * a second port, if configured, serves the same graph for reads alone, each within bounds;
//   * the owner learns from the ready file that this JVM, and no other program, holds the port;
//   * upserts by id are made cheap in a place that TinkerPop leaves to providers: a strategy of the
//     traversal source. The graph is Headwater's own (graph.groovy).

import groovy.transform.CompileStatic
import io.netty.buffer.ByteBuf
import io.netty.channel.ChannelFutureListener
import io.netty.channel.ChannelHandlerContext
import io.netty.channel.ChannelPipeline
import io.netty.channel.SimpleChannelInboundHandler
import io.netty.handler.codec.ByteToMessageDecoder
import java.lang.management.GarbageCollectorMXBean
import java.lang.management.ManagementFactory
import java.lang.management.MemoryPoolMXBean
import java.lang.management.MemoryUsage
import java.nio.charset.StandardCharsets
import java.nio.file.Files
import java.nio.file.Path
import java.util.concurrent.ExecutionException
import org.apache.tinkerpop.gremlin.jsr223.GremlinLangScriptEngine
import org.apache.tinkerpop.gremlin.jsr223.GremlinLangScriptEngineFactory
import org.apache.tinkerpop.gremlin.jsr223.GremlinScriptEngineFactory
import org.apache.tinkerpop.gremlin.jsr223.GremlinScriptEngineManager
import org.apache.tinkerpop.gremlin.process.computer.traversal.step.VertexComputing
import org.apache.tinkerpop.gremlin.process.computer.traversal.strategy.decoration.VertexProgramStrategy
import org.apache.tinkerpop.gremlin.process.traversal.Merge
import org.apache.tinkerpop.gremlin.process.traversal.Step
import org.apache.tinkerpop.gremlin.process.traversal.Traversal
import org.apache.tinkerpop.gremlin.process.traversal.TraversalStrategies
import org.apache.tinkerpop.gremlin.process.traversal.TraversalStrategy
import org.apache.tinkerpop.gremlin.process.traversal.Traverser
import org.apache.tinkerpop.gremlin.process.traversal.dsl.graph.GraphTraversalSource
import org.apache.tinkerpop.gremlin.process.traversal.step.Mutating
import org.apache.tinkerpop.gremlin.process.traversal.step.branch.RepeatStep
import org.apache.tinkerpop.gremlin.process.traversal.step.filter.FilterStep
import org.apache.tinkerpop.gremlin.process.traversal.step.map.FlatMapStep
import org.apache.tinkerpop.gremlin.process.traversal.step.map.FoldStep
import org.apache.tinkerpop.gremlin.process.traversal.step.map.GraphStep
import org.apache.tinkerpop.gremlin.process.traversal.step.map.MergeEdgeStep
import org.apache.tinkerpop.gremlin.process.traversal.step.map.MergeStep
import org.apache.tinkerpop.gremlin.process.traversal.step.map.MergeVertexStep
import org.apache.tinkerpop.gremlin.process.traversal.step.map.SelectOneStep
import org.apache.tinkerpop.gremlin.process.traversal.step.sideEffect.IoStep
import org.apache.tinkerpop.gremlin.process.traversal.strategy.AbstractTraversalStrategy
import org.apache.tinkerpop.gremlin.process.traversal.strategy.optimization.RepeatUnrollStrategy
import org.apache.tinkerpop.gremlin.process.traversal.strategy.verification.VerificationException
import org.apache.tinkerpop.gremlin.process.traversal.util.DefaultTraversalStrategies
import org.apache.tinkerpop.gremlin.process.traversal.util.TraversalHelper
import org.apache.tinkerpop.gremlin.server.GremlinServer
import org.apache.tinkerpop.gremlin.server.Settings
import org.apache.tinkerpop.gremlin.server.channel.WebSocketChannelizer
import org.apache.tinkerpop.gremlin.structure.Direction
import org.apache.tinkerpop.gremlin.structure.Edge
import org.apache.tinkerpop.gremlin.structure.Graph
import org.apache.tinkerpop.gremlin.structure.T
import org.apache.tinkerpop.gremlin.structure.Vertex
import org.apache.tinkerpop.gremlin.util.iterator.IteratorUtils
import org.apache.tinkerpop.gremlin.util.message.RequestMessage
import org.apache.tinkerpop.gremlin.util.message.ResponseMessage
import org.apache.tinkerpop.gremlin.util.message.ResponseStatusCode

/** The connections of the server: a guard in front of each, and no sessions. The settings name it. */
class GuardedChannelizer extends WebSocketChannelizer {
    @Override
    void configure(ChannelPipeline pipeline) {
        pipeline.addFirst(new HandshakeGuard())
        super.configure(pipeline)
        pipeline.addLast(new SessionGuard())
    }
}

/** Refuses a driver's session, which would bring an engine of its own. */
class SessionGuard extends SimpleChannelInboundHandler<RequestMessage> {
    @Override
    protected void channelRead0(ChannelHandlerContext context, RequestMessage request) {
        if (request.processor != 'session') {
            context.fireChannelRead(request)
            return
        }
        context.writeAndFlush(ResponseMessage.build(request)
                .code(ResponseStatusCode.REQUEST_ERROR_INVALID_REQUEST_ARGUMENTS)
                .statusMessage('this engine has no sessions')
                .create())
    }
}

/** Reads the head of the handshake; ends a connection that a page of another host opened, or that is no handshake. */
class HandshakeGuard extends ByteToMessageDecoder {
    static final int LONGEST_HEAD = 16384
    static final String FORBIDDEN = 'HTTP/1.1 403 Forbidden\r\n'
    static final String NO_HTTP = 'HTTP/1.1 426 Upgrade Required\r\nUpgrade: websocket\r\n'
    static final Set<String> LOCAL = ['localhost', '127.0.0.1', '[::1]']

    @Override
    protected void decode(ChannelHandlerContext context, ByteBuf input, List<Object> output) {
        String head = input.toString(input.readerIndex(), Math.min(input.readableBytes(), LONGEST_HEAD),
                StandardCharsets.ISO_8859_1)
        int end = head.indexOf('\r\n\r\n')
        if (end < 0) {
            if (input.readableBytes() >= LONGEST_HEAD) context.close()
            return
        }
        String refusal = refusalOf(head.substring(0, end))
        if (refusal == null) {
            context.pipeline().remove(this)
            return
        }
        input.skipBytes(input.readableBytes())
        ByteBuf reply = context.alloc().buffer()
        reply.writeCharSequence(refusal, StandardCharsets.US_ASCII)
        context.writeAndFlush(reply).addListener(ChannelFutureListener.CLOSE)
    }

    /** The refusal that answers this head; null for a handshake that may go on. */
    String refusalOf(String head) {
        if (!allows(head)) return answer(FORBIDDEN, '')
        isHandshake(head) ? null : answer(NO_HTTP, 'Gremlin is spoken over WebSocket here: ws://, path /gremlin\n')
    }

    static String answer(String start, String text) {
        "${start}Content-Type: text/plain\r\nContent-Length: ${text.length()}\r\nConnection: close\r\n\r\n${text}"
    }

    /** Gremlin Server answers no other request, on no other path: its client would wait for ever. */
    static boolean isHandshake(String head) {
        def lines = head.toLowerCase(Locale.ROOT).split('\r\n')
        def words = lines[0].split(' ')
        words.size() > 1 && words[1].split('\\?')[0] == '/gremlin' &&
                lines.any { it.startsWith('upgrade:') && it.contains('websocket') }
    }

    /**
     * Programs send no Origin, or the address that they connect to; browsers always send that of
     * the page. The server listens on the loopback interface, so the address must be a local one:
     * any other name that leads here was made to (DNS rebinding).
     */
    static boolean allows(String head) {
        def origins = head.split('\r\n').findAll { it.toLowerCase(Locale.ROOT).startsWith('origin:') }
        return origins.every { LOCAL.contains(hostOf(it.substring(7).trim())) }
    }

    static String hostOf(String address) {
        try {
            return new URI(address).host?.toLowerCase(Locale.ROOT) ?: ''
        } catch (URISyntaxException ignored) {
            return ''
        }
    }
}

/** Refuses io(), which would read and write the files of the owner. */
class NoFiles extends AbstractTraversalStrategy<TraversalStrategy.VerificationStrategy>
        implements TraversalStrategy.VerificationStrategy {
    @Override
    void apply(Traversal.Admin<?, ?> traversal) {
        if (TraversalHelper.hasStepOfAssignableClass(IoStep, traversal)) {
            throw new VerificationException('io() is not for this engine', traversal)
        }
    }
}

/** The strategy of the read port: it refuses steps that change the graph, leave marks on it, or use files. */
class OnlyReads extends AbstractTraversalStrategy<TraversalStrategy.VerificationStrategy>
        implements TraversalStrategy.VerificationStrategy {
    @Override
    void apply(Traversal.Admin<?, ?> traversal) {
        def refused = traversal.steps.find {
            it instanceof Mutating || it instanceof IoStep || it instanceof VertexComputing
        }
        if (refused != null) throw new VerificationException("this port only reads: ${refused}", traversal)
    }
}

/**
 * The bounds of the read port. A request that exceeds one fails, and its memory is free again; without them one
 * `repeat(both()).path().fold()` fills the heap and ends the engine for everybody.
 *
 * Each step that can multiply traversers is followed by one that looks at the bounds, and each round of a loop and
 * each fold() begins with one. A traverser stands for any number of equal ones, which fold() lists one by one.
 */
@CompileStatic
class ReadBounds extends AbstractTraversalStrategy<TraversalStrategy.FinalizationStrategy>
        implements TraversalStrategy.FinalizationStrategy {
    static final int LOOK_EVERY = 512
    static final long MOST_FOLDED = 1_000_000L // by all folds of a request
    static final long LONGEST_NANOSECONDS = 30_000_000_000L // whatever limit the request names
    static final double MUCH = 0.1d // of the old part of the heap, allocated by one request
    static final double FULL = 0.7d // the graph at its capacity takes half of it, writers and answers need the rest
    static final long PAUSE_NANOSECONDS = 2_000_000_000L
    static final MemoryPoolMXBean OLD = ManagementFactory.memoryPoolMXBeans.find { it.name == 'PS Old Gen' }
    static final com.sun.management.ThreadMXBean THREADS =
            (com.sun.management.ThreadMXBean) ManagementFactory.threadMXBean
    private static final ThreadLocal<RequestUse> USE = ThreadLocal.<RequestUse> withInitial { new RequestUse() }
    private static long collected = System.nanoTime()

    /** A request's root traversal gets its strategies first, on the thread that runs it. */
    @Override
    void apply(Traversal.Admin<?, ?> traversal) {
        if (traversal.root) USE.set(new RequestUse())
        for (Step step : new ArrayList<Step>(traversal.steps)) {
            if (step instanceof FlatMapStep || step instanceof GraphStep) {
                TraversalHelper.insertAfterStep(new BoundStep(traversal, false), step, traversal)
            }
            if (step instanceof FoldStep) {
                TraversalHelper.insertBeforeStep(new BoundStep(traversal, true), step, traversal)
            }
        }
        if (traversal.parent instanceof RepeatStep) traversal.addStep(0, new BoundStep(traversal, false))
    }

    static void fold(long number) {
        RequestUse use = USE.get()
        use.folded += number
        if (use.folded > MOST_FOLDED || number > MOST_FOLDED) {
            throw new IllegalStateException("the read port folds at most ${MOST_FOLDED} traversers: ask for less")
        }
    }

    static void look() {
        RequestUse use = USE.get()
        if (++use.passed % LOOK_EVERY != 0) return
        if (System.nanoTime() - use.began > LONGEST_NANOSECONDS) {
            throw new IllegalStateException('the read port ends a traversal after 30 seconds: ask for less')
        }
        if (allocated() - use.allocated > MUCH * OLD.usage.max && isFull()) {
            throw new IllegalStateException('the traversal fills the memory of the engine: ask for less at a time')
        }
    }

    /** The bytes that this thread has asked for since it began. */
    static long allocated() { THREADS.getThreadAllocatedBytes(Thread.currentThread().id) }

    /** Whether what is alive fills the old part of the heap. What was not collected lately may be garbage. */
    private static synchronized boolean isFull() {
        MemoryUsage used = OLD.usage
        if (used.used < FULL * used.max) return false
        if (System.nanoTime() - collected > PAUSE_NANOSECONDS) {
            System.gc()
            collected = System.nanoTime()
        }
        OLD.collectionUsage.used >= FULL * used.max
    }
}

/** What one request to the read port has used so far. */
@CompileStatic
class RequestUse {
    final long began = System.nanoTime()
    final long allocated = ReadBounds.allocated()
    long passed // traversers
    long folded
}

/** Lets every traverser pass, within the bounds. */
@CompileStatic
class BoundStep extends FilterStep<Object> {
    final boolean folds

    BoundStep(Traversal.Admin traversal, boolean folds) {
        super(traversal)
        this.folds = folds
    }

    @Override
    protected boolean filter(Traverser.Admin<Object> traverser) {
        if (folds) ReadBounds.fold(traverser.bulk())
        ReadBounds.look()
        true
    }
}

/**
 * Strategies that stay whatever a request says; withoutStrategies() removes any other. No request may bring a
 * graph computer.
 */
class LastingStrategies extends DefaultTraversalStrategies {
    private final Set<Class> lasting

    LastingStrategies(Graph graph, TraversalStrategy... lasting) {
        this.lasting = lasting*.class as Set
        super.addStrategies(TraversalStrategies.GlobalCache.getStrategies(graph.class).toList() as TraversalStrategy[])
        super.addStrategies(lasting)
        // It writes out a loop of a known number, step by step, where no bound holds: times(1000000) took hours.
        if (lasting.any { it instanceof ReadBounds }) super.removeStrategies(RepeatUnrollStrategy)
    }

    @Override
    TraversalStrategies addStrategies(TraversalStrategy<?>... more) {
        if (more.any { it instanceof VertexProgramStrategy }) {
            throw new IllegalArgumentException('no graph computer runs here')
        }
        super.addStrategies(more)
    }

    @Override
    TraversalStrategies removeStrategies(Class<? extends TraversalStrategy>... unwanted) {
        def kept = unwanted.find { lasting.contains(it) }
        if (kept != null) throw new IllegalArgumentException("${kept.simpleName} cannot be taken away")
        super.removeStrategies(unwanted)
    }
}

/** A row that a batched upsert unfolds: {search: {T.id: id}, create: {T.label: label, key: value, ...}}. */
@CompileStatic
class UpsertRow {
    final Object id
    final Map<Object, Object> created

    private UpsertRow(Object id, Map<Object, Object> created) {
        this.id = id
        this.created = created
    }

    /** Null for any other row: TinkerPop's own step handles it. */
    static UpsertRow of(Object row, String search, String create) {
        if (!(row instanceof Map)) return null
        Object searched = ((Map) row).get(search), created = ((Map) row).get(create)
        if (!(searched instanceof Map) || !(created instanceof Map) || ((Map) searched).size() != 1) return null
        Object id = ((Map) searched).get(T.id)
        id == null ? null : new UpsertRow(id, (Map<Object, Object>) created)
    }

    /** Null where it has none, or one that is no text. */
    String getLabel() {
        Object label = created.get(T.label)
        label instanceof String ? (String) label : null
    }

    /** Names and values, one after the other; null where one of them is no plain value under a name. */
    Object[] pairs(SharedTexts texts) {
        List<Object> flat = new ArrayList<>(2 * created.size())
        for (Map.Entry<Object, Object> entry : created.entrySet()) {
            Object key = entry.key, value = entry.value
            if (key instanceof Direction || T.label.is(key)) continue
            if (!(key instanceof String) || value == null || value instanceof Traversal) return null
            flat.add(texts.shared(key))
            flat.add(texts.shared(value))
        }
        flat.toArray()
    }
}

/** mergeV() of an UpsertRow, without a traversal for its id. */
@CompileStatic
class UpsertVertexStep extends MergeVertexStep {
    final String search
    final String create

    UpsertVertexStep(Traversal.Admin traversal, MergeStep step, String search, String create) {
        super(traversal, false, step.mergeTraversal)
        this.search = search
        this.create = create
    }

    @Override
    protected Iterator flatMap(Traverser.Admin traverser) {
        UpsertRow row = UpsertRow.of(traverser.get(), search, create)
        if (row == null) return super.flatMap(traverser)
        HeapGraph heap = (HeapGraph) graph
        Vertex found = heap.vertex(row.id)
        if (found != null) return IteratorUtils.of(found)
        Object[] pairs = row.pairs(heap.texts)
        if (row.label == null || pairs == null) return super.flatMap(traverser)
        IteratorUtils.of((Vertex) heap.addVertex(row.id, row.label, pairs))
    }
}

/** mergeE() of an UpsertRow, likewise. */
@CompileStatic
class UpsertEdgeStep extends MergeEdgeStep {
    final String search
    final String create

    UpsertEdgeStep(Traversal.Admin traversal, MergeStep step, String search, String create) {
        super(traversal, false, step.mergeTraversal)
        this.search = search
        this.create = create
    }

    @Override
    protected Iterator flatMap(Traverser.Admin traverser) {
        UpsertRow row = UpsertRow.of(traverser.get(), search, create)
        if (row == null) return super.flatMap(traverser)
        HeapGraph heap = (HeapGraph) graph
        Edge found = heap.edge(row.id)
        if (found != null) return IteratorUtils.of(found)
        Object out = row.created.get(Direction.OUT), into = row.created.get(Direction.IN)
        Object[] pairs = row.pairs(heap.texts)
        boolean whole = out != null && into != null && heap.vertex(out) != null && heap.vertex(into) != null
        if (!whole || row.label == null || pairs == null) return super.flatMap(traverser) // it names the missing part
        IteratorUtils.of((Edge) heap.addEdge(row.id, row.label, out, into, pairs))
    }
}

/**
 * Headwater's upserts, mergeV(select(a)).option(onCreate, select(b)) and the same with mergeE(), without the
 * traversal that TinkerPop builds, optimises and runs for each row to look up its one id. TinkerPop itself
 * handles a merge of any other form, and a row that is not an UpsertRow.
 */
@CompileStatic
class UpsertsLookUpIds extends AbstractTraversalStrategy<TraversalStrategy.ProviderOptimizationStrategy>
        implements TraversalStrategy.ProviderOptimizationStrategy {
    @Override
    void apply(Traversal.Admin<?, ?> traversal) {
        for (MergeStep step : TraversalHelper.getStepsOfAssignableClass(MergeStep, traversal)) {
            String search = selected(step.mergeTraversal), create = selected(step.onCreateTraversal)
            if (search == null || create == null || !isPlain(step)) continue
            MergeStep upsert = step instanceof MergeVertexStep
                    ? new UpsertVertexStep(traversal, step, search, create)
                    : new UpsertEdgeStep(traversal, step, search, create)
            upsert.addChildOption(Merge.onCreate, step.onCreateTraversal)
            TraversalHelper.copyLabels(step, upsert, false)
            TraversalHelper.replaceStep((Step) step, (Step) upsert, traversal)
        }
    }

    /** select(key) => key; null for every other traversal. */
    static String selected(Traversal.Admin child) {
        if (child == null || child.steps.size() != 1 || !(child.startStep instanceof SelectOneStep)) return null
        SelectOneStep select = (SelectOneStep) child.startStep
        select.labels.empty && select.localChildren.empty ? select.scopeKeys[0] as String : null
    }

    /** Whether the rows say all that the step does: no ends, other options, listeners or partitions of its own. */
    static boolean isPlain(MergeStep step) {
        boolean ends = step instanceof MergeEdgeStep &&
                (((MergeEdgeStep) step).outVTraversal != null || ((MergeEdgeStep) step).inVTraversal != null)
        !ends && !step.start && step.onMatchTraversal == null && step.callbackRegistry == null &&
                !step.usingPartitionStrategy && (step.class == MergeVertexStep || step.class == MergeEdgeStep)
    }
}

/**
 * Ends this JVM when it only collects garbage and frees next to nothing.
 *
 * The collector's own limit (GCTimeLimit) begins anew after each collection that freed a few bytes. And when
 * requests have given up waiting, the heap is full and no thread asks for more of it: the server answers
 * nothing, for minutes or for ever. This guard ends the JVM when nine tenths of ten seconds went into three or
 * more full collections, and the last of them left the old part of the heap full.
 *
 * It looks without making an object: in a full heap a thread that makes one waits.
 */
@CompileStatic
class FullHeapGuard extends Thread {
    static final int OUT_OF_MEMORY = 3 // supervisor.py knows this; ExitOnOutOfMemoryError ends so too
    static final long PAUSE_MILLISECONDS = 500
    static final long WINDOW_NANOSECONDS = 10_000_000_000L
    static final int FULL_COLLECTIONS = 3
    static final double SPENT_COLLECTING = 0.9d
    static final double FULL = 0.95d
    static final byte[] LAST_WORDS = 'the heap is full: nothing but garbage is collected\n'.bytes

    final GarbageCollectorMXBean young
    final GarbageCollectorMXBean full
    final MemoryPoolMXBean old
    // the last looks, in a ring: their times, the time spent collecting until then, the number of full collections
    final long[] nanoseconds = new long[64]
    final long[] collecting = new long[64]
    final long[] collections = new long[64]

    private FullHeapGuard(GarbageCollectorMXBean young, GarbageCollectorMXBean full, MemoryPoolMXBean old) {
        super('full-heap')
        this.young = young
        this.full = full
        this.old = old
        daemon = true
    }

    /** Collectors other than the one that server.py asks for keep to their own limits. */
    static void watch() {
        GarbageCollectorMXBean young = ManagementFactory.garbageCollectorMXBeans.find { it.name == 'PS Scavenge' }
        GarbageCollectorMXBean full = ManagementFactory.garbageCollectorMXBeans.find { it.name == 'PS MarkSweep' }
        MemoryPoolMXBean old = ManagementFactory.memoryPoolMXBeans.find { it.name == 'PS Old Gen' }
        if (young != null && full != null && old != null) new FullHeapGuard(young, full, old).start()
    }

    @Override
    void run() {
        for (int look = 0; ; look++) {
            Thread.sleep(PAUSE_MILLISECONDS)
            int now = look % nanoseconds.length
            nanoseconds[now] = System.nanoTime()
            collecting[now] = young.collectionTime + full.collectionTime
            collections[now] = full.collectionCount
            if (isOverrun(look) && isFull()) {
                System.err.write(LAST_WORDS, 0, LAST_WORDS.length)
                Runtime.runtime.halt(OUT_OF_MEMORY)
            }
        }
    }

    /** Whether collections filled the shortest time back from now that is long enough and has enough of them. */
    private boolean isOverrun(int look) {
        int now = look % nanoseconds.length
        for (int back = look - 1; back >= 0 && back > look - nanoseconds.length; back--) {
            int since = back % nanoseconds.length
            long passed = nanoseconds[now] - nanoseconds[since]
            if (passed < WINDOW_NANOSECONDS || collections[now] - collections[since] < FULL_COLLECTIONS) continue
            return (collecting[now] - collecting[since]) * 1_000_000L >= SPENT_COLLECTING * passed
        }
        return false
    }

    private boolean isFull() {
        MemoryUsage after = old.collectionUsage
        after != null && after.used >= FULL * after.max
    }
}

/** Ends this JVM when its owner has ended: nothing here outlives the process, so nothing is lost. */
void endWithOwner(long owner) {
    // The owner's end of the pipe closes when it ends; copies of it may live on in forked children,
    // so the process itself is watched as well.
    Thread.startDaemon('owner-pipe') {
        try {
            while (System.in.read() >= 0) { }
        } finally {
            Runtime.runtime.halt(0)
        }
    }
    def process = ProcessHandle.of(owner)
    if (!process.present) Runtime.runtime.halt(0)
    process.get().onExit().thenRun { Runtime.runtime.halt(0) }
}

/** Lets the Gremlin grammar answer under every name that a driver may give for a language. */
void speakGremlinOnly(GremlinScriptEngineManager manager) {
    def grammar = new GremlinLangScriptEngineFactory()
    grammar.customizerManager = manager
    def names = ServiceLoader.load(GremlinScriptEngineFactory)*.names.flatten() as Set
    names.each { name ->
        manager.registerEngineName(name, grammar)
        if (!(manager.getEngineByName(name) instanceof GremlinLangScriptEngine)) {
            throw new IllegalStateException("language ${name} is not the Gremlin grammar")
        }
    }
}

/** A server that is not started yet; it leaves `spare` threads to another one. */
GremlinServer made(Settings settings, int spare) {
    settings.gremlinPool = Math.max(1, Runtime.runtime.availableProcessors() - spare)
    new GremlinServer(settings)
}

/** Lets the server answer for `graph` under the name g, with `lasting` strategies. */
void serve(GremlinServer server, Graph graph, TraversalStrategy... lasting) {
    def executor = server.serverGremlinExecutor
    executor.graphManager.putGraph('graph', graph) // the manager ends the transactions of text requests
    executor.graphManager.putTraversalSource('g',
            new GraphTraversalSource(graph, new LastingStrategies(graph, lasting)))
    speakGremlinOnly(executor.gremlinExecutor.scriptEngineManager)
    try {
        server.start().get()
    } catch (ExecutionException failure) {
        System.err.println(failure.cause.message)
        Runtime.runtime.halt(98) // server.py reads this exit code as: the port is taken
    }
}

try {
    endWithOwner(args[2] as long)
    FullHeapGuard.watch()
    Path ready = Path.of(args[1]).toAbsolutePath().normalize()
    GremlinServer server = made(Settings.read(args[0]), 0)
    Graph graph = new HeapGraph()
    serve(server, graph, new NoFiles(), new UpsertsLookUpIds())
    if (args.length > 3) serve(made(Settings.read(args[3]), 1), graph, new OnlyReads(), new ReadBounds())
    Files.createFile(ready)
} catch (Throwable failure) {
    failure.printStackTrace()
    Runtime.runtime.halt(1)
}
