/** The desk of the person on call, in words. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { factsOf, rowsAgainst, timeAgainst, wellOf } from '../../frontend/js/estate/incidents.js';

const incident = { members: [{}, {}], owners: ['finance', 'web'], tables: 14, readers: 1, partial: null };

test('an error says how many jobs it has, whose they are and what lies downstream', () => {
  assert.deepEqual(factsOf(incident), ['2 jobs', 'finance, web', 'affects 14 tables, 1 job that only reads']);
});

test('an owner of any length takes one line', () => {
  const [, owners] = factsOf({ ...incident, owners: ['x'.repeat(500)] });
  assert.equal(owners.length, 60);
});

test('a reach that was cut is a least one, and one that was not looked for is left out', () => {
  assert.equal(factsOf({ ...incident, owners: [], readers: 0, partial: { reason: 'nodes' } }).at(-1), 'affects at least 14 tables');
  assert.deepEqual(factsOf({ ...incident, owners: [], tables: null, readers: null }), ['2 jobs']);
});

test('an unusual write stands beside the usual one', () => {
  assert.equal(rowsAgainst({ value: 1200, usual: 100000 }), '1,200 rows, usually 100,000');
  assert.equal(timeAgainst({ value: 720_000, usual: 180_000 }), '12 min 0 s, usually 3 min 0 s');
});

test('what is well is one line without the kinds that have a card', () => {
  assert.equal(wellOf({ late: 2, slow: 0, small: 1, checks: 0 }), 'No write was unusually slow, no check failed.');
  assert.equal(wellOf({ late: 1, slow: 1, small: 1, checks: 1 }), '');
});

test('what was not read is not said to be well', () => {
  assert.equal(wellOf({ late: 0 }), 'No job is late.');
});
