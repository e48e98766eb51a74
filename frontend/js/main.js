/**
 * The wiring: the query string is the state; a state is a view; a view loads a page; a page is drawn.
 */
import { createApi } from './data/api.js';
import { canvasTools, createControls, formSwitch } from './controls/controls.js';
import { byId, data, element, focusFirst, replace } from './page/dom.js';
import { errorFace, keyFace, loadingFace, rebuildingFace } from './page/faces.js';
import { formatNumber, plain, shorten } from './data/format.js';
import { attempt, savePng, shareMenu } from './export/share.js';
import { openAll, toggled } from './drawing/growth.js';
import { foldFans } from './data/fans.js';
import { foldColumns, tableOfRest, tenMore } from './data/rows.js';
import { describeBundle, describeGroup, opening } from './items/groups.js';
import { createThemeSwitch, showDocuments } from './page/header.js';
import { createKey, sessionStore } from './data/key.js';
import { announcement, createList } from './page/list.js';
import { createLegend } from './page/legend.js';
import { pack } from './drawing/packing.js';
import { createMinimap } from './page/minimap.js';
import { createDivider } from './controls/divider.js';
import { matching } from './controls/find.js';
import { closeWhenLeft } from './controls/menu.js';
import { find, findNode, tally, turn } from './data/model.js';
import { step } from './data/walk.js';
import { banners, footnote, outageBanner } from './page/notes.js';
import { huesOf, NO_HUES } from './drawing/looks.js';
import { readPalette } from './drawing/palette.js';
import { createPanel } from './panel/panel.js';
import { createSearch } from './controls/search.js';
import { createShortcuts } from './page/shortcuts.js';
import { createTooltip } from './page/tooltip.js';
import { VIEWS } from './views.js';
import { change, depthOf, keeps, link, parse, sameQuestion, write } from './data/url.js';

const DOUBLE_CLICK = 280;
/** So many matches are drawn, whatever is folded. */
const MOST_PINNED = 50;
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
  strip: at('strip'),
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
/** @type {import('./views.js').Page|null} */
let page = null;
/** @type {import('./data/model.js').Model|null} the drawn model: the page's with its fans folded */
let drawn = null;
/** @type {{view: string, follow: import('./controls/controls.js').Control['follow']}} */
let controls = { view: '', follow: () => {} };
/** @type {import('./data/url.js').State|null} whose picture stands on the canvas */
let pictured = null;
/** @type {import('./data/model.js').Model|null} the list's model, made when the list is first seen */
let listed = null;
/** @type {import('./views.js').View} the one that is looked at */
let view = { controls: [], load: async () => ({ ok: false, stale: true }) };
let question = 0;
let retryTimer = 0;
/** @type {Date|null} since when the server has not answered */
let away = null;
let clickTimer = 0;
/** @type {{page: import('./views.js').Page|null, id: string}} the panel's subject: it is not asked for twice */
let described = { page: null, id: '' };
/** @type {import('./data/walk.js').Position} where the keyboard stands on the canvas */
let position = { id: '', came: null };

let shades = colours();
/** Of the whole picture, folded boxes included. */
let hues = NO_HUES;
/** @type {ReturnType<typeof import('./drawing/graph.js').createGraph>|null} fetched with the first picture */
let graph = null;

/** The canvas, with vis-network, which most of the page does without. */
async function openCanvas() {
  const { createGraph } = await import('./drawing/graph.js');
  if (graph) return;
  graph = createGraph(places.canvas, shades, {
    onSelect: clickItem,
    onOpen: openItem,
    onHandle: (id, side, whole) => {
      go({ opened: toggled(state.opened, { id, side, whole }) });
      focusStage();
    },
    onHover: (id, point) => tooltip(id && drawn ? find(drawn, id) : undefined, point),
    onMove: drawMinimap,
  });
}

