/**
 * What needs somebody now, in words: the reply of /graph/incidents for the cards of the home page. Pure.
 */
import { count, formatDuration, formatNumber, shorten } from '../data/format.js';

/** @typedef {{id: string, namespace: string, name: string}} Job */

/**
 * `2 jobs · team-finance · downstream 14 tables, 2 readers`: what one error costs.
 * @param {{members: object[], owners: string[], tables: number|null, readers: number|null, partial: object|null}} incident
 * @returns {string[]} the parts that are known
 */
export function factsOf({ members, owners, tables, readers, partial }) {
  return [count(members.length, 'job'), owners.map((owner) => shorten(owner, 60)).join(', '), reachOf(tables, readers, partial)].filter(Boolean);
}

function reachOf(tables, readers, partial) {
  if (tables === null) return '';
  const least = partial ? 'at least ' : '';
  const read = readers > 0 ? `, ${count(readers, 'job')} that only ${readers === 1 ? 'reads' : 'read'}` : '';
  return `affects ${least}${count(tables, 'table')}${read}`;
}

/**
 * @param {{value: number, usual: number}} write
 * @returns {string} `1,200 rows, usually 100,000`
 */
export function rowsAgainst({ value, usual }) {
  return `${count(value, 'row')}, usually ${formatNumber(usual)}`;
}

/**
 * @param {{value: number, usual: number}} write in ms
 * @returns {string} `12 min, usually 3 min`
 */
export function timeAgainst({ value, usual }) {
  return `${formatDuration(value)}, usually ${formatDuration(usual)}`;
}

/**
 * What was looked at and is well, in one line; '' where each kind has its card.
 * @param {{late: number, slow?: number, small?: number, checks?: number}} numbers those that were read
 * @returns {string}
 */
export function wellOf({ late, slow, small, checks }) {
  const kinds = [
    late === 0 && 'no job is late',
    slow === 0 && 'no write was unusually slow',
    small === 0 && 'no write was unusually small',
    checks === 0 && 'no check failed',
  ].filter(Boolean);
  const words = kinds.join(', ');
  return words && `${words[0].toUpperCase()}${words.slice(1)}.`;
}
