/**
 * The times at which something happened to a table or a job: writes, runs and versions, newest first,
 * to be looked at and compared. Pure.
 */

/**
 * @typedef {object} Entry  one time
 * @property {string} at       ISO time
 * @property {string} state    of the run: completed, failed, …; empty: none ended here
 * @property {string} words    `overwrite`, `run`
 * @property {{namespace: string, name: string}|null} job
 * @property {string[]} changes sentences of the version that began here; empty: none did
 * @property {boolean} began   a version of the schema or the plan began here
 * @property {Array<[string, string]>} plans  the ids of a plan that began here, after that before it
 */

/**
 * @param {object[]} writes    items of a table's history
 * @param {object[]} versions  of its schema
 * @param {(change: object) => string} spell a change of a column as a sentence
 * @returns {Entry[]}
 */
export function timelineOfTable(writes, versions, spell) {
  return merge(
    writes.map(({ at, countedAt, state, mode, job }) => ({ at: countedAt ?? at, state, words: mode ?? 'write', job: job ?? null })),
    versions.map(({ first, changes, columns }) => ({
      at: first,
      changes: changes === null ? [`first schema, ${columns.length} columns`] : changes.map(spell),
    })),
  );
}

/**
 * @param {object[]} runs
 * @param {object[]} versions of its plans
 * @returns {Entry[]}
 */
export function timelineOfJob(runs, versions) {
  return merge(
    runs
      .filter(({ startedAt, endedAt }) => endedAt ?? startedAt)
      .map(({ startedAt, endedAt, state }) => ({ at: endedAt ?? startedAt, state, words: 'run', job: null })),
    versions.map(({ first, changes, previous, id }) => ({
      at: first,
      changes: changes ?? ['first plan seen'],
      plans: previous ? [[previous, id]] : [],
    })),
  );
}

/** @returns {Entry[]} */
function merge(events, versions) {
  /** @type {Map<string, Entry>} */
  const found = new Map();
  for (const event of events) found.set(`${event.at} ${found.size}`, { ...event, changes: [], began: false, plans: [] });
  for (const { at, changes, plans = [] } of versions) {
    if (!at) continue;
    const same = [...found.values()].find((one) => one.at === at);
    if (same) Object.assign(same, { changes: [...same.changes, ...changes], began: true, plans: [...same.plans, ...plans] });
    else found.set(`version ${at}`, { at, state: '', words: 'version', job: null, changes, began: true, plans });
  }
  return [...found.values()].sort((one, other) => (one.at < other.at ? 1 : one.at > other.at ? -1 : 0));
}

/**
 * Marks on a line of time: entries that would lie over one another are one mark.
 * @param {Entry[]} entries
 * @param {number} [nearest] share of the line below which two are one
 * @returns {Array<{place: number, entries: Entry[]}>} place from 0 (the oldest) to 1
 */
export function marksOf(entries, nearest = 0.02) {
  const times = entries.map(({ at }) => Date.parse(at));
  const [least, most] = [Math.min(...times), Math.max(...times)];
  const marks = [];
  for (const [number, entry] of entries.entries()) {
    const place = most > least ? (times[number] - least) / (most - least) : 1;
    const last = marks.at(-1);
    if (last && last.place - place < nearest) last.entries.push(entry);
    else marks.push({ place, entries: [entry] });
  }
  return marks;
}

/**
 * @typedef {object} PartitionWrites
 * @property {string} partition
 * @property {object|null} write   the newest completed write that names it
 * @property {number} failed       attempts that name it and failed since
 * @property {number} candidates   later completed writes that name no partition: each may have written it
 */

/**
 * Of each partition the newest completed write and what came since; a write of the whole table ends the
 * search, because nothing before it is left.
 * @param {object[]} writes items of a table's history, newest first
 * @returns {PartitionWrites[]} by partition, the greatest first: of dates the newest
 */
export function lastByPartition(writes) {
  /** @type {Map<string, PartitionWrites>} */
  const found = new Map();
  let unnamed = 0;
  for (const item of writes) {
    const partitions = item.partitions ?? [];
    for (const partition of partitions) {
      const known = found.get(partition) ?? { partition, write: null, failed: 0, candidates: 0 };
      found.set(partition, known);
      if (known.write) continue;
      if (item.state === 'completed') Object.assign(known, { write: item, candidates: unnamed });
      else if (item.state === 'failed') known.failed += 1;
    }
    if (partitions.length > 0 || item.state !== 'completed') continue;
    if (item.mode === 'overwrite') break;
    unnamed += 1;
  }
  return [...found.values()].sort((one, other) => (one.partition > other.partition ? -1 : 1));
}

/**
 * The writes that may have written any partition of a table of which no write names its partitions: the newest ones
 * down to a whole overwrite, before which nothing is left.
 * @param {object[]} writes items of a table's history, newest first
 * @returns {{candidates: object[], whole: boolean, failed: number}} `whole`: the newest write wrote all of the table,
 *   and with it every partition; `failed`: attempts that failed since
 */
export function writersOfAny(writes) {
  const candidates = [];
  let failed = 0;
  for (const item of writes) {
    if (item.state === 'failed' && candidates.length === 0) failed += 1;
    if (item.state !== 'completed' || item.mode === 'lifecycle') continue;
    candidates.push(item);
    if (item.mode === 'overwrite') break;
  }
  return { candidates, whole: candidates.length === 1 && candidates[0].mode === 'overwrite', failed };
}