const tooltip = createTooltip(places.tooltip, places.stage, places.canvas);
const showLegend = createLegend(at('legend'), (hue) => go({ hue }, { replace: true }));
const minimap = createMinimap(places.minimap, (point) => graph?.moveTo(point));
const list = createList(places.list, { onSelect: select, onOpen: openDetails, announce });
const panel = createPanel(places.panel, {
  onClose: () => {
    select('');
    focusStage();
  },
  onTab: (tab) => go({ tab }, { replace: true }),
});
const divider = createDivider(at('divider'), places.below, (split) => go({ split }, { replace: true }));
const showKeys = createShortcuts(byId('shortcuts', HTMLDialogElement));
at('help').addEventListener('click', showKeys);
const tour = { begin: async () => (await import('./start/tour.js')).createTour(at('tour'), follow).begin() };
const form = formSwitch(go);
const search = createSearch({ input: byId('search', HTMLInputElement), results: at('results') }, api, {
  hrefOf: resultHref,
  allOf: (q) => write({ view: 'search', q }),
  open: (href) => {
    follow(href);
    places.heading.focus({ preventScroll: true });
  },
  announce,
});

function colours() {
  return readPalette(getComputedStyle(document.documentElement), document.body.dataset.theme === 'dark');
}

/** Another choice of hues, or a new classification, shows at once. */
function repaint() {
  if (page?.model) hues = huesOf(page.model, state.hue);
  graph?.repaint(shades, hues);
  if (drawn) showKey(drawn);
}

function showKey(model) {
  showLegend(model, hues, keeps(state.view, 'hue'));
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
    if (from.opened !== state.opened) return load();
    if (from.hue !== state.hue) repaint();
    if (page.model && from.fans !== state.fans) showPicture(page.heading, page.model);
    if (page.model && (from.rows !== state.rows || from.find !== state.find)) showPicture(page.heading, page.model, true);
    return showState();
  }
  if (['view', 'node', 'plan', 'dataset', 'column', 'fromPlan', 'toPlan'].some((field) => from[field] !== state[field])) forget();
  return load();
}

/** Another subject: the old picture must not stand under the new name. */
function forget() {
  page = drawn = pictured = null;
  panel.clear();
  replace(places.notes);
  replace(places.below);
}

/* Loading and drawing */

async function load() {
  const mine = (question += 1);
  clearTimeout(retryTimer);
  setState('loading');
  const wanted = await VIEWS[state.view].module().catch(() => null);
  if (mine !== question) return undefined;
  if (!wanted) return fail(unreachable());
  view = wanted;
  begin();
  const canvas = VIEWS[state.view].picture ? openCanvas() : null;
  canvas?.catch(() => {}); // looked at once the answer has come
  const result = await view.load({ state, api, reload: load, announce, repaint, go, tour });
  if (mine !== question || (!result.ok && result.stale)) return undefined;
  if (result.ok && result.data.model && !result.data.empty && !(await drawable(canvas))) return fail(unreachable());
  if (result.ok && result.data.model && state.opened) await openAll(api, state, result.data.model);
  if (mine !== question) return undefined;
  if (result.ok) return finish(result.data);
  if (result.error.status === 401) return askForKey(result.error);
  if (result.error.status === 503) return wait(result.error, mine);
  return fail(result.error);
}

/** Whether the canvas is there: its library may not have come. */
async function drawable(canvas) {
  await (canvas ?? openCanvas()).catch(() => {});
  return graph !== null;
}

/** A part of the page itself did not come. */
function unreachable() {
  const message = 'The server did not answer. It may be stopped, or the network may be down.';
  return { status: 0, message, errors: {}, retryAfter: 3 };
}

