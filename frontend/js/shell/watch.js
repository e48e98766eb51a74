/**
 * The watch over the server: an open page that shows arrivals is loaded again once documents have arrived
 * and were projected. It owns which of them the page has seen; the header has their numbers at every look.
 */
import { VIEWS } from '../views.js';

/** How often the page asks whether documents have arrived, in ms. */
const WATCH = 5000;
/**
 * While documents are pending a page is loaded again at most at every so many looks: each 20 s where they
 * arrive all the time. Once none is pending, at the next look.
 */
const LOOKS = 4;

/**
 * @typedef {object} Parts
 * @property {import('./navigation.js').Navigation} navigation
 * @property {ReturnType<typeof import('../data/api.js').createApi>} api
 * @property {import('./screen.js').Screen} screen
 * @property {{load: import('./loading.js').Loading['load'], fail: import('./loading.js').Loading['fail']}} loading
 * @property {(summary: object|null) => void} showDocuments  in the header: the journal's summary, null where it is not known
 */

/** @param {Parts} parts */
export function createWatch({ navigation, api, screen, loading, showDocuments }) {
  let seen = '';
  let looks = 0;

  const ask = () => api.get('/journal', { summary: true }, 'watch');

  /**
   * Asked before the first page is loaded: what comes into the graph meanwhile is new.
   * @type {ReturnType<typeof ask>|null}
   */
  let before = ask();

  /** A page was loaded. */
  async function showReceived() {
    looks = 0;
    const early = await before;
    before = null;
    const summary = early?.ok ? early : await ask(); // before a key is given none is read
    if (!summary.ok && summary.stale) return;
    showDocuments(summary.ok ? summary.data : null);
    if (summary.ok) seen ||= concluded(summary.data);
  }

  /** One look; the view stays where it is. */
  async function look() {
    if (document.hidden || unsettled()) return;
    const summary = await ask();
    if (!summary.ok && !summary.stale && summary.error.status === 0 && screen.page() && !unsettled()) loading.fail(summary.error);
    if (!summary.ok) return;
    showDocuments(summary.data);
    looks += 1;
    const found = concluded(summary.data);
    const isNew = seen !== '' && found !== seen;
    if (isNew && (isBusy() || (summary.data.pending > 0 && looks < LOOKS))) return;
    seen = found;
    if (!isNew || !VIEWS[navigation.state().view].live) return;
    looks = 0;
    await loading.load({ watching: true });
  }

  return { showReceived, start: () => void setInterval(look, WATCH) };
}

/** How far the projection is: what is pending moves nothing. `1274 2 3` => `1275 2 3`. */
function concluded({ projected, waiting = 0, failed = 0 }) {
  return [projected, waiting, failed].join(' ');
}

/** A question is open, or asked again before long. */
function unsettled() {
  return ['loading', 'away'].includes(document.body.dataset.state ?? '');
}

/** The reader writes, or selects text: both would be lost. */
function isBusy() {
  const { activeElement } = document;
  return activeElement instanceof HTMLInputElement || activeElement instanceof HTMLTextAreaElement || document.getSelection()?.type === 'Range';
}
