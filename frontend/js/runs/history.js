/**
 * The times of a table or a job: a strip with a mark for each write, run and version, and the same
 * as a list, each with the way to that time and to the comparison with now.
 */
import { anchor, data, element, icon, time } from '../page/dom.js';
import { columnSentence, sentenceList } from '../panel/differences.js';
import { count, formatNumber, formatTime } from '../data/format.js';
import { jobLink } from '../panel/links.js';
import { measuresOf } from './measures.js';
import { lastByPartition, marksOf, timelineOfJob, timelineOfTable, writersOfAny } from './timeline.js';
import { facts, modeChip, rowFilter, section, stateChip, table } from '../panel/panel.js';
import { change, write } from '../data/url.js';

const MOST = 100;
const MOST_CHANGES = 4;
/** So many partitions are looked through without a filter. */
const FEW_PARTITIONS = 10;
/** Words of an entry that are the mode of a write. */
const MODES = new Set(['overwrite', 'append', 'overwrite-partitions', 'lifecycle']);

/**
 * The history of a table, whatever time is in view, so that a reader can go back in time and forward again.
 * @param {import('../items/details.js').Context} context
 * @param {string} id
 * @returns {Promise<import('../data/api.js').Result>} data: entries, and the writes behind them
 */
export async function tableTimeline({ api }, id) {
  const of = `/graph/datasets/${encodeURIComponent(id)}`;
  const [history, versions] = await Promise.all([
    api.get(`${of}/history`, { limit: MOST }, 'timeline/history'),
    api.get(`${of}/versions`, { limit: MOST }, 'timeline/versions'),
  ]);
  if (!history.ok || !versions.ok) return history.ok ? versions : history;
  const entries = timelineOfTable(history.data.items, versions.data.items, columnSentence);
  return { ok: true, data: { entries, writes: history.data.items, total: history.data.total } };
}

/**
 * @param {import('../items/details.js').Context} context
 * @param {string} id
 * @returns {Promise<import('../data/api.js').Result>}
 */
export async function jobTimeline({ api }, id) {
  const of = `/graph/jobs/${encodeURIComponent(id)}`;
  const [runs, versions] = await Promise.all([
    api.get(`${of}/runs`, { limit: MOST }, 'timeline/runs'),
    api.get(`${of}/versions`, { limit: MOST }, 'timeline/plans'),
  ]);
  if (!runs.ok || !versions.ok) return runs.ok ? versions : runs;
  return { ok: true, data: { entries: timelineOfJob(runs.data.items, versions.data.items), writes: [], total: runs.data.total } };
}

/**
 * @param {import('../data/url.js').State} state
 * @param {string} node
 * @param {{entries: import('./timeline.js').Entry[], total: number}} told
 * @returns {HTMLElement}
 */
export function timelineList(state, node, { entries, total }) {
  if (entries.length === 0) return element('p', { class: 'muted' }, 'No write, run or version was seen.');
  return element(
    'div',
    { class: 'timeline', 'data-testid': 'timeline' },
    strip(state, entries),
    element('ol', { class: 'lines' }, entries.map((entry) => line(state, node, entry))),
    total > MOST && element('p', { class: 'muted' }, `The newest ${formatNumber(MOST)} of ${formatNumber(total)}.`),
  );
}

/** For the eye and the pointer: the list below says the same, and the keyboard goes there. */
function strip(state, entries) {
  const marks = marksOf(entries).map(({ place, entries: here }) => {
    const [newest] = here;
    const failed = here.some((one) => one.state === 'failed');
    const more = here.length > 1 ? ` and ${formatNumber(here.length - 1)} more` : '';
    const mark = anchor(asOf(state, newest.at));
    mark.className = `time-mark${failed ? ' tells-failure' : here.some((one) => one.began) ? ' tells-version' : ''}`;
    mark.style.left = `${(place * 100).toFixed(2)}%`;
    mark.title = `${formatTime(newest.at)}: ${newest.state || newest.words}${more}`;
    mark.tabIndex = -1;
    return mark;
  });
  return element('div', { class: 'time-strip', 'aria-hidden': 'true', 'data-testid': 'time-strip' }, marks);
}

function asOf(state, at) {
  return write(change(state, { at, opened: '' }));
}

