/**
 * The menu over the canvas: take the picture away, or copy the question behind it.
 */
import { download, element, icon } from '../page/dom.js';
import { toCsv, toCurl, toGremlin } from './copies.js';
import { toSvg } from './svg.js';
import { closeWhenLeft } from '../controls/menu.js';

/**
 * @typedef {object} Shared
 * @property {import('../data/model.js').Model} model  what is drawn
 * @property {object} reply
 * @property {string} name   of the files
 * @property {string} asked  the path and query of the question; empty: not one
 * @property {import('../data/url.js').State} state
 * @property {number} depth
 * @property {import('../drawing/palette.js').Palette} palette
 * @property {import('../drawing/looks.js').Hues} hues
 * @property {boolean} keyed
 * @property {() => Promise<Blob>} image
 */

/**
 * @param {() => Shared|null} current  null: there is no picture
 * @param {(text: string) => void} announce
 * @returns {HTMLElement}
 */
export function shareMenu(current, announce) {
  /** @param {(shared: Shared) => unknown} act */
  const entry = (words, id, act) =>
    element(
      'button',
      {
        type: 'button',
        class: 'menu-item',
        'data-testid': id,
        onclick: async () => {
          const shared = current();
          menu.removeAttribute('open');
          if (shared) await act(shared);
        },
      },
      words,
    );
  const file = (type, ending, make) => (shared) => {
    download(new Blob([make(shared)], { type }), `${shared.name}.${ending}`);
    announce(`Saved as ${ending.toUpperCase()}.`);
  };
  const copy = (words, make) => async (shared) => {
    const text = make(shared);
    try {
      await navigator.clipboard.writeText(text);
      announce(`${words} copied.`);
    } catch {
      announce('The browser did not let the page copy.');
    }
  };
  const menu = element(
    'details',
    { class: 'share', 'data-testid': 'share' },
    element('summary', { 'aria-label': 'Share and save', title: 'Share and save' }, icon('copy')),
    element(
      'div',
      { class: 'menu-list' },
      entry('Save as PNG', 'save-png', async (shared) => download(await shared.image(), `${shared.name}.png`)),
      entry('Save as SVG', 'save-svg', file('image/svg+xml', 'svg', ({ model, palette, hues }) => toSvg(model, palette, hues))),
      entry('Save as CSV', 'save-csv', file('text/csv', 'csv', ({ model }) => toCsv(model))),
      entry('Save as JSON', 'save-json', file('application/json', 'json', ({ reply }) => JSON.stringify(reply, null, 1))),
      entry('Copy link', 'copy-link', copy('The link', () => location.href)),
      entry('Copy as curl', 'copy-curl', copy('The command', ({ asked, keyed }) => toCurl(location.origin + asked, keyed))),
      entry('Copy as Gremlin', 'copy-gremlin', copy('The traversal', ({ model, state, depth }) => toGremlin(model.focus || [...model.boxes.keys()][0], state.direction, depth))),
    ),
  );
  closeWhenLeft(menu);
  return menu;
}