function begin() {
  setState('loading');
  document.body.dataset.view = state.view;
  if (controls.view !== state.view) {
    controls = { view: state.view, follow: createControls(places.controls, view.controls, go) };
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

/** @param {import('./views.js').Page} loaded */
function finish(loaded) {
  page = loaded;
  away = null;
  head(page.heading, page.subtitle);
  controls.follow(state, page);
  replace(places.notes, banners(page, state, { timed: view.controls.includes('at'), go }));
  showBody(page);
  setState(page.empty ? 'empty' : 'ready');
  announce(
    page.empty
      ? (page.empty.querySelector('h2')?.textContent ?? '')
      : `${shorten(page.heading, 120)}. ${page.subtitle}`,
  );
  showReceived();
}

function head(heading, subtitle) {
  const { kind = '' } = VIEWS[state.view];
  replace(places.heading, data(shorten(heading, 2500)));
  places.heading.title = heading.length > 60 ? shorten(heading, 400) : '';
  places.kind.textContent = kind;
  places.kind.hidden = !kind;
  places.subtitle.textContent = subtitle;
  document.title = `${shorten(heading, 60)} · Headwater`;
}

/** @param {import('./views.js').Page} shown */
function showBody(shown) {
  const picture = shown.empty ? null : shown.model;
  document.body.dataset.form = shown.document ? 'document' : picture ? 'picture' : 'face';
  replace(places.document, shown.document ? [unseenHeading(shown.heading), shown.document()] : []);
  replace(places.below, shown.below ? [unseenHeading('In words'), shown.below] : []);
  places.below.hidden = at('divider').hidden = !shown.below;
  places.below.scrollTop = 0;
  places.form.hidden = !picture;
  drawn = null;
  if (!picture) {
    pictured = null;
    showFace(shown.empty);
    panel.clear();
    return;
  }
  showFace(null);
  replace(places.footnote, footnote(shown.reply));
  const again = pictured !== null && sameQuestion(pictured, state);
  pictured = state;
  showPicture(shown.heading, picture, again);
  showState();
}

/**
 * Screen readers go from heading to heading: the following parts have headings of the third level.
 * @param {string} words
 * @returns {HTMLElement}
 */
function unseenHeading(words) {
  return element('h2', { class: 'visually-hidden' }, data(shorten(words, 200)));
}

/**
 * @param {string} heading
 * @param {import('./data/model.js').Model} model
 * @param {boolean} [still] asked again: the view stays where it is
 */
function showPicture(heading, model, still = false) {
  const found = matching(model, state.find);
  const pinned = [state.selected, ...found.slice(0, MOST_PINNED)];
  const narrow = foldColumns(model, { opened: state.rows, pinned });
  graph?.light(state.find ? new Set(found) : null);
  drawn = spread(foldFans(narrow, { opened: state.fans, pinned }));
  hues = huesOf(model, state.hue);
  showKey(drawn);
  places.minimap.hidden = !graph || graph.fits(drawn);
  graph?.show(drawn, state.selected, hues, still);
  listed = null;
  describePicture(heading, drawn);
  described = { page: null, id: '' };
  position = { id: '', came: null };
}

/**
 * As it is drawn: packed to the shape of the window where it is too large to be read, and upright.
 * @param {import('./data/model.js').Model} model
 * @returns {import('./data/model.js').Model}
 */
function spread(model) {
  const upright = () => (model.flow === 'down' ? turn(model) : model);
  const aspect = places.stage.clientWidth / Math.max(1, places.stage.clientHeight);
  if (graph && !graph.fits(upright())) pack(model, model.flow === 'down' ? 1 / aspect : aspect);
  return upright();
}

function describePicture(heading, model) {
  const { links } = tally(model);
  const label = `${heading}: graph of ${formatNumber(model.boxes.size)} nodes and ${formatNumber(links)} edges. Arrow keys follow the edges, Enter opens details. The list shows the same.`;
  places.stage.setAttribute('aria-label', shorten(label, 400));
}

/** Selection and form: changes without another question. */
function showState() {
  form.follow(state, page);
  controls.follow(state, page);
  divider.show(state.split);
  const asList = state.as === 'list';
  document.body.dataset.as = state.as;
  places.list.hidden = !asList;
  for (const part of [places.canvas, places.over, places.strip]) part.hidden = asList;
  places.stage.tabIndex = asList ? -1 : 0;
  places.stage.setAttribute('role', asList ? 'group' : 'application');
  if (!page || !drawn) return;
  if (asList && listed !== drawn) {
    listed = drawn;
    list.show(drawn);
  }
  graph?.select(state.selected);
  list.select(state.selected);
  const item = find(drawn, state.selected);
  document.body.dataset.selected = item ? item.id : '';
  panel.openTab(state.tab);
  if (described.page === page && described.id === document.body.dataset.selected) return;
  described = { page, id: document.body.dataset.selected };
  const description = item ? detailsOf(page, drawn, item) : page.summary?.();
  places.panel.hidden = !description;
  if (description) panel.show(description, Boolean(item), state.tab);
  else panel.clear();
  if (item) graph?.reveal(item.id, coveredWidth(), false);
}

/**
 * The page knows nothing of folds.
 * @param {import('./views.js').Page} shown
 * @param {import('./data/model.js').Model} model the drawn part of it
 * @param {import('./data/model.js').Item} item
 */
function detailsOf({ model: whole, details }, model, item) {
  if ('edge' in item && whole && !whole.links.has(item.id)) return describeBundle(model, item);
  if (tableOfRest(item.id)) return null;
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
    places.below.hidden = at('divider').hidden = true;
    places.form.hidden = true;
  }
}

function fail(error) {
  if (error.status === 0) away ??= new Date();
  if (error.status === 0 && page) return keepPage(away ?? new Date());
  leave();
  const hrefOf = (parameter, id) => write({ ...state, [parameter]: id });
  showFace(errorFace(error, { retry: load, hrefOf, changeKey: () => useKey('') }));
  setState('error');
  announce(error.message);
  if (error.status === 429) retryTimer = setTimeout(load, error.retryAfter * 1000);
  if (error.status === 0) retryTimer = setTimeout(() => awaitServer(question), AWAY);
}

/**
 * The server is away: its last replies stay, with the time since when, until it answers again.
 * @param {Date} since
 */
function keepPage(since) {
  setState('away');
  const banner = outageBanner(since, load);
  if (!places.notes.querySelector('[data-testid="away"]')) {
    places.notes.prepend(banner);
    announce(banner.textContent ?? '');
  }
  retryTimer = setTimeout(() => awaitServer(question), AWAY);
}

/**
 * The face or the page stays, and the keyboard where it is, until the server answers.
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
  page = drawn = pictured = null;
  head(VIEWS[state.view].heading ?? nameOf(state), '');
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

/* New documents */

/** The first page asks how many documents the graph has: one that arrives right after it is new. */
async function showReceived() {
  const projected = await showDocuments(places.journal, api);
  if (seen < 0 && projected !== null) seen = projected;
}

/** How often the page asks whether documents have arrived, in ms. */
const WATCH = 5000;
let seen = -1;

/** Reload the open page once documents have arrived and are in the graph; the view stays where it is. */
async function watch() {
  if (document.hidden || unsettled()) return;
  const summary = await api.get('/journal', { summary: true }, 'watch');
  if (!summary.ok && !summary.stale && summary.error.status === 0 && page && !unsettled()) fail(summary.error);
  if (!summary.ok || summary.data.pending > 0) return;
  const { projected } = summary.data;
  const isNew = seen >= 0 && projected !== seen;
  if (isNew && busy()) return;
  seen = projected;
  if (isNew && VIEWS[state.view].live) await load();
}

/** A question is open, or asked again before long. */
function unsettled() {
  return ['loading', 'away'].includes(document.body.dataset.state ?? '');
}

function busy() {
  return document.activeElement instanceof HTMLInputElement || document.activeElement instanceof HTMLTextAreaElement;
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
  const wide = tableOfRest(id);
  if (wide) return go({ rows: tenMore(state.rows, wide) });
  if (state.view !== 'overview' || !places.panel.hidden) return select(id);
  graph?.select(id);
  clickTimer = setTimeout(() => select(id), DOUBLE_CLICK);
  return undefined;
}

function openItem(id) {
  clearTimeout(clickTimer);
  const item = drawn && findNode(drawn, id);
  if (!item || tableOfRest(id)) return undefined;
  if (item.kind === 'group') return openFan(item, false);
  const href = page?.hrefOf?.(item);
  return href ? follow(href) : undefined;
}

function openDetails(id) {
  if (!id) return;
  const wide = tableOfRest(id);
  if (wide) {
    go({ rows: tenMore(state.rows, wide) });
    return;
  }
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
    '+': () => graph?.zoom(1.25),
    '=': () => graph?.zoom(1.25),
    '-': () => graph?.zoom(0.8),
    0: () => graph?.fit(),
    Escape: () => select(''),
  };
  const side = { '>': 'downstream', '<': 'upstream' }[event.key];
  if (side && drawn.boxes.has(state.selected)) go({ opened: toggled(state.opened, { id: state.selected, side, whole: false }) });
  else if (event.key === 'Enter') (event.shiftKey ? openItem : openDetails)(state.selected);
  else if (keys[event.key]) keys[event.key]();
  else if (!walk(drawn, event.key)) return;
  event.preventDefault();
}

