/**
 * How much an execution read and wrote: rows and bytes under one name, for all producers' names of
 * them; all else it measured stays apart. Pure.
 */

const ROWS = Object.freeze(['numOutputRows', 'rowCount', 'recordsWritten', 'recordsRead', 'rows']);
const BYTES = Object.freeze(['numOutputBytes', 'size', 'bytesWritten', 'bytesRead', 'filesSize', 'bytes']);

/**
 * @typedef {object} Measures
 * @property {{rows: number|null, bytes: number|null}} read   null: not reported
 * @property {{rows: number|null, bytes: number|null}} write
 * @property {Array<[string, unknown]>} rest  `["write numFiles", 3]`
 */

/**
 * @param {Record<string, Record<string, unknown>>|null|undefined} metrics `{"read": {…}, "write": {…}}`
 * @returns {Measures}
 */
export function measuresOf(metrics) {
  const side = (name) => ({ rows: first(metrics?.[name], ROWS), bytes: first(metrics?.[name], BYTES) });
  return { read: side('read'), write: side('write'), rest: restOf(metrics ?? {}) };
}

function first(values, names) {
  const found = names.map((name) => values?.[name]).find((value) => Number.isFinite(value));
  return found ?? null;
}

function restOf(metrics) {
  return Object.entries(metrics).flatMap(([group, values]) =>
    Object.entries(values ?? {})
      .filter(([name]) => ![ROWS, BYTES].some((names) => name === names.find((one) => Number.isFinite(values[one]))))
      .map(([name, value]) => /** @type {[string, unknown]} */ ([`${group} ${name}`, value])),
  );
}

/**
 * Heights of bars: the greatest is 1; an unknown or zero value still shows.
 * @param {Array<number|null>} values
 * @returns {number[]}
 */
export function heights(values) {
  const most = Math.max(...values.map((value) => value ?? 0), 0);
  return values.map((value) => Math.max(0.06, most > 0 ? (value ?? 0) / most : 0.06));
}

/**
 * How often a job works: the median time between its runs, or between the writes of a run that goes on,
 * as a stream does.
 * @param {Array<{startedAt: string|null, endedAt: string|null, executions: number}>} runs newest first
 * @returns {{milliseconds: number, count: number, of: 'run'|'write'}|null} null: fewer than three are known
 */
export function rhythmOf(runs) {
  const [newest] = runs;
  if (newest?.startedAt && newest.endedAt && newest.executions >= 3 && runs.length < 3) {
    const milliseconds = (Date.parse(newest.endedAt) - Date.parse(newest.startedAt)) / (newest.executions - 1);
    return { milliseconds, count: newest.executions, of: 'write' };
  }
  const times = runs.flatMap(({ startedAt, endedAt }) => startedAt ?? endedAt ?? []).map((at) => Date.parse(at));
  const between = times.slice(1).map((time, place) => times[place] - time).sort((one, other) => one - other);
  if (between.length < 2) return null;
  return { milliseconds: between[(between.length - 1) >> 1], count: times.length, of: 'run' };
}

/**
 * What is usual: between a quarter of the median and four times it, as the home page marks small writes.
 * @param {Array<number|null>} values
 * @returns {{low: number, usual: number, high: number}|null} null: fewer than three are known
 */
export function usualBand(values) {
  const known = values.filter((value) => value !== null).sort((one, other) => one - other);
  if (known.length < 3) return null;
  const usual = known[(known.length - 1) >> 1];
  return { low: usual / 4, usual, high: usual * 4 };
}
