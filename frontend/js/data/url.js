/**
 * The state of the page and its spelling in the query string. Pure: no window, no history.
 * A link says everything that is needed to draw the same picture again.
 */
import { VIEWS } from '../views.js';

/** The namespace of all jobs of the sample. */
export const SAMPLE = 'sample';

/**
 * @typedef {object} State
 * @property {string} view        a name in VIEWS (views.js)
 * @property {string} unknown     what the link names in place of one; empty: it names a view. No link says it
 * @property {string} q           filter text of the overview
 * @property {''|'dataset'|'job'|'column'} kind  of the results of a search
 * @property {string} place       of the results of a search: a store, or a namespace of jobs
 * @property {string} namespace   filter of the overview
 * @property {string} layer       filter of the overview
 * @property {string} classification  a tag: filter of the overview, or the class that is listed
 * @property {string} owner       filter of the tables: the whole name, in any case
 * @property {boolean} unread     filter of the tables: those that no job ever read
 * @property {boolean} unreadColumns  filter of the tables: those with columns that no job reads
 * @property {string} minRows     filter of the tables: their last write had at least so many rows; a whole number or empty
 * @property {string} maxRows     the same, at most
 * @property {boolean} late       filter of the jobs: those that have waited longer than usual
 * @property {string} node        a reference (`dataset:…`, `job:…`, `column:…`) or an opaque id
 * @property {string} plan        a plan id
 * @property {string} run         an id of a run
 * @property {string} dataset     URI or id, for the column view
 * @property {string} column      column path, for the column view
 * @property {'both'|'upstream'|'downstream'} direction
 * @property {number|null} depth  null: the view's own default
 * @property {boolean} columns    columns drawn inside tables
 * @property {boolean} indirect   filter, join, group and sort edges drawn
 * @property {''|'layer'} group   boxes in lanes
 * @property {''|'right'|'down'} flow  the way of data through a picture; empty: as it is read best in the window
 * @property {''|'class'|'namespace'} hue  the tint of boxes; empty: their layers
 * @property {boolean} ends       of chains between columns the ends alone
 * @property {string} from        the earlier time of a comparison, spelled as `at`
 * @property {string} to          the later one; empty means now
 * @property {string} fromRun     a run of the job, to be compared with another
 * @property {string} toRun       the other
 * @property {string} fromExecution  the earlier execution of a comparison
 * @property {string} toExecution    the later one
 * @property {string} fromPlan    the earlier plan of a comparison
 * @property {string} toPlan      the later one
 * @property {string} at          ISO time or epoch milliseconds; empty means now
 * @property {number|null} limit  most nodes asked for; null: the server's default
 * @property {string} facet       name of the run facet for a new quality rule
 * @property {string} runs        ids of runs that are picked for a comparison, by commas
 * @property {string} state       filter of the journal view
 * @property {string} by          the division of the journal in the storage view, and of the map's areas
 * @property {string} within      the area of the map that is open, its parts by line breaks
 * @property {string} sort        the order that the server gives a list; `-` in front: from the greatest
 * @property {number} page        of a list, from 0 on: for the words; `after` says where it begins
 * @property {string} after       where the server goes on with a list
 * @property {''|'failed'|'aborted'|'completed'|'running'} ended  filter of jobs and runs by the state of a run
 * @property {string} change      a column dropped, renamed or retyped by assumption; empty: as it is
 * @property {string} opened      sides of nodes that were opened where they stand (expansion.js)
 * @property {string} rows        how many columns of wide tables are drawn (rows.js)
 * @property {boolean} tables     tables only: no jobs between them
 * @property {string} fans        how many of a fan are drawn (fans.js)
 * @property {string} tab         the open part of the panel; empty: the first
 * @property {number} split       height of the area under the picture, in percent; 0: as it comes
 * @property {string} find        words looked for inside the picture
 * @property {''|'all'} steps     of a plan every operation, also those that only give a name
 * @property {string} selected    id of the selected node or edge
 * @property {'graph'|'list'} as  the picture or its accessible list
 */

/** The most steps that the server walks. */
export const DEPTH_LIMIT = 50;