/** Arrow keys point the way that the picture takes. */
const DOWNWARDS = Object.freeze({ ArrowDown: 'ArrowRight', ArrowUp: 'ArrowLeft', ArrowRight: 'ArrowDown', ArrowLeft: 'ArrowUp' });

/** One step of the keyboard over the canvas. */
function walk(model, key) {
  if (!/^(Arrow|Page|Home$|End$)/.test(key)) return false;
  const { selected } = state;
  const from = position.id === selected ? position : { id: selected, came: null };
  const along = model.flow === 'down' ? (DOWNWARDS[key] ?? key) : key;
  const to = findNode(model, selected) ? step(model, from, along) : first(model);
  if (!to) return false;
  go({ selected: to.id }, { replace: true });
  position = to;
  graph?.reveal(to.id, coveredWidth(), true);
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
  const found = shared();
  if (found) await attempt(() => savePng(found), announce);
}

/** The description of a saved picture. */
function shared() {
  if (!page || !graph || !drawn) return null;
  const name =
    shorten(page.heading, 60)
      .replace(/[^\p{L}\p{N}._-]+/gu, '-')
      .replace(/^-+|-+$/g, '') || 'lineage';
  const { reply, asked = '', heading, subtitle } = page;
  const sheet = { model: drawn, palette: shades, hues, heading: plain(heading), subtitle };
  return { sheet, reply: reply ?? {}, name, asked, state, depth: depthOf(state), keyed: key.get() !== '' };
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
  const href = target?.getAttribute('href');
  const plainClick =
    event.button === 0 && !event.ctrlKey && !event.metaKey && !event.shiftKey && !event.altKey;
  if (!target || !href || !plainClick || event.defaultPrevented) return;
  event.preventDefault();
  follow(href);
  if (places.panel.contains(target) || places.below.contains(target))
    places.heading.focus({ preventScroll: true });
}

function shortcut(event) {
  const writing = event.target.closest?.('input, select, textarea');
  if (!['/', '?'].includes(event.key) || writing || event.ctrlKey || event.metaKey || event.altKey) return;
  event.preventDefault();
  if (event.key === '?') {
    showKeys();
    return;
  }
  at('search').focus();
  search.focus();
}

closeWhenLeft(at('more'));
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
replace(places.tools, canvasTools({ zoom: (by) => graph?.zoom(by), fit: () => graph?.fit(), save: saveImage, share: shareMenu(shared, announce) }));
replace(places.form, form.node);
createThemeSwitch(places.theme, () => {
  shades = colours();
  repaint();
});
load();
setInterval(watch, WATCH);
