/**
 * The watch over the server: an open page that shows arrivals is loaded again once documents have arrived
 * and are in the graph. It owns the number of documents that the page has seen there.
 */
import { showDocuments } from '../page/header.js';
import { VIEWS } from '../views.js';
import { places } from './places.js';

/** How often the page asks whether documents have arrived, in ms. */
const WATCH = 5000;

/**
 * @typedef {object} Parts
 * @property {import('./navigation.js').Navigation} navigation
 * @property {ReturnType<typeof import('../data/api.js').createApi>} api
 * @property {import('./screen.js').Screen} screen
 * @property {import('./loading.js').Loading} loading
 */

/** @param {Parts} parts */
export function createWatch({ navigation, api, screen, loading }) {
  let seen = -1;

  /** The first page asks how many documents the graph has: one that arrives right after it is new. */
  async function showReceived() {
    const projected = await showDocuments(places.journal, api);
    if (seen < 0 && projected !== null) seen = projected;
  }

  /** One look; the view stays where it is. */
  async function look() {
    if (document.hidden || unsettled()) return;
    const summary = await api.get('/journal', { summary: true }, 'watch');
    if (!summary.ok && !summary.stale && summary.error.status === 0 && screen.page() && !unsettled()) loading.fail(summary.error);
    if (!summary.ok || summary.data.pending > 0) return;
    const { projected } = summary.data;
    const isNew = seen >= 0 && projected !== seen;
    if (isNew && isBusy()) return;
    seen = projected;
    if (isNew && VIEWS[navigation.state().view].live) await loading.load({ watching: true });
  }

  return { showReceived, start: () => void setInterval(look, WATCH) };
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
