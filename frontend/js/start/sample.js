/**
 * The sample: one day of a small web shop, told again for six days that end now. Its Spark jobs are plans
 * that our listener reported of real ones (`python -m bench.page.recording`), the others events of
 * OpenLineage. Every job has the namespace `sample`, so the sample mixes with nothing and can be taken
 * away whole.
 */
import { SAMPLE } from '../data/url.js';

export const DAYS = 6;
const DAY = 86_400_000;
/** The day of the records, as their paths and texts name it. */
const RECORDED_DAY = /2026-01-05/g;
/** In the last of the days this job fails, after a job before it has written a column in another type. */
const FAILS = 'conversion';
/** In the last of the days this column has empty fields, where a check wants none. */
const UNCHECKED = 'country';
const RECORDS = Object.freeze(['/sample/spark.json', '/sample/estate.json']);
/** The column of persons that carries a tag. */
const TAGGED = Object.freeze({ tag: 'PII', node: 'column:s3://shop-lake/raw/customers#email', owner: 'team:privacy' });

/**
 * @typedef {object} Recorded
 * @property {number} beganSeconds  after midnight
 * @property {number} seconds       how long it ran
 * @property {[number, number]} [days]  the days on which it ran: from the first one, before the second
 * @property {any} event            of OpenLineage, or the producer's event of the plan
 * @property {any} [plan]           of a Spark job
 */

/**
 * What is sent: the events of OpenLineage by time, and the plans with their events, each by its path.
 * @param {Recorded[]} recorded
 * @param {number} now epoch milliseconds; the last of the days ended an hour before
 * @param {() => string} newId a UUID
 * @returns {{events: any[], plans: any[], executions: any[]}}
 */
export function tellAgain(recorded, now, newId) {
  const length = Math.max(...recorded.map(({ beganSeconds, seconds }) => beganSeconds + seconds));
  /** @type {{events: any[], plans: any[], executions: any[]}} */
  const told = { events: [], plans: [], executions: [] };
  recorded.forEach((one, number) => {
    const own = new Map();
    const [first, after] = one.days ?? [0, DAYS];
    for (let day = first; day < after; day += 1) {
      const began = now - 3_600_000 - length * 1000 - (DAYS - 1 - day) * DAY + one.beganSeconds * 1000;
      const ended = began + one.seconds * (1 + ((day * 3 + number) % 5) / 20) * 1000;
      const run = { began, ended, by: 1 + ((day * 7 + number) % 9) / 70, last: day === DAYS - 1 };
      if (one.plan) tellPlan(told, { plan: one.plan, event: one.event }, run, own, newId);
      else told.events.push(...tellEvents(one.event, run, newId()));
    }
  });
  told.events.sort((one, other) => (one.eventTime < other.eventTime ? -1 : 1));
  return told;
}

/** `own`: the ids of the job's plans; a day has one of its own where the plan names the day. */
function tellPlan({ plans, executions }, { plan, event }, { began, ended, by }, own, newId) {
  const date = spell(began).slice(0, 10);
  const text = JSON.stringify(plan).replace(RECORDED_DAY, date);
  const id = own.get(text) ?? newId();
  if (!own.has(text)) plans.push({ ...JSON.parse(text), id });
  own.set(text, id);
  const { extra } = event;
  const { numOutputRows: rows, numOutputBytes: bytes } = extra.writeMetrics;
  const writeMetrics = { ...extra.writeMetrics, numOutputRows: Math.round(rows * by), numOutputBytes: Math.round(bytes * by) };
  executions.push({
    ...JSON.parse(JSON.stringify(event).replace(RECORDED_DAY, date)),
    planId: id,
    timestamp: Math.round(ended),
    durationNs: Math.round(ended - began) * 1_000_000,
    extra: { ...extra, appId: `sample-${newId()}`, writeMetrics },
  });
}

