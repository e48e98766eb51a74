import assert from 'node:assert/strict';
import { test } from 'node:test';
import { placesOf } from '../../frontend/js/views/search.js';
import { detailWords, formatTime, matchedWords } from '../../frontend/js/data/format.js';
import { grouped } from '../../frontend/js/controls/search.js';

test('results are grouped as tables, jobs, columns, runs, each in the order of the server', () => {
  const items = [
    { kind: 'column', id: 'c1' },
    { kind: 'job', id: 'j1' },
    { kind: 'dataset', id: 'd1' },
    { kind: 'column', id: 'c2' },
    { kind: 'poem', id: 'p' },
    { kind: 'run', id: 'r1' },
  ];
  const groups = grouped(items).map((group) => [group.heading, group.items.map((item) => item.id)]);
  assert.deepEqual(groups, [
    ['Tables', ['d1']],
    ['Jobs', ['j1']],
    ['Columns', ['c1', 'c2']],
    ['Runs', ['r1']],
  ]);
});

test('results are counted by where they are: a store, a folder of files, a namespace of jobs', () => {
  const items = [
    { kind: 'dataset', detail: 's3://lake/a' },
    { kind: 'column', detail: 's3://lake/b' },
    { kind: 'dataset', detail: 'jdbc:redshift://warehouse.example.org/analytics:mart.x' },
    { kind: 'dataset', detail: 'file:/lake/c' },
    { kind: 'job', detail: 'hr' },
    { kind: 'column', detail: '' },
  ];
  assert.deepEqual(placesOf(items), [
    ['s3://lake', 2],
    ['file', 1],
    ['hr', 1],
    ['jdbc:redshift://warehouse.example.org', 1],
  ]);
});

test('a result says by what it was found, where that is not its name', () => {
  assert.equal(matchedWords({ what: 'owner', text: 'team:sales' }), 'owner: team:sales');
  assert.equal(matchedWords({ what: 'path', text: 's3://lake/a/part-0' }), 'holds: s3://lake/a/part-0');
  assert.equal(matchedWords(null), '');
});

test('of a run that is found the time is in the reader’s words, of a table the place as it is', () => {
  const at = '2026-03-02T06:10:01.220Z';
  assert.equal(detailWords({ kind: 'run', detail: `failed, ${at}` }), `failed, ${formatTime(at)}`);
  assert.equal(detailWords({ kind: 'dataset', detail: `s3://lake/a, ${at}` }), `s3://lake/a, ${at}`);
  assert.equal(detailWords({ kind: 'job' }), '');
});
