import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { filtered, fullName, nextOrder, pathWords, shortName, sorted, tallyWords } from '../../frontend/js/data/impacts.js';

const read = (name) => JSON.parse(readFileSync(new URL(`fixtures/${name}.json`, import.meta.url), 'utf-8'));
const { items } = read('impact');
const judged = read('impact-dropped').items;
const KEYS = ['verdict', 'kind', 'name', 'depth', 'way', 'readers', 'run', 'owners', 'marks'];

test('a name tells its item from all others', () => {
  const names = items.map(fullName);
  assert.equal(new Set(names).size, names.length);
  assert.ok(names.includes('s3://lake/daily#total'));
  assert.ok(names.includes('default/report'));
});

test('a column is named with its table, a table and a job by their own names', () => {
  const path = [{ kind: 'column', id: 'col_1', label: 'daily.total' }];
  assert.equal(shortName({ kind: 'column', label: 'total', path }), 'daily.total');
  assert.equal(shortName({ kind: 'job', label: 'daily', path: [] }), 'daily');
});

test('a path has its jobs in brackets, and marks that turn writing round are shown', () => {
  const path = [
    { kind: 'dataset', id: 'ds_1', label: 'a' },
    { kind: 'job', id: 'job_1', label: 'j\u202e' },
    { kind: 'dataset', id: 'ds_2', label: 'b' },
  ];
  assert.equal(pathWords(path), 'a → (j\ufffd) → b');
});

test('kinds are counted in words', () => {
  assert.equal(tallyWords(items), '3 tables · 6 columns · 3 jobs');
  assert.equal(tallyWords(items.slice(0, 1)), '1 table');
  assert.equal(tallyWords([]), 'nothing');
});

test('every heading sorts both ways, keeps every item and leaves the given order alone', () => {
  for (const given of [items, judged]) {
    const before = given.map((item) => item.id);
    for (const key of KEYS) {
      for (const descending of [false, true]) {
        const made = sorted(given, { key, descending }).map((item) => item.id);
        assert.deepEqual([...made].sort(), [...before].sort(), key);
      }
    }
    assert.deepEqual(given.map((item) => item.id), before);
    assert.equal(sorted(given, null), given);
  }
});

test('a heading goes up, down and back', () => {
  const up = nextOrder(null, 'name');
  assert.deepEqual(up, { key: 'name', descending: false });
  const down = nextOrder(up, 'name');
  assert.deepEqual(down, { key: 'name', descending: true });
  assert.equal(nextOrder(down, 'name'), null);
  assert.deepEqual(nextOrder(down, 'depth'), { key: 'depth', descending: false });
});

test('the worst verdict stands first when sorted by verdict', () => {
  const two = [
    { ...judged[0], verdict: 'may-break' },
    { ...judged[1], verdict: 'breaks' },
  ];
  assert.deepEqual(
    sorted(two, { key: 'verdict', descending: false }).map((item) => item.verdict),
    ['breaks', 'may-break'],
  );
});

test('every word is looked for in all that a row shows', () => {
  const words = (text, kind = '') => filtered(items, { words: text, kind }).map((item) => fullName(item));
  assert.equal(words('').length, items.length);
  assert.deepEqual(words('SALES table').length, 0);
  assert.deepEqual(words('sales', 'dataset'), ['s3://lake/daily']);
  assert.deepEqual(words('report rounded'), ['s3://lake/report#rounded']);
  assert.equal(words('', 'job').length, 3);
  assert.equal(filtered(judged, { words: 'which is dropped', kind: 'job' }).length, 2);
});
