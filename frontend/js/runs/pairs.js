/**
 * Two runs, or two executions, side by side: their pairs and differences. Pure.
 */

/**
 * @typedef {object} Pair  executions that wrote the same, or one that has no counterpart
 * @property {object|null} before
 * @property {object|null} after
 */

/**
 * The executions of two runs by their targets: of one table the first with the first, and so on.
 * @param {object[]} before executions of the earlier run
 * @param {object[]} after  of the later one
 * @returns {Pair[]} in the order in which the later run wrote, then targets that it no longer wrote
 */
export function pairExecutions(before, after) {
  const waiting = new Map();
  for (const one of byTime(before)) {
    const key = keyOf(one);
    waiting.set(key, [...(waiting.get(key) ?? []), one]);
  }
  const pairs = byTime(after).map((one) => ({ before: waiting.get(keyOf(one))?.shift() ?? null, after: one }));
  const gone = [...waiting.values()].flat().map((one) => ({ before: one, after: null }));
  return [...pairs, ...byTime(gone.map((pair) => pair.before)).map((one) => ({ before: one, after: null }))];
}

function keyOf({ target, plan }) {
  return target?.id ?? `plan ${plan}`;
}

function byTime(executions) {
  return [...executions].sort((one, other) => compare(countedTime(one), countedTime(other)) || compare(one.id, other.id));
}

function countedTime({ at, countedAt }) {
  return countedAt ?? at;
}

function compare(one, other) {
  if (one === other) return 0;
  return one < other ? -1 : 1;
}

/**
 * The runs in the order of their time.
 * @param {Array<{startedAt: string|null, endedAt: string|null}>} runs
 * @returns {object[]}
 */
export function oldestFirst(runs) {
  const timeOf = (run) => run.endedAt ?? run.startedAt ?? '';
  return [...runs].sort((one, other) => compare(timeOf(one), timeOf(other)));
}

/**
 * The runs that are picked after a box was ticked or cleared: at most two, the newest choice stays.
 * @param {string} picked ids by commas, in the order in which they were picked
 * @param {string} run
 * @param {boolean} wanted
 * @returns {string}
 */
export function pick(picked, run, wanted) {
  const others = picked.split(',').filter((id) => id && id !== run);
  return (wanted ? [...others, run].slice(-2) : others).join(',');
}

const PLAIN = Object.freeze([
  ['state', 'State'],
  ['mode', 'Mode'],
  ['command', 'Command'],
  ['applicationId', 'Application'],
  ['producer', 'Producer'],
]);

/**
 * The measures of two executions, name by name, without those that both lack.
 * @param {object} before
 * @param {object} after
 * @returns {Array<{name: string, before: string|number|null, after: string|number|null, differs: boolean}>}
 */
export function sideBySide(before, after) {
  const rows = [
    ...PLAIN.map(([key, name]) => [name, before[key], after[key]]),
    ['Partitions', listed(before.partitions), listed(after.partitions)],
    ...metricNames(before, after).map(([group, name]) => [
      `${group} ${name}`,
      before.metrics?.[group]?.[name],
      after.metrics?.[group]?.[name],
    ]),
    ['Error', before.error, after.error],
  ];
  return rows
    .map(([name, one, other]) => ({ name, before: one || one === 0 ? one : null, after: other || other === 0 ? other : null }))
    .filter((row) => row.before !== null || row.after !== null)
    .map((row) => ({ ...row, differs: row.before !== row.after }));
}

function listed(partitions) {
  return [...(partitions ?? [])].sort().join(', ');
}

function metricNames(...sides) {
  const names = sides.flatMap((side) =>
    Object.entries(side.metrics ?? {}).flatMap(([group, values]) =>
      Object.keys(values ?? {}).map((name) => `${group} ${name}`),
    ),
  );
  return [...new Set(names)].sort().map((name) => [name.slice(0, name.indexOf(' ')), name.slice(name.indexOf(' ') + 1)]);
}

/**
 * `+20` or `−20 %`: by how much a number changed; empty where that says nothing.
 * @param {unknown} before
 * @param {unknown} after
 * @returns {number|null} a share of the earlier number: 0.5 is half as much again
 */
export function growth(before, after) {
  if (typeof before !== 'number' || typeof after !== 'number' || before === 0 || before === after) return null;
  return after / before - 1;
}
