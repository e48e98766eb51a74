import assert from 'node:assert/strict';
import { test } from 'node:test';
import { matching, nextMatch } from '../../frontend/js/controls/find.js';
import { planModel, toModel } from '../../frontend/js/data/model.js';
import { within } from '../../frontend/js/controls/divider.js';

const TABLE = { kind: 'dataset', id: 'ds_1', label: 'staff', uri: 's3://lake/hr/staff' };
const COLUMN = { kind: 'column', id: 'col_1', label: 'base_pay', name: 'base_pay', dataset: TABLE.uri, datasetId: 'ds_1' };

test('every word must be there, in a name, a path or an expression', () => {
  const model = toModel({ nodes: [TABLE, COLUMN], edges: [] });
  assert.deepEqual(matching(model, 'HR staff'), ['ds_1']);
  assert.deepEqual(matching(model, 'pay'), ['col_1']);
  assert.deepEqual(matching(model, '  '), []);
});

test('an operation is found by its expressions and by the operations folded into it', () => {
  const operation = (id, more) => ({ id, kind: 'transform', name: 'Project', schema: null, properties: [], datasets: [], ...more });
  const plan = planModel({
    operations: [
      operation('op-1', { properties: [{ name: 'condition', text: 'pay > 10' }] }),
      operation('op-2', { folded: ['SubqueryAlias'] }),
      operation('op-3', { schema: [{ name: 'total', expression: 'sum(pay)' }] }),
    ],
    edges: [],
  });
  assert.deepEqual(matching(plan, 'pay').sort(), ['op-1', 'op-3']);
  assert.deepEqual(matching(plan, 'subqueryalias'), ['op-2']);
});

test('the next match comes after the selected one, going round', () => {
  assert.equal(nextMatch(['a', 'b'], 'a'), 'b');
  assert.equal(nextMatch(['a', 'b'], 'b'), 'a');
  assert.equal(nextMatch(['a', 'b'], 'elsewhere'), 'a');
  assert.equal(nextMatch([], 'a'), '');
});

test('the line under the picture keeps within bounds, and a sliver is closed', () => {
  assert.deepEqual([within(2), within(33.4), within(99)], [1, 33, 90]);
});
