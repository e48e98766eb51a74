import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { announcement } from '../../frontend/js/page/list.js';
import { bounds, find, hit, planModel, swatch, tally, titleHeight, toModel } from '../../frontend/js/data/model.js';
import { emphasis, neighbourhood, next, step, trace } from '../../frontend/js/data/walk.js';
import { words } from '../../frontend/js/views/overview.js';

const fixture = (name) => JSON.parse(readFileSync(new URL(`fixtures/${name}.json`, import.meta.url), 'utf8'));
const labels = (model, ids) => [...ids].map((id) => find(model, id).label).sort();
const named = (model, label) => [...model.boxes.values()].find((box) => box.label === label);
const rowOf = (model, table, column) => named(model, table).rows.find((row) => row.label === column);

const table = (id, more = {}) => ({
  id,
  kind: 'dataset',
  label: id,
  uri: `s3://lake/${id}`,
  scope: '',
  ...more,
});
const task = (id, more = {}) => ({ id, kind: 'job', label: id, namespace: 'default', name: id, ...more });
const feeds = (from, to) => ({ id: `${from}-${to}`, kind: 'feeds', from, to });

test('the overview of the example has its jobs, tables, edges and its failed job', () => {
  const model = toModel(fixture('overview'));
  assert.deepEqual(tally(model), { datasets: 8, jobs: 4, operations: 0, columns: 0, links: 12, failed: 1 });
  assert.equal(named(model, 'attendance').failed, true);
  assert.equal(named(model, 'attendance').detail, 'last run failed');
});

test('places of the server are kept as they are', () => {
  const reply = fixture('lineage-columns');
  const model = toModel(reply);
  for (const node of reply.nodes) {
    const item = find(model, node.id);
    assert.equal(item.y, node.y, node.label);
    if (node.kind !== 'column') assert.equal(item.x, node.x);
  }
});

test('columns sit inside their table, in schema order, below its title', () => {
  const model = toModel(fixture('lineage-columns'));
  for (const box of model.boxes.values()) {
    assert.deepEqual(
      box.rows.map((row) => row.id),
      box.node.columns ?? [],
    );
    for (const row of box.rows) {
      assert.ok(row.y - row.height / 2 >= box.y - box.height / 2 + titleHeight(box) - 0.01);
      assert.ok(row.y + row.height / 2 <= box.y + box.height / 2 + 0.01);
    }
  }
});

test('columns without places follow the order of their table', () => {
  const column = (id) => ({ id, kind: 'column', label: id, name: id, dataset: 's3://lake/t', datasetId: 't' });
  const nodes = [column('c'), column('a'), column('b'), table('t', { columns: ['a', 'b', 'c'] })];
  const { rows } = toModel({ nodes, edges: [] }).boxes.get('t');
  assert.deepEqual(
    rows.map((row) => row.label),
    ['a', 'b', 'c'],
  );
  assert.ok(rows[0].y < rows[1].y && rows[1].y < rows[2].y);
});

test('a repeated node or edge counts once, an edge to nowhere is left out', () => {
  const model = toModel({
    nodes: [table('a'), table('a'), task('j')],
    edges: [feeds('a', 'j'), feeds('a', 'j'), feeds('a', 'ghost')],
  });
  assert.deepEqual([model.boxes.size, model.links.size], [2, 1]);
});

test('columns whose table did not come along are seated in a table made up from them', () => {
  const column = {
    id: 'col_1',
    kind: 'column',
    label: 'salary',
    name: 'salary',
    dataset: 's3://lake/hr/employees',
    datasetId: 'ds_9',
    type: 'int',
  };
  const model = toModel({ nodes: [column], edges: [] });
  assert.equal(model.boxes.get('ds_9').label, 'employees');
  assert.deepEqual(
    model.boxes.get('ds_9').rows.map((row) => row.label),
    ['salary'],
  );
});

