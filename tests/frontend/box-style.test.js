/** Hues and letters that stand for a layer, a class, a namespace. */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { toModel } from '../../frontend/js/data/model.js';
import { huesOf, styleOfBox } from '../../frontend/js/drawing/box-style.js';
import { NAMES } from '../../frontend/js/drawing/palette.js';

const palette = Object.fromEntries(Object.keys(NAMES).map((name) => [name, `colour of ${name}`]));
const table = (id, more = {}) => ({ id, kind: 'dataset', label: id, uri: `s3://lake/${id}`, ...more });
const job = (id, namespace, more = {}) => ({ id, kind: 'job', label: id, namespace, name: id, ...more });
const layers = [{ name: 'curated', colour: '#8a5a00' }, { name: 'raw', colour: '#0b6a84' }];

test('every name has a letter of its own, the first of its letters that is free', () => {
  const nodes = [table('a', { classifications: ['PII', 'payroll'] }), table('b', { classifications: ['P', '数据'] })];
  const { classes } = huesOf(toModel({ nodes }), 'class');
  assert.deepEqual([...classes].map(([name, { letter }]) => [name, letter]), [['PII', 'P'], ['payroll', 'A'], ['P', 'B'], ['数据', '数']]);
});

test('many names differ by their letters where their hues come again', () => {
  const nodes = Array.from({ length: 30 }, (_, number) => job(`j${number}`, `team-${number}`));
  const hues = [...huesOf(toModel({ nodes }), 'namespace').tints.values()];
  assert.equal(new Set(hues.map(({ letter }) => letter)).size, 30);
  assert.equal(new Set(hues.slice(0, 8).map(({ colour }) => colour)).size, 8);
});

test('a class and a namespace of one picture share neither letter nor hue', () => {
  const nodes = [table('a', { classifications: ['sales'] }), job('j', 'sales')];
  const { classes, tints } = huesOf(toModel({ nodes }), 'namespace');
  const [tag, namespace] = [classes.get('sales'), tints.get('j')];
  assert.notEqual(tag.letter, namespace.letter);
  assert.notEqual(tag.colour, namespace.colour);
});

test('by namespace a job has the hue of its namespace, a table that of its store', () => {
  const nodes = [table('a'), table('b'), table('c', { uri: 'jdbc:postgresql://db:5433/shop:public.c' }), job('j', 'hr'), job('k', 'hr')];
  const { tints } = huesOf(toModel({ nodes }), 'namespace');
  assert.deepEqual(['a', 'b', 'c', 'j', 'k'].map((id) => tints.get(id).name), ['s3://lake', 's3://lake', 'jdbc:postgresql://db', 'hr', 'hr']);
});

test('by class a table has the hue of its class, else that of a column', () => {
  const column = { id: 'col', kind: 'column', label: 'mail', dataset: 's3://lake/b', datasetId: 'b', classifications: ['PII'] };
  const nodes = [table('a', { classifications: ['finance'] }), table('b'), column, table('c')];
  const { tints } = huesOf(toModel({ nodes }), 'class');
  assert.deepEqual(['a', 'b', 'c'].map((id) => tints.get(id)?.name), ['finance', 'PII', undefined]);
});

test('without a choice a table has the colour of its layer, and a job its own', () => {
  const model = toModel({ nodes: [table('a', { layer: 'curated' }), table('b'), job('j', 'hr')], layers });
  const hues = huesOf(model, '');
  const look = (id) => styleOfBox(model.boxes.get(id), palette, hues);
  assert.equal(look('a').edge, '#8a5a00');
  assert.equal(look('b').edge, 'colour of dataset');
  assert.equal(look('j').edge, 'colour of job');
});

test('that a run failed is seen before a hue', () => {
  const model = toModel({ nodes: [job('j', 'hr', { lastRun: { state: 'failed', at: '2026-03-01T00:00:00.000Z' } })] });
  assert.equal(styleOfBox(model.boxes.get('j'), palette, huesOf(model, 'namespace')).edge, 'colour of failed');
});

test('nodes added to a picture change no letter and no hue', () => {
  const fixture = JSON.parse(readFileSync(new URL('fixtures/overview.json', import.meta.url), 'utf8'));
  const model = toModel(fixture);
  const before = huesOf(model, 'namespace').tints;
  const added = toModel({ nodes: [job('new', 'aaa-first-by-name'), table('later', { uri: 'adls://first/x' })] });
  const grown = { ...model, boxes: new Map([...model.boxes, ...added.boxes]) };
  const after = huesOf(grown, 'namespace').tints;
  for (const [id, hue] of before) assert.deepEqual(after.get(id), hue);
  assert.equal(after.size, before.size + 2);
});
