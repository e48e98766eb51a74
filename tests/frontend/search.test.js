import assert from 'node:assert/strict';
import { test } from 'node:test';
import { grouped } from '../../frontend/js/page/search.js';

test('results are grouped as tables, jobs, columns, each in the order of the server', () => {
  const items = [
    { kind: 'column', id: 'c1' },
    { kind: 'job', id: 'j1' },
    { kind: 'dataset', id: 'd1' },
    { kind: 'column', id: 'c2' },
    { kind: 'poem', id: 'p' },
  ];
  const groups = grouped(items).map((group) => [group.heading, group.items.map((item) => item.id)]);
  assert.deepEqual(groups, [
    ['Tables', ['d1']],
    ['Jobs', ['j1']],
    ['Columns', ['c1', 'c2']],
  ]);
});
