/**
 * The header: how many documents are where, and the choice of light or dark.
 */
import { element, icon, replace } from './dom.js';
import { count, formatNumber } from '../data/format.js';
import { write } from '../data/url.js';

const REMEMBERED = 'headwater-theme';

/**
 * Ask how many documents were received, and show it, and how many the page does not have yet; an answer that
 * fails hides the indicator.
 * @param {HTMLAnchorElement} indicator
 * @param {ReturnType<import('../data/api.js').createApi>} api
 * @returns {Promise<any>} the journal's summary; null where it is not known
 */
export async function showDocuments(indicator, api) {
  const result = await api.get('/journal', { summary: true }, 'summary');
  if (!result.ok && result.stale) return null;
  indicator.hidden = !result.ok;
  if (!result.ok) return null;
  const { received, pending = 0, waiting = 0, failed = 0 } = result.data;
  const first = failed > 0 ? 'failed' : waiting > 0 ? 'waiting' : 'all';
  indicator.href = write({ view: 'journal', state: first });
  indicator.title = pending > 0 ? `${count(pending, 'document')} still to come into the graph` : '';
  replace(
    indicator,
    element('span', { class: 'visually-hidden' }, 'Documents: '),
    element('span', { class: 'count' }, `${formatNumber(received)} received`),
    part(pending, 'pending', 'busy'),
    part(waiting, 'waiting', 'busy'),
    part(failed, 'failed', 'failed'),
  );
  return result.data;
}

function part(number, words, tone) {
  return number > 0 && element('span', { class: `count ${tone}` }, `${formatNumber(number)} ${words}`);
}

/**
 * The button between light and dark. Without a choice the system decides, also when it changes.
 * @param {HTMLButtonElement} button
 * @param {() => void} changed called once at the start and after every change
 */
export function createThemeSwitch(button, changed) {
  const system = matchMedia('(prefers-color-scheme: dark)');
  const now = () => document.documentElement.dataset.theme || (system.matches ? 'dark' : 'light');
  const other = () => (now() === 'dark' ? 'light' : 'dark');

  function show() {
    const words = `Switch to ${other()} colours`;
    button.setAttribute('aria-label', words);
    button.title = words;
    replace(button, icon(other() === 'dark' ? 'moon' : 'sun'));
    document.body.dataset.theme = now();
    changed();
  }

  function choose() {
    document.documentElement.dataset.theme = other();
    try {
      localStorage.setItem(REMEMBERED, now());
    } catch {
      /* storage refused: the choice lasts until the page is left */
    }
    show();
  }

  button.addEventListener('click', choose);
  system.addEventListener('change', show);
  show();
}
