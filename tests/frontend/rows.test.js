/** Wide tables: ten columns at a time, linked ones first, nothing dropped. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { toModel } from '../../frontend/js/data/model.js';
import { foldColumns, tableOfRest, tenMore } from '../../frontend/js/data/rows.js';

const table = (id, x, height) => ({ id, kind: 'dataset', label: id, uri: id, scope: '', x, y: 0, width: 200, height });
const column = (home, number) => ({ id: `${home}${number}`, kind: 'column', label: `c${number}`, name: `c${number}`, dataset: home, datasetId: home, type: 'int' });
const edge = (from, to) => ({ id: `${from}-${to}`, kind: 'DIRECT', how: 'IDENTITY', from, to, expression: '' });
const wide = (many, links) =>
  toModel({
    nodes: [
      table('s', 0, 46 + 22 * many + 8),
      table('t', 400, 46 + 44 + 8),
      ...Array.from({ length: many }, (_, number) => column('s', number)),
      column('t', 0),
      column('t', 1),
    ],
    edges: links.map((number) => edge(`s${number}`, 't0')),
  });

test('linked columns come first, and the last row says how many there are', () => {
  const box = foldColumns(wide(28, [20, 27])).boxes.get('s');
  assert.equal(box.rows.length, 11);
  assert.deepEqual(box.rows.slice(0, 3).map((row) => row.label), ['c20', 'c27', 'c0']);
  assert.equal(box.rows.at(-1).label, '10 of 28 columns: show more');
  assert.equal(tableOfRest(box.rows.at(-1).id), 's');
  assert.ok(box.height < 46 + 12 * 24 + 8 + 1);
});

test('rows lie inside their table, one below the other', () => {
  const { rows, y, height } = foldColumns(wide(300, [299])).boxes.get('s');
  rows.slice(1).forEach((row, at) => assert.ok(row.y - rows[at].y >= row.height - 0.01));
  assert.ok(rows[0].y > y - height / 2 && rows.at(-1).y < y + height / 2);
});

test('a link of a column that is not drawn ends at the last row: none is lost', () => {
  const model = foldColumns(wide(28, Array.from({ length: 14 }, (_, at) => at)));
  const ends = [...model.links.values()].map((link) => link.from);
  assert.equal(ends.length, 11);
  assert.ok(ends.includes('columns of s'));
});

test('a press shows ten more, a selected column is always drawn, and a narrow table is left alone', () => {
  const model = wide(28, []);
  assert.equal(foldColumns(model, { opened: tenMore('', 's') }).boxes.get('s').rows.length, 21);
  assert.equal(tenMore(tenMore('', 's'), 's'), 's.30');
  assert.ok(foldColumns(model, { pinned: ['s25'] }).rows.has('s25'));
  const narrow = wide(12, []);
  assert.equal(foldColumns(narrow), narrow);
});

test('more columns of a table push down what is below it, and move nothing else', () => {
  const at = (id, x, y) => ({ ...table(id, x, 46 + 22 * 30 + 8), y });
  const nodes = [at('s', 0, 400), at('t', 400, 400), at('u', 400, 1200), at('v', 800, 400)];
  const columns = nodes.flatMap(({ id }) => Array.from({ length: 30 }, (_, number) => column(id, number)));
  const model = toModel({ nodes: [...nodes, ...columns], edges: [edge('s0', 't0'), edge('s0', 'u0'), edge('t0', 'v0')] });
  const tops = (opened) => [...foldColumns(model, { opened }).boxes.values()].map(({ y, height }) => y - height / 2);
  const [before, after, whole] = ['', 't.20', 's.30,t.30,u.30,v.30'].map(tops);
  assert.deepEqual([0, 1, 3].map((place) => after[place]), [0, 1, 3].map((place) => before[place]));
  assert.ok(after[2] > before[2] + 9 * 20, 'the table below makes room');
  assert.deepEqual([0, 1, 3].map((place) => whole[place]), [0, 1, 3].map((place) => before[place]), 'all opened, too');
});
