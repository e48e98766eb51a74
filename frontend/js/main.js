/**
 * The wiring: the query string is the state; a state is a view; a view loads a page; a page is drawn.
 */
import { createApi } from './api.js';
import { canvasTools, createControls, formSwitch, legend } from './controls.js';
import { data, download, replace } from './dom.js';
import { errorFace, keyFace, loadingFace, rebuildingFace } from './faces.js';
import { formatNumber, shorten } from './format.js';
import { createGraph } from './graph.js';
import { createThemeSwitch, showDocuments } from './header.js';
import { createKey, sessionStore } from './key.js';
import { announcement, createList } from './list.js';
import { createMinimap } from './minimap.js';
import { find, step, tally } from './model.js';
import { banners, footnote } from './notes.js';
import { readPalette } from './palette.js';
import { createPanel } from './panel.js';
import { createSearch } from './search.js';
import { createTooltip } from './tooltip.js';
import { change, link, parse, sameQuestion, write } from './url.js';
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
import { rules } from './views/rules.js';
import { run } from './views/run.js';
import { plans } from './views/plans.js';

/**
 * @typedef {object} Page  what a view makes of the server's replies
 * @property {string} heading
 * @property {string} subtitle
 * @property {object|null} reply      for as-of, depth, partial and folded
 * @property {import('./model.js').Model|null} model
 * @property {HTMLElement|null} empty a face in place of the picture
 * @property {Array} [notes]          banners of the view's own
 * @property {HTMLElement|null} [below]         under the picture
 * @property {() => HTMLElement} [document]     in place of picture and panel
 * @property {() => import('./panel.js').Description|null} [summary]  the panel when nothing is selected
 * @property {(item: object) => import('./panel.js').Description} [details]
 * @property {(item: object) => string} [hrefOf] where a double click leads; empty: nowhere
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
  layers,
  classes,
  declare,
  diff,
  plans,
  rules,
};
const DOUBLE_CLICK = 280;

const at = (id) => document.getElementById(id);
const PLACES =
  'heading kind subtitle controls form notes work stage canvas list face tools legend below panel ' +
  'document announcer journal tooltip theme refresh footnote over minimap';
const places = Object.fromEntries(PLACES.split(' ').map((id) => [id, at(id)]));

const key = createKey(sessionStore());
const api = createApi(undefined, key.get);
let state = parse(location.search);
/** @type {Page|null} */
let page = null;
let controls = { view: '', follow: () => {} };
let question = 0;
let retryTimer = 0;
let clickTimer = 0;
/** What the panel shows: the same is not asked for twice. */
let described = { page: null, id: '' };
/** Where the keyboard stands on the canvas. */
let position = { id: '', came: null };

