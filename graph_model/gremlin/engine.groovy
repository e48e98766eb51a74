// The embedded engine: a Gremlin Server in a JVM of its own, started by server.py.
//
//   java ... groovy.ui.GroovyMain engine.groovy <settings.yaml> <ready file> <process id of the owner>
//
// Why not GremlinServer's own main class:
//   * the JVM must end with its owner, however the owner ends (kill -9 too);
//   * text requests are parsed by the Gremlin grammar, the one that Neptune speaks. Groovy would run
//     any program for anybody who can reach the port: every page that a browser on this machine shows;
//   * for the same reason a WebSocket opened by a page of another origin is refused;
//   * the owner learns from the ready file that this JVM, and no other program, holds the port.

import io.netty.buffer.ByteBuf
import io.netty.channel.ChannelFutureListener
import io.netty.channel.ChannelHandler.Sharable
import io.netty.channel.ChannelHandlerContext
import io.netty.channel.ChannelInboundHandlerAdapter
import io.netty.handler.codec.ByteToMessageDecoder
import java.nio.charset.StandardCharsets
import java.nio.file.Files
import java.nio.file.Path
import java.nio.file.StandardCopyOption
import java.util.concurrent.ExecutionException
import org.apache.tinkerpop.gremlin.jsr223.GremlinLangScriptEngine
import org.apache.tinkerpop.gremlin.jsr223.GremlinLangScriptEngineFactory
import org.apache.tinkerpop.gremlin.jsr223.GremlinScriptEngineFactory
import org.apache.tinkerpop.gremlin.jsr223.GremlinScriptEngineManager
import org.apache.tinkerpop.gremlin.process.traversal.AnonymousTraversalSource
import org.apache.tinkerpop.gremlin.process.traversal.Traversal
import org.apache.tinkerpop.gremlin.process.traversal.TraversalStrategy
import org.apache.tinkerpop.gremlin.process.traversal.step.sideEffect.IoStep
import org.apache.tinkerpop.gremlin.process.traversal.strategy.AbstractTraversalStrategy
import org.apache.tinkerpop.gremlin.process.traversal.strategy.verification.VerificationException
import org.apache.tinkerpop.gremlin.process.traversal.util.TraversalHelper
import org.apache.tinkerpop.gremlin.server.GremlinServer
import org.apache.tinkerpop.gremlin.server.Settings
import org.apache.tinkerpop.gremlin.server.op.OpLoader

/** Puts a HandshakeGuard in front of every connection that the server accepts. */
@Sharable
class ConnectionGuard extends ChannelInboundHandlerAdapter {
    final boolean loopback

    ConnectionGuard(boolean loopback) { this.loopback = loopback }

    @Override
    void channelRead(ChannelHandlerContext context, Object connection) {
        connection.pipeline().addFirst(new HandshakeGuard(loopback))
        context.fireChannelRead(connection)
    }
}

/** Reads the head of the handshake and ends a connection that a page of another host opened. */
class HandshakeGuard extends ByteToMessageDecoder {
    static final int LONGEST_HEAD = 16384
    static final Set<String> LOCAL = ['localhost', '127.0.0.1', '[::1]']
    final boolean loopback

    HandshakeGuard(boolean loopback) { this.loopback = loopback }

    @Override
    protected void decode(ChannelHandlerContext context, ByteBuf input, List<Object> output) {
        String head = input.toString(input.readerIndex(), Math.min(input.readableBytes(), LONGEST_HEAD),
                StandardCharsets.ISO_8859_1)
        int end = head.indexOf('\r\n\r\n')
        if (end < 0) {
            if (input.readableBytes() >= LONGEST_HEAD) context.close()
            return
        }
        if (allows(head.substring(0, end))) {
            context.pipeline().remove(this)
            return
        }
        input.skipBytes(input.readableBytes())
        ByteBuf refusal = context.alloc().buffer()
        refusal.writeCharSequence('HTTP/1.1 403 Forbidden\r\nContent-Length: 0\r\nConnection: close\r\n\r\n',
                StandardCharsets.US_ASCII)
        context.writeAndFlush(refusal).addListener(ChannelFutureListener.CLOSE)
    }

    /**
     * Programs send no Origin, or the address that they connect to; browsers always send that of
     * the page. On the loopback interface the address must be a local one: any other name that
     * leads here was made to (DNS rebinding).
     */
    boolean allows(String head) {
        def lines = head.split('\r\n')
        def origins = lines.findAll { it.toLowerCase(Locale.ROOT).startsWith('origin:') }
        def asked = lines.find { it.toLowerCase(Locale.ROOT).startsWith('host:') }
        return origins.every { origin ->
            String host = hostOf(origin.substring(7).trim())
            LOCAL.contains(host) || (!loopback && asked && host == hostOf("http://${asked.substring(5).trim()}"))
        }
    }

    static String hostOf(String address) {
        try {
            return new URI(address).host?.toLowerCase(Locale.ROOT) ?: ''
        } catch (URISyntaxException ignored) {
            return ''
        }
    }
}

/** Keeps io() inside one folder: a traversal reads and writes checkpoints, not the owner's files. */
class FilesStayInside extends AbstractTraversalStrategy<TraversalStrategy.VerificationStrategy>
        implements TraversalStrategy.VerificationStrategy {
    final Path folder

    FilesStayInside(Path folder) { this.folder = folder }

    @Override
    void apply(Traversal.Admin<?, ?> traversal) {
        TraversalHelper.getStepsOfAssignableClass(IoStep, traversal).each { step ->
            if (!Path.of(step.file).toAbsolutePath().normalize().startsWith(folder)) {
                throw new VerificationException("io() stays inside ${folder}", traversal)
            }
        }
    }
}

/** Ends this JVM when its owner has gone: nothing here outlives the process, so nothing is lost. */
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
    // A driver's session would bring an engine of its own. Every request is a transaction here.
    def processors = OpLoader.getDeclaredField('processors')
    processors.accessible = true
    processors.get(null).remove('session')
}

/** Starts the server; returns its port. */
int serve(Settings settings, Path folder) {
    GremlinServer server = new GremlinServer(settings)
    def executor = server.serverGremlinExecutor
    def graph = executor.graphManager.getGraph('graph')
    if (graph == null) throw new IllegalStateException('the graph cannot be opened, see above')
    def source = AnonymousTraversalSource.traversal().withEmbedded(graph)
    executor.graphManager.putTraversalSource('g', source.withStrategies(new FilesStayInside(folder)))
    speakGremlinOnly(executor.gremlinExecutor.scriptEngineManager)
    try {
        server.start().get()
    } catch (ExecutionException failure) {
        System.err.println(failure.cause.message)
        Runtime.runtime.halt(98) // server.py knows this as: the port is taken
    }
    def address = server.serverSocketChannel.localAddress()
    server.serverSocketChannel.pipeline().addFirst(new ConnectionGuard(address.address.loopbackAddress))
    executor.channels.close() // whoever came in before the guard stood there
    return address.port
}

try {
    endWithOwner(args[2] as long)
    Path ready = Path.of(args[1]).toAbsolutePath().normalize()
    int port = serve(Settings.read(args[0]), ready.parent)
    Path draft = ready.resolveSibling(ready.fileName.toString() + '.new')
    Files.writeString(draft, port as String)
    Files.move(draft, ready, StandardCopyOption.ATOMIC_MOVE)
} catch (Throwable failure) {
    failure.printStackTrace()
    Runtime.runtime.halt(1)
}
