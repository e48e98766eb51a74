import assert from 'node:assert/strict';
import { test } from 'node:test';
import { foldFans, opened, readOpened } from '../../frontend/js/data/fans.js';
import { tighten } from '../../frontend/js/drawing/layout.js';
import { bounds, toModel } from '../../frontend/js/data/model.js';

const HIGH = 80;

/** A hub that `size` jobs read; each writes a table of its own. Placed as the server does. */
function fan(size, change = () => {}) {
  const nodes = [{ kind: 'dataset', id: 'hub', label: 'hub', uri: 's3://hub', x: 0, y: (size * HIGH) / 2 }];
  const edges = [];
  const add = (from, to) => edges.push({ id: `${from}-${to}`, from, to, kind: 'feeds', plans: [`lp-${from}-${to}`] });
  for (let number = 0; number < size; number += 1) {
    const y = number * HIGH;
    nodes.push({ kind: 'job', id: `job${number}`, label: `job ${number}`, namespace: 'n', x: 300, y });
    nodes.push({ kind: 'dataset', id: `ds${number}`, label: `table ${number}`, uri: `s3://t/${number}`, x: 600, y });
    add('hub', `job${number}`);
    add(`job${number}`, `ds${number}`);
  }
  change(nodes, add);
  for (const node of nodes) Object.assign(node, { width: 150, height: 46 });
  return toModel({ nodes, edges, focus: 'hub' });
}

const groups = (model) => [...model.boxes.values()].filter((box) => box.kind === 'group');
const ids = (model) => [...model.boxes.keys()];

test('the first few of a wide fan are drawn, the rest are one box with the nodes behind them', () => {
  const folded = foldFans(fan(70));
  const [group, ...others] = groups(folded);
  assert.deepEqual(others, []);
  assert.equal(group.label, '58 more jobs');
  assert.equal(group.detail, 'with 58 tables');
  assert.equal(folded.boxes.size, 1 + 12 + 12 + 1);
  assert.deepEqual(
    [...folded.links.values()].filter((link) => link.to === group.id).map((link) => link.from),
    ['hub'],
  );
  const around = bounds(folded);
  assert.ok(around.bottom - around.top < 14 * HIGH);
});

test('a fan that fits is left alone, the very model', () => {
  const model = fan(19);
  assert.equal(foldFans(model), model);
});

test('nothing is lost: drawn and folded nodes together are all nodes', () => {
  const model = fan(70);
  const folded = foldFans(model);
  const { fold } = groups(folded)[0].node;
  const all = [...ids(folded).filter((id) => id !== fold.id), ...fold.members, ...fold.behind];
  assert.deepEqual(all.sort(), ids(model).sort());
});

test('failed, leading and pinned nodes are drawn before the others', () => {
  const model = fan(70, (nodes, add) => {
    nodes.find((node) => node.id === 'job69').lastRun = { at: '2026-03-01T00:00:00.000Z', state: 'failed' };
    nodes.push({ kind: 'job', id: 'beyond', label: 'beyond', namespace: 'n', x: 900, y: 68 * HIGH });
    add('ds68', 'beyond');
  });
  const folded = foldFans(model, { pinned: ['job67'] });
  for (const id of ['job69', 'job68', 'beyond', 'job67']) assert.ok(folded.boxes.has(id), id);
});

test('a node that others lead to as well stays, with an edge from the folded box', () => {
  const model = fan(70, (nodes, add) => {
    nodes.push({ kind: 'dataset', id: 'all', label: 'all', uri: 's3://all', x: 600, y: 71 * HIGH });
    for (let number = 0; number < 70; number += 1) add(`job${number}`, 'all');
  });
  const folded = foldFans(model);
  const [group] = groups(folded);
  assert.ok(folded.boxes.has('all'));
  const out = [...folded.links.values()].filter((link) => link.from === group.id);
  assert.deepEqual(
    out.map((link) => link.to),
    ['all'],
  );
  assert.equal(out[0].edge.plans.length, 58);
});

test('a failed job that is folded is told on the box', () => {
  const model = fan(70, (nodes) => {
    for (const node of nodes.filter(({ kind }) => kind === 'job'))
      node.lastRun = { at: '2026-03-01T00:00:00.000Z', state: 'failed' };
  });
  const [group] = groups(foldFans(model));
  assert.equal(group.failed, true);
  assert.equal(group.detail, '58 jobs whose last run failed');
});

