import assert from 'node:assert/strict';
import { test } from 'node:test';
import { checkWords, dependencyRules, numbers, qualityWords } from '../../frontend/js/panel/facets.js';

const failed = { assertion: 'not_null', column: 'id' };

test('a failed check is told with its column, where there is one', () => {
  assert.equal(checkWords(failed), 'not_null on id');
  assert.equal(checkWords({ assertion: 'row_count', column: null }), 'row_count');
});

test('a mark is told in words: the first failure, and the number of others', () => {
  assert.equal(qualityWords(undefined), '');
  assert.equal(qualityWords({ state: 'passed', failed: [], failures: 0 }), 'checks passed');
  assert.equal(
    qualityWords({ state: 'failed', failed: [failed], failures: 1 }),
    'checks failed: not_null on id',
  );
  assert.equal(
    qualityWords({ state: 'failed', failed: [failed], failures: 31 }),
    'checks failed: not_null on id and 30 more',
  );
});

test('rules of a dependency are told in words, as far as they are known', () => {
  assert.equal(dependencyRules({ type: '', sequenceRule: '', statusRule: '' }), '');
  assert.equal(
    dependencyRules({ type: '', sequenceRule: 'FINISH_TO_START', statusRule: 'EXECUTE_ON_SUCCESS' }),
    'finish to start · execute on success',
  );
});

test('of a body the numbers are told', () => {
  assert.equal(numbers({ rowCount: 9, size: 70, name: 'x', columnMetrics: {} }), 'rowCount 9, size 70');
});