/** @type {Readonly<State>} */
const DEFAULTS = Object.freeze({
  view: 'home',
  unknown: '',
  q: '',
  kind: '',
  place: '',
  namespace: '',
  layer: '',
  classification: '',
  owner: '',
  unread: false,
  unreadColumns: false,
  minRows: '',
  maxRows: '',
  late: false,
  node: '',
  plan: '',
  run: '',
  dataset: '',
  column: '',
  direction: 'both',
  depth: null,
  columns: false,
  indirect: false,
  ends: false,
  group: '',
  flow: '',
  hue: '',
  at: '',
  from: '',
  to: '',
  fromRun: '',
  toRun: '',
  fromExecution: '',
  toExecution: '',
  fromPlan: '',
  toPlan: '',
  limit: null,
  state: 'all',
  by: 'job',
  within: '',
  sort: '',
  page: 0,
  after: '',
  ended: '',
  change: '',
  facet: '',
  runs: '',
  fans: '',
  opened: '',
  rows: '',
  tables: false,
  tab: '',
  split: 0,
  find: '',
  steps: '',
  selected: '',
  as: 'graph',
});

const CHOICES = Object.freeze({
  view: Object.keys(VIEWS),
  direction: ['both', 'upstream', 'downstream'],
  state: ['failed', 'waiting', 'pending', 'projected', 'all'],
  by: ['job', 'namespace', 'producer', 'kind', 'layer'],
  ended: ['', 'failed', 'aborted', 'completed', 'running'],
  steps: ['', 'all'],
  kind: ['', 'dataset', 'job', 'column', 'run'],
  as: ['graph', 'list'],
  group: ['', 'layer'],
  flow: ['', 'right', 'down'],
  hue: ['', 'class', 'namespace'],
  change: ['', 'dropped', 'renamed', 'retyped'],
});

const RANGES = Object.freeze({ depth: [0, DEPTH_LIMIT], limit: [1, 5000], page: [0, 999_999], split: [0, 90] });

/** Whole numbers that no link writes unless they are asked for; the server takes as many digits. */
const COUNTS = ['minRows', 'maxRows'];

/**
 * Read a query string. A value that means nothing is left at its default, so that an old or
 * mistyped link still opens: `?depth=many` => depth null.
 * @param {string} search with or without the leading question mark
 * @returns {State}
 */
export function parse(search) {
  const given = new URLSearchParams(search);
  const state = { ...DEFAULTS, unknown: unknownOf(given) };
  for (const field of Object.keys(DEFAULTS)) {
    const text = field === 'unknown' ? null : given.get(field);
    if (text !== null) state[field] = read(field, text);
  }
  return state;
}

/** A view that a link names and that is none. */
function unknownOf(given) {
  const view = given.get('view') ?? '';
  return view && !CHOICES.view.includes(view) ? view : '';
}

function read(field, text) {
  if (field in CHOICES) return CHOICES[field].includes(text) ? text : DEFAULTS[field];
  if (field in RANGES) return readNumber(text, RANGES[field]) ?? DEFAULTS[field];
  if (COUNTS.includes(field)) return /^\d{1,15}$/.test(text) ? text : DEFAULTS[field];
  if (typeof DEFAULTS[field] === 'boolean') return text === 'true' || text === '1';
  return text;
}

function readNumber(text, [least, most]) {
  if (!/^\d{1,6}$/.test(text)) return null;
  return Math.min(most, Math.max(least, Number(text)));
}

/**
 * Write a state. Only parameters that the view uses and that differ from the default are written, always in
 * one order: equal pictures have equal links.
 * @param {Partial<State>} state
 * @returns {string} `/?view=…`
 */
export function write(state) {
  const full = { ...DEFAULTS, ...state };
  const query = new URLSearchParams({ view: full.view });
  for (const field of VIEWS[full.view].parameters) {
    const value = full[field];
    if (value !== DEFAULTS[field] && value !== null && value !== '') query.set(field, String(value));
  }
  return `/?${query}`;
}

/**
 * Whether a view's links say this.
 * @param {string} view
 * @param {keyof State} field
 * @returns {boolean}
 */
