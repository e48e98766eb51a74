/**
 * The views that exist, in one table: an entry says all that the rest of the page knows of a view
 * before its module has come.
 */

/**
 * @typedef {object} Page  a view's result from the server's replies
 * @property {string} heading
 * @property {string} subtitle
 * @property {object|null} reply      for as-of, depth, partial and folded
 * @property {import('./data/model.js').Model|null} model
 * @property {HTMLElement|null} empty a notice in place of the picture
 * @property {import('./page/dom.js').Child[]} [notes]  banners of the view's own
 * @property {(model: import('./data/model.js').Model) => string} [counts]  the subtitle once sides of nodes are opened
 * @property {HTMLElement|null} [below]         under the picture
 * @property {() => HTMLElement} [timeline]    the times of changes to the shown node
 * @property {string} [asked]          path and query of the question behind the picture
 * @property {object[]} [items]        of a list, for its filters
 * @property {() => HTMLElement} [document]     in place of picture and panel
 * @property {() => import('./panel/panel.js').Description|null} [summary]  the panel when nothing is selected
 * @property {(item: import('./data/model.js').Item) => import('./panel/panel.js').Description} [details]
 * @property {(item: import('./data/model.js').Box|import('./data/model.js').Row) => string} [hrefOf] where a double
 *   click leads; empty: nowhere
 */

/**
 * @typedef {object} View
 * @property {string[]} controls
 * @property {(context: import('./items/details.js').Context) => Promise<import('./data/api.js').Result>} load
 */

/**
 * @typedef {object} Entry
 * @property {readonly string[]} parameters  of its links, in the order of writing
 * @property {string} [heading]  over an error, where no subject gives a name
 * @property {string} [kind]     the word beside the heading: the kind of the subject
 * @property {boolean} [picture] it nearly always shows a picture: the library comes while the server answers
 * @property {boolean} [live]    it shows arrivals; pages in which somebody reads or writes wait for a press
 * @property {number} [depth]    so many steps, where the link does not say; 1 unless it is given
 * @property {number} [mostNodes] so many are asked for at most when the reader wants more
 * @property {() => Promise<View>} module  fetched when it is first looked at
 */

/** @type {Readonly<Record<string, Entry>>} `fields` lists all columns, `columns` is the lineage of one */
export const VIEWS = Object.freeze({
  home: {
    parameters: ['by', 'within'],
    heading: 'Home',
    live: true,
    module: () => import('./views/home.js').then((module) => module.home),
  },
  tables: {
    parameters: ['q', 'layer', 'classification', 'owner', 'unread', 'unreadColumns', 'minRows', 'maxRows', 'sort', 'page', 'after', 'at'],
    heading: 'Tables',
    module: () => import('./views/lists.js').then((module) => module.tables),
  },
  jobs: {
    parameters: ['q', 'namespace', 'ended', 'owner', 'late', 'sort', 'page', 'after', 'at'],
    heading: 'Jobs',
    module: () => import('./views/lists.js').then((module) => module.jobs),
  },
  runs: {
    parameters: ['q', 'node', 'ended', 'sort', 'page', 'after', 'at'],
    heading: 'Runs',
    live: true,
    module: () => import('./views/lists.js').then((module) => module.runs),
  },
  fields: {
    parameters: ['q', 'sort', 'page', 'after'],
    heading: 'Columns',
    module: () => import('./views/lists.js').then((module) => module.fields),
  },
  search: {
    parameters: ['q', 'kind', 'place'],
    heading: 'Search',
    module: () => import('./views/search.js').then((module) => module.search),
  },
  overview: {
    parameters: [
      'q', 'namespace', 'layer', 'classification', 'group', 'flow', 'hue', 'at', 'limit', 'opened', 'rows', 'fans',
      'tab', 'selected', 'as',
    ],
    heading: 'Overview',
    picture: true,
    live: true,
    mostNodes: 2000,
    module: () => import('./views/overview.js').then((module) => module.overview),
  },
  job: {
    parameters: [
      'node', 'flow', 'hue', 'at', 'limit', 'opened', 'rows', 'runs', 'fans', 'split', 'tab', 'selected',
      'as',
    ],
    kind: 'Job',
    picture: true,
    live: true,
    mostNodes: 5000,
    module: () => import('./views/job.js').then((module) => module.job),
  },
  plan: {
    parameters: ['plan', 'steps', 'flow', 'find', 'split', 'selected', 'as'],
    kind: 'Plan',
    picture: true,
    module: () => import('./views/plan.js').then((module) => module.plan),
  },
  run: {
    parameters: ['run', 'at'],
    kind: 'Run',
    module: () => import('./views/run.js').then((module) => module.run),
  },
  lineage: {
    parameters: [
      'node', 'direction', 'depth', 'columns', 'indirect', 'group', 'flow', 'hue', 'at', 'limit', 'tables',
      'opened', 'rows', 'fans', 'tab', 'selected', 'as',
    ],
    kind: 'Lineage',
    picture: true,
    live: true,
    mostNodes: 5000,
    module: () => import('./views/lineage.js').then((module) => module.lineage),
  },
  columns: {
    parameters: [
      'dataset', 'column', 'node', 'direction', 'depth', 'indirect', 'ends', 'hue', 'at', 'limit', 'rows',
      'fans', 'split', 'tab', 'selected', 'as',
    ],
    kind: 'Column lineage',
    picture: true,
    depth: 10,
    mostNodes: 5000,
    module: () => import('./views/columns.js').then((module) => module.columns),
  },
  impact: {
    parameters: ['node', 'change', 'columns', 'indirect', 'at', 'limit'],
    kind: 'Impact',
    mostNodes: 5000,
    module: () => import('./views/impact.js').then((module) => module.impact),
  },
  journal: {
    parameters: ['state'],
    live: true,
    module: () => import('./views/journal.js').then((module) => module.journal),
  },
  storage: {
    parameters: ['by'],
    module: () => import('./views/storage.js').then((module) => module.storage),
  },
  layers: {
    parameters: [],
    module: () => import('./views/layers.js').then((module) => module.layers),
  },
  classes: {
    parameters: ['classification', 'at', 'limit'],
    module: () => import('./views/classes.js').then((module) => module.classes),
  },
  rules: {
    parameters: [],
    module: () => import('./views/rules.js').then((module) => module.rules),
  },
  hidden: {
    parameters: [],
    module: () => import('./views/hidden.js').then((module) => module.hidden),
  },
  quality: {
    parameters: ['facet'],
    module: () => import('./views/quality.js').then((module) => module.quality),
  },
  declare: {
    parameters: ['node'],
    module: () => import('./views/declare.js').then((module) => module.declare),
  },
  diff: {
    parameters: [
      'node', 'from', 'to', 'fromRun', 'toRun', 'fromExecution', 'toExecution', 'direction', 'depth',
      'columns', 'indirect', 'limit', 'rows', 'fans', 'split', 'selected', 'as',
    ],
    kind: 'Difference',
    picture: true,
    mostNodes: 5000,
    module: () => import('./views/diff.js').then((module) => module.diff),
  },
  plans: {
    parameters: ['fromPlan', 'toPlan', 'split', 'selected', 'as'],
    kind: 'Difference of plans',
    picture: true,
    module: () => import('./views/plans.js').then((module) => module.plans),
  },
});
