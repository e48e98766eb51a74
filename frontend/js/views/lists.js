/**
 * Lists of everything: tables, jobs, runs, columns. Sorted, filtered and paged; all of it is in the link.
 */
import { count, formatDuration, formatNumber, shorten } from '../data/format.js';
import { link, write } from '../data/url.js';
import { anchor, data, element, icon, time } from '../page/dom.js';
import { datasetLink, jobLink } from '../panel/links.js';
import { stateChip } from '../panel/panel.js';

/** Rows of a page, and rows that are sorted at once. */
const SHOWN = 50;
const SORTED = 1000;

/**
 * @typedef {object} Column
 * @property {string} name      of the heading
 * @property {string} [sort]    its name in the link; none: not sorted by it
 * @property {(item: any) => string|number|null} [key]
 * @property {(item: any, state: import('../data/url.js').State) => import('../page/dom.js').Child} cell
 * @property {boolean} [number] stands at the right
 */

/**
 * @typedef {object} Listing
 * @property {string} heading
 * @property {string} noun
 * @property {string[]} controls
 * @property {Column[]} columns
 * @property {string} sort      the order where none is asked for
 * @property {(state: import('../data/url.js').State) => [string, Record<string, unknown>]|null} question  null: nothing to ask yet
 * @property {string} [hint]    what to do where there is nothing to ask
 */

/** @type {Record<string, Listing>} */
const LISTINGS = {
  tables: {
    heading: 'Tables',
    noun: 'table',
    controls: ['q', 'layer', 'classification', 'at'],
    sort: 'name',
    question: ({ q, layer, classification, at, after }) => ['/graph/datasets', { q, layer, classification, at, cursor: after, limit: SORTED }],
    columns: [
      { name: 'Table', sort: 'name', key: ({ label }) => label.toLowerCase(), cell: (item, state) => datasetLink(state, item) },
      { name: 'Place', sort: 'place', key: ({ uri }) => uri, cell: ({ uri }) => data(shorten(uri, 300), 'mono muted') },
      { name: 'Kind', sort: 'kind', key: ({ type }) => type, cell: ({ type }) => type },
      { name: 'Layer', sort: 'layer', key: ({ layer }) => layer ?? '', cell: ({ layer }) => (layer ? element('span', { class: 'chip plain' }, data(layer)) : '–') },
      { name: 'Classes', cell: ({ classifications }) => classifications.map((tag) => element('span', { class: 'chip plain' }, data(tag))) },
      { name: 'Last write', sort: 'written', key: ({ lastWrite }) => lastWrite ?? '', cell: ({ lastWrite }) => time(lastWrite, 'unknown') },
    ],
  },
  jobs: {
    heading: 'Jobs',
    noun: 'job',
    controls: ['q', 'namespace', 'ended', 'at'],
    sort: 'name',
    question: ({ q, namespace, at, after }) => ['/graph/jobs', { q, namespace, at, cursor: after, limit: SORTED }],
    columns: [
      { name: 'Job', sort: 'name', key: ({ name }) => name.toLowerCase(), cell: (item, state) => jobLink(state, item) },
      { name: 'Namespace', sort: 'namespace', key: ({ namespace }) => namespace, cell: ({ namespace }) => data(namespace) },
      { name: 'Last run', sort: 'state', key: ({ lastRun }) => lastRun?.state ?? '', cell: ({ lastRun }) => (lastRun ? stateChip(lastRun.state) : 'never') },
      { name: 'Ended', sort: 'last', key: ({ lastRun }) => lastRun?.at ?? '', cell: ({ lastRun }) => time(lastRun?.at, 'unknown') },
      { name: 'Runs', sort: 'runs', number: true, key: ({ runs }) => runs, cell: ({ runs }) => formatNumber(runs) },
    ],
  },
  runs: {
    heading: 'Runs',
    noun: 'run',
    controls: ['ended', 'at'],
    sort: '-at',
    question: ({ ended, at, after }) => ['/graph/runs', { state: ended, at, cursor: after, limit: SHOWN }],
    columns: [
      { name: 'Ended', cell: ({ at }) => time(at) },
      { name: 'State', cell: ({ state }) => stateChip(state) },
      { name: 'Job', cell: ({ job }, state) => (job ? jobLink(state, job) : 'unknown') },
      { name: 'Wrote', cell: ({ target, kind }, state) => (target ? datasetLink(state, target) : kind === 'read' ? 'nothing, it only reads' : 'unknown') },
      { name: 'Rows', number: true, cell: ({ metrics }) => written(metrics) },
      { name: 'Took', number: true, cell: ({ durationMs }) => (durationMs ? formatDuration(durationMs) : 'unknown') },
      { name: 'Error', cell: ({ error, run }, state) => (error ? anchor(link(state, { view: 'run', run }), data(shorten(error, 120), 'mono')) : anchor(link(state, { view: 'run', run }), 'Details')) },
    ],
  },
  fields: {
    heading: 'Columns',
    noun: 'column',
    controls: ['q'],
    sort: 'name',
    hint: 'Type a part of a name into the filter: of a large estate there are too many columns to list.',
    question: ({ q }) => (q ? ['/graph/search', { q, kind: 'column', limit: 100 }] : null),
    columns: [
      { name: 'Column', sort: 'name', key: ({ label }) => label.toLowerCase(), cell: ({ label, node }, state) => anchor(link(state, { view: 'columns', node }), data(label)) },
      { name: 'Table', sort: 'table', key: ({ detail }) => detail, cell: ({ detail }) => data(shorten(detail, 300), 'mono muted') },
      { name: 'Classes', cell: ({ classifications = [] }) => classifications.map((tag) => element('span', { class: 'chip plain' }, data(tag))) },
    ],
  },
};

