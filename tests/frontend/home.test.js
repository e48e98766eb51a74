/** The first visit: the copied text, the story of the sample. */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { producerOf } from '../../frontend/js/drawing/glyphs.js';
import { snippets } from '../../frontend/js/start/first-visit.js';
import { DAYS, tellAgain } from '../../frontend/js/start/sample.js';
import { STEPS } from '../../frontend/js/start/tour.js';

const read = (name) => JSON.parse(readFileSync(new URL(`../../frontend/sample/${name}.json`, import.meta.url), 'utf8'));
const [recorded, spark] = [read('estate'), read('spark')];
const NOW = Date.parse('2026-05-01T12:00:00Z');
let ids = 0;
const newId = () => `run-${(ids += 1)}`;
const { events, plans, executions } = tellAgain([...spark, ...recorded], NOW, newId);

test('every setting to copy names this server', () => {
  const origin = 'https://lineage.internal:9000';
  for (const { name, text } of snippets(origin, '2026-05-01T12:00:00Z')) assert.ok(text.includes(origin), name);
});

test('the sample is six days of runs that have ended, in a namespace of its own', () => {
  const runs = recorded.map(({ days = [0, DAYS] }) => days[1] - days[0]).reduce((sum, count) => sum + count, 0);
  assert.equal(events.length, 2 * runs);
  assert.equal(executions.length, 7 * DAYS);
  assert.deepEqual([...new Set(events.map((event) => event.job.namespace))], ['sample']);
  assert.ok(plans.every(({ labels }) => labels.namespace[0] === 'sample'));
  const times = events.map((event) => Date.parse(event.eventTime));
  assert.deepEqual(times, [...times].sort((one, other) => one - other));
  const all = [...times, ...executions.map(({ timestamp }) => timestamp)];
  assert.ok(Math.max(...all) < NOW && Math.min(...all) > NOW - (DAYS + 1) * 86_400_000);
  assert.equal(new Set(events.map((event) => event.run.runId)).size, runs);
  assert.equal(new Set(executions.map(({ extra }) => extra.appId)).size, executions.length);
});

test('the Spark jobs of the sample are plans of the listener, without a folder of the machine that ran them', () => {
  assert.ok(plans.every(({ agentInfo }) => agentInfo.name === 'headwater-listener'));
  assert.doesNotMatch(JSON.stringify(spark), /file:|derby|\/tmp\//i);
  const known = new Set(plans.map(({ id }) => id));
  assert.ok(executions.every(({ planId }) => known.has(planId)));
});

test('the orders of each day are a partition of their own', () => {
  const written = plans.filter(({ name }) => name === 'ingest_orders').map(({ operations }) => operations.write.outputSource);
  assert.equal(new Set(written).size, DAYS);
  assert.ok(written.every((path) => /\/day=2026-0[45]-\d\d$/.test(path)), written[0]);
  assert.equal(plans.filter(({ name }) => name === 'curate_customers').length, 1, 'a plan without a day is sent once');
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

test('before it failed a job upstream wrote one of its columns in another type, by another plan', () => {
  const [former, newest] = plans.filter(({ name }) => name === 'sessionise').map(({ attributes, extraInfo }) => {
    const type = attributes.findLast(({ name }) => name === 'bought').dataType;
    return extraInfo.dataTypes.find(({ id }) => id === type).name;
  });
  assert.deepEqual([former, newest], ['boolean', 'decimal(1,0)']);
});

test('on the last day one check fails; a job that ran daily has been missing for two', () => {
  const checks = events.flatMap(({ inputs }) => inputs.flatMap(({ inputFacets }) => inputFacets?.dataQualityAssertions.assertions ?? []));
  assert.deepEqual(checks.filter(({ success }) => !success).map(({ assertion, column }) => `${assertion} ${column}`), ['not_null country']);
  const last = events.filter(({ job }) => job.name === 'customer_value').map(({ eventTime }) => Date.parse(eventTime)).at(-1);
  assert.ok(NOW - last > 1.5 * 86_400_000 && NOW - last < 3 * 86_400_000);
});

test('a sample that is loaded again is another one: the removed one does not hide it', () => {
  const again = tellAgain([...spark, ...recorded], NOW, newId);
  const first = new Set([...events.map((event) => event.run.runId), ...plans.map(({ id }) => id)]);
  assert.ok(again.events.every((event) => !first.has(event.run.runId)));
  assert.ok(again.plans.every(({ id }) => !first.has(id)));
});

test('the other jobs of the sample have the producers of real ones', () => {
  const made = new Map(events.map(({ job, producer }) => [job.name, producerOf({ producer })]));
  assert.equal(made.get('publish_contacts'), 'airflow');
  assert.equal(made.get('daily_revenue'), 'dbt');
  assert.equal(made.get('revenue_dashboard'), 'reader');
  assert.ok([...made.values()].every((glyph) => glyph !== 'job'));
});

test('the tour ends with lineage of one’s own; each step before leads to a place of its own', () => {
  assert.equal(new Set(STEPS.slice(0, -1).map(({ href }) => href)).size, STEPS.length - 1);
  assert.equal(STEPS.at(-1)?.title, 'Send your own');
});
