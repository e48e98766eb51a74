/**
 * The wiring: the query string is the state; a state is a view; a view loads a page; a page is drawn.
 */
import { createApi } from './data/api.js';
import { canvasTools, createControls, formSwitch, legend } from './page/controls.js';
import { byId, data, download, element, focusFirst, replace } from './page/dom.js';
import { errorFace, keyFace, loadingFace, rebuildingFace } from './page/faces.js';
import { formatNumber, shorten } from './data/format.js';
import { foldFans } from './data/fans.js';
import { createGraph } from './drawing/graph.js';
import { describeBundle, describeGroup, opening } from './panel/groups.js';
import { createThemeSwitch, showDocuments } from './page/header.js';
import { createKey, sessionStore } from './data/key.js';
import { announcement, createList } from './page/list.js';
import { pack } from './drawing/packing.js';
import { createMinimap } from './drawing/minimap.js';
import { find, findNode, tally } from './data/model.js';
import { step } from './data/walk.js';
import { banners, footnote } from './page/notes.js';
import { readPalette } from './drawing/palette.js';
import { createPanel } from './panel/panel.js';
import { createSearch } from './page/search.js';
import { createTooltip } from './page/tooltip.js';
import { change, link, parse, sameQuestion, write } from './data/url.js';
import { columns } from './views/columns.js';
import { declare } from './views/declare.js';
import { diff } from './views/diff.js';
import { impact } from './views/impact.js';
import { job } from './views/job.js';
import { journal } from './views/journal.js';
import { classes } from './views/classes.js';
import { layers } from './views/layers.js';
import { lineage } from './views/lineage.js';
import { overview } from './views/overview.js';
import { plan } from './views/plan.js';
import { quality } from './views/quality.js';
import { rules } from './views/rules.js';
import { run } from './views/run.js';
import { storage } from './views/storage.js';
import { plans } from './views/plans.js';

/**
 * @typedef {object} Page  what a view makes of the server's replies
 * @property {string} heading
 * @property {string} subtitle
 * @property {object|null} reply      for as-of, depth, partial and folded
 * @property {import('./data/model.js').Model|null} model
 * @property {HTMLElement|null} empty a face in place of the picture
 * @property {import('./page/dom.js').Child[]} [notes]  banners of the view's own
 * @property {HTMLElement|null} [below]         under the picture
 * @property {() => HTMLElement} [document]     in place of picture and panel
 * @property {() => import('./panel/panel.js').Description|null} [summary]  the panel when nothing is selected
 * @property {(item: import('./data/model.js').Item) => import('./panel/panel.js').Description} [details]
 * @property {(item: import('./data/model.js').Box|import('./data/model.js').Row) => string} [hrefOf] where a double
 *   click leads; empty: nowhere
 */

const VIEWS = {
  overview,
  job,
  plan,
  run,
  lineage,
  columns,
  impact,
  journal,
  storage,
  layers,
  classes,
  declare,
  diff,
  plans,
  rules,
  quality,
};
const DOUBLE_CLICK = 280;
/** How often a server that is away is looked for, in ms. */
const AWAY = 3000;

const at = (id) => byId(id, HTMLElement);
const places = {
  heading: at('heading'),
  kind: at('kind'),
  subtitle: at('subtitle'),
  controls: at('controls'),
  form: at('form'),
  notes: at('notes'),
  work: at('work'),
  stage: at('stage'),
  canvas: at('canvas'),
  list: at('list'),
  face: at('face'),
  tools: at('tools'),
  legend: at('legend'),
  below: at('below'),
  panel: at('panel'),
  document: at('document'),
  announcer: at('announcer'),
  journal: byId('journal', HTMLAnchorElement),
  tooltip: at('tooltip'),
  theme: byId('theme', HTMLButtonElement),
  refresh: at('refresh'),
  footnote: at('footnote'),
  over: at('over'),
  minimap: byId('minimap', HTMLCanvasElement),
};

