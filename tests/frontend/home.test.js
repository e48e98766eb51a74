/** The first visit: the copied text, the story of the sample. */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { producerOf } from '../../frontend/js/drawing/glyphs.js';
import { snippets } from '../../frontend/js/start/first-visit.js';
import { tellAgain } from '../../frontend/js/start/sample.js';
import { STEPS } from '../../frontend/js/start/tour.js';

const recorded = JSON.parse(readFileSync(new URL('../../frontend/sample/estate.json', import.meta.url), 'utf8'));
const NOW = Date.parse('2026-05-01T12:00:00Z');
let ids = 0;
const events = tellAgain(recorded, NOW, () => `run-${(ids += 1)}`);

test('every setting to copy names this server', () => {
  const origin = 'https://lineage.internal:9000';
  for (const { name, text } of snippets(origin, '2026-05-01T12:00:00Z')) assert.ok(text.includes(origin), name);
});

test('the sample is five days of runs that have ended, in a namespace of its own', () => {
  assert.equal(events.length, 2 * 5 * recorded.length);
  assert.deepEqual([...new Set(events.map((event) => event.job.namespace))], ['sample']);
  const times = events.map((event) => Date.parse(event.eventTime));
  assert.deepEqual(times, [...times].sort((one, other) => one - other));
  assert.ok(times.at(-1) < NOW && times[0] > NOW - 6 * 86_400_000);
  assert.equal(new Set(events.map((event) => event.run.runId)).size, 5 * recorded.length);
});

test('every hop between columns of the sample has its expression, one for all sources of a column', () => {
  for (const { event } of recorded)
    for (const output of event.outputs)
      for (const [name, { inputFields }] of Object.entries(output.facets.columnLineage?.fields ?? {})) {
        const texts = inputFields.flatMap(({ transformations }) => transformations.map(({ description }) => description));
        assert.ok(new Set(texts).size === 1 && texts[0], `${event.job.name}: ${name} is ${texts}`);
      }
});

test('one run of the sample failed, on the last day, and wrote nothing', () => {
  const failed = events.filter((event) => event.eventType === 'FAIL');
  assert.equal(failed.length, 1);
  assert.ok(Date.parse(failed[0].eventTime) > NOW - 86_400_000);
  assert.equal(failed[0].outputs[0].outputFacets, undefined);
});

test('before it failed a job upstream wrote one of its columns in another type', () => {
  const types = events
    .filter(({ eventType, job }) => eventType === 'COMPLETE' && job.name === 'sessionise')
    .map(({ outputs }) => outputs[0].facets.schema.fields.find(({ name }) => name === 'bought').type);
  assert.deepEqual(types, [...Array(4).fill('boolean'), 'decimal(1,0)']);
});

test('a sample that is loaded again is another one: the removed one does not hide it', () => {
  const again = tellAgain(recorded, NOW, () => `run-${(ids += 1)}`);
  const first = new Set(events.map((event) => event.run.runId));
  assert.ok(again.every((event) => !first.has(event.run.runId)));
});

test('the jobs of the sample have the producers of real ones', () => {
  const made = new Map(events.map(({ job, producer }) => [job.name, producerOf({ producer })]));
  assert.equal(made.get('curate_order_items'), 'spark');
  assert.equal(made.get('publish_contacts'), 'airflow');
  assert.equal(made.get('daily_revenue'), 'dbt');
  assert.equal(made.get('revenue_dashboard'), 'reader');
  assert.ok([...made.values()].every((glyph) => glyph !== 'job'));
});

test('the tour has five steps, each with a place of its own', () => {
  assert.equal(STEPS.length, 5);
  assert.equal(new Set(STEPS.map(({ href }) => href)).size, 5);
});
