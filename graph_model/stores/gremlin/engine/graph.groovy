// The embedded engine's graph: TinkerPop's interfaces over plain objects on the heap.
//
// Elements only come and go as a rule, because a fact never changes. So an element is one object, its properties are
// one array, and the edges of a vertex are one growing array for each label; TinkerGraph has a table, an entry and
// an object for each of these. Writers take turns, an element at a time; a reader waits for nobody and sees each
// element as a whole, but may see half of a request.

import groovy.transform.CompileStatic
import groovy.transform.PackageScope
import java.util.concurrent.ConcurrentHashMap
import org.apache.commons.configuration2.BaseConfiguration
import org.apache.commons.configuration2.Configuration
import org.apache.tinkerpop.gremlin.process.computer.GraphComputer
import org.apache.tinkerpop.gremlin.structure.Direction
import org.apache.tinkerpop.gremlin.structure.Edge
import org.apache.tinkerpop.gremlin.structure.Element
import org.apache.tinkerpop.gremlin.structure.Graph
import org.apache.tinkerpop.gremlin.structure.Property
import org.apache.tinkerpop.gremlin.structure.T
import org.apache.tinkerpop.gremlin.structure.Transaction
import org.apache.tinkerpop.gremlin.structure.Vertex
import org.apache.tinkerpop.gremlin.structure.VertexProperty
import org.apache.tinkerpop.gremlin.structure.util.ElementHelper
import org.apache.tinkerpop.gremlin.util.iterator.IteratorUtils

/** Texts that are written again and again, each kept once: labels, names of properties, and values near each other. */
@CompileStatic
class SharedTexts {
    static final int LONGEST = 256 // longer ones would take much memory here, and are hardly written twice
    private final Object[] recent = new Object[1 << 16]

    /** An equal text that is kept already, or this one. Two threads may miss each other's: then both are kept. */
    Object shared(Object value) {
        if (!(value instanceof String) || ((String) value).length() > LONGEST) return value
        int place = value.hashCode()
        place = (place ^ (place >>> 16)) & (recent.length - 1)
        Object known = recent[place]
        if (value.equals(known)) return known
        recent[place] = value
        value
    }
}

@CompileStatic
class HeapGraph implements Graph {
    final ConcurrentHashMap<Object, Vertex> vertexById = new ConcurrentHashMap<>()
    final ConcurrentHashMap<Object, Edge> edgeById = new ConcurrentHashMap<>()
    final SharedTexts texts = new SharedTexts()
    private final Graph.Features features = new HeapFeatures()

    /** Null where there is none. */
    HeapVertex vertex(Object id) { (HeapVertex) vertexById.get(id) }

    HeapEdge edge(Object id) { (HeapEdge) edgeById.get(id) }

    @Override
    Vertex addVertex(Object... keyValues) {
        ElementHelper.legalPropertyKeyValueArray(keyValues)
        String label = ElementHelper.getLabelValue(keyValues).orElse(Vertex.DEFAULT_LABEL)
        addVertex(idOf(keyValues), label, pairsOf(keyValues))
    }

    /** ``pairs``: key, value, key, value ... */
    synchronized HeapVertex addVertex(Object id, String label, Object[] pairs) {
        if (vertexById.containsKey(id)) throw Graph.Exceptions.vertexWithIdAlreadyExists(id)
        HeapVertex vertex = new HeapVertex(this, id, (String) texts.shared(label), pairs)
        vertexById.put(id, vertex)
        vertex
    }

    synchronized HeapEdge addEdge(Object id, String label, Object from, Object into, Object[] pairs) {
        HeapVertex out = vertex(from), end = vertex(into)
        if (out == null || end == null) throw new NoSuchElementException("no vertex ${out == null ? from : into}")
        if (edgeById.containsKey(id)) throw Graph.Exceptions.edgeWithIdAlreadyExists(id)
        HeapEdge edge = new HeapEdge(this, id, (String) texts.shared(label), out, end, pairs)
        edgeById.put(id, edge)
        out.leaving = EdgeList.with(out.leaving, edge)
        end.entering = EdgeList.with(end.entering, edge)
        edge
    }

    @PackageScope
    synchronized void remove(HeapEdge edge) {
        if (!edgeById.remove(edge.id, edge)) return
        edge.removed = true
        EdgeList.removedOne(edge.from.leaving, edge)
        EdgeList.removedOne(edge.into.entering, edge)
    }

