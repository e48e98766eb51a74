/**
 * Disk and memory in use, when they are full and the savings of settings, in words: pure, from a reply of /storage.
 */
import { count, formatDays, formatNumber, formatSize } from './format.js';
import { decodeText } from './url.js';

const DAY = 86_400_000;

/**
 * @typedef {object} Capacity  a disk or a heap, and when it is full
 * @property {'disk'|'heap'} name
 * @property {string} title
 * @property {'unmeasured'|'unknown'|'still'|'growing'|'soon'} state
 * @property {string} verdict  when it is full
 * @property {string} rate     growth a day; empty where unknown
 * @property {string} left     free space; empty where unknown
 * @property {Array<{name: string, part: number}>} parts  shares of one
 */

/**
 * The disk and the engine's heap.
 * @param {any} reply
 * @returns {Capacity[]}
 */
export function capacities(reply) {
  return [disk(reply), heap(reply)];
}

/** @returns {Capacity} */
function disk({ stored, growth, full }) {
  const sizes = [
    ['journal', stored.journal],
    ['catalogue', stored.catalogue],
  ];
  return {
    name: 'disk',
    title: 'Disk',
    ...forecast(full.disk, growth.bytes, 'Not measured: the database has a disk of its own'),
    rate: growth.bytes ? `grows ${formatSize(growth.bytes)} a day` : '',
    left: full.disk.room === null ? '' : `${formatSize(full.disk.room)} free`,
    parts: parts(sizes, full.disk.room),
  };
}

/** @returns {Capacity} */
function heap({ stored, growth, full }) {
  return {
    name: 'heap',
    title: 'Heap of the engine',
    ...forecast(full.heap, growth.elements, 'Not measured: there is no embedded engine, or it has just started'),
    rate: growth.elements ? `grows ${elements(growth.elements)} a day` : '',
    left: full.heap.room === null ? '' : `${full.heap.room > 0 ? elements(full.heap.room) : 'nothing'} free`,
    parts: parts([['graph', stored.elements ?? 0]], full.heap.room),
  };
}

/** @returns {Pick<Capacity, 'state'|'verdict'>} */
function forecast({ room, days, soon }, grows, unmeasured) {
  if (days === 0) return { state: 'soon', verdict: 'Full now' };
  if (room === null) return { state: 'unmeasured', verdict: unmeasured };
  if (grows === null) return { state: 'unknown', verdict: 'No forecast yet' };
  if (days === null) return { state: 'still', verdict: 'Does not grow at present' };
  return { state: soon ? 'soon' : 'growing', verdict: `Full in ${formatDays(days)} at this rate` };
}

/** @returns {Capacity['parts']} empty where the free room is not known */
function parts(sizes, free) {
  if (free === null) return [];
  const total = sizes.reduce((sum, [, size]) => sum + size, Math.max(0, free));
  return sizes.map(([name, size]) => ({ name, part: total ? size / total : 0 }));
}

/**
 * Vertices and edges: an estimate above a thousand is not told to the last one.
 * @param {number} number
 * @returns {string}
 */
export function elements(number) {
  const rounded = number < 1000 ? Math.round(number) : Number(number.toPrecision(3));
  return count(rounded, 'element');
}

/**
 * How long the growth has been measured: the rate of one day is not that of a week.
 * @param {any} reply
 * @returns {string}
 */
export function basis({ measuredSince, measuredAt, growth }) {
  if (!measuredSince) return 'Not measured yet: the first measurement comes within minutes, the next ones every hour.';
  const days = (Date.parse(measuredAt) - Date.parse(measuredSince)) / DAY;
  const span = spanWords(days);
  if (growth.bytes === null) return `Measured for ${span}: no forecast yet.`;
  if (days < 1) return `Measured for ${span} only: the forecast may still change much, and warns after a day.`;
  return `At the rate of the last ${span}.`;
}

function spanWords(days) {
  if (days * 24 < 1) return count(Math.max(1, Math.floor(days * 24 * 60)), 'minute');
  return formatDays(days);
}

/**
 * The journal shared out, the largest first; the unlisted rest comes last, as one row.
 * @param {any} reply
 * @param {string} by
 * @returns {Array<{name: string, share: number, bytes: number, rest: boolean}>}
 */
