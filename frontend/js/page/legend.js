/**
 * The legend of a picture: the meanings of the colours, lines and glyphs in it. It stands under the
 * canvas, never over it, and opens at a press or with a choice of hues, so that the picture has the height; the browser remembers the press.
 */
import { data, element, replace, svg } from './dom.js';
import { GLYPHS } from '../drawing/glyphs.js';
import { NAMES } from '../drawing/palette.js';
import { legendOf, TINTINGS } from '../drawing/legend.js';

const REMEMBERED = 'headwater-legend';
/** So many layers, classes or glyphs are named; more are counted. */
const MOST = 12;

/**
 * @param {HTMLElement} place
 * @param {(by: import('../drawing/box-style.js').Tinting) => void} onTint  another choice of tint
 * @returns {(model: import('../data/model.js').Model, hues: import('../drawing/box-style.js').Hues, chosen: boolean) => void}
 *   `chosen`: whether the view has the choice
 */
export function createLegend(place, onTint) {
  const choice = tintChoice(onTint);
  const groups = element('div', { class: 'legend-groups' });
  // At the press: the event `toggle` comes only after it, and a page that is left at once never gets it.
  const press = element('summary', { onclick: () => remember(frame.hasAttribute('open')) }, 'Legend');
  const frame = element('details', { class: 'legend', open: remembered() }, press, groups);
  replace(place, choice.node, frame);
  let tinted = '';
  return (model, hues, chosen) => {
    if (hues.by && hues.by !== tinted) frame.open = true;
    tinted = hues.by;
    choice.follow(hues.by, chosen && [...model.boxes.values()].some((box) => box.kind !== 'operation'));
    replace(groups, legendOf(model, hues).map(groupOf));
  };
}

function tintChoice(onTint) {
  const options = Object.entries(TINTINGS).map(([value, [word]]) => element('option', { value }, word));
  const select = element('select', { 'data-testid': 'hue', onchange: () => onTint(/** @type {import('../drawing/box-style.js').Tinting} */ (select.value)) }, options);
  const node = element('label', { class: 'legend-choice' }, 'Hue by ', select);
  return {
    node,
    follow(by, shown) {
      select.value = by;
      node.hidden = !shown;
    },
  };
}

function remembered() {
  try {
    return localStorage.getItem(REMEMBERED) === 'open';
  } catch {
    return false;
  }
}

function remember(closed) {
  try {
    localStorage.setItem(REMEMBERED, closed ? 'closed' : 'open');
  } catch {
    /* storage refused: it opens again with the next page */
  }
}

/** @param {import('../drawing/legend.js').Group} group */
function groupOf({ name, meanings }) {
  const more = meanings.length - MOST;
  return element(
    'div',
    { class: 'legend-group' },
    element('span', { class: 'legend-name', 'aria-hidden': 'true' }, name),
    element(
      'ul',
      { 'aria-label': name },
      meanings.slice(0, MOST).map(({ sign, words, layer = null }) =>
        element('li', { 'data-layer': layer }, markOf(sign), sign.kind === 'letter' ? data(words) : words),
      ),
      more > 0 && element('li', {}, `and ${more} more`),
    ),
  );
}

const PREFIXES = Object.freeze({ box: 'swatch', line: 'line', mark: 'mark', change: 'swatch change' });

/** @param {import('../drawing/legend.js').Sign} sign */
function markOf(sign) {
  if (sign.kind === 'glyph') return glyph(sign.name);
  if (sign.kind === 'letter') return letter(sign);
  return element('span', { class: `${PREFIXES[sign.kind]} ${sign.look}`, 'aria-hidden': 'true' });
}

/** A letter in its hue, as boxes and columns have it. */
function letter({ letter: own, colour, filled }) {
  const hue = NAMES[colour] ? `var(${NAMES[colour]})` : colour;
  return element('span', { class: `swatch letter${filled ? ' filled' : ''}`, style: `--hue: ${hue}` }, own);
}

function glyph(name) {
  const { lines: stroked, fills = '', letters = '' } = GLYPHS[name];
  return svg(
    'svg',
    { viewBox: '0 0 16 16', class: 'legend-glyph', 'aria-hidden': true },
    svg('path', { d: stroked, class: 'stroked' }),
    svg('path', { d: fills, class: 'filled' }),
    svg('text', { x: 8, y: 10.2, 'text-anchor': 'middle' }, letters),
  );
}