    @PackageScope
    synchronized void remove(HeapVertex vertex) {
        List<Edge> edges = IteratorUtils.list(vertex.edges(Direction.BOTH))
        edges.each { remove((HeapEdge) it) }
        vertexById.remove(vertex.id, vertex)
    }

    static Object idOf(Object[] keyValues) {
        ElementHelper.getIdValue(keyValues).orElseGet { UUID.randomUUID().toString() }
    }

    /** Without T.id and T.label. */
    Object[] pairsOf(Object[] keyValues) {
        List<Object> pairs = new ArrayList<>(keyValues.length)
        for (int at = 0; at < keyValues.length; at += 2) {
            if (!(keyValues[at] instanceof String)) continue
            ElementHelper.validateProperty((String) keyValues[at], keyValues[at + 1])
            pairs.add(texts.shared(keyValues[at]))
            pairs.add(texts.shared(keyValues[at + 1]))
        }
        pairs.toArray()
    }

    @Override
    Iterator<Vertex> vertices(Object... ids) {
        ids.length == 0 ? vertexById.values().iterator() : sought(vertexById, ids)
    }

    @Override
    Iterator<Edge> edges(Object... ids) {
        ids.length == 0 ? edgeById.values().iterator() : sought(edgeById, ids)
    }

    private static <E extends Element> Iterator<E> sought(Map<Object, E> known, Object[] ids) {
        List<E> found = new ArrayList<>(ids.length)
        for (Object id : ids) {
            Object key = id instanceof Element ? ((Element) id).id() : id
            E element = key == null ? null : known.get(key)
            if (element != null) found.add(element)
        }
        found.iterator()
    }

    @Override
    Graph.Features features() { features }

    @Override
    Transaction tx() { throw Graph.Exceptions.transactionsNotSupported() }

    @Override
    Graph.Variables variables() { throw Graph.Exceptions.variablesNotSupported() }

    @Override
    Configuration configuration() { new BaseConfiguration() }

    @Override
    <C extends GraphComputer> C compute(Class<C> kind) { throw Graph.Exceptions.graphComputerNotSupported() }

    @Override
    GraphComputer compute() { throw Graph.Exceptions.graphComputerNotSupported() }

    @Override
    void close() { }

    @Override
    String toString() { "heapgraph[vertices:${vertexById.size()} edges:${edgeById.size()}]" }
}

@CompileStatic
class HeapFeatures implements Graph.Features {
    private final Graph.Features.GraphFeatures ofGraph = new Graph.Features.GraphFeatures() {
        @Override
        boolean supportsTransactions() { false }

        @Override
        boolean supportsThreadedTransactions() { false }

        @Override
        boolean supportsComputer() { false }

        @Override
        boolean supportsPersistence() { false }
    }
    private final Graph.Features.VertexFeatures ofVertex = new Graph.Features.VertexFeatures() {
        @Override
        boolean supportsMultiProperties() { false }

        @Override
        boolean supportsMetaProperties() { false }

        @Override
        VertexProperty.Cardinality getCardinality(String key) { VertexProperty.Cardinality.single }
    }

    @Override
    Graph.Features.GraphFeatures graph() { ofGraph }

    @Override
    Graph.Features.VertexFeatures vertex() { ofVertex }
}

/**
 * The edges of a vertex with one label, on one side, and the lists of its other labels.
 *
 * A reader takes the size, then the array: the writer fills an array before it is seen, and a size after that. So a
 * reader may find fewer edges than it counted (null), never half of one.
 */
@CompileStatic
class EdgeList {
    final String label
    final EdgeList next
    private volatile HeapEdge[] edges
    private volatile int size
    private int removed

    private EdgeList(HeapEdge first, EdgeList next) {
        this.label = first.label()
        this.next = next
        HeapEdge[] only = new HeapEdge[1]
        only[0] = first
        this.edges = only
        this.size = 1
    }

    /** These lists with one more edge. */
    static EdgeList with(EdgeList lists, HeapEdge edge) {
        EdgeList own = of(lists, edge.label())
        if (own == null) return new EdgeList(edge, lists)
        HeapEdge[] held = own.edges
        int count = own.size
        if (count == held.length) own.edges = held = Arrays.copyOf(held, count + (count >> 1) + 1)
        held[count] = edge
        own.size = count + 1
        lists
    }

