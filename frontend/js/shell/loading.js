/**
 * Loading of a view: a state asks its view, the newest answer is shown, and a failure has a notice with a way
 * on. It owns the number of the newest question and the time of the next try.
 */
import { unreachable } from '../data/api.js';
import { sameQuestion, write } from '../data/url.js';
import { shorten } from '../data/format.js';
import { focusFirst } from '../page/dom.js';
import { apiKeyNotice, errorNotice, rebuildingNotice } from '../page/notices.js';
import { outageBanner, refusalBanner } from '../page/notes.js';
import { VIEWS } from '../views.js';
import { places } from './places.js';

/** How often a server that is away is looked for, in ms. */
const AWAY = 3000;
/** Values of a state that make it another subject. */
const SUBJECT = Object.freeze(['view', 'node', 'plan', 'dataset', 'column', 'fromPlan', 'toPlan']);
/** @typedef {import('../data/api.js').Failure} Failure */
/** @typedef {import('../views.js').View} View */

/** @typedef {ReturnType<typeof createLoading>} Loading */

/**
 * @typedef {object} Parts
 * @property {import('./navigation.js').Navigation} navigation
 * @property {ReturnType<typeof import('../data/api.js').createApi>} api
 * @property {ReturnType<typeof import('../data/api-key.js').createApiKey>} key
 * @property {import('./frame.js').Frame} frame
 * @property {import('./picture.js').Pictures} picture
 * @property {import('./screen.js').Screen} screen
 * @property {{begin: () => void}} tour
 * @property {() => unknown} onLoaded  a page is shown
 */

/** @param {Parts} parts */
export function createLoading({ navigation, api, key, frame, picture, screen, tour, onLoaded }) {
  const { state, go } = navigation;
  let question = 0;
  let retryTimer = 0;
  /** A handle was pressed, and what it opens has not come yet. */
  let pressed = false;
  /** @type {Date|null} since when the server has not answered */
  let away = null;
  const press = followPress();
  /** What the replies said of which the shown page was made. */
  let shown = Promise.resolve('');

  /**
   * The state was another one: ask again, or show the page again.
   * @param {import('../data/url.js').State} from
   */
  function arrive(from) {
    const to = state();
    const page = screen.page();
    if (!page || !sameQuestion(from, to)) {
      if (SUBJECT.some((field) => from[field] !== to[field])) screen.forget();
      return load();
    }
    if (from.opened !== to.opened) {
      pressed = to.opened.length > from.opened.length;
      return load();
    }
    if (from.hue !== to.hue) screen.repaint();
    if (from.fans !== to.fans) screen.redraw(false);
    if (from.rows !== to.rows || from.find !== to.find) screen.redraw(true);
    return screen.follow();
  }

  /**
   * @param {{watching?: boolean}} [asked]  nobody pressed: a page whose replies say what is shown stays as it is
   * @returns {Promise<void>}
   */
  async function load({ watching = false } = {}) {
    const mine = (question += 1);
    clearTimeout(retryTimer);
    frame.setState('loading');
    const entry = VIEWS[state().view];
    const view = await entry.module().catch(() => null);
    if (mine !== question) return;
    if (!view) {
      fail(unreachable().error);
      return;
    }
    frame.begin(state(), view, screen.page());
    if (entry.picture) picture.open().catch(() => {}); // looked at once the answer has come
    const heard = hear(api);
    const context = { state: state(), api: heard.api, room: frame.roomOf(state().view), reload: () => load(), announce: frame.announce, repaint: screen.repaint, go, tour };
    const result = await view.load(context);
    if (mine !== question || (!result.ok && result.stale)) return;
    if (!result.ok) refuse(result.error, mine);
    else await prepare(result.data, view, { mine, watching, heard });
  }

  /**
   * A picture needs its modules, and the sides of nodes that the link has opened.
   * @param {import('../views.js').Page} page
   * @param {View} view
   * @param {{mine: number, watching: boolean, heard: ReturnType<typeof hear>}} asked
   */
  async function prepare(page, view, { mine, watching, heard }) {
    const { model, empty } = page;
    const drawable = !model || empty || (await picture.open().catch(() => null));
    if (mine !== question) return;
    if (!drawable) {
      fail(unreachable().error);
      return;
    }
    const refused = model && state().opened ? await openSides(heard.api, model) : [];
    if (mine !== question) return;
    page.notes = [...(page.notes ?? []), ...refused.map(refusalBanner)];
    if (model && page.counts) page.subtitle = page.counts(model);
    const words = heard.words();
    const isSame = watching && (await shown) === (await words);
    await press.ended();
    if (mine !== question) return;
    away = null;
    pressed = false;
    shown = words;
    if (isSame && screen.page()) screen.date(page, view);
    else screen.show(page, view);
    onLoaded();
  }

  /**
   * @param {Parts['api']} from
   * @param {import('../data/model.js').Model} model
   */
  async function openSides(from, model) {
    const { openAll } = await import('../drawing/expansion.js');
    return openAll(from, state(), model);
  }

  /**
   * @param {Failure} error
   * @param {number} mine
   */
  function refuse(error, mine) {
    if (error.status === 401) askForKey(error);
    else if (error.status === 503) waitForGraph(error, mine);
    else fail(error);
  }

  /** @param {Failure} error */
  function fail(error) {
    if (error.status === 0) away ??= new Date();
    if (error.status === 0 && screen.page()) {
      keepPage(away ?? new Date());
      return;
    }
    leave();
    const hrefOf = (parameter, id) => write({ ...state(), [parameter]: id });
    frame.showNotice(errorNotice(error, { retry: load, hrefOf, changeKey: () => useKey('') }));
    frame.setState('error');
    frame.announce(error.message);
    if (error.status === 429) retryTimer = setTimeout(load, error.retryAfter * 1000);
    if (error.status === 0) awaitServer();
  }

  /**
   * The server is away: its last replies stay, with the time since when, until it answers again.
   * @param {Date} since
   */
  function keepPage(since) {
    frame.setState('away');
    const banner = outageBanner(since, load);
    if (!places.notes.querySelector('[data-testid="away"]')) {
      places.notes.prepend(banner);
      frame.announce(banner.textContent ?? '');
    }
    if (pressed) picture.made()?.stage.complain('The server does not answer. This side opens once it does.');
    awaitServer();
  }

  /** The notice or the page stays, and the keyboard where it is, until the server answers. */
  function awaitServer() {
    retryTimer = setTimeout(() => lookForServer(question), AWAY);
  }

  /** @param {number} mine */
  async function lookForServer(mine) {
    const found = await api.get('/health/ready', {}, 'away');
    if (mine !== question || (!found.ok && found.stale)) return;
    if (found.ok || found.error.status !== 0) load();
    else awaitServer();
  }

  /** No picture: the view's name stands above a notice. */
  function leave() {
    screen.leave(VIEWS[state().view].heading ?? subjectOf(state()));
  }

  /** @param {Failure} error */
  function askForKey(error) {
    leave();
    frame.showNotice(apiKeyNotice(error, { refused: key.get() !== '', submit: useKey }));
    frame.setState('locked');
    frame.announce(error.message);
    focusFirst(places.notice, 'input');
  }

  /** @param {string} text */
  function useKey(text) {
    key.set(text);
    return load();
  }

  /**
   * The graph is being rebuilt.
   * @param {Failure} error
   * @param {number} mine
   */
  async function waitForGraph(error, mine) {
    leave();
    const summary = await api.get('/journal', { summary: true }, 'waiting');
    if (mine !== question) return;
    frame.showNotice(rebuildingNotice(error, { pending: summary.ok ? summary.data.pending : 0, retry: load }));
    frame.setState('rebuilding');
    frame.announce('The graph is being rebuilt. The page asks again by itself.');
    retryTimer = setTimeout(load, error.retryAfter * 1000);
  }

  return { arrive, load, fail };
}

