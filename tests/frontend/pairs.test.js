import assert from 'node:assert/strict';
import { test } from 'node:test';
import { growth, oldestFirst, pairExecutions, pick, sideBySide } from '../../frontend/js/runs/pairs.js';

const execution = (id, at, target, more = {}) => ({ id, at, target: target ? { id: target } : null, plan: 'lp', ...more });

test('executions of one table belong together, the first with the first', () => {
  const before = [execution('b2', '2', 't'), execution('b1', '1', 't'), execution('b3', '3', 'gone')];
  const after = [execution('a2', '5', 't'), execution('a1', '4', 't'), execution('a3', '6', 'new')];
  const ids = pairExecutions(before, after).map(({ before: one, after: other }) => [one?.id ?? null, other?.id ?? null]);
  assert.deepEqual(ids, [
    ['b1', 'a1'],
    ['b2', 'a2'],
    [null, 'a3'],
    ['b3', null],
  ]);
});

test('executions that write nothing belong together by their plan', () => {
  const [pair, ...rest] = pairExecutions([execution('b', '1', null)], [execution('a', '2', null)]);
  assert.deepEqual([pair.before.id, pair.after.id, rest.length], ['b', 'a', 0]);
});

test('runs stand in the order of their time, ended or not', () => {
  const runs = [
    { id: 'late', startedAt: '2', endedAt: '5' },
    { id: 'going', startedAt: '4', endedAt: null },
    { id: 'early', startedAt: '1', endedAt: '3' },
  ];
  assert.deepEqual(
    oldestFirst(runs).map(({ id }) => id),
    ['early', 'going', 'late'],
  );
});

test('two runs are picked at most, the newest choices stay', () => {
  let picked = pick('', 'a', true);
  picked = pick(picked, 'b', true);
  assert.equal(picked, 'a,b');
  assert.equal(pick(picked, 'c', true), 'b,c');
  assert.equal(pick(picked, 'a', false), 'b');
  assert.equal(pick(picked, 'b', true), 'a,b');
});

test('differences are marked, fields that neither has are left out', () => {
  const before = { state: 'completed', mode: 'append', error: null, partitions: [], metrics: { write: { rows: 0, bytes: 9 } } };
  const after = { state: 'failed', mode: 'append', error: 'boom', partitions: ['b=1', 'a=1'], metrics: { write: { rows: 5 } } };
  const rows = Object.fromEntries(sideBySide(before, after).map(({ name, ...row }) => [name, row]));
  assert.deepEqual(rows.State, { before: 'completed', after: 'failed', differs: true });
  assert.deepEqual(rows.Mode, { before: 'append', after: 'append', differs: false });
  assert.deepEqual(rows['write rows'], { before: 0, after: 5, differs: true });
  assert.deepEqual(rows['write bytes'], { before: 9, after: null, differs: true });
  assert.deepEqual(rows.Partitions, { before: null, after: 'a=1, b=1', differs: true });
  assert.equal(rows.Command, undefined);
});

test('a number grows by a share of its former value', () => {
  assert.equal(growth(10, 15), 0.5);
  assert.equal(growth(10, 5), -0.5);
  for (const [one, other] of [
    [0, 5],
    [5, 5],
    [null, 5],
    ['1', 2],
  ])
    assert.equal(growth(one, other), null);
});
