/**
 * The header: how many documents are where, and the choice of light or dark.
 */
import { element, icon, replace } from './dom.js';
import { count, formatNumber } from '../data/format.js';
import { write } from '../data/url.js';

const REMEMBERED = 'headwater-theme';

/**
 * Show how many documents were received, and how many the page does not have yet.
 * @param {HTMLAnchorElement} indicator  hidden where that is not known
 * @param {any} summary  of the journal; null where it is not known
 */
export function showDocuments(indicator, summary) {
  indicator.hidden = !summary;
  if (!summary) return;
  const { received, pending = 0, waiting = 0, failed = 0 } = summary;
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
