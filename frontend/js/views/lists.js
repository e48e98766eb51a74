/**
 * Lists of everything: tables, jobs, runs, columns. The server sorts, filters and pages them; all of it is in the link.
 */
import { count, formatDuration, formatNumber, formatRhythm, keptIn, tellApart, shorten } from '../data/format.js';
import { link, write } from '../data/url.js';
import { anchor, data, element, icon, time } from '../page/dom.js';
import { datasetLink, jobLink, placedJobLink } from '../panel/links.js';
import { stateChip } from '../panel/panel.js';

/** Rows of a page. */
const SHOWN = 50;

/**
 * @typedef {object} Column
 * @property {string} name      of the heading
 * @property {string} [sort]    its name for the server and in the link; none: not sorted by it
 * @property {boolean} [newest] sorted from the greatest at the first press
 * @property {(item: any, state: import('../data/url.js').State, placeOf: ReturnType<typeof tellApart>) => import('../page/dom.js').Child} cell
 * @property {boolean} [number] stands at the right
 * @property {(item: any) => unknown} [known] a column of which no row of the page knows anything takes no room
 */

/**
 * @typedef {object} Listing
 * @property {string} heading
 * @property {string} noun
 * @property {string[]} controls
 * @property {Column[]} columns
 * @property {string} sort      the server's order where none is asked for
 * @property {string} path      of the list
 * @property {(state: import('../data/url.js').State) => Record<string, unknown>} filters
 */