function line(state, node, { at, state: ended, words, job, changes, began, plans }) {
  const here = asOf(state, at);
  const shown = state.at === at;
  return element(
    'li',
    { class: shown ? 'shown' : '' },
    element('div', { class: 'card-line' }, time(at), ended ? stateChip(ended) : element('span', { class: 'chip plain' }, data(words))),
    job && element('div', { class: 'muted' }, jobLink(state, job), ' ', MODES.has(words) && modeChip(words)),
    began && sentenceList([...changes.slice(0, MOST_CHANGES), ...(changes.length > MOST_CHANGES ? [`and ${changes.length - MOST_CHANGES} more changes`] : [])]),
    element(
      'div',
      { class: 'timeline-ways' },
      plans.map(([fromPlan, toPlan]) => anchor(write({ view: 'plans', fromPlan, toPlan }), 'Compare with the plan before')),
      shown ? element('span', { class: 'muted' }, 'shown now') : anchor(here, 'Open as of here'),
      newTab(here, at),
      anchor(write({ view: 'diff', node, from: at, as: state.as }), 'Compare with now'),
    ),
  );
}

function newTab(href, at) {
  const words = `Open as of ${formatTime(at)} in a new tab`;
  return element('a', { href, target: '_blank', rel: 'noopener', 'aria-label': words, title: words }, icon('out'));
}

/**
 * @param {import('../data/url.js').State} state
 * @param {object[]} writes
 * @param {string[]} keys the table is partitioned by
 * @returns {HTMLElement|null} null: the table is not known to be partitioned
 */
export function partitionTable(state, writes, keys) {
  const rows = lastByPartition(writes);
  if (rows.length === 0) return keys.length > 0 ? anyPartition(state, writes, keys) : null;
  const cells = rows.slice(0, MOST).map(({ partition, write: last, failed, candidates }) => [
    data(partition, 'mono'),
    [
      last ? [writerOf(state, last), element('span', { class: 'muted block' }, time(last.at))] : 'none seen',
      candidates > 0 && element('span', { class: 'small block' }, `or one of ${count(candidates, 'later write')} that ${candidates === 1 ? 'names' : 'name'} no partition`),
    ],
    last ? rowsOf(last) : '–',
    failed > 0 ? element('span', { class: 'chip failed' }, formatNumber(failed)) : '0',
  ]);
  const grid = table('Last writer by partition', ['Partition', 'Written by', 'Rows', 'Failed'], cells, { 'data-testid': 'partitions' });
  return section(
    `Partitions · ${formatNumber(rows.length)}`,
    rows.length > FEW_PARTITIONS && rowFilter(grid, 'Filter partitions'),
    grid,
    rows.length > MOST && element('p', { class: 'muted' }, `The first ${formatNumber(MOST)} of ${formatNumber(rows.length)}.`),
    writes.length >= MOST && facts([['Looked at', `the newest ${formatNumber(MOST)} writes`]]),
  );
}

/** No write names its partitions: each of some may have written any of them. */
function anyPartition(state, writes, keys) {
  const { candidates, whole, failed } = writersOfAny(writes);
  if (candidates.length === 0) return null;
  const by = `by ${keys.join(', ')}`;
  const said = whole
    ? 'The last write wrote all of the table, and so each partition.'
    : `No write names the partitions that it wrote: each may be by any of these.`;
  const cells = candidates.slice(0, FEW_PARTITIONS).map((item) => [[writerOf(state, item), element('span', { class: 'muted block' }, time(item.at))], rowsOf(item)]);
  return section(
    `Partitions ${by}`,
    element('p', { 'data-testid': 'partition-candidates' }, said, failed > 0 && [' ', element('span', { class: 'chip failed' }, `${formatNumber(failed)} failed since`)]),
    table('Writes that may have written a partition', ['Written by', 'Rows'], cells, { 'data-testid': 'partitions' }),
    candidates.length > FEW_PARTITIONS && element('p', { class: 'muted' }, `The newest ${formatNumber(FEW_PARTITIONS)} of ${formatNumber(candidates.length)}.`),
    writes.length >= MOST && candidates.at(-1).mode !== 'overwrite' && facts([['Looked at', `the newest ${formatNumber(MOST)} writes`]]),
  );
}

function writerOf(state, { job }) {
  return job ? jobLink(state, job) : 'a hidden job';
}

/** A write of several partitions reports its rows together. */
function rowsOf({ metrics, partitions = [] }) {
  const { rows } = measuresOf(metrics).write;
  if (rows === null) return '–';
  return partitions.length > 1 ? [formatNumber(rows), element('span', { class: 'muted block' }, `in ${count(partitions.length, 'partition')}`)] : formatNumber(rows);
}