export function keeps(view, field) {
  return VIEWS[view].parameters.includes(field);
}

/**
 * The link to another view, seen at the same time, in the same hues and in the same form (picture or list).
 * @param {State} from where the reader is
 * @param {Partial<State>} to where the link leads
 * @returns {string}
 */
export function link(from, to) {
  return write({ at: from.at, as: from.as, hue: from.hue, ...to });
}

/**
 * The link to the neighbourhood of a node; the reader's direction, depth and toggles stay.
 * @param {State} from
 * @param {string} node a reference or an id
 * @returns {string}
 */
export function lineageOf(from, node) {
  const { direction, depth, columns, indirect } = from.view === 'lineage' ? from : DEFAULTS;
  return link(from, { view: 'lineage', node, direction, depth, columns, indirect });
}

/**
 * The same view with some values changed; the selection stays.
 * @param {State} state
 * @param {Partial<State>} changes
 * @returns {State}
 */
export function change(state, changes) {
  return { ...state, unknown: '', ...changes };
}

/**
 * How many steps the view asks for.
 * @param {State} state
 * @returns {number}
 */
export function depthOf(state) {
  return state.depth ?? VIEWS[state.view].depth ?? 1;
}

const GRAIN = 10;

/**
 * The way that data takes through the picture, as the server is asked: `down`, or the room in which it shall
 * be read. Lanes and columns have edges from side to side: with them it is left to right.
 * @param {State} state
 * @param {{width: number, height: number}} room
 * @returns {string} empty: left to right
 */
export function flowOf(state, { width, height }) {
  if (isSideways(state) || state.flow === 'right') return '';
  if (state.flow === 'down') return 'down';
  return [width, height].map((pixels) => Math.max(200, pixels - (pixels % GRAIN))).join('x');
}

/**
 * Whether edges of its picture run from side to side.
 * @param {State} state
 * @returns {boolean}
 */
export function isSideways(state) {
  return state.group !== '' || state.columns || /^column:|^col_/.test(state.node);
}

/**
 * Whether two states need the same replies: they differ at most in items selected, picked, folded, found or
 * open, and in form.
 * @param {State} one
 * @param {State} other
 * @returns {boolean}
 */
export function sameQuestion(one, other) {
  /** @type {Partial<State>} */
  const looks = { selected: '', as: 'graph', hue: '', runs: '', fans: '', opened: '', rows: '', tab: '', split: 0, find: '' };
  return write({ ...one, ...looks }) === write({ ...other, ...looks });
}

/**
 * A reference to a job: `job:<namespace>/<name>`, split by the server at the first raw slash.
 * @param {{namespace: string, name: string}} job
 * @returns {string}
 */
export function jobReference(job) {
  return `job:${encodeURIComponent(job.namespace)}/${encodeURIComponent(job.name)}`;
}

/**
 * `hr%2Feu => hr/eu`; a malformed text is left as it is.
 * @param {string} text
 * @returns {string}
 */
export function decodeText(text) {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

/**
 * The time of a date-time input (local time, no zone): its ISO form in UTC, empty when unreadable.
 * @param {string} local such as `2026-03-01T09:15`
 * @returns {string}
 */
export function fromLocalInput(local) {
  const date = new Date(local);
  return local && !Number.isNaN(date.getTime()) ? date.toISOString() : '';
}

/**
 * The value of a date-time input for a time of the query string.
 * @param {string} at ISO or epoch milliseconds
 * @returns {string} local time to the second, empty when there is none
 */
export function toLocalInput(at) {
  const date = readTime(at);
  if (date === null) return '';
  const shifted = new Date(date.getTime() - date.getTimezoneOffset() * 60_000);
  return shifted.toISOString().slice(0, 19);
}

/**
 * @param {string} at ISO or epoch milliseconds
 * @returns {Date|null} null when empty or unreadable
 */
export function readTime(at) {
  if (!at) return null;
  const date = new Date(/^-?\d+$/.test(at) ? Number(at) : at);
  return Number.isNaN(date.getTime()) ? null : date;
}
