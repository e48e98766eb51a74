/**
 * The key of a picture: what its colours, lines and glyphs mean; only what it holds. It stands under the
 * canvas, never over it, and can be closed; the browser remembers that.
 */
import { element, replace, svg } from './dom.js';
import { CHANGES, swatch } from '../data/model.js';
import { GLYPHS } from '../drawing/glyphs.js';
import { lookOf } from '../drawing/looks.js';

const REMEMBERED = 'headwater-legend';
/** So many layers, classes or glyphs are named; more are counted. */
const MOST = 12;

/** @typedef {{mark: Node|null, words: string, layer?: string}} Entry */

/**
 * @param {HTMLElement} place
 * @returns {(model: import('../data/model.js').Model, palette: import('../drawing/palette.js').Palette) => void}
 */
export function createLegend(place) {
  const groups = element('div', { class: 'legend-groups' });
  const frame = element('details', { class: 'legend', open: !remembered() }, element('summary', {}, 'Key'), groups);
  frame.addEventListener('toggle', () => remember(!frame.hasAttribute('open')));
  replace(place, frame);
  return (model, palette) => {
    const named = groupsOf(model, palette).filter(([, entries]) => entries.length > 0);
    replace(groups, named.map(([name, entries]) => groupOf(name, entries)));
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
function groupsOf(model, palette) {
  const boxes = [...model.boxes.values()];
  const glyphsOf = (kind) => glyphs(boxes.filter((box) => box.kind === kind).map((box) => lookOf(box, palette).glyph));
  return [
    ['Nodes', kinds(model, boxes)],
    ['Edges', lines(model)],
    ['Layers', layers(boxes)],
    ['Classes', classes(model, boxes)],
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

/** @returns {Entry[]} */
function layers(boxes) {
  const found = new Map();
  for (const { layer } of boxes) if (layer) found.set(layer.name, layer.colour);
  return [...found].map(([name, colour]) => ({ mark: spot('swatch layer', swatch(colour)), words: name, layer: name }));
}

/** @returns {Entry[]} */
function classes(model, boxes) {
  const tags = new Set([...boxes, ...model.rows.values()].flatMap((item) => item.node.classifications ?? []));
  return [...tags].sort().map((tag) => ({ mark: spot('swatch tag'), words: tag }));
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
