/**
 * Graphs on standard input, the lines of their edges by dagre and by elk on standard output. Lines
 * begin and end in the middle of boxes, as those that they are compared with.
 */
import { createRequire } from 'node:module';
import { readFileSync } from 'node:fs';

const require = createRequire(new URL('../../frontend/package.json', import.meta.url));
const dagre = require('@dagrejs/dagre');
const ELK = require('elkjs');

const { width, height, graphs } = JSON.parse(readFileSync(0, 'utf8'));

function byDagre({ nodes, edges }) {
  const graph = new dagre.graphlib.Graph();
  graph.setGraph({ rankdir: 'LR', ranksep: 70, nodesep: 28 });
  graph.setDefaultEdgeLabel(() => ({}));
  for (const node of nodes) graph.setNode(node, { width, height });
  for (const [from, to] of edges) graph.setEdge(from, to);
  dagre.layout(graph);
  const middle = (id) => [graph.node(id).x, graph.node(id).y];
  return edges.map(([from, to]) => {
    const between = graph.edge(from, to).points.slice(1, -1);
    return [middle(from), ...between.map(({ x, y }) => [x, y]), middle(to)];
  });
}

async function byElk({ nodes, edges }) {
  const options = { 'elk.algorithm': 'layered', 'elk.direction': 'RIGHT', 'elk.edgeRouting': 'POLYLINE' };
  const graph = {
    id: 'root',
    layoutOptions: options,
    children: nodes.map((id) => ({ id, width, height })),
    edges: edges.map(([from, to], number) => ({ id: `e${number}`, sources: [from], targets: [to] })),
  };
  const placed = await new ELK().layout(graph);
  const places = new Map(placed.children.map((one) => [one.id, [one.x + width / 2, one.y + height / 2]]));
  const bends = new Map(placed.edges.map((edge) => [edge.id, edge.sections?.[0]?.bendPoints ?? []]));
  return edges.map(([from, to], number) => [
    places.get(from),
    ...bends.get(`e${number}`).map(({ x, y }) => [x, y]),
    places.get(to),
  ]);
}

const replies = [];
for (const graph of graphs) replies.push({ dagre: byDagre(graph), elk: await byElk(graph) });
process.stdout.write(JSON.stringify(replies));
