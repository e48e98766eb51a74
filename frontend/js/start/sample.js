/**
 * The sample: one day of a small web shop as recorded events of OpenLineage, told again for five days
 * that end now. Every job has the namespace `sample`, so the sample mixes with nothing and can be
 * taken away whole.
 */

export const SAMPLE = 'sample';
const DAYS = 5;
const DAY = 86_400_000;
/** In the last of the days this job fails, after a job before it has written a column in another type. */
const FAILS = 'conversion';
const CHANGED = Object.freeze({ job: 'sessionise', column: 'bought', type: 'decimal(1,0)' });

/**
 * @typedef {object} Recorded
 * @property {number} beganSeconds  after midnight
 * @property {number} seconds       how long it ran
 * @property {{job: {namespace: string, name: string}, inputs: object[], outputs: any[], producer: string, schemaURL: string}} event
 */

/**
 * The events of five days, the last of which ended an hour before `now`.
 * @param {Recorded[]} recorded
 * @param {number} now epoch milliseconds
 * @param {() => string} newId a UUID
 * @returns {object[]} by time
 */
export function tellAgain(recorded, now, newId) {
  const length = Math.max(...recorded.map(({ beganSeconds, seconds }) => beganSeconds + seconds));
  const events = [];
  for (let day = 0; day < DAYS; day += 1) {
    const midnight = now - 3_600_000 - length * 1000 - (DAYS - 1 - day) * DAY;
    recorded.forEach(({ beganSeconds, seconds, event }, number) => {
      const began = midnight + beganSeconds * 1000;
      const took = seconds * (1 + ((day * 3 + number) % 5) / 20);
      const last = day === DAYS - 1;
      const fails = last && event.job.name === FAILS;
      const changed = last && event.job.name === CHANGED.job;
      const runId = newId();
      events.push({ ...event, eventType: 'START', eventTime: spell(began), run: { runId }, inputs: [], outputs: [] });
      events.push({
        ...event,
        eventType: fails ? 'FAIL' : 'COMPLETE',
        eventTime: spell(began + took * 1000),
        run: { runId, facets: fails ? failure(event) : {} },
        outputs: event.outputs.map((output) => (fails ? attempted(output) : grown(changed ? retyped(output) : output, 1 + ((day * 7 + number) % 9) / 70))),
      });
    });
  }
  return events.sort((one, other) => (one.eventTime < other.eventTime ? -1 : 1));
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

function retyped(output) {
  const { schema } = output.facets;
  const fields = schema.fields.map((field) => (field.name === CHANGED.column ? { ...field, type: CHANGED.type } : field));
  return { ...output, facets: { ...output.facets, schema: { ...schema, fields } } };
}

function grown(output, by) {
  const statistics = output.outputFacets?.outputStatistics;
  if (!statistics) return output;
  const rowCount = Math.round(statistics.rowCount * by);
  return { ...output, outputFacets: { outputStatistics: { ...statistics, rowCount, size: 113 * rowCount } } };
}

/**
 * Fetch the recorded day and send it.
 * @param {ReturnType<import('../data/api.js').createApi>} api
 * @returns {Promise<import('../data/api.js').Result>}
 */
export async function loadSample(api) {
  const recorded = await api.get('/sample/estate.json');
  if (!recorded.ok) return recorded;
  const sent = await api.post('/api/v1/lineage/batch', tellAgain(recorded.data, Date.now(), randomId));
  return sent.ok ? settled(api) : sent;
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