const key = createKey(sessionStore());
const api = createApi(undefined, key.get);
let state = parse(location.search);
/** @type {Page|null} */
let page = null;
/** @type {import('./data/model.js').Model|null} what is drawn: the page's model with its fans folded */
let drawn = null;
/** @type {{view: string, follow: import('./page/controls.js').Control['follow']}} */
let controls = { view: '', follow: () => {} };
let question = 0;
let retryTimer = 0;
let clickTimer = 0;
/** @type {{page: Page|null, id: string}} what the panel shows: the same is not asked for twice */
let described = { page: null, id: '' };
/** @type {import('./data/walk.js').Position} where the keyboard stands on the canvas */
let position = { id: '', came: null };

let shades = colours();
const graph = createGraph(places.canvas, shades, {
  onSelect: clickItem,
  onOpen: openItem,
  onHover: (id, point) => tooltip(id && drawn ? find(drawn, id) : undefined, point),
  onMove: drawMinimap,
});
const tooltip = createTooltip(places.tooltip, places.stage);
const minimap = createMinimap(places.minimap, (point) => graph.moveTo(point));
const list = createList(places.list, { onSelect: select, onOpen: openDetails, announce });
const panel = createPanel(places.panel, {
  onClose: () => {
    select('');
    focusStage();
  },
});
const form = formSwitch(go);
const search = createSearch({ input: byId('search', HTMLInputElement), results: at('results') }, api, {
  hrefOf: resultHref,
  open: (href) => {
    follow(href);
    places.heading.focus({ preventScroll: true });
  },
  announce,
});

function colours() {
  return readPalette(getComputedStyle(document.documentElement), document.body.dataset.theme === 'dark');
}

/** What was classified shows at once. */
function repaint() {
  graph.repaint(shades);
}

function announce(text) {
  places.announcer.textContent = text;
}

/* Moving between states */

function go(changes, options = {}) {
  move(change(state, changes), options);
}

function follow(href) {
  move(parse(new URL(href, location.href).search));
}

function move(to, { replace: instead = false } = {}) {
  const from = state;
  state = to;
  const href = write(to);
  if (href !== location.pathname + location.search)
    history[instead ? 'replaceState' : 'pushState'](null, '', href);
  arrive(from);
}

function arrive(from) {
  if (page && sameQuestion(from, state)) {
    if (page.model && from.fans !== state.fans) showPicture(page.heading, page.model);
    return showState();
  }
  if (['view', 'node', 'plan', 'dataset', 'column', 'fromPlan', 'toPlan'].some((field) => from[field] !== state[field])) forget();
  return load();
}

/** Another subject: the old picture must not stand under the new name. */
function forget() {
  page = drawn = null;
  panel.clear();
  replace(places.notes);
  replace(places.below);
}

/* Loading and drawing */

async function load() {
  const mine = (question += 1);
  clearTimeout(retryTimer);
  begin();
  const result = await VIEWS[state.view].load({ state, api, reload: load, announce, repaint, go });
  if (mine !== question || (!result.ok && result.stale)) return;
  if (result.ok) finish(result.data);
  else if (result.error.status === 401) askForKey(result.error);
  else if (result.error.status === 503) await wait(result.error, mine);
  else fail(result.error);
}

function begin() {
  setState('loading');
  document.body.dataset.view = state.view;
  if (controls.view !== state.view) {
    controls = { view: state.view, follow: createControls(places.controls, VIEWS[state.view].controls, go) };
  }
  controls.follow(state, page);
  form.follow(state, page);
  /** @type {NodeListOf<HTMLAnchorElement>} */
  const ways = document.querySelectorAll('nav a');
  for (const one of ways) {
    if (one.dataset.view === state.view) one.setAttribute('aria-current', 'page');
    else one.removeAttribute('aria-current');
  }
  if (!page) {
    places.heading.textContent = 'Loading…';
    places.subtitle.textContent = '';
    showFace(loadingFace());
  }
}

