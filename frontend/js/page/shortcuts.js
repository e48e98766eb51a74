/**
 * The keys of the whole page, and the list of all shortcuts, under "?".
 */
import { button, element, replace } from './dom.js';

const SHORTCUTS = Object.freeze([
  ['/', 'Search'],
  ['?', 'This list'],
  ['← →', 'Follow the edges upstream and downstream'],
  ['↑ ↓ Home End', 'Through everything in reading order'],
  ['Page Up, Page Down', 'Among the ends of the same edge list'],
  ['Enter', 'Details of the selection'],
  ['Shift Enter', 'Go to the selection'],
  ['< >', 'Open or close the upstream or downstream side of the selected box'],
  ['+ − 0', 'Zoom in, zoom out, show everything'],
  ['Escape', 'Clear the selection; close panels and menus'],
]);

/**
 * @param {HTMLDialogElement} dialog
 * @returns {() => void} show it
 */
export function createShortcuts(dialog) {
  return () => {
    replace(
      dialog,
      element('h2', {}, 'Shortcuts'),
      element(
        'dl',
        { class: 'shortcut-list' },
        SHORTCUTS.map(([keys, words]) => [element('dt', {}, element('kbd', {}, keys)), element('dd', {}, words)]),
      ),
      element('p', { class: 'muted' }, 'The arrow keys work in the graph and in the list.'),
      button({ label: 'Close', onclick: () => dialog.close() }),
    );
    if (!dialog.open) dialog.showModal();
  };
}

/**
 * "/" and "?" on the whole page, except where the reader writes.
 * @param {{search: () => void, help: () => void}} shortcuts
 */
export function catchShortcuts({ search, help }) {
  const acts = { '/': search, '?': help };
  document.addEventListener('keydown', (event) => {
    const writing = event.target instanceof Element && event.target.closest('input, select, textarea');
    if (!acts[event.key] || writing || isChord(event)) return;
    event.preventDefault();
    acts[event.key]();
  });
}

/** @param {KeyboardEvent} event */
export function isChord({ ctrlKey, metaKey, altKey }) {
  return ctrlKey || metaKey || altKey;
}
