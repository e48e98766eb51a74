/** Where links run: never through a box, each on its own side. */
import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { test } from 'node:test';
import { foldFans } from '../../frontend/js/data/fans.js';
import { planModel, toModel, turn } from '../../frontend/js/data/model.js';
import { styleOf } from '../../frontend/js/drawing/links.js';
import { pack } from '../../frontend/js/drawing/packing.js';
import { NAMES } from '../../frontend/js/drawing/palette.js';
import { pointsOf, routeLinks } from '../../frontend/js/drawing/routes.js';

const FIXTURES = new URL('fixtures/', import.meta.url);
const fixture = (name) => JSON.parse(readFileSync(new URL(`${name}.json`, FIXTURES), 'utf8'));
const palette = Object.fromEntries(Object.keys(NAMES).map((name) => [name, `colour of ${name}`]));
const box = (id, kind, x, y) => ({ id, kind, label: id, name: id, uri: id, namespace: 'n', x, y, width: 100, height: 40 });
const feeds = (from, to, more = {}) => ({ id: `${from}-${to}`, kind: 'feeds', from, to, ...more });

/** Boxes that a way runs through, its own ends apart. */
function throughBoxes(model, way) {
  const link = model.links.get(way.id);
  const ends = new Set([link.from, link.to].map((id) => model.rows.get(id)?.box ?? id));
  const inside = ([x, y], { x: left, y: top, width, height }) =>
    Math.abs(x - left) < width / 2 - 0.5 && Math.abs(y - top) < height / 2 - 0.5;
  const points = pointsOf(way);
  const dense = points.flatMap(([x, y], at) => {
    const [x0, y0] = points[Math.max(0, at - 1)];
    return [0.25, 0.5, 0.75, 1].map((t) => [x0 + (x - x0) * t, y0 + (y - y0) * t]);
  });
  return [...model.boxes.values()].filter((one) => !ends.has(one.id) && dense.some((point) => inside(point, one)));
}

const graphs = readdirSync(FIXTURES)
  .map((name) => name.replace('.json', ''))
  .map((name) => ({ name, reply: fixture(name) }))
  .filter(({ reply }) => (reply.nodes?.length ?? 0) > 1 || (reply.operations?.length ?? 0) > 1);

test('there are recorded graphs to look at', () => assert.ok(graphs.length >= 8));

for (const { name, reply } of graphs) {
  test(`no way runs through a box: ${name}`, () => {
    const model = reply.operations ? planModel(reply) : toModel(reply);
    for (const shown of [model, foldFans(model)]) {
      const ways = routeLinks(shown);
      assert.equal(ways.size, shown.links.size);
      for (const way of ways.values())
        assert.deepEqual(throughBoxes(shown, way).map(({ label }) => label), [], way.id);
    }
  });
}

test('an edge meets a column at its own row and side', () => {
  const model = toModel(fixture('lineage-columns'));
  const ways = routeLinks(model);
  const link = [...model.links.values()].find((one) => one.kind === 'DIRECT');
  const { xs, ys } = ways.get(link.id);
  const [source, target] = [model.rows.get(link.from), model.rows.get(link.to)];
  const [left, right] = [model.boxes.get(source.box), model.boxes.get(target.box)];
  assert.deepEqual([ys[0], ys.at(-1)], [source.y, target.y]);
  assert.deepEqual([xs[0], xs.at(-1)], [left.x + left.width / 2, right.x - right.width / 2]);
});

test('an edge that runs back leaves on the left and lies lower than its counterpart', () => {
  const model = toModel({
    nodes: [box('t', 'dataset', 0, 0), box('j', 'job', 300, 0)],
    edges: [feeds('t', 'j'), feeds('j', 't')],
  });
  const ways = routeLinks(model);
  assert.deepEqual([ways.get('t-j').xs[0], ways.get('t-j').xs.at(-1)], [50, 250]);
  assert.deepEqual([ways.get('j-t').xs[0], ways.get('j-t').xs.at(-1)], [250, 50]);
  assert.ok(ways.get('j-t').ys[0] > ways.get('t-j').ys[0]);
});

