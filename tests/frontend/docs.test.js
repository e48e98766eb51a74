// The page over /openapi.json, made of the document.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { operations, resolve, typeWords } from '../../api/pages/docs.mjs';

const spec = {
  paths: {
    '/jobs/{id}': {
      parameters: [{ name: 'id', in: 'path', required: true, schema: { type: 'string' } }],
      get: { tags: ['graph'], summary: 'One job', parameters: [{ $ref: '#/components/parameters/at' }] },
      delete: {},
    },
  },
  components: {
    parameters: { at: { name: 'at', in: 'query', schema: { type: 'string' } } },
    schemas: { 'a/b': { type: 'object' } },
  },
};

test('every operation comes with the parameters of its path and its own', () => {
  const [get, remove] = operations(spec);
  assert.deepEqual([get.method, get.path, get.tag], ['GET', '/jobs/{id}', 'graph']);
  assert.deepEqual(
    get.parameters.map(({ name }) => name),
    ['id', 'at'],
  );
  assert.deepEqual([remove.method, remove.tag], ['DELETE', 'other']);
});

test('a document without paths has no operations', () => {
  assert.deepEqual(operations({}), []);
});

test('references are followed, escapes included, and circles end', () => {
  assert.equal(resolve(spec, { $ref: '#/components/schemas/a~1b' }).type, 'object');
  assert.deepEqual(resolve(spec, { $ref: '#/nothing/here' }), {});
  const circle = { a: { $ref: '#/a' } };
  assert.ok(resolve(circle, { $ref: '#/a' }));
});

test('types are said in a few words', () => {
  const say = (schema) => typeWords(spec, schema);
  assert.equal(say({ type: 'integer', minimum: 0, maximum: 50 }), 'integer, 0 to 50');
  assert.equal(say({ type: 'string', enum: ['up', 'down', null] }), 'up or down');
  assert.equal(say({ type: 'array', items: { $ref: '#/components/schemas/Plan' } }), 'list of Plan');
  assert.equal(say({ type: 'string', format: 'uuid' }), 'string (uuid)');
  assert.equal(say(undefined), 'any');
});