test('the focus is found by id, by URI and by job reference, and named by the server when it can', () => {
  const reply = fixture('overview');
  const id = reply.nodes[0].id;
  assert.equal(toModel(reply, id).focus, id);
  assert.equal(toModel(reply, `dataset:${encodeURIComponent(reply.nodes[0].uri)}`).focus, id);
  assert.equal(
    find(toModel(reply, 'job:default/attendance'), toModel(reply, 'job:default/attendance').focus).label,
    'attendance',
  );
  assert.equal(toModel({ ...reply, focus: 'ds_x' }, id).focus, 'ds_x');
  assert.equal(toModel(reply, 'dataset:%').focus, '');
});

test('everything is read once, from left to right, columns after their table', () => {
  const model = toModel(fixture('lineage-columns'));
  assert.equal(new Set(model.order).size, model.boxes.size + model.rows.size);
  const xs = model.order.filter((id) => model.boxes.has(id)).map((id) => model.boxes.get(id).x);
  assert.deepEqual(
    xs,
    [...xs].sort((one, other) => one - other),
  );
  const box = named(model, 'monthly_attendance');
  assert.equal(model.order[model.order.indexOf(box.id) + 1], box.rows[0].id);
});

test('hovering lights up an item, its edges and their other ends', () => {
  const model = toModel(fixture('overview'));
  const lit = neighbourhood(model, named(model, 'attendance').id);
  const boxes = [...lit].filter((id) => model.boxes.has(id));
  assert.deepEqual(labels(model, boxes), [
    'attendance',
    'attendance_records',
    'employees',
    'monthly_attendance',
  ]);
  assert.equal([...lit].filter((id) => model.links.has(id)).length, 3);
});

test('a column lights up everything it comes from and everything that comes from it, but no sibling', () => {
  const model = toModel(fixture('lineage-columns'));
  const curated = [...model.boxes.values()].find(
    (box) => box.label === 'employees' && box.rows.length === 10,
  );
  const salary = curated.rows.find((row) => row.label === 'salary');
  const rows = [...trace(model, salary.id)].filter((id) => model.rows.has(id));
  assert.deepEqual(labels(model, rows), ['average_salary', 'salary', 'salary', 'total_compensation']);
  const total = rowOf(model, 'department_payroll_by_site_and_cost_centre', 'total_compensation');
  const above = [...trace(model, total.id)].filter((id) => model.rows.has(id));
  assert.deepEqual(labels(model, above), ['bonus', 'bonus', 'salary', 'salary', 'total_compensation']);
});

test('a trace ends on a cycle', () => {
  const column = (id) => ({
    id,
    kind: 'column',
    label: id,
    name: id,
    dataset: 's3://lake/t',
    datasetId: 't',
    type: 'int',
  });
  const edge = (from, to) => ({ id: `${from}${to}`, kind: 'DIRECT', how: 'IDENTITY', from, to });
  const model = toModel({
    nodes: [table('t'), column('a'), column('b')],
    edges: [edge('a', 'b'), edge('b', 'a')],
  });
  assert.ok(trace(model, 'a').has('b'));
});

test('a chosen job lights its whole way: all that leads to it and all that it leads to', () => {
  const chain = toModel({
    nodes: [table('a'), task('j'), table('b'), task('k'), table('c'), task('sibling')],
    edges: [feeds('a', 'j'), feeds('j', 'b'), feeds('b', 'k'), feeds('k', 'c'), feeds('a', 'sibling')],
  });
  const lit = emphasis(chain, 'k');
  assert.deepEqual(labels(chain, [...lit].filter((id) => chain.boxes.has(id))), ['a', 'b', 'c', 'j', 'k']);
});

test('nothing fades when nothing is selected or the selection is not in the picture', () => {
  const model = toModel(fixture('overview'));
  assert.equal(emphasis(model, ''), null);
  assert.equal(emphasis(model, 'ds_gone'), null);
});