    /** Pack the list once half of it is marked as removed: so no removal looks for its edge. */
    static void removedOne(EdgeList lists, HeapEdge edge) {
        EdgeList own = of(lists, edge.label())
        own.removed += 1
        if (2 * own.removed <= own.size) return
        List<HeapEdge> left = new ArrayList<>(own.size - own.removed)
        own.collect(left)
        own.edges = left.toArray(new HeapEdge[0])
        own.size = left.size()
        own.removed = 0
    }

    static EdgeList of(EdgeList lists, String label) {
        EdgeList list = lists
        while (list != null && !label.equals(list.label)) list = list.next
        list
    }

    void collect(List<? super HeapEdge> found) {
        int count = size
        HeapEdge[] held = edges
        for (int at = 0; at < count && at < held.length; at++) {
            HeapEdge edge = held[at]
            if (edge != null && !edge.removed) found.add(edge)
        }
    }

    /** The edges of all of these lists, or of those with these labels. */
    static void collect(EdgeList lists, String[] labels, List<? super HeapEdge> found) {
        if (labels.length == 0) {
            for (EdgeList list = lists; list != null; list = list.next) list.collect(found)
            return
        }
        for (String label : labels) of(lists, label)?.collect(found)
    }
}

/** What vertices and edges share: an id, a label, and values by name in one array. */
@CompileStatic
abstract class HeapElement implements Element {
    final HeapGraph heap
    final Object id
    final String label
    volatile Object[] pairs

    HeapElement(HeapGraph heap, Object id, String label, Object[] pairs) {
        this.heap = heap
        this.id = id
        this.label = label
        this.pairs = pairs
    }

    @Override
    Object id() { id }

    @Override
    String label() { label }

    @Override
    Graph graph() { heap }

    /** Null where there is none. */
    Object valueOf(String key) {
        Object[] held = pairs
        for (int at = 0; at < held.length; at += 2) if (key.equals(held[at])) return held[at + 1]
        null
    }

    void set(String key, Object value) {
        ElementHelper.validateProperty(key, value)
        synchronized (heap) {
            unset(key)
            Object[] held = pairs, more = Arrays.copyOf(held, held.length + 2)
            more[held.length] = heap.texts.shared(key)
            more[held.length + 1] = heap.texts.shared(value)
            pairs = more
        }
    }

    void unset(String key) {
        synchronized (heap) {
            List<Object> left = []
            Object[] held = pairs
            for (int at = 0; at < held.length; at += 2) if (!key.equals(held[at])) left.addAll(held[at], held[at + 1])
            pairs = left.toArray()
        }
    }

    abstract Property made(String key, Object value)

    protected <P> Iterator<P> listed(String[] keys) {
        Object[] held = pairs
        List<P> found = new ArrayList<>(held.length >> 1)
        for (int at = 0; at < held.length; at += 2) {
            String key = (String) held[at]
            if (keys.length == 0 || ElementHelper.keyExists(key, keys)) {
                found.add((P) made(key, held[at + 1]))
            }
        }
        found.iterator()
    }

    @Override
    boolean equals(Object other) { ElementHelper.areEqual(this, other) }

    @Override
    int hashCode() { ElementHelper.hashCode((Element) this) }
}

@CompileStatic
class HeapVertex extends HeapElement implements Vertex {
    volatile EdgeList leaving
    volatile EdgeList entering

    HeapVertex(HeapGraph heap, Object id, String label, Object[] pairs) { super(heap, id, label, pairs) }

    @Override
    Edge addEdge(String label, Vertex into, Object... keyValues) {
        ElementHelper.validateLabel(label)
        ElementHelper.legalPropertyKeyValueArray(keyValues)
        heap.addEdge(HeapGraph.idOf(keyValues), label, id, into.id(), heap.pairsOf(keyValues))
    }

    @Override
    <V> VertexProperty<V> property(VertexProperty.Cardinality cardinality, String key, V value, Object... keyValues) {
        if (keyValues.length > 0) throw VertexProperty.Exceptions.metaPropertiesNotSupported()
        if (cardinality != VertexProperty.Cardinality.single) throw VertexProperty.Exceptions.multiPropertiesNotSupported()
        set(key, value)
        (VertexProperty<V>) made(key, value)
    }