/** @type {Record<string, Listing>} */
const LISTINGS = {
  tables: {
    heading: 'Tables',
    noun: 'table',
    controls: ['q', 'layer', 'classification', 'owner', 'unread', 'unreadColumns', 'rowsWritten', 'at'],
    sort: 'name',
    path: '/graph/datasets',
    filters: ({ q, layer, classification, owner, unread, unreadColumns, minRows, maxRows, at }) => ({
      q, layer, classification, owner, unread: unread ? true : '', unreadColumns: unreadColumns ? true : '', minRows, maxRows, at,
    }),
    columns: [
      { name: 'Table', sort: 'name', cell: (item, state) => datasetLink(state, item) },
      { name: 'Place', sort: 'uri', cell: ({ uri }) => data(shorten(uri, 300), 'mono muted') },
      { name: 'Kept in', sort: 'type', cell: ({ type, uri }) => keptIn(type, uri) },
      { name: 'Layer', known: ({ layer }) => layer, cell: ({ layer }) => (layer ? element('span', { class: 'chip plain' }, data(layer)) : '–') },
      { name: 'Classes', known: ({ classifications }) => classifications.length, cell: ({ classifications }) => tagChips(classifications) },
      { name: 'Owner', known: ({ owners }) => owners?.length, cell: ({ owners = [] }, state) => ownerLinks(state, 'tables', owners) },
      { name: 'Columns nobody reads', known: ({ unreadColumns }) => unreadColumns, cell: ({ unreadColumns }) => unreadNames(unreadColumns) },
      { name: 'Rows', number: true, cell: ({ rows = null }) => (rows === null ? '–' : formatNumber(rows)) },
      { name: 'Last write', sort: 'lastWrite', newest: true, cell: ({ lastWrite }) => time(lastWrite, 'unknown') },
    ],
  },
  jobs: {
    heading: 'Jobs',
    noun: 'job',
    controls: ['q', 'namespace', 'ended', 'owner', 'late', 'at'],
    sort: 'namespace',
    path: '/graph/jobs',
    // Jobs are late now: the server refuses another time beside it.
    filters: ({ q, namespace, ended, owner, late, at }) => ({ q, namespace, state: ended, owner, late: late ? true : '', at: late ? '' : at }),
    columns: [
      { name: 'Job', sort: 'name', cell: (item, state) => jobLink(state, item) },
      { name: 'Namespace', sort: 'namespace', cell: ({ namespace }) => data(namespace) },
      { name: 'Last run', sort: 'state', newest: true, cell: ({ lastRun, lateRhythmMs }) => [lastRun ? stateChip(lastRun.state) : 'never', lateRhythmMs && element('span', { class: 'block small' }, `late: usually every ${formatRhythm(lateRhythmMs)}`)] },
      { name: 'Owner', known: ({ owners }) => owners?.length, cell: ({ owners = [] }, state) => ownerLinks(state, 'jobs', owners) },
      { name: 'Ended', sort: 'lastRun', newest: true, cell: ({ lastRun }) => time(lastRun?.at, lastRun ? 'unknown' : '–') },
      { name: 'Runs', sort: 'runs', newest: true, number: true, cell: ({ runs }) => formatNumber(runs) },
    ],
  },
  runs: {
    heading: 'Runs',
    noun: 'run',
    controls: ['q', 'ended', 'at'],
    sort: '-at',
    path: '/graph/runs',
    filters: ({ q, ended, at, node }) => ({ q, state: ended, at, job: node }),
    columns: [
      {
        name: 'Ended',
        sort: 'at',
        newest: true,
        cell: ({ at, countedAt }) => [time(at), countedAt && element('span', { class: 'muted block' }, 'doubtful, counts from ', time(countedAt))],
      },
      { name: 'State', cell: ({ state }) => stateChip(state) },
      { name: 'Job', cell: ({ job }, state, placeOf) => (job ? placedJobLink(state, job, placeOf) : 'unknown') },
      { name: 'Wrote', cell: ({ target, kind }, state) => (target ? datasetLink(state, target) : kind === 'read' ? 'nothing, it only reads' : 'unknown') },
      { name: 'Rows', number: true, cell: ({ metrics, kind }) => (kind === 'read' ? '–' : written(metrics)) },
      { name: 'Took', sort: 'durationMs', newest: true, number: true, cell: ({ durationMs }) => formatDuration(durationMs) || 'unknown' },
      { name: 'Run', cell: ({ run }, state) => anchor(link(state, { view: 'run', run }), 'Details') },
      { name: 'Error', cell: ({ error, run }, state) => error && anchor(link(state, { view: 'run', run }), data(shorten(error, 120), 'mono')) },
    ],
  },
  fields: {
    heading: 'Columns',
    noun: 'column',
    controls: ['q'],
    sort: 'name',
    path: '/graph/columns',
    filters: ({ q }) => ({ q }),
    columns: [
      { name: 'Column', sort: 'name', cell: ({ name, id }, state) => anchor(link(state, { view: 'columns', node: id }), data(name)) },
      { name: 'Table', sort: 'table', cell: ({ dataset }, state) => datasetLink(state, dataset) },
      { name: 'Place', cell: ({ dataset }) => data(shorten(dataset.uri, 300), 'mono muted') },
      { name: 'Classes', known: ({ classifications }) => classifications.length, cell: ({ classifications }) => tagChips(classifications) },
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
     * @param {import('../items/details.js').Context} context
     * @returns {Promise<import('../data/api.js').Result>} data is a Page (views.js) with a document of its own
     */
    async load({ state, api }) {
      const asked = { ...listing.filters(state), sort: orderOf(listing, state), limit: SHOWN, cursor: state.after };
      const result = await api.get(listing.path, asked, 'page');
      if (!result.ok) return result;
      const { items, total } = result.data;
      return {
        ok: true,
        data: {
          heading: listing.heading,
          subtitle: count(total, listing.noun),
          reply: null,
          model: null,
          empty: null,
          items,
          document: () => draw(name, listing, state, result.data),
        },
      };
    },
  };
}

/**
 * The order of the link where the list has it: an old or mistyped link still opens.
 * @param {Listing} listing
 * @param {import('../data/url.js').State} state
 * @returns {string}
 */
function orderOf({ columns, sort: usual }, { sort }) {
  return columns.some((column) => column.sort && column.sort === sort.replace(/^-/, '')) ? sort : usual;
}

/** Where nothing was narrowed, none is known at all: the first page says how they come. */
function nothing({ noun }, state) {
  const asked = write({ ...state, sort: '', page: 0, after: '' });
  if (asked !== write({ view: state.view })) return element('p', { class: 'muted' }, `No ${noun} passes these filters.`);
  return element('p', { class: 'muted' }, `No ${noun} is known yet. `, anchor(write({ view: 'home' }), 'How to send lineage'));
}

function draw(name, listing, state, { items, total, next, partial, unexplained = 0 }) {
  return element(
    'div',
    { class: 'document lists', 'data-testid': `list-${name}` },
    items.length === 0 && nothing(listing, state),
    partial && element('p', { class: 'muted', 'data-testid': 'list-bound' }, boundOf(partial)),
    unexplained > 0 && element('p', { class: 'muted', 'data-testid': 'list-unexplained' }, `Without ${count(unexplained, 'table')} of which a reader does not tell its columns.`),
    items.length > 0 && grid(name, listing, state, items),
    pager(name, state, { shown: items.length, total, next }),
  );
}

function boundOf({ reason, limit }) {
  if (reason === 'hub') return `Of a table with more than ${formatNumber(limit)} readers not all were looked at.`;
  return reason === 'nodes' ? `Of the first ${formatNumber(limit)} tables that pass the other filters.` : `Looked for among the newest ${formatNumber(limit)}.`;
}

function grid(name, listing, state, items) {
  const { heading } = listing;
  const columns = listing.columns.filter(({ known }) => !known || items.some(known));
  const order = orderOf(listing, state);
  const headings = columns.map((column) => {
    const now = column.sort !== undefined && order.replace(/^-/, '') === column.sort;
    const way = now ? (order.startsWith('-') ? 'descending' : 'ascending') : null;
    return element(
      'th',
      { scope: 'col', 'aria-sort': way, class: column.number ? 'number' : null },
      column.sort
        ? element('a', { href: sortedBy(listing, state, column, way), 'data-internal': true, class: 'sort' }, column.name)
        : column.name,
    );
  });
  const placeOf = tellApart(items.map(({ job }) => job));
  const rows = items.map((item) =>
    element(
      'tr',
      {},
      columns.map((column, place) => {
        const heading = place === 0 ? { scope: 'row' } : { 'data-heading': column.name };
        return element(place === 0 ? 'th' : 'td', { ...heading, class: column.number ? 'number' : null }, column.cell(item, state, placeOf));
      }),
    ),
  );
  return element(
    'div',
    { class: 'scroll', tabindex: 0, role: 'region', 'aria-label': heading },
    element('table', { class: 'sorted', 'data-testid': `${name}-table` }, element('thead', {}, element('tr', {}, headings)), element('tbody', {}, rows)),
  );
}

/** The link that sorts by this column, the other way round where it is sorted by it already. */
function sortedBy({ sort: usual }, state, { sort, newest }, way) {
  const falls = way === null ? Boolean(newest) : way === 'ascending';
  const to = falls ? `-${sort}` : sort;
  return write({ ...state, sort: to === usual ? '' : to, page: 0, after: '' });
}

/** A page says where the next one begins and not where the one before began: that is for the browser's own way back. */
function pager(name, state, { shown, total, next }) {
  const first = state.after ? state.page * SHOWN : 0;
  const range = `${formatNumber(first + 1)} to ${formatNumber(first + shown)} of ${formatNumber(total)}`;
  const way = (href, words, mark) => (href ? element('a', { href, class: 'button', 'data-internal': true, 'data-testid': `pager-${mark}` }, icon(mark), words) : null);
  return element(
    'nav',
    { class: 'pager', 'aria-label': `Pages of ${name}` },
    way(state.after && write({ ...state, after: '', page: 0 }), 'First', 'left'),
    shown > 0 && element('span', { class: 'muted' }, range),
    way(next && write({ ...state, after: next, page: state.page + 1 }), 'Next', 'right'),
  );
}

/** `a, b and 3 more` */
function unreadNames({ total, names }) {
  const rest = total - names.length;
  return [data(names.join(', '), 'mono'), rest > 0 && ` and ${formatNumber(rest)} more`];
}

function ownerLinks(state, view, owners) {
  return owners.length === 0 ? '–' : owners.map((owner, place) => [place > 0 && ', ', anchor(link(state, { view, owner }), data(shorten(owner, 60)))]);
}

function tagChips(tags) {
  return tags.map((tag) => element('span', { class: 'chip plain' }, data(tag)));
}

function written(metrics) {
  const rows = Number(metrics?.write?.numOutputRows);
  return Number.isFinite(rows) ? formatNumber(rows) : 'unknown';
}
