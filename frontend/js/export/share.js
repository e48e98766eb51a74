/**
 * The menu over the canvas: take the picture away, or copy the question behind it.
 */
import { download, element, icon } from '../page/dom.js';
import { toCsv, toCurl, toGremlin } from './copies.js';
import { closeWhenLeft } from '../controls/menu.js';

/**
 * @typedef {object} Shared
 * @property {import('./sheet.js').Sheet} sheet  the drawn sheet
 * @property {object} reply
 * @property {string} name   of the files
 * @property {string} asked  the path and query of the question; empty: not one
 * @property {import('../data/url.js').State} state
 * @property {number} depth
 * @property {boolean} keyed
 */

/**
 * A failure to save has a message: the picture is too large, or its painting did not come from the server.
 * @param {() => unknown} act
 * @param {(text: string) => void} announce
 */
export async function attempt(act, announce) {
  try {
    await act();
  } catch (failure) {
    announce(failure instanceof TypeError ? 'The server did not answer; nothing was saved.' : String(failure instanceof Error ? failure.message : failure));
  }
}

/**
 * The painting of a saved picture is loaded when one is saved.
 * @param {Shared} shared
 */
export async function savePng({ sheet, name }) {
  const { toPng } = await import('./sheet.js');
  download(await toPng(sheet), `${name}.png`);
}

async function svgOf({ sheet }) {
  const { toSvg, widthIn } = await import('./sheet.js');
  const context = document.createElement('canvas').getContext('2d');
  return context ? toSvg(sheet, widthIn(context)) : toSvg(sheet);
}

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
          if (shared) await attempt(() => act(shared), announce);
        },
      },
      words,
    );
  const file = (type, ending, make) => async (shared) => {
    download(new Blob([await make(shared)], { type }), `${shared.name}.${ending}`);
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
      entry('Save as PNG', 'save-png', savePng),
      entry('Save as SVG', 'save-svg', file('image/svg+xml', 'svg', svgOf)),
      entry('Save as CSV', 'save-csv', file('text/csv', 'csv', ({ sheet }) => toCsv(sheet.model))),
      entry('Save as JSON', 'save-json', file('application/json', 'json', ({ reply }) => JSON.stringify(reply, null, 1))),
      entry('Copy link', 'copy-link', copy('The link', () => location.href)),
      entry('Copy as curl', 'copy-curl', copy('The command', ({ asked, keyed }) => toCurl(location.origin + asked, keyed))),
      entry('Copy as Gremlin', 'copy-gremlin', copy('The traversal', ({ sheet, state, depth }) => toGremlin(sheet.model.focus || [...sheet.model.boxes.keys()][0], state.direction, depth))),
    ),
  );
  closeWhenLeft(menu);
  return menu;
}
