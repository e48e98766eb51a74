/**
 * The one place that says which colours, which letter and which glyph a box has: canvas, legend, list and
 * export agree because they ask here.
 */
import { storeOf } from '../data/format.js';
import { swatch } from '../data/model.js';
import { producerOf, platformOf } from './glyphs.js';
import { HUES } from './palette.js';

/**
 * @typedef {object} BoxStyle
 * @property {string} edge  of its frame
 * @property {string} fill  of its ground
 * @property {string} head  of the ground of its title
 * @property {string} mark  of its glyph
 * @property {string} glyph a name in glyphs.js; empty: none
 */

/**
 * @typedef {object} Hue  the colour and letter of one layer, class or namespace
 * @property {string} name
 * @property {string} letter of this name alone: a colour is never the only sign
 * @property {string} colour `#rrggbb` of a layer, else a name in the palette
 */

/**
 * @typedef {object} Hues
 * @property {Tinting} by               the tint of a box
 * @property {Map<string, Hue>} classes by their names
 * @property {Map<string, Hue>} tints   by the ids of boxes
 */

/** @typedef {''|'class'|'namespace'} Tinting  empty: the layer */

const LETTERS = 'ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789';

/**
 * The name that tints a box: its layer; of a table its first class, else that of its first column with one;
 * of a job its namespace, of a table its store.
 * @type {Readonly<Record<Tinting, (box: import('../data/model.js').Box) => string>>}
 */
const NAMES_OF = Object.freeze({
  '': ({ layer }) => layer?.name ?? '',
  class: ({ node, rows }) => [node, ...rows.map((row) => row.node)].flatMap((one) => one.classifications ?? [])[0] ?? '',
  namespace: ({ kind, node }) => (kind === 'dataset' ? storeOf(node.uri ?? '') : (node.namespace ?? '')),
});

/** @type {Hues} */
export const NO_HUES = Object.freeze({ by: '', classes: new Map(), tints: new Map() });

/**
 * Hues and letters of a picture, in the order in which it names their meanings: later
 * additions change none.
 * @param {import('../data/model.js').Model} model
 * @param {Tinting} by
 * @returns {Hues}
 */
export function huesOf(model, by) {
  const boxes = [...model.boxes.values()];
  const classes = hued([...boxes, ...model.rows.values()].flatMap(({ node }) => node.classifications ?? []));
  const nameOf = NAMES_OF[by];
  const colours = by === '' ? coloursOf(boxes) : new Map();
  const names = by === 'class' ? classes : hued(boxes.map(nameOf), [...classes.values()], colours);
  const tints = new Map();
  for (const box of boxes) {
    const hue = names.get(nameOf(box));
    if (hue) tints.set(box.id, hue);
  }
  return { by, classes, tints };
}

/**
 * Each name once, with a letter of its own.
 * @param {string[]} names
 * @param {Hue[]} [before] whose letters and colours are taken
 * @param {Map<string, string>} [colours] of names that have one
 * @returns {Map<string, Hue>}
 */
function hued(names, before = [], colours = new Map()) {
  const letters = new Set(before.map(({ letter }) => letter));
  const found = new Map();
  for (const name of new Set(names.filter(Boolean))) {
    const letter = letterOf(name, letters);
    letters.add(letter);
    found.set(name, { name, letter, colour: colours.get(name) ?? HUES[(before.length + found.size) % HUES.length] });
  }
  return found;
}

/** `PII` => P; I where P is taken. */
function letterOf(name, taken) {
  const own = name.toUpperCase().match(/[\p{L}\p{N}]/gu) ?? [];
  return [...own, ...LETTERS].find((letter) => !taken.has(letter)) ?? '•';
}

/** The colours that people gave to layers. */
function coloursOf(boxes) {
  const layers = boxes.map(({ layer }) => layer).filter((layer) => layer && swatch(layer.colour));
  return new Map(layers.map(({ name, colour }) => [name, colour]));
}

/**
 * @param {string} colour of a hue
 * @param {import('./palette.js').Palette} palette
 * @returns {string} `#rrggbb`
 */
export function shadeOf(colour, palette) {
  return palette[colour] ?? colour;
}

/**
 * @param {import('../data/model.js').Box} box
 * @param {import('./palette.js').Palette} palette
 * @param {Hues} [hues] of the picture
 * @returns {BoxStyle}
 */
export function styleOfBox(box, palette, hues = NO_HUES) {
  const hue = hues.tints.get(box.id);
  if (box.kind === 'job') return ofJob(box, palette, hue);
  if (box.kind === 'dataset') return ofTable(box, palette, hue);
  if (box.kind === 'group') return plain(palette.operation, palette.operationSoft, '');
  const edge = { read: palette.dataset, write: palette.direct }[box.node.kind] ?? palette.operation;
  return plain(edge, palette.surface, '');
}

/** That its run failed is seen before its hue. */
function ofJob(box, palette, hue) {
  const glyph = producerOf(box.node);
  if (box.failed) return plain(palette.failed, palette.failedSoft, glyph);
  if (!hue) return plain(palette.job, palette.jobSoft, glyph);
  const shade = shadeOf(hue.colour, palette);
  return { ...plain(shade, tinted(shade), glyph), mark: palette.ink };
}

function ofTable(box, palette, hue) {
  const glyph = platformOf(box.node);
  if (!hue) return { edge: palette.dataset, fill: palette.surface, head: palette.datasetSoft, mark: palette.dataset, glyph };
  const shade = shadeOf(hue.colour, palette);
  return { edge: shade, fill: palette.surface, head: tinted(shade), mark: palette.ink, glyph };
}

function tinted(shade) {
  return `${shade}2b`;
}

function plain(edge, fill, glyph) {
  return { edge, fill, head: fill, mark: edge, glyph };
}
