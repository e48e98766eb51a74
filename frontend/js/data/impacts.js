/**
 * The rows of an impact table: their words, which of them are shown and in which order. Pure.
 */
import { count, plain } from './format.js';

/**
 * @typedef {object} Item  a row of GET /graph/impact
 * @property {'dataset'|'column'|'job'} kind
 * @property {string} label
 * @property {string|null} uri
 * @property {string|null} namespace
 * @property {number} depth
 * @property {Array<{kind: string, id: string, label: string}>} path
 * @property {boolean} [declared]  a step of the path is declared, and no run does it
 * @property {'metadata'|null} [reads]  the last step reads tables about its source and no row of it
 * @property {string|null} verdict
 * @property {string|null} reason
 */

/** @typedef {{key: string, descending: boolean}} Order */

export const VERDICTS = Object.freeze({ breaks: 'breaks', 'may-break': 'may break', none: 'nothing breaks' });

const NOUNS = Object.freeze([
  ['dataset', 'table'],
  ['column', 'column'],
  ['job', 'job'],
]);
const WORST_FIRST = Object.freeze(['breaks', 'may-break', 'none']);

/**
 * The name that tells it from all others: a URI, `uri#column`, `namespace/job`.
 * @param {Item} item
 * @returns {string}
 */
export function fullName({ kind, label, uri, namespace }) {
  if (kind === 'job') return `${namespace}/${label}`;
  return kind === 'column' ? `${uri}#${label}` : (uri ?? label);
}

/**
 * The name in a row: `table.column` for a column, since rows of several tables stand below each other.
 * @param {Item} item
 * @returns {string}
 */
export function shortName({ kind, label, path }) {
  return kind === 'column' ? (path.at(-1)?.label ?? label) : label;
}

/**
 * `orders → (daily) → daily`: jobs in brackets.
 * @param {Item['path']} path
 * @returns {string}
 */
export function pathWords(path) {
  return path.map(({ kind, label }) => (kind === 'job' ? `(${plain(label)})` : plain(label))).join(' → ');
}

/**
 * `2 tables · 1 job`.
 * @param {Item[]} items
 * @returns {string}
 */
export function tallyWords(items) {
  const counts = NOUNS.map(([kind, noun]) => ({
    noun,
    number: items.filter((item) => item.kind === kind).length,
  }));
  const some = counts.filter(({ number }) => number > 0).map(({ number, noun }) => count(number, noun));
  return some.join(' · ') || 'nothing';
}

const KEYS = Object.freeze({
  verdict: (item) => WORST_FIRST.indexOf(item.verdict ?? 'none'),
  kind: (item) => NOUNS.findIndex(([kind]) => kind === item.kind),
  name: (item) => fullName(item).toLowerCase(),
  depth: (item) => item.depth,
  way: (item) => (item.reason ?? pathWords(item.path)).toLowerCase(),
  readers: (item) => item.readers.length,
  run: (item) => item.lastRun?.at ?? '',
  owners: (item) => item.owners.join(', ').toLowerCase(),
  marks: (item) => [item.layer ?? '', ...item.classifications].join(' ').toLowerCase(),
});

/**
 * The items in another order; equal ones stay as the server has them.
 * @param {Item[]} items
 * @param {Order|null} order null: the server's
 * @returns {Item[]}
 */
export function sorted(items, order) {
  if (!order) return items;
  const key = KEYS[order.key];
  const sign = order.descending ? -1 : 1;
  return [...items].sort((one, other) => sign * compare(key(one), key(other)));
}

function compare(one, other) {
  if (one === other) return 0;
  return one < other ? -1 : 1;
}

/**
 * The order after a press on a heading: up, down, and back to the server's.
 * @param {Order|null} order
 * @param {string} key
 * @returns {Order|null}
 */
export function nextOrder(order, key) {
  if (order?.key !== key) return { key, descending: false };
  return order.descending ? null : { key, descending: true };
}

/**
 * The items that hold every word, in any cell of their rows.
 * @param {Item[]} items
 * @param {{words: string, kind: string}} wanted kind '' means all
 * @returns {Item[]}
 */
export function filtered(items, { words, kind }) {
  const needles = words.toLowerCase().split(/\s+/).filter(Boolean);
  return items.filter((item) => {
    if (kind && item.kind !== kind) return false;
    const text = shownText(item).toLowerCase();
    return needles.every((needle) => text.includes(needle));
  });
}

function shownText(item) {
  return [
    fullName(item),
    item.reason ?? pathWords(item.path),
    ...item.readers.map((job) => `${job.namespace}/${job.name}`),
    item.lastRun?.state ?? '',
    ...item.owners,
    item.layer ?? '',
    ...item.classifications,
    item.reads ? 'metadata only' : '',
    item.declared ? 'declared' : '',
    item.verdict ? VERDICTS[item.verdict] : '',
  ].join('\n');
}
