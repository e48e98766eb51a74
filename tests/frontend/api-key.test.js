import assert from 'node:assert/strict';
import { test } from 'node:test';
import { apiKeyHeader, createApiKey } from '../../frontend/js/data/api-key.js';

function storage() {
  const kept = new Map();
  return {
    kept,
    getItem: (name) => kept.get(name) ?? null,
    setItem: (name, value) => kept.set(name, value),
    removeItem: (name) => kept.delete(name),
  };
}

test('a key is kept, without the blanks around it, and found again', () => {
  const place = storage();
  createApiKey(place).set('  hw_1\n');
  assert.equal(createApiKey(place).get(), 'hw_1');
});

test('an empty key is forgotten', () => {
  const place = storage();
  const key = createApiKey(place);
  key.set('hw_1');
  key.set('');
  assert.equal(place.kept.size, 0);
  assert.equal(key.get(), '');
});

test('where storage is refused a key lasts as long as the page', () => {
  const refuse = () => {
    throw new Error('refused');
  };
  for (const place of [null, { getItem: refuse, setItem: refuse, removeItem: refuse }]) {
    const key = createApiKey(place);
    key.set('hw_1');
    assert.equal(key.get(), 'hw_1');
  }
});

test('a key that no header can carry is not sent', () => {
  assert.deepEqual(apiKeyHeader('hw_1'), { 'X-API-Key': 'hw_1' });
  for (const text of ['', 'a b', 'a\nb', 'schl\u00fcssel']) assert.deepEqual(apiKeyHeader(text), {});
});