test('a waypoint of the server is followed, a box in the way is passed above or below', () => {
  const nodes = [box('a', 'dataset', 0, 0), box('b', 'job', 200, 0), box('c', 'dataset', 400, 0)];
  const edges = [feeds('a', 'b'), feeds('b', 'c'), feeds('a', 'c', { route: [[200, 90]] })];
  const heights = (model) => routeLinks(model).get('a-c').ys;
  assert.equal(heights(toModel({ nodes, edges }))[2], 90);
  const free = toModel({ nodes, edges: edges.map(({ route, ...edge }) => edge) });
  assert.ok(Math.abs(heights(free)[2]) > 20);
});

test('ways through one gap keep apart', () => {
  const nodes = [box('a', 'dataset', 0, 0), box('b', 'dataset', 0, 60), box('m', 'job', 200, 0), box('n', 'job', 200, 80)];
  const ends = [box('c', 'dataset', 400, 10), box('d', 'dataset', 400, 70)];
  const edges = [feeds('a', 'm'), feeds('b', 'n'), feeds('m', 'c'), feeds('n', 'd'), feeds('a', 'd'), feeds('b', 'c')];
  const ways = routeLinks(toModel({ nodes: [...nodes, ...ends], edges }));
  assert.ok(Math.abs(ways.get('a-d').ys[2] - ways.get('b-c').ys[2]) >= 4);
});

test('top down an edge leaves below, meets its target from above and passes no box', () => {
  const nodes = [box('a', 'dataset', 0, 0), box('b', 'job', 0, 100), box('c', 'dataset', 20, 200)];
  const edges = [feeds('a', 'b'), feeds('b', 'c'), feeds('a', 'c', { route: [[90, 100]] })];
  const model = turn(toModel({ nodes, edges, flow: 'down' }));
  assert.deepEqual(model.order, ['a', 'b', 'c']);
  assert.deepEqual([...model.links.values()].map(({ way }) => way), ['forward', 'forward', 'forward']);
  assert.deepEqual({ ...model.boxes.get('c'), node: null }, { ...toModel({ nodes, edges }).boxes.get('c'), node: null });
  const ways = routeLinks(model);
  assert.deepEqual(pointsOf(ways.get('a-b')).at(0), [0, 20]);
  assert.deepEqual(pointsOf(ways.get('a-b')).at(-1), [0, 80]);
  assert.ok(pointsOf(ways.get('a-c')).some(([x, y]) => x === 90 && y > 80 && y < 121));
  for (const way of ways.values()) assert.deepEqual(throughBoxes(model, way), []);
});

test('parts that do not hang together stand beside each other in a wide window, and none upon another', () => {
  const nodes = Array.from({ length: 12 }, (_, at) => [box(`t${at}`, 'dataset', 0, at * 100), box(`j${at}`, 'job', 200, at * 100)]).flat();
  const edges = Array.from({ length: 12 }, (_, at) => feeds(`t${at}`, `j${at}`));
  const model = toModel({ nodes, edges });
  assert.ok(pack(model, 1.6));
  const all = [...model.boxes.values()];
  const [wide, high] = ['x', 'y'].map((axis) => Math.max(...all.map((one) => one[axis])) - Math.min(...all.map((one) => one[axis])));
  assert.ok(wide > high && high < 600, `${wide} x ${high}`);
  for (const one of all)
    for (const other of all)
      assert.ok(one === other || Math.abs(one.x - other.x) >= 100 || Math.abs(one.y - other.y) >= 40);
});

test('attempts of a failed run are dashed red; influences and unseen flow are dashed; lit edges are stronger', () => {
  const [link] = toModel(fixture('overview')).links.values();
  const usual = styleOf(link, palette, false);
  assert.deepEqual([usual.colour, usual.dashes], [palette.feeds, []]);
  assert.equal(styleOf(link, palette, true).colour, palette.accent);
  assert.ok(styleOf(link, palette, true).width > usual.width);
  const tried = styleOf({ ...link, edge: { ...link.edge, attempted: true } }, palette, false);
  assert.deepEqual([tried.colour, tried.dashes], [palette.failed, [6, 4]]);
  assert.deepEqual(styleOf({ ...link, kind: 'INDIRECT' }, palette, false).dashes, [5, 4]);
  const unseen = styleOf({ ...link, edge: { ...link.edge, seen: false } }, palette, false);
  assert.deepEqual([unseen.colour, unseen.dashes], [palette.feeds, [10, 6]]);
});