let shades = colours();
const graph = createGraph(places.canvas, shades, {
  onSelect: clickItem,
  onOpen: openItem,
  onHover: (id, point) => tooltip(id && page?.model ? find(page.model, id) : undefined, point),
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
const search = createSearch({ input: at('search'), results: at('results') }, api, {
  hrefOf: resultHref,
  open: (href) => {
    follow(href);
    places.heading.focus({ preventScroll: true });
  },
  announce,
});

function colours() {
  return readPalette(getComputedStyle(document.documentElement));
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
  if (page && sameQuestion(from, state)) return showState();
  if (['view', 'node', 'plan', 'dataset', 'column', 'fromPlan', 'toPlan'].some((field) => from[field] !== state[field])) forget();
  return load();
}

/** Another subject: the old picture must not stand under the new name. */
function forget() {
  page = null;
  panel.clear();
  replace(places.notes);
  replace(places.below);
}

/* Loading and drawing */

async function load() {
  const mine = (question += 1);
  clearTimeout(retryTimer);
  begin();
  const result = await VIEWS[state.view].load({ state, api, reload: load, announce, repaint });
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
  form.follow(state);
  for (const one of document.querySelectorAll('nav a')) {
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
  showBody();
  setState(page.empty ? 'empty' : 'ready');
  announce(
    page.empty
      ? page.empty.querySelector('h2').textContent
      : `${shorten(page.heading, 120)}. ${page.subtitle}`,
  );
  showDocuments(places.journal, api);
}

const KINDS = {
  overview: '',
  journal: '',
  layers: '',
  classes: '',
  rules: '',
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

function showBody() {
  const drawn = Boolean(page.model) && !page.empty;
  document.body.dataset.form = page.document ? 'document' : drawn ? 'picture' : 'face';
  replace(places.document, page.document?.() ?? []);
  replace(places.below, page.below ?? []);
  places.below.hidden = !page.below;
  places.below.scrollTop = 0;
  places.form.hidden = !drawn;
  if (!drawn) {
    showFace(page.empty);
    panel.clear();
    return;
  }
  showFace(null);
  graph.show(page.model);
  list.show(page.model);
  replace(places.legend, legend(page.model));
  replace(places.footnote, footnote(page.reply));
  describePicture(page.model);
  position = { id: '', came: null };
  showState();
}

function describePicture(model) {
  const { links } = tally(model);
  const label = `${page.heading}: graph of ${formatNumber(model.boxes.size)} nodes and ${formatNumber(links)} edges. Arrow keys follow the edges, Enter opens details. The list shows the same.`;
  places.stage.setAttribute('aria-label', shorten(label, 400));
}

/** Selection and form: what changes without another question. */
function showState() {
  form.follow(state);
  const asList = state.as === 'list';
  document.body.dataset.as = state.as;
  places.list.hidden = !asList;
  for (const part of [places.canvas, places.over, places.legend, at('minimap-place')]) part.hidden = asList;
  places.stage.tabIndex = asList ? -1 : 0;
  places.stage.setAttribute('role', asList ? 'group' : 'application');
  if (!page?.model || page.empty) return;
  graph.select(state.selected);
  list.select(state.selected);
  const item = find(page.model, state.selected);
  document.body.dataset.selected = item ? item.id : '';
  if (described.page === page && described.id === document.body.dataset.selected) return;
  described = { page, id: document.body.dataset.selected };
  const description = item ? page.details(item) : page.summary?.();
  places.panel.hidden = !description;
  if (description) panel.show(description, Boolean(item));
  else panel.clear();
  if (item) graph.reveal(item.id, coveredWidth(), false);
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
}

/** No picture: the view's name stands above a face. */
function leave() {
  page = null;
  head(state.view === 'overview' ? 'Overview' : nameOf(state), '');
  replace(places.notes);
  panel.clear();
}

function askForKey(error) {
  leave();
  showFace(keyFace(error, { refused: key.get() !== '', submit: useKey }));
  setState('locked');
  announce(error.message);
  places.face.querySelector('input').focus();
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
  const href = page?.hrefOf?.(find(page.model, id));
  if (href) follow(href);
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
  if (event.target !== places.stage || !page?.model || event.ctrlKey || event.metaKey || event.altKey) return;
  const keys = {
    '+': () => graph.zoom(1.25),
    '=': () => graph.zoom(1.25),
    '-': () => graph.zoom(0.8),
    0: () => graph.fit(),
    Escape: () => select(''),
  };
  if (event.key === 'Enter') (event.shiftKey ? openItem : openDetails)(state.selected);
  else if (keys[event.key]) keys[event.key]();
  else if (!walk(event.key)) return;
  event.preventDefault();
}

/** One step of the keyboard over the canvas. */
function walk(key) {
  if (!/^(Arrow|Page|Home$|End$)/.test(key)) return false;
  const { selected } = state;
  const from = position.id === selected ? position : { id: selected, came: null };
  const onNode = page.model.boxes.has(selected) || page.model.rows.has(selected);
  const to = onNode ? step(page.model, from, key) : first();
  if (!to) return false;
  go({ selected: to.id }, { replace: true });
  position = to;
  graph.reveal(to.id, coveredWidth(), true);
  announce(announcement(page.model, to));
  return true;
}

/** In the overview the panel lies over the picture. */
function coveredWidth() {
  const covers = getComputedStyle(places.panel).position === 'absolute' && !places.panel.hidden;
  return covers ? places.panel.offsetWidth : 0;
}

function first() {
  const id = page.model.focus || page.model.order[0];
  return id ? { id, came: null } : null;
}

function drawMinimap(seen) {
  if (page?.model) minimap.draw(page.model, shades, seen);
}

async function saveImage() {
  const blob = await graph.toImage();
  const name =
    shorten(page.heading, 60)
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
  if (!target || !plainClick || event.defaultPrevented) return;
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
