/** The form of declared lineage: the sent body, missing values, the places of errors. */
import assert from 'node:assert/strict';
import { test } from 'node:test';

import { emptyDraft, fieldErrors, missing, toBody } from '../../frontend/js/data/declaration.js';

const PEOPLE = { id: 'ds_1', uri: 's3://lake/people' };
const SHEET = { id: '', uri: 's3://sheets/plan' };

const draft = (changes) => ({ ...emptyDraft(), target: PEOPLE, sources: [SHEET], ...changes });

test('a known table goes by its id, a new one by its URI', () => {
  assert.deepEqual(toBody(draft({})), {
    target: 'ds_1',
    sources: ['s3://sheets/plan'],
    columns: [],
    note: '',
  });
});

test('an empty field is not sent, and an untouched line of columns is none', () => {
  const columns = [
    { source: 's3://sheets/plan', from: ' cost ', to: 'total' },
    { source: 's3://sheets/plan', from: '', to: ' ' },
  ];
  const body = toBody(draft({ columns, job: ' finance/close ', since: '', note: 'why' }));
  assert.deepEqual(body.columns, [{ source: 's3://sheets/plan', from: 'cost', to: 'total' }]);
  assert.equal(body.job, 'finance/close');
  assert.ok(!('since' in body));
});

test('a half-filled line of columns is sent, so that the server names the missing part', () => {
  const columns = [{ source: '', from: 'cost', to: '' }];
  assert.deepEqual(toBody(draft({ columns })).columns, [{ source: 's3://sheets/plan', from: 'cost', to: '' }]);
});

test('a draft without a target and sources says which fields it lacks', () => {
  assert.deepEqual(Object.keys(missing(emptyDraft())), ['target', 'sources']);
  assert.deepEqual(missing(draft({})), {});
});

test('the errors of the server are told at the field they belong to', () => {
  const errors = {
    'declarations[0].sources[1]': ['a URI'],
    'declarations[0].columns[2].from': ['a column of s3://lake/people'],
    'declarations[0].columns[0]': ['a JSON object'],
    role: ['admin'],
  };
  assert.deepEqual(fieldErrors(errors), {
    sources: 'expected a URI',
    columns: 'line 3, from: expected a column of s3://lake/people; line 1: expected a JSON object',
  });
});