/** @param {import('../data/url.js').State} state */
function subjectOf({ node, run, plan, dataset }) {
  return shorten(node || run || plan || dataset || 'Headwater', 200);
}

/**
 * The same api, and the words of all that it was asked for until then, without the time of the newest event anywhere.
 * @param {Parts['api']} api
 * @returns {{api: Parts['api'], words: () => Promise<string>}}
 */
function hear(api) {
  /** @type {Array<Promise<unknown>>} in the order of the questions */
  const answers = [];
  let hears = true;
  const get = (path, query, channel) => {
    const coming = api.get(path, query, channel);
    if (hears) answers.push(coming);
    return coming;
  };
  const words = async () => {
    hears = false;
    return JSON.stringify(await Promise.all(answers.splice(0)), (name, value) => (name === 'asOf' ? undefined : value));
  };
  return { api: { ...api, get }, words };
}

/** A click follows the release of a finger within so many ms. */
const CLICK = 100;

/**
 * What is under a finger or the mouse's first button stays until the click is over: an answer that comes
 * meanwhile would replace it, and the press would do nothing. A list that opens, and the bar that scrolls, keep
 * the release to themselves: then the next move of the pointer tells.
 * @returns {{ended: () => Promise<unknown>}}
 */
function followPress() {
  /** @type {Promise<unknown>} */
  let end = Promise.resolve();
  document.addEventListener(
    'pointerdown',
    ({ button, target }) => {
      if (button !== 0 || target instanceof HTMLSelectElement) return;
      const over = new AbortController();
      const options = { capture: true, signal: over.signal };
      end = new Promise((resolve) => over.signal.addEventListener('abort', resolve));
      const finish = (wait) => void setTimeout(() => over.abort(), wait);
      document.addEventListener('click', () => finish(0), options);
      for (const name of /** @type {const} */ (['pointerup', 'pointercancel', 'pointermove']))
        document.addEventListener(name, ({ buttons }) => buttons || finish(CLICK), options);
    },
    { capture: true },
  );
  return { ended: () => end };
}