    @Override
    <V> VertexProperty<V> property(String key, V value) {
        property(VertexProperty.Cardinality.single, key, value)
    }

    @Override
    Property made(String key, Object value) { new HeapVertexProperty(this, key, value) }

    @Override
    <V> Iterator<VertexProperty<V>> properties(String... keys) { listed(keys) }

    @Override
    Iterator<Edge> edges(Direction direction, String... labels) {
        List<Edge> found = []
        if (!direction.is(Direction.IN)) EdgeList.collect(leaving, labels, found)
        if (!direction.is(Direction.OUT)) EdgeList.collect(entering, labels, found)
        found.iterator()
    }

    @Override
    Iterator<Vertex> vertices(Direction direction, String... labels) {
        List<HeapEdge> out = [], into = []
        if (!direction.is(Direction.IN)) EdgeList.collect(leaving, labels, out)
        if (!direction.is(Direction.OUT)) EdgeList.collect(entering, labels, into)
        List<Vertex> found = new ArrayList<>(out.size() + into.size())
        for (HeapEdge edge : out) found.add(edge.into)
        for (HeapEdge edge : into) found.add(edge.from)
        found.iterator()
    }

    @Override
    void remove() { heap.remove(this) }

    @Override
    String toString() { "v[${id}]" }
}

@CompileStatic
class HeapEdge extends HeapElement implements Edge {
    final HeapVertex from
    final HeapVertex into
    volatile boolean removed

    HeapEdge(HeapGraph heap, Object id, String label, HeapVertex from, HeapVertex into, Object[] pairs) {
        super(heap, id, label, pairs)
        this.from = from
        this.into = into
    }

    @Override
    Iterator<Vertex> vertices(Direction direction) {
        if (direction.is(Direction.OUT)) return IteratorUtils.of((Vertex) from)
        if (direction.is(Direction.IN)) return IteratorUtils.of((Vertex) into)
        IteratorUtils.of((Vertex) from, (Vertex) into)
    }

    @Override
    Vertex outVertex() { from }

    @Override
    Vertex inVertex() { into }

    @Override
    <V> Property<V> property(String key, V value) {
        set(key, value)
        (Property<V>) made(key, value)
    }

    @Override
    Property made(String key, Object value) { new HeapProperty(this, key, value) }

    @Override
    <V> Iterator<Property<V>> properties(String... keys) { listed(keys) }

    @Override
    void remove() { heap.remove(this) }

    @Override
    String toString() { "e[${id}][${from.id}-${label}->${into.id}]" }
}

/** One value of an edge, made when it is asked for. */
@CompileStatic
class HeapProperty<V> implements Property<V> {
    final HeapElement owner
    final String name
    final V held

    HeapProperty(HeapElement owner, String name, V held) {
        this.owner = owner
        this.name = name
        this.held = held
    }

    @Override
    String key() { name }

    @Override
    V value() { held }

    @Override
    boolean isPresent() { true }

    @Override
    Element element() { owner }

    @Override
    void remove() { owner.unset(name) }

    @Override
    boolean equals(Object other) { ElementHelper.areEqual((Property) this, other) }

    @Override
    int hashCode() { ElementHelper.hashCode((Property) this) }

    @Override
    String toString() { "p[${name}->${held}]" }
}

/** One value of a vertex; it has an id of its own, and no properties. */
@CompileStatic
class HeapVertexProperty<V> extends HeapProperty<V> implements VertexProperty<V> {
    HeapVertexProperty(HeapVertex owner, String name, V held) { super(owner, name, held) }

    @Override
    Vertex element() { (Vertex) owner }

    @Override
    Object id() { owner.id.toString() + '.' + name }

    @Override
    Set<String> keys() { Collections.<String> emptySet() }

    @Override
    <U> Property<U> property(String key, U value) { throw VertexProperty.Exceptions.metaPropertiesNotSupported() }

    @Override
    <U> Iterator<Property<U>> properties(String... keys) { Collections.<Property<U>> emptyIterator() }

    @Override
    boolean equals(Object other) { ElementHelper.areEqual((VertexProperty) this, other) }

    @Override
    int hashCode() { id().hashCode() }
}
