/**
 * The key of a picture: what its colours, lines and glyphs mean; only what it holds. It stands under the
 * canvas, never over it, and can be closed; the browser remembers that.
 */
import { data, element, replace, svg } from './dom.js';
import { CHANGES } from '../data/model.js';
import { GLYPHS } from '../drawing/glyphs.js';
import { lookOf } from '../drawing/looks.js';
import { NAMES } from '../drawing/palette.js';

const REMEMBERED = 'headwater-legend';
/** So many layers, classes or glyphs are named; more are counted. */
const MOST = 12;

/** What tints boxes, as a choice and as the name of its group. */
const TINTINGS = Object.freeze({ '': ['layer', 'Layers'], class: ['class', 'Classes'], namespace: ['namespace', 'Namespaces'] });

/** @typedef {{mark: Node|null, words: import('./dom.js').Child, layer?: string}} Entry */

/**
 * @param {HTMLElement} place
 * @param {(by: import('../drawing/looks.js').Tinting) => void} onTint  another choice of what tints boxes
 * @returns {(model: import('../data/model.js').Model, hues: import('../drawing/looks.js').Hues, palette: import('../drawing/palette.js').Palette, chosen: boolean) => void}
 *   `chosen`: whether the view has the choice
 */
export function createLegend(place, onTint) {
  const choice = tintChoice(onTint);
  const groups = element('div', { class: 'legend-groups' });
  const frame = element('details', { class: 'legend', open: !remembered() }, element('summary', {}, 'Key'), choice.node, groups);
  frame.addEventListener('toggle', () => remember(!frame.hasAttribute('open')));
  replace(place, frame);
  return (model, hues, palette, chosen) => {
    choice.follow(hues.by, chosen && [...model.boxes.values()].some((box) => box.kind !== 'operation'));
    const named = groupsOf(model, hues, palette).filter(([, entries]) => entries.length > 0);
    replace(groups, named.map(([name, entries]) => groupOf(name, entries)));
  };
}

function tintChoice(onTint) {
  const options = Object.entries(TINTINGS).map(([value, [word]]) => element('option', { value }, word));
  const select = element('select', { 'data-testid': 'hue', onchange: () => onTint(/** @type {import('../drawing/looks.js').Tinting} */ (select.value)) }, options);
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
    return localStorage.getItem(REMEMBERED) === 'closed';
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

/** @param {string} name @param {Entry[]} entries */
function groupOf(name, entries) {
  const more = entries.length - MOST;
  return element(
    'div',
    { class: 'legend-group' },
    element('span', { class: 'legend-name', 'aria-hidden': 'true' }, name),
    element(
      'ul',
      { 'aria-label': name },
      entries.slice(0, MOST).map(({ mark, words, layer = null }) => element('li', { 'data-layer': layer }, mark, words)),
      more > 0 && element('li', {}, `and ${more} more`),
    ),
  );
}

/** @returns {Array<[string, Entry[]]>} */
function groupsOf(model, hues, palette) {
  const boxes = [...model.boxes.values()];
  const glyphsOf = (kind) => glyphs(boxes.filter((box) => box.kind === kind).map((box) => lookOf(box, palette).glyph));
  return [
    ['Nodes', kinds(model, boxes)],
    ['Edges', lines(model)],
    ...(hues.by === 'class' ? [] : [tinted(boxes, hues)]),
    ['Classes', classes(model, hues)],
    ['Platforms', glyphsOf('dataset')],
    ['Producers', glyphsOf('job')],
  ];
}

/** @returns {Entry[]} */
function kinds(model, boxes) {
  const operations = new Set(boxes.filter((box) => box.kind === 'operation').map((box) => box.node.kind));
  /** @type {Array<[string, string, boolean]>} */
  const entries = [
    ['swatch dataset', 'Table', boxes.some((box) => box.kind === 'dataset')],
    ['swatch job', 'Job', boxes.some((box) => box.kind === 'job')],
    ['swatch operation', 'Folded: open it to see more', boxes.some((box) => box.kind === 'group')],
    ['swatch failed', 'Last run failed', boxes.some((box) => box.failed)],
    ['mark checks-failed', 'Checks failed', boxes.some((box) => box.node.quality?.state === 'failed')],
    ['mark checks-passed', 'Checks passed', boxes.some((box) => box.node.quality?.state === 'passed')],
    ['swatch read', 'Read', operations.has('read')],
    ['swatch operation', 'Transformation', [...operations].some((kind) => kind !== 'read' && kind !== 'write')],
    ['swatch write', 'Write', operations.has('write')],
  ];
  const items = [...boxes, ...model.rows.values(), ...model.links.values()];
  const changes = new Set(items.map((item) => item.change));
  for (const [change, { sign, word }] of Object.entries(CHANGES))
    entries.push([`swatch change ${change}`, `${sign} ${word}`, changes.has(change)]);
  return present(entries);
}

/** @returns {Entry[]} */
function lines(model) {
  const links = [...model.links.values()];
  const found = new Set(links.map((link) => link.kind));
  return present([
    ['line feeds', 'Data flow', found.has('feeds')],
    ['line direct', 'Column value', found.has('DIRECT')],
    ['line indirect', 'Filter, join, group, sort', found.has('INDIRECT')],
    ['line declared', 'Declared by a person', links.some((link) => link.edge.origin === 'declared')],
    ['line attempted', 'Attempted by a run that failed', links.some((link) => link.edge.attempted)],
  ]);
}

/** @param {Array<[string, string, boolean]>} entries @returns {Entry[]} */
function present(entries) {
  return entries.filter(([, , there]) => there).map(([look, words]) => ({ mark: spot(look), words }));
}

/** @param {string} look @param {string|null} [style] */
function spot(look, style = null) {
  return element('span', { class: look, style, 'aria-hidden': 'true' });
}

/** @returns {[string, Entry[]]} */
function tinted(boxes, { by, tints }) {
  const found = new Set(boxes.map(({ id }) => tints.get(id)).filter(Boolean));
  const entries = [...found].map((hue) => ({ ...hued('swatch letter', hue), layer: by === '' ? hue.name : undefined }));
  return [TINTINGS[by][1], entries];
}

/** @returns {Entry[]} */
function classes(model, hues) {
  const drawn = new Set([...model.boxes.values(), ...model.rows.values()].flatMap(({ node }) => node.classifications ?? []));
  return [...hues.classes.values()].filter(({ name }) => drawn.has(name)).map((hue) => hued('swatch letter filled', hue));
}

/** A letter in its hue, as boxes and columns have it. */
function hued(look, { name, letter, colour }) {
  const own = NAMES[colour] ? `var(${NAMES[colour]})` : colour;
  return { mark: element('span', { class: look, style: `--hue: ${own}` }, letter), words: data(name) };
}

/** @param {string[]} names in glyphs.js @returns {Entry[]} */
function glyphs(names) {
  return [...new Set(names)].sort().map((name) => ({ mark: glyph(name), words: GLYPHS[name].name }));
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
