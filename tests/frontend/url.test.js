import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  change,
  depthOf,
  fromLocalInput,
  jobReference,
  lineageOf,
  link,
  parse,
  sameQuestion,
  toLocalInput,
  write,
} from '../../frontend/js/data/url.js';
import { VIEWS } from '../../frontend/js/views.js';

test('an empty query string is the home page of now', () => {
  const state = parse('');
  assert.equal(state.view, 'home');
  assert.equal(state.at, '');
  assert.equal(state.as, 'graph');
  assert.equal(write(state), '/?view=home');
});

test('a written address is read back, for every view', () => {
  const full = {
    q: 'a&b=c',
    namespace: 'hr/eu',
    node: 'dataset:s3://lake/a b',
    plan: 'xp_1',
    dataset: 's3://lake/t',
    column: 'a.`b.c`',
    direction: 'upstream',
    depth: 3,
    columns: true,
    indirect: true,
    at: '2026-03-01T08:15:00.000Z',
    limit: 900,
    state: 'waiting',
    selected: 'ds_1',
    as: 'list',
  };
  for (const view of Object.keys(VIEWS)) {
    const address = write({ ...full, view });
    assert.equal(write(parse(address.slice(1))), address, view);
  }
});

test('a view writes only the parameters that it uses', () => {
  assert.equal(
    write({ view: 'journal', node: 'x', at: 'y', state: 'waiting' }),
    '/?view=journal&state=waiting',
  );
  assert.equal(write({ view: 'plan', plan: 'lp_1', depth: 4, columns: true }), '/?view=plan&plan=lp_1');
});

test('bounds of rows are whole numbers of at most 15 digits', () => {
  const { minRows, maxRows } = parse('?view=tables&minRows=100000000&maxRows=1e3');
  assert.deepEqual([minRows, maxRows], ['100000000', '']);
  assert.equal(write({ view: 'tables', minRows: '0' }), '/?view=tables&minRows=0');
});

test('values that mean nothing fall back to the default, so that the page still opens', () => {
  const state = parse('?view=nosuch&direction=sideways&depth=many&limit=-3&as=poem&state=lost&columns=maybe');
  assert.deepEqual(
    [state.view, state.direction, state.depth, state.limit, state.as, state.state, state.columns],
    ['home', 'both', null, null, 'graph', 'all', false],
  );
});

test('a view that is none is named, until the reader goes on', () => {
  const state = parse('?view=moon&unknown=x');
  assert.deepEqual([state.view, state.unknown], ['home', 'moon']);
  assert.equal(parse('?view=home&unknown=x').unknown, '');
  assert.equal(parse('').unknown, '');
  assert.equal(change(state, { by: 'namespace' }).unknown, '');
  assert.ok(!write(state).includes('moon'));
});

test('depth and limit are held within the bounds of the server', () => {
  assert.equal(parse('?view=lineage&depth=900').depth, 50);
  assert.equal(parse('?view=lineage&limit=0').limit, 1);
  assert.equal(parse('?view=lineage&depth=0').depth, 0);
});

test('each view has its own depth until the reader chooses one', () => {
  assert.equal(depthOf(parse('?view=lineage')), 1);
  assert.equal(depthOf(parse('?view=columns')), 10);
  assert.equal(depthOf(parse('?view=columns&depth=2')), 2);
});

test('a link to another view keeps time and form, and drops the selection', () => {
  const from = parse('?view=overview&at=2026-03-01T00:00:00Z&as=list&selected=ds_1&q=emp');
  const to = parse(link(from, { view: 'job', node: 'job:default/a' }).slice(1));
  assert.deepEqual(
    [to.view, to.at, to.as, to.selected, to.q],
    ['job', '2026-03-01T00:00:00Z', 'list', '', ''],
  );
});

test('moving the centre keeps direction, depth and toggles of the lineage view', () => {
  const from = parse('?view=lineage&node=ds_1&direction=upstream&depth=3&columns=true');
  const to = parse(lineageOf(from, 'ds_2').slice(1));
  assert.deepEqual([to.node, to.direction, to.depth, to.columns], ['ds_2', 'upstream', 3, true]);
  assert.equal(parse(lineageOf(parse('?view=overview'), 'ds_2').slice(1)).depth, null);
});

test('selection and form ask no new question; everything else does', () => {
  const state = parse('?view=lineage&node=ds_1');
  assert.ok(sameQuestion(state, change(state, { selected: 'ds_2', as: 'list' })));
  for (const changes of [
    { depth: 2 },
    { at: '1' },
    { columns: true },
    { node: 'ds_2' },
    { direction: 'upstream' },
    { limit: 9 },
  ]) {
    assert.ok(!sameQuestion(state, change(state, changes)), JSON.stringify(changes));
  }
});

test('a job reference escapes the separator inside its parts', () => {
  assert.equal(jobReference({ namespace: 'a/b', name: 'c d' }), 'job:a%2Fb/c%20d');
});

test('a local date and time becomes UTC and comes back', () => {
  const iso = fromLocalInput('2026-03-01T09:15');
  assert.match(iso, /^2026-0[23]-\d\dT\d\d:15:00\.000Z$/);
  assert.equal(toLocalInput(iso), '2026-03-01T09:15:00');
  assert.equal(toLocalInput(String(Date.parse(iso))), '2026-03-01T09:15:00');
});

test('a time that cannot be read is no time', () => {
  assert.equal(fromLocalInput(''), '');
  assert.equal(fromLocalInput('tomorrow'), '');
  assert.equal(toLocalInput('tomorrow'), '');
});

test('folded, ticked and selected nodes are in the link and ask no question', () => {
  const state = parse('?view=job&node=job_1');
  const other = change(state, { fans: 'd.ds_1.36', runs: 'run_1,run_2', selected: 'ds_1', as: 'list' });
  assert.ok(sameQuestion(state, other));
  assert.equal(write(parse(write(other).slice(1))), write(other));
  assert.ok(!sameQuestion(state, change(state, { at: '1' })));
});

test('a comparison of runs or executions is a link', () => {
  for (const one of [
    { node: 'job_1', fromRun: 'run_1', toRun: 'run_2' },
    { fromExecution: 'ex_1', toExecution: 'ex_2', columns: true },
  ]) {
    const address = write({ view: 'diff', ...one });
    const read = parse(address.slice(1));
    for (const [name, value] of Object.entries(one)) assert.equal(read[name], value);
  }
});