/** The views, by their names in links. */
export const [tables, jobs, runs, fields] = ['tables', 'jobs', 'runs', 'fields'].map((name) => viewOf(name, LISTINGS[name]));

/**
 * @param {string} name
 * @param {Listing} listing
 */
function viewOf(name, listing) {
  return {
    controls: listing.controls,

    /**
     * @param {import('../panel/details.js').Context} context
     * @returns {Promise<import('../data/api.js').Result>} data is a Page (main.js) with a document of its own
     */
    async load({ state, api }) {
      const question = listing.question(state);
      const result = question && (await api.get(...question, 'page'));
      if (result && !result.ok) return result;
      const { items, total, next } = result ? result.data : { items: [], total: 0, next: null };
      const chosen = name === 'jobs' && state.ended ? items.filter(({ lastRun }) => lastRun?.state === state.ended) : items;
      return {
        ok: true,
        data: {
          heading: listing.heading,
          subtitle: question ? count(total, listing.noun) : '',
          reply: null,
          model: null,
          empty: null,
          items,
          document: () => draw(name, listing, state, { items: chosen, total, next, asked: Boolean(question) }),
        },
      };
    },
  };
}

function draw(name, listing, state, { items, total, next, asked }) {
  const sorted = sort(items, listing.columns, state.sort || listing.sort);
  const first = Math.min(state.page * SHOWN, Math.max(0, Math.floor((sorted.length - 1) / SHOWN) * SHOWN));
  const shown = sorted.slice(first, first + SHOWN);
  return element(
    'div',
    { class: 'document lists', 'data-testid': `list-${name}` },
    !asked && element('p', { class: 'muted' }, listing.hint),
    asked && items.length === 0 && element('p', { class: 'muted' }, `No ${listing.noun} passes these filters.`),
    next && items.length >= SORTED
      ? element('p', { class: 'muted' }, `${formatNumber(items.length)} of ${formatNumber(total)}, by name, are sorted here; a filter narrows them.`)
      : null,
    items.length > 0 && grid(name, listing, state, shown),
    items.length > 0 && pager(name, state, { first, shown: shown.length, loaded: sorted.length, total, next }),
  );
}

/**
 * Sorted by the column with this name; `-` in front: from the greatest. What is unknown comes last.
 * @template Item
 * @param {Item[]} items
 * @param {Column[]} columns
 * @param {string} by
 * @returns {Item[]}
 */
export function sort(items, columns, by) {
  const falling = by.startsWith('-');
  const key = columns.find((column) => column.sort === by.replace(/^-/, ''))?.key;
  if (!key) return items;
  const unknown = (value) => value === '' || value === null || value === undefined;
  return items
    .map((item, place) => ({ item, place, value: key(item) }))
    .sort((one, other) => {
      if (unknown(one.value) !== unknown(other.value)) return unknown(one.value) ? 1 : -1;
      const order = compare(one.value, other.value);
      return (falling ? -order : order) || one.place - other.place;
    })
    .map(({ item }) => item);
}

function compare(one, other) {
  if (one === other) return 0;
  return one < other ? -1 : 1;
}

function grid(name, { columns, sort: usual, heading }, state, items) {
  const by = state.sort || usual;
  const headings = columns.map((column) => {
    const now = by.replace(/^-/, '') === column.sort && column.sort;
    const falling = by.startsWith('-');
    const order = now ? (falling ? 'descending' : 'ascending') : null;
    const to = write({ ...state, sort: now && !falling ? `-${column.sort}` : (column.sort ?? ''), page: 0 });
    return element(
      'th',
      { scope: 'col', 'aria-sort': order, class: column.number ? 'number' : null },
      column.sort ? element('a', { href: to, 'data-internal': true, class: 'sort' }, column.name) : column.name,
    );
  });
  const rows = items.map((item) =>
    element(
      'tr',
      {},
      columns.map((column, place) => element(place === 0 ? 'th' : 'td', { scope: place === 0 ? 'row' : null, class: column.number ? 'number' : null }, column.cell(item, state))),
    ),
  );
  return element(
    'div',
    { class: 'scroll', tabindex: 0, role: 'region', 'aria-label': heading },
    element('table', { 'data-testid': `${name}-table` }, element('thead', {}, element('tr', {}, headings)), element('tbody', {}, rows)),
  );
}

function pager(name, state, { first, shown, loaded, total, next }) {
  const page = Math.floor(first / SHOWN);
  const more = first + shown < loaded ? write({ ...state, page: page + 1 }) : next ? write({ ...state, after: next, page: 0 }) : '';
  const before = page > 0 ? write({ ...state, page: page - 1 }) : state.after ? write({ ...state, after: '', page: 0 }) : '';
  const range = state.after ? `${formatNumber(shown)} of ${formatNumber(total)}` : `${formatNumber(first + 1)} to ${formatNumber(first + shown)} of ${formatNumber(Math.max(total, loaded))}`;
  const way = (href, words, mark) => (href ? element('a', { href, class: 'button', 'data-internal': true, 'data-testid': `pager-${mark}` }, icon(mark), words) : null);
  return element('nav', { class: 'pager', 'aria-label': `Pages of ${name}` }, way(before, state.after && page === 0 ? 'First' : 'Back', 'left'), element('span', { class: 'muted' }, range), way(more, 'Next', 'right'));
}

function written(metrics) {
  const rows = Number(metrics?.write?.numOutputRows);
  return Number.isFinite(rows) ? formatNumber(rows) : 'unknown';
}
