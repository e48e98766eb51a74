import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { columnSentence, fieldSentences, justBefore } from '../../frontend/js/panel/differences.js';
import { CHANGES, planModel, toModel } from '../../frontend/js/data/model.js';
import { styleOf } from '../../frontend/js/drawing/links.js';
import { parse, sameQuestion, write } from '../../frontend/js/data/url.js';

const fixture = (name) =>
  JSON.parse(readFileSync(new URL(`./fixtures/${name}.json`, import.meta.url), 'utf8'));
const PALETTE = {
  feeds: 'f',
  direct: 'd',
  indirect: 'i',
  accent: 'a',
  ok: 'g',
  failed: 'r',
  busy: 'y',
};

test('a change of a schema is told column by column, in the words of the server', () => {
  const hand = JSON.parse(
    readFileSync(new URL('../fixtures/differences/schemas.json', import.meta.url), 'utf8'),
  ).filter((one) => one.sentences);
  assert.ok(hand.length > 3);
  for (const { rule, changes, sentences } of hand) {
    const told = changes.map(([change, path, before, after]) =>
      columnSentence({ change, path, before, after }),
    );
    assert.deepEqual(told, sentences, rule);
  }
});

test('a field shows its value before and after, and nothing where there was nothing', () => {
  assert.deepEqual(fieldSentences({ field: 'expression', before: 'a', after: 'a + b' }), [
    'expression was a, is a + b',
  ]);
  assert.deepEqual(fieldSentences({ field: 'modes', before: ['append'], after: [] }), [
    'mode was append, is nothing',
  ]);
  assert.deepEqual(fieldSentences({ field: 'how', before: 'IDENTITY', after: 'AGGREGATION' }), [
    'how was copied, is aggregated',
  ]);
});

test('plans are counted, for their ids say nothing', () => {
  assert.deepEqual(fieldSentences({ field: 'plans', before: ['a', 'b'], after: ['b', 'c'] }), [
    '1 new plan, 1 plan no longer',
  ]);
});

test('every change of the reply is in the model: on tables, jobs, columns and links', () => {
  const reply = fixture('diff');
  const model = toModel(reply);
  for (const node of reply.nodes) {
    const item = model.boxes.get(node.id) ?? model.rows.get(node.id);
    assert.equal(item.change, node.change ?? '');
  }
  const kinds = new Set(reply.edges.map((edge) => edge.change).filter(Boolean));
  assert.deepEqual([...kinds].sort(), ['added', 'removed']);
});

test('a link that is gone is dashed and one that is new is not: colour is not all that tells', () => {
  const reply = fixture('diff');
  const model = toModel(reply);
  for (const edge of reply.edges) {
    if (!edge.change) continue;
    const style = styleOf(model.links.get(edge.id), PALETTE, false);
    assert.deepEqual(style.dashes, CHANGES[edge.change].dashes || []);
    assert.equal(style.colour, PALETTE[CHANGES[edge.change].colour]);
    assert.ok(style.width > 1.4);
  }
});

test('a word that is no change of ours marks nothing', () => {
  const model = toModel({ nodes: [{ id: 'a', kind: 'dataset', label: 'a', change: 'constructor' }] });
  assert.equal(model.boxes.get('a').change, '');
});

test('two plans are one model with the changes of their operations', () => {
  const { plan } = fixture('diff-plans');
  const model = planModel(plan);
  assert.equal(model.boxes.size, plan.operations.length);
  assert.ok([...model.boxes.values()].every((box) => box.change === 'changed'));
});

test('a comparison is a link: both times, or both plans', () => {
  const times = { view: 'diff', node: 'ds_1', from: '2026-01-01T00:00:00.000Z', to: '' };
  assert.equal(write(times), '/?view=diff&node=ds_1&from=2026-01-01T00%3A00%3A00.000Z');
  const plans = '/?view=plans&fromPlan=a&toPlan=b';
  assert.equal(write(parse(plans.slice(1))), plans);
  assert.ok(!sameQuestion(parse(plans.slice(1)), { ...parse(plans.slice(1)), toPlan: 'c' }));
});

test('just before a time is one millisecond before it', () => {
  assert.equal(justBefore('2026-01-01T00:00:00.000Z'), '2025-12-31T23:59:59.999Z');
});