function setState(name) {
  document.body.dataset.state = name;
  places.work.setAttribute('aria-busy', String(name === 'loading'));
}

/** @param {Page} loaded */
function finish(loaded) {
  page = loaded;
  head(page.heading, page.subtitle);
  controls.follow(state, page);
  replace(places.notes, banners(page, state, { timed: VIEWS[state.view].controls.includes('at'), go }));
  showBody(page);
  setState(page.empty ? 'empty' : 'ready');
  announce(
    page.empty
      ? (page.empty.querySelector('h2')?.textContent ?? '')
      : `${shorten(page.heading, 120)}. ${page.subtitle}`,
  );
  showDocuments(places.journal, api);
}

const KINDS = {
  overview: '',
  journal: '',
  storage: '',
  layers: '',
  classes: '',
  rules: '',
  quality: '',
  declare: '',
  job: 'Job',
  plan: 'Plan',
  run: 'Run',
  lineage: 'Lineage',
  columns: 'Column lineage',
  impact: 'Impact',
  diff: 'Difference',
  plans: 'Difference of plans',
};

function head(heading, subtitle) {
  replace(places.heading, data(shorten(heading, 2500)));
  places.heading.title = heading.length > 60 ? shorten(heading, 400) : '';
  places.kind.textContent = KINDS[state.view];
  places.kind.hidden = !KINDS[state.view];
  places.subtitle.textContent = subtitle;
  document.title = `${shorten(heading, 60)} · Headwater`;
}

/** @param {Page} shown */
function showBody(shown) {
  const picture = shown.empty ? null : shown.model;
  document.body.dataset.form = shown.document ? 'document' : picture ? 'picture' : 'face';
  replace(places.document, shown.document ? [unseenHeading(shown.heading), shown.document()] : []);
  replace(places.below, shown.below ? [unseenHeading('In words'), shown.below] : []);
  places.below.hidden = !shown.below;
  places.below.scrollTop = 0;
  places.form.hidden = !picture;
  drawn = null;
  if (!picture) {
    showFace(shown.empty);
    panel.clear();
    return;
  }
  showFace(null);
  replace(places.footnote, footnote(shown.reply));
  showPicture(shown.heading, picture);
  showState();
}

/**
 * Screen readers go from heading to heading: what follows has headings of the third level.
 * @param {string} words
 * @returns {HTMLElement}
 */
function unseenHeading(words) {
  return element('h2', { class: 'visually-hidden' }, data(shorten(words, 200)));
}

/**
 * @param {string} heading
 * @param {import('./data/model.js').Model} model
 */
function showPicture(heading, model) {
  drawn = foldFans(model, { opened: state.fans, pinned: [state.selected] });
  if (!graph.fits(drawn)) pack(drawn, places.stage.clientWidth / Math.max(1, places.stage.clientHeight));
  graph.show(drawn, state.selected);
  list.show(drawn);
  replace(places.legend, legend(drawn));
  describePicture(heading, drawn);
  described = { page: null, id: '' };
  position = { id: '', came: null };
}

function describePicture(heading, model) {
  const { links } = tally(model);
  const label = `${heading}: graph of ${formatNumber(model.boxes.size)} nodes and ${formatNumber(links)} edges. Arrow keys follow the edges, Enter opens details. The list shows the same.`;
  places.stage.setAttribute('aria-label', shorten(label, 400));
}

/** Selection and form: what changes without another question. */
function showState() {
  form.follow(state, page);
  const asList = state.as === 'list';
  document.body.dataset.as = state.as;
  places.list.hidden = !asList;
  for (const part of [places.canvas, places.over, places.legend, at('minimap-place')]) part.hidden = asList;
  places.stage.tabIndex = asList ? -1 : 0;
  places.stage.setAttribute('role', asList ? 'group' : 'application');
  if (!page || !drawn) return;
  graph.select(state.selected);
  list.select(state.selected);
  const item = find(drawn, state.selected);
  document.body.dataset.selected = item ? item.id : '';
  if (described.page === page && described.id === document.body.dataset.selected) return;
  described = { page, id: document.body.dataset.selected };
  const description = item ? detailsOf(page, drawn, item) : page.summary?.();
  places.panel.hidden = !description;
  if (description) panel.show(description, Boolean(item));
  else panel.clear();
  if (item) graph.reveal(item.id, coveredWidth(), false);
}