function tellEvents(event, { began, ended, by, last }, runId) {
  const fails = last && event.job.name === FAILS;
  const run = { runId, facets: fails ? failure(event) : {} };
  return [
    { ...event, eventType: 'START', eventTime: spell(began), run: { runId }, inputs: [], outputs: [] },
    {
      ...event,
      eventType: fails ? 'FAIL' : 'COMPLETE',
      eventTime: spell(ended),
      run,
      inputs: last ? event.inputs.map(badly) : event.inputs,
      outputs: event.outputs.map((output) => (fails ? attempted(output) : grown(output, by))),
    },
  ];
}

/** An input whose check of a column found empty fields. */
function badly(input) {
  const checked = input.inputFacets?.dataQualityAssertions;
  if (!checked) return input;
  const assertions = checked.assertions.map((one) => (one.column === UNCHECKED ? { ...one, success: false } : one));
  return { ...input, inputFacets: { ...input.inputFacets, dataQualityAssertions: { ...checked, assertions } } };
}

function spell(at) {
  return new Date(at).toISOString();
}

function failure({ producer, schemaURL }) {
  const message = 'ERROR: division by zero in column rate';
  return { errorMessage: { _producer: producer, _schemaURL: schemaURL, message, programmingLanguage: 'SQL' } };
}

/** A failed run has named its target, and written nothing. */
function attempted({ namespace, name, facets }) {
  return { namespace, name, facets };
}

function grown(output, by) {
  const statistics = output.outputFacets?.outputStatistics;
  if (!statistics) return output;
  const rowCount = Math.round(statistics.rowCount * by);
  return { ...output, outputFacets: { outputStatistics: { ...statistics, rowCount, size: 113 * rowCount } } };
}

/**
 * Fetch the records and send them.
 * @param {ReturnType<import('../data/api.js').createApi>} api
 * @returns {Promise<import('../data/api.js').Result>}
 */
export async function loadSample(api) {
  const records = await Promise.all(RECORDS.map((path) => api.get(path)));
  const missing = records.find(({ ok }) => !ok);
  if (missing) return missing;
  const { events, plans, executions } = tellAgain(records.flatMap((one) => /** @type {any} */ (one).data), Date.now(), randomId);
  const sent = await Promise.all([
    api.post('/api/v1/lineage/batch', events),
    ...plans.map((plan) => api.post('/producer/execution-plans', plan)),
  ]);
  const refused = [...sent, await api.post('/producer/execution-events', executions)].find(({ ok }) => !ok);
  if (refused) return refused;
  const result = await settled(api);
  if (result.ok) await tag(api);
  return result;
}

/** A reader without that role has a sample without the tag. */
function tag(api) {
  const { tag: name, node, owner } = TAGGED;
  return api.put(`/classifications/${name}`, { node, owner, note: 'of the sample' });
}

/** The events are in the journal; the pictures have them a little later. */
async function settled(api) {
  for (let turn = 0; turn < 60; turn += 1) {
    const summary = await api.get('/journal', { summary: true });
    if (!summary.ok) return summary;
    if (summary.data.pending === 0) return summary;
    await new Promise((resolve) => setTimeout(resolve, 250));
  }
  return { ok: true, data: {} };
}

/**
 * Forget every job of the sample, and with them the tables that they alone have named.
 * @param {ReturnType<import('../data/api.js').createApi>} api
 * @returns {Promise<import('../data/api.js').Result>}
 */
export async function removeSample(api) {
  const jobs = await api.get('/graph/jobs', { namespace: SAMPLE, limit: 1000 });
  if (!jobs.ok) return jobs;
  await api.remove(`/classifications/${TAGGED.tag}`, { node: TAGGED.node });
  for (const { id } of jobs.data.items) {
    const done = await api.post('/commands', { command: 'forget', node: id, note: 'the sample was removed' });
    if (!done.ok) return done;
  }
  return settled(api);
}

/** Version 4; `crypto.randomUUID` is there on secure origins alone. */
function randomId() {
  const bytes = crypto.getRandomValues(new Uint8Array(16));
  bytes[6] = (bytes[6] & 0x0f) | 0x40;
  bytes[8] = (bytes[8] & 0x3f) | 0x80;
  const text = [...bytes].map((byte) => byte.toString(16).padStart(2, '0')).join('');
  return [text.slice(0, 8), text.slice(8, 12), text.slice(12, 16), text.slice(16, 20), text.slice(20)].join('-');
}
