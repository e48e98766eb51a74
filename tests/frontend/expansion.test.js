/** Nodes open where they stand: present ones keep their places, new ones find room. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { toModel } from '../../frontend/js/data/model.js';
import { expand, openAll, readOpened, toggled } from '../../frontend/js/drawing/expansion.js';

const box = (id, kind, x, y, more) => ({ id, kind, label: id, name: id, uri: id, namespace: 'n', x, y, width: 100, height: 40, ...(more && { more }) });
const feeds = (from, to) => ({ id: `${from}-${to}`, kind: 'feeds', from, to });
const shown = () =>
  toModel({
    nodes: [box('a', 'dataset', 0, 0), box('j', 'job', 164, 0), box('b', 'dataset', 328, 0, { upstream: 0, downstream: 2 }), box('c', 'dataset', 328, 64)],
    edges: [feeds('a', 'j'), feeds('j', 'b'), feeds('j', 'c')],
  });
const beyond = () =>
  toModel({
    nodes: [box('b', 'dataset', 0, 0), box('k', 'job', 164, -32), box('l', 'job', 164, 32), box('d', 'dataset', 328, 0)],
    edges: [feeds('b', 'k'), feeds('b', 'l'), feeds('k', 'd')],
  });
const places = (model, ids) => ids.map((id) => [model.boxes.get(id).x, model.boxes.get(id).y]);

test('present boxes keep their places, and the new ones lie beside them', () => {
  const model = shown();
  const before = places(model, ['a', 'j', 'b', 'c']);
  expand(model, beyond(), { id: 'b', side: 'downstream', whole: false });
  assert.deepEqual(places(model, ['a', 'j', 'b', 'c']), before);
  assert.deepEqual([...model.boxes.keys()].sort(), ['a', 'b', 'c', 'd', 'j', 'k', 'l']);
  assert.ok(model.boxes.get('k').x > 378 && model.boxes.get('d').x > model.boxes.get('k').x + 100);
  const all = [...model.boxes.values()];
  for (const one of all)
    for (const other of all)
      assert.ok(one === other || Math.abs(one.x - other.x) >= 100 || Math.abs(one.y - other.y) >= 40, `${one.id} ${other.id}`);
  assert.equal(model.links.size, 6);
});

test('an opened side has no count any more, and says that it is open', () => {
  const model = shown();
  expand(model, beyond(), { id: 'b', side: 'downstream', whole: false });
  assert.deepEqual(model.boxes.get('b').node.more, { upstream: 0, downstream: 0 });
  assert.deepEqual(model.boxes.get('b').node.open, { downstream: true });
});

test('a press opens, another one closes; shift opens all of the side', () => {
  const once = toggled('', { id: 'ds_1', side: 'upstream', whole: false });
  assert.equal(once, 'u.ds_1');
  const twice = toggled(once, { id: 'job_2', side: 'downstream', whole: true });
  assert.equal(twice, 'u.ds_1,D.job_2');
  assert.equal(toggled(twice, { id: 'ds_1', side: 'upstream', whole: false }), 'D.job_2');
  assert.deepEqual(readOpened('nonsense,x.y'), []);
});

test('a link opens everything again, in its order, and skips nodes that are not in the picture', async () => {
  const asked = [];
  const api = {
    get: async (path, query) => {
      asked.push([path, query.node, query.direction, query.depth, query.reach]);
      return { ok: true, data: { nodes: [box('b', 'dataset', 0, 0), box('k', 'job', 164, 0)], edges: [feeds('b', 'k')] } };
    },
  };
  const model = shown();
  await openAll(api, { opened: 'd.b,U.gone,D.k', at: '' }, model);
  assert.deepEqual(asked, [
    ['/graph/lineage', 'b', 'downstream', 1, 'possible'],
    ['/graph/lineage', 'k', 'downstream', 50, 'possible'],
  ]);
  assert.ok(model.boxes.has('k'));
});