test('right and left follow edges, and lead back the way that was come', () => {
  const model = toModel(fixture('overview'));
  const start = named(model, 'attendance_records').id;
  const job = step(model, { id: start, came: null }, 'ArrowRight');
  assert.equal(find(model, job.id).label, 'attendance');
  const onward = step(model, job, 'ArrowRight');
  assert.equal(find(model, onward.id).label, 'monthly_attendance');
  assert.equal(step(model, onward, 'ArrowRight'), null);
  assert.equal(step(model, onward, 'ArrowLeft').id, job.id);
  assert.equal(step(model, step(model, onward, 'ArrowLeft'), 'ArrowLeft').id !== undefined, true);
  assert.equal(step(model, job, 'ArrowLeft').id, start);
});

test('the way back leads to where one came from, not to the first neighbour', () => {
  const model = toModel(fixture('overview'));
  const job = named(model, 'attendance').id;
  const [first, second] = next(model, job, 'upstream');
  assert.notEqual(first, second);
  const arrived = step(model, { id: second, came: null }, 'ArrowRight');
  assert.equal(arrived.id, job);
  assert.equal(step(model, arrived, 'ArrowLeft').id, second);
  assert.equal(step(model, { id: job, came: null }, 'ArrowLeft').id, first);
});

test('page keys go through the other ends of the same origin, round and round', () => {
  const model = toModel(fixture('overview'));
  const ingest = named(model, 'employee-ingest').id;
  const first = step(model, { id: ingest, came: null }, 'ArrowRight');
  const second = step(model, first, 'PageDown');
  assert.notEqual(second.id, first.id);
  assert.deepEqual(new Set([first.id, second.id]), new Set(next(model, ingest, 'downstream')));
  assert.equal(step(model, second, 'PageDown').id, first.id);
  assert.equal(step(model, { id: ingest, came: null }, 'PageDown'), null);
});

test('down, up, home and end walk the reading order and stop at its ends', () => {
  const model = toModel(fixture('overview'));
  const at = (id) => ({ id, came: null });
  const { order } = model;
  assert.equal(step(model, at(order[0]), 'ArrowDown').id, order[1]);
  assert.equal(step(model, at(order[0]), 'ArrowUp'), null);
  assert.equal(step(model, at(order[3]), 'Home').id, order[0]);
  assert.equal(step(model, at(order[3]), 'End').id, order.at(-1));
  assert.equal(step(model, at(order.at(-1)), 'ArrowDown'), null);
  assert.equal(step(model, at(order[0]), 'x'), null);
});

test('an announcement tells name, kind, state, neighbours and the place among siblings', () => {
  const model = toModel(fixture('overview'));
  const job = named(model, 'attendance').id;
  assert.equal(
    announcement(model, { id: job, came: null }),
    'attendance, Job, last run failed, 2 upstream, 1 downstream',
  );
  const arrived = step(model, { id: job, came: null }, 'ArrowLeft');
  assert.match(announcement(model, arrived), /\. 1 of 2 upstream of attendance$/);
});

test('a point hits the column before the table, and nothing beside them', () => {
  const model = toModel(fixture('lineage-columns'));
  const box = named(model, 'monthly_attendance');
  assert.equal(hit(model, box.x, box.rows[2].y), box.rows[2].id);
  assert.equal(hit(model, box.x, box.y - box.height / 2 + 4), box.id);
  assert.equal(hit(model, box.x + box.width, box.y), '');
});

test('the words of the overview count all nodes, and the drawn ones where these are fewer', () => {
  const model = toModel(fixture('overview'));
  const totals = { jobs: 4, datasets: 8, failed: 1 };
  assert.equal(words(totals, model), '4 jobs, 1 whose last run failed · 8 tables');
  assert.equal(
    words({ jobs: 289, datasets: 8, failed: 0 }, model),
    '289 jobs · 8 tables · drawn: 4 jobs, 8 tables',
  );
  const [table] = [...model.boxes.values()].filter(({ kind }) => kind === 'dataset');
  table.node = { ...table.node, names: ['hive://meta/hr.pay'] };
  assert.equal(words({ jobs: 4, datasets: 9, failed: 0 }, model), '4 jobs · 9 tables, 1 of them a second name of a drawn one');
  assert.equal(words({ jobs: 4, datasets: 8, failed: 0 }, model), '4 jobs · 8 tables');
});

