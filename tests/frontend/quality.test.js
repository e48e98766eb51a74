import assert from 'node:assert/strict';
import { test } from 'node:test';
import { fieldWords, lacking, previewWords, readValues, writeValues } from '../../frontend/js/data/quality.js';

test('values are texts, numbers, true and false, one a line, and come back as they were', () => {
  const values = ['ok', 1, 2.5, -3, true, false, '1', 'true', '"quoted"', 'a, b'];
  assert.deepEqual(readValues(writeValues(values)), values);
  assert.deepEqual(readValues('  ok \n\n 1\n'), ['ok', 1]);
  assert.deepEqual(readValues('"half'), ['"half']);
  assert.deepEqual(readValues('"bad \\x escape"'), ['"bad \\x escape"']);
});

test('a missing part of a rule is told at its field', () => {
  assert.deepEqual(Object.keys(lacking({ name: '', facet: '', path: '', passes: [] })), ['name', 'facet', 'path', 'passes']);
  assert.deepEqual(lacking({ name: 'a', facet: 'b', path: 'c', passes: [false] }), {});
});

test('the errors of the server stand at their fields, others do not', () => {
  assert.deepEqual(fieldWords({ passes: ['a list', 'of texts'], role: ['admin'] }), {
    passes: 'Expected a list and of texts.',
  });
});

test('a preview says how many tables it looked at', () => {
  assert.equal(previewWords({ total: 1, datasets: 9 }), '1 of 9 tables would be marked otherwise.');
  assert.equal(
    previewWords({ total: 1, datasets: 5000, cut: true }),
    '1 of the first 5000 tables would be marked otherwise.',
  );
});