/**
 * The page knows nothing of what was folded.
 * @param {Page} shown
 * @param {import('./data/model.js').Model} model what is drawn of it
 * @param {import('./data/model.js').Item} item
 */
function detailsOf({ model: whole, details }, model, item) {
  if ('edge' in item && whole && !whole.links.has(item.id)) return describeBundle(model, item);
  if (item.kind !== 'group' || !whole) return details?.(item);
  return describeGroup(state, whole, item, (all) => openFan(item, all));
}

/** The keyboard goes on where the fan was opened. */
function openFan({ node: { fold } }, all) {
  go(opening(state, fold, all));
  focusStage();
  announce(`${formatNumber(drawn?.boxes.size ?? 0)} nodes are drawn.`);
}

function showFace(face) {
  replace(places.face, face ?? []);
  places.face.hidden = !face;
  if (face && !page?.document) {
    document.body.dataset.form = 'face';
    places.below.hidden = true;
    places.form.hidden = true;
  }
}

function fail(error) {
  leave();
  const hrefOf = (parameter, id) => write({ ...state, [parameter]: id });
  showFace(errorFace(error, { retry: load, hrefOf, changeKey: () => useKey('') }));
  setState('error');
  announce(error.message);
  if (error.status === 429) retryTimer = setTimeout(load, error.retryAfter * 1000);
  if (error.status === 0) retryTimer = setTimeout(() => awaitServer(question), AWAY);
}

/**
 * The face stays, and the keyboard where it is, until the server answers.
 * @param {number} mine
 */
async function awaitServer(mine) {
  const found = await api.get('/health/ready', {}, 'away');
  if (mine !== question || (!found.ok && found.stale)) return;
  if (found.ok || found.error.status !== 0) load();
  else retryTimer = setTimeout(() => awaitServer(mine), AWAY);
}

/** No picture: the view's name stands above a face. */
function leave() {
  page = drawn = null;
  head(state.view === 'overview' ? 'Overview' : nameOf(state), '');
  replace(places.notes);
  panel.clear();
}

function askForKey(error) {
  leave();
  showFace(keyFace(error, { refused: key.get() !== '', submit: useKey }));
  setState('locked');
  announce(error.message);
  focusFirst(places.face, 'input');
}

function useKey(text) {
  key.set(text);
  return load();
}

function nameOf({ node, plan: planId, dataset }) {
  return shorten(node || planId || dataset || 'Headwater', 200);
}

async function wait(error, mine) {
  leave();
  const summary = await api.get('/journal', { summary: true }, 'waiting');
  if (mine !== question) return;
  showFace(rebuildingFace(error, { pending: summary.ok ? summary.data.pending : 0, retry: load }));
  setState('rebuilding');
  announce('The graph is being rebuilt. The page asks again by itself.');
  retryTimer = setTimeout(load, error.retryAfter * 1000);
}

/* The reader's hands */

function select(id) {
  position = { id, came: null };
  if (id === state.selected) return;
  go({ selected: id }, { replace: true });
}

/**
 * Where the panel will come to lie over the picture it waits until the click can no longer become a
 * double click; else the second click would meet the panel.
 */
function clickItem(id) {
  clearTimeout(clickTimer);
  if (state.view !== 'overview' || !places.panel.hidden) return select(id);
  graph.select(id);
  clickTimer = setTimeout(() => select(id), DOUBLE_CLICK);
  return undefined;
}