test('a plan becomes operations: friendly name first, its expression beneath', () => {
  const model = planModel(fixture('plan'));
  assert.equal(model.boxes.size, 7);
  assert.equal(model.links.size, 6);
  const labelsOf = [...model.boxes.values()].map((box) => [box.label, box.detail]);
  assert.deepEqual(labelsOf[0], ['employees', 'read · LogicalRelation']);
  assert.deepEqual(labelsOf[2], ['Filter', 'active AND (hired_on < current_date())']);
  for (const link of model.links.values()) assert.equal(link.way, 'forward');
});

test('hostile names stay text, as long as they are', () => {
  const model = toModel(fixture('hostile'));
  assert.ok([...model.boxes.values()].some((box) => box.label === '<img src=x onerror=alert(1)>'));
  assert.ok([...model.boxes.values()].some((box) => box.label.length === 2000));
});

test('an empty reply is an empty model', () => {
  const model = toModel(fixture('empty'));
  assert.equal(bounds(model), null);
  assert.deepEqual(model.order, []);
  assert.equal(step(model, { id: '', came: null }, 'ArrowRight'), null);
});

test('two thousand tables with columns are modelled in a moment', () => {
  const nodes = [];
  const edges = [];
  for (let number = 0; number < 2000; number += 1) {
    nodes.push(table(`t${number}`));
    if (number > 0) edges.push(feeds(`t${number - 1}`, `t${number}`));
  }
  const model = toModel({ nodes, edges });
  assert.equal(model.order.length, 2000);
  assert.equal(model.order[1999], 't1999');
});

test('a table has the layer that the reply names, with its colour', () => {
  const reply = {
    nodes: [
      { id: 'ds_1', kind: 'dataset', label: 'a', uri: 's3://a', layer: 'raw' },
      { id: 'ds_2', kind: 'dataset', label: 'b', uri: 's3://b', layer: null },
    ],
    edges: [],
    layers: [{ name: 'raw', colour: '#8a5a00' }],
  };
  const { boxes } = toModel(reply);
  assert.deepEqual(boxes.get('ds_1').layer, { name: 'raw', colour: '#8a5a00' });
  assert.equal(boxes.get('ds_2').layer, null);
});

test('a text that is no colour becomes no style', () => {
  assert.equal(swatch('#8a5a00'), 'background: #8a5a00');
  for (const hostile of ['red; background: url(x)', '#fff', '', null, undefined, '#8a5a00;'])
    assert.equal(swatch(hostile), null);
});

test('a field hangs under its column, and a column that no schema has says so', () => {
  const column = (id, name, more = {}) => ({
    id,
    kind: 'column',
    label: name,
    name,
    datasetId: 't',
    type: null,
    ...more,
  });
  const nodes = [
    table('t', { columns: ['items', 'sku', 'deep', 'kpi'] }),
    column('items', 'Items', { type: 'array<struct<sku:string>>', known: 'schema', parent: null }),
    column('sku', 'items.sku', { known: 'schema', parent: 'items' }),
    column('deep', 'items.sku.a', { known: 'schema', parent: 'sku' }),
    column('kpi', 'kpi', { known: 'lineage', parent: null }),
  ];
  const rows = toModel({ nodes, edges: [] }).boxes.get('t').rows;
  assert.deepEqual(
    rows.map(({ short, indent, aside }) => [short, indent, aside]),
    [
      ['Items', 0, 'array<struct<sku:string>>'],
      ['sku', 1, ''],
      ['a', 2, ''],
      ['kpi', 0, 'by lineage'],
    ],
  );
});
