/**
 * What the keyboard can do, under "?".
 */
import { button, element, replace } from './dom.js';

const KEYS = Object.freeze([
  ['/', 'Search'],
  ['?', 'This list'],
  ['← →', 'Follow the edges upstream and downstream'],
  ['↑ ↓ Home End', 'Through everything in reading order'],
  ['Page Up, Page Down', 'Among the ends of the same edge list'],
  ['Enter', 'Details of what is selected'],
  ['Shift Enter', 'Go to what is selected'],
  ['< >', 'Open what lies upstream or downstream of the selected box; again: close it'],
  ['+ − 0', 'Zoom in, zoom out, show everything'],
  ['Escape', 'Select nothing; close what is open'],
]);

/**
 * @param {HTMLDialogElement} dialog
 * @returns {() => void} show it
 */
export function createShortcuts(dialog) {
  return () => {
    replace(
      dialog,
      element('h2', {}, 'Keys'),
      element(
        'dl',
        { class: 'keys' },
        KEYS.map(([keys, words]) => [element('dt', {}, element('kbd', {}, keys)), element('dd', {}, words)]),
      ),
      element('p', { class: 'muted' }, 'The arrow keys work in the graph and in the list.'),
      button({ label: 'Close', onclick: () => dialog.close() }),
    );
    if (!dialog.open) dialog.showModal();
  };
}