export function shares({ by: all, stored }, by) {
  const listed = (all[by] ?? []).map((one) => ({ ...one, rest: false }));
  const share = 1 - listed.reduce((sum, one) => sum + one.share, 0);
  if (listed.length === 0 || share < 0.0005) return listed;
  return [...listed, { name: '', share, bytes: Math.round(share * stored.journal), rest: true }];
}

/**
 * @param {number} share
 * @param {string} [locale]
 * @returns {string} `0.0004 => < 0.1%`
 */
export function shareWords(share, locale) {
  const least = 0.001;
  const words = new Intl.NumberFormat(locale, { style: 'percent', maximumFractionDigits: share < 0.1 ? 1 : 0 });
  return share > 0 && share < least ? `< ${words.format(least)}` : words.format(share);
}

/**
 * A job of a share, which is spelled as in references: `hr%2Feu/load/2 => hr/eu, load/2`.
 * @param {string} name
 * @returns {{namespace: string, name: string}}
 */
export function jobOf(name) {
  const place = name.indexOf('/');
  return { namespace: decodeText(name.slice(0, Math.max(0, place))), name: name.slice(place + 1) };
}

/**
 * @typedef {object} Saving
 * @property {string} setting  the line to copy
 * @property {boolean} inForce
 * @property {string} saves    the room that it would free
 * @property {string} lasts    how much longer the room lasts; empty where that is not known
 */

/**
 * The greatest saving of each setting: those of the disk first, the largest first.
 * @param {any} reply
 * @returns {Saving[]}
 */
export function savings({ saved, keep, runs, growth }) {
  const most = Object.entries(saved).sort(([, one], [, other]) => other - one);
  const kept = most.map(([setting, bytes]) => ({
    setting,
    inForce: setting === `HEADWATER_KEEP=${keep}`,
    saves: bytes > 0 ? `up to ${formatSize(bytes)} of the disk` : 'nothing today',
    lasts: longer(bytes, growth.bytes, 'up to'),
  }));
  const windows = Object.entries(runs.saved).map(([setting, size]) => ({
    setting,
    inForce: false,
    saves: size.elements > 0 ? heapWords(size) : 'nothing today',
    lasts: longer(size.elements, growth.elements, 'about'),
  }));
  return [...kept, ...windows];
}

function longer(saved, growth, bound) {
  return saved > 0 && growth ? `${bound} ${formatDays(saved / growth)}` : '';
}

function heapWords({ elements: number, bytes }) {
  const size = bytes === null ? 'of the graph' : `(${formatSize(bytes)} of the heap)`;
  return `about ${elements(number)} ${size}`;
}

/**
 * The settings in force, as lines of an environment.
 * @param {any} reply
 * @returns {string[]}
 */
export function inForce({ keep, runs }) {
  return [`HEADWATER_KEEP=${keep ?? ''}`, `HEADWATER_GRAPH_RUNS=${runs.setting}`];
}

/**
 * Disk and memory in use, in rows: the part, its size, its description.
 * @param {any} reply
 * @returns {Array<{name: string, size: string, said: string}>}
 */
export function takers({ documents, stored, runs }) {
  const graph = stored.elements !== null && {
    name: 'Graph',
    size: formatSize(stored.heap),
    said: `${elements(stored.elements)} (vertices and edges) in the heap of the engine`,
  };
  const ofRuns = runs.elements > 0 && {
    name: 'Runs in the graph',
    size: formatSize(runs.bytes),
    said: `${stored.elements >= runs.elements ? 'of it ' : ''}about ${elements(runs.elements)}, by HEADWATER_GRAPH_RUNS=${runs.setting}`,
  };
  return [
    { name: 'Journal', size: formatSize(stored.journal), said: `${count(documents, 'document')} received, on disk` },
    { name: 'Catalogue', size: formatSize(stored.catalogue), said: 'names, runs and times, on disk' },
    stored.log > 0 && { name: 'Write-ahead logs', size: formatSize(stored.log), said: 'of journal and catalogue, on disk' },
    graph,
    ofRuns,
  ].filter((one) => one !== false);
}

/**
 * The line under the heading.
 * @param {any} reply
 * @returns {string}
 */
export function summary({ stored, growth }) {
  const used = `${formatSize(stored.journal + stored.catalogue + stored.log)} on disk`;
  if (!growth.documents) return used;
  return `${used} · ${formatNumber(Math.round(growth.documents))} documents a day`;
}