function openItem(id) {
  clearTimeout(clickTimer);
  const item = drawn && findNode(drawn, id);
  if (!item) return undefined;
  if (item.kind === 'group') return openFan(item, false);
  const href = page?.hrefOf?.(item);
  return href ? follow(href) : undefined;
}

function openDetails(id) {
  if (!id) return;
  if (state.selected !== id) go({ selected: id }, { replace: true });
  panel.focus();
}

function focusStage() {
  if (state.as === 'list') list.focus();
  else places.stage.focus();
}

function pressStage(event) {
  if (event.target !== places.stage || !drawn || event.ctrlKey || event.metaKey || event.altKey) return;
  const keys = {
    '+': () => graph.zoom(1.25),
    '=': () => graph.zoom(1.25),
    '-': () => graph.zoom(0.8),
    0: () => graph.fit(),
    Escape: () => select(''),
  };
  if (event.key === 'Enter') (event.shiftKey ? openItem : openDetails)(state.selected);
  else if (keys[event.key]) keys[event.key]();
  else if (!walk(drawn, event.key)) return;
  event.preventDefault();
}

/** One step of the keyboard over the canvas. */
function walk(model, key) {
  if (!/^(Arrow|Page|Home$|End$)/.test(key)) return false;
  const { selected } = state;
  const from = position.id === selected ? position : { id: selected, came: null };
  const to = findNode(model, selected) ? step(model, from, key) : first(model);
  if (!to) return false;
  go({ selected: to.id }, { replace: true });
  position = to;
  graph.reveal(to.id, coveredWidth(), true);
  announce(announcement(model, to));
  return true;
}

/** In the overview the panel lies over the picture. */
function coveredWidth() {
  const covers = getComputedStyle(places.panel).position === 'absolute' && !places.panel.hidden;
  return covers ? places.panel.offsetWidth : 0;
}

function first(model) {
  const id = model.focus || model.order[0];
  return id ? { id, came: null } : null;
}

function drawMinimap(seen) {
  if (drawn) minimap.draw(drawn, shades, seen);
}

async function saveImage() {
  if (!page) return;
  const { heading } = page;
  const blob = await graph.toImage();
  const name =
    shorten(heading, 60)
      .replace(/[^\p{L}\p{N}._-]+/gu, '-')
      .replace(/^-+|-+$/g, '') || 'lineage';
  download(blob, `${name}.png`);
}

/* Header */

function resultHref(item) {
  const node = item.node ?? item.id;
  if (item.kind === 'job') return link(state, { view: 'job', node });
  if (item.kind === 'column') return link(state, { view: 'columns', node });
  return link(state, { view: 'lineage', node });
}

function click(event) {
  const target = event.target instanceof Element ? event.target.closest('a[data-internal]') : null;
  const plainClick =
    event.button === 0 && !event.ctrlKey && !event.metaKey && !event.shiftKey && !event.altKey;
  if (!(target instanceof HTMLAnchorElement) || !plainClick || event.defaultPrevented) return;
  event.preventDefault();
  follow(target.href);
  if (places.panel.contains(target) || places.below.contains(target))
    places.heading.focus({ preventScroll: true });
}

function shortcut(event) {
  const writing = event.target.closest?.('input, select, textarea');
  if (event.key !== '/' || writing || event.ctrlKey || event.metaKey || event.altKey) return;
  event.preventDefault();
  at('search').focus();
  search.focus();
}

document.addEventListener('click', click);
at('skip').addEventListener('click', (event) => {
  event.preventDefault();
  if (drawn) focusStage();
  else at('work').focus();
});
document.addEventListener('keydown', shortcut);
places.stage.addEventListener('keydown', pressStage);
places.refresh.addEventListener('click', () => load());
window.addEventListener('popstate', () => {
  const from = state;
  state = parse(location.search);
  arrive(from);
});
replace(places.tools, canvasTools({ zoom: graph.zoom, fit: graph.fit, save: saveImage }));
replace(places.form, form.node);
createThemeSwitch(places.theme, () => {
  shades = colours();
  graph.repaint(shades);
});
load();