test('an edge to a folded box is attempted where nothing flowed in any that it stands for', () => {
  const { members } = groups(foldFans(fan(70)))[0].node.fold;
  for (const [tried, attempted] of [
    [members, true],
    [members.slice(1), false],
    [[], false],
  ]) {
    const model = fan(70);
    for (const id of tried) model.links.get(`hub-${id}`).edge.attempted = true;
    const folded = foldFans(model);
    const [group] = groups(folded);
    const link = [...folded.links.values()].find(({ to }) => to === group.id);
    assert.equal(link.edge.attempted, attempted);
  }
});

test('an edge to a folded box is unseen where none that it stands for was seen', () => {
  const { members } = groups(foldFans(fan(70)))[0].node.fold;
  for (const [unseen, seen] of [
    [members, false],
    [members.slice(1), true],
    [members.slice(0, -1), true],
    [[], true],
  ]) {
    const model = fan(70);
    for (const id of unseen) model.links.get(`hub-${id}`).edge.seen = false;
    const folded = foldFans(model);
    const [group] = groups(folded);
    assert.equal([...folded.links.values()].find(({ to }) => to === group.id).edge.seen, seen);
  }
});

test('a fan opens in steps, and at last whole', () => {
  const model = fan(70);
  let text = '';
  const shown = [];
  for (;;) {
    const folded = foldFans(model, { opened: text });
    const [group] = groups(folded);
    shown.push(ids(folded).filter((id) => id.startsWith('job')).length);
    if (!group) break;
    text = opened(text, group.node.fold);
  }
  assert.deepEqual(shown, [12, 36, 60, 70]);
  assert.equal(groups(foldFans(model, { opened: opened('', groups(foldFans(model))[0].node.fold, true) })).length, 0);
});

test('the link says side, hub and number, and nonsense says nothing', () => {
  const text = opened('u.ds_1.20', { hub: 'ds-2_x', side: 'downstream', members: Array(90).fill('x'), shown: 12 });
  assert.equal(text, 'u.ds_1.20,d.ds-2_x.36');
  assert.deepEqual([...readOpened(text)], [
    ['upstream ds_1', 20],
    ['downstream ds-2_x', 36],
  ]);
  assert.equal(readOpened('x.y,,d..3,d.ds_1.many').size, 0);
});

test('the subject of a comparison is drawn, with its changed edges', () => {
  const model = fan(70, (nodes) => {
    nodes.find((node) => node.id === 'job50').change = 'removed';
  });
  model.links.get('hub-job51').change = 'added';
  const folded = foldFans(model);
  for (const id of ['job50', 'job51']) assert.ok(folded.boxes.has(id), id);
  assert.equal(folded.links.get('hub-job51').change, 'added');
});

test('a picture in lanes is not folded', () => {
  const model = { ...fan(70), lanes: [{ label: 'raw', colour: '', top: 0, bottom: 10 }] };
  assert.equal(foldFans(model), model);
});

test('folding twice gives the same picture', () => {
  const places = (model) => [...model.boxes.values()].map(({ id, x, y }) => [id, x, y]);
  assert.deepEqual(places(foldFans(fan(70))), places(foldFans(fan(70))));
});

test('closing gaps keeps columns, their order and their gaps, and moves other parts as a whole', () => {
  const box = (id, x, y) => ({ id, x, y, width: 100, height: 40 });
  const boxes = [box('a', 0, 0), box('b', 200, 0), box('c', 200, 900), box('d', 0, 2000), box('e', 200, 2300)];
  const links = [
    { from: 'a', to: 'b' },
    { from: 'a', to: 'c' },
    { from: 'd', to: 'e' },
  ];
  const at = tighten(boxes, links, new Set(['a']));
  assert.equal(at.get('c') - at.get('b'), 40 + 28);
  assert.ok(Math.abs(at.get('a') - (at.get('b') + at.get('c')) / 2) < 1);
  assert.equal(at.get('e') - at.get('d'), 300);
  assert.ok(at.get('d') - 20 > at.get('c') + 20);
});
