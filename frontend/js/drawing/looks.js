/**
 * The one place that says which colours and which glyph a box has: canvas, key, list and chips agree
 * because they ask here.
 */
import { producerOf, platformOf } from './glyphs.js';
import { swatch } from '../data/model.js';

/**
 * @typedef {object} LookOfBox
 * @property {string} edge  of its frame
 * @property {string} fill  of its ground
 * @property {string} head  of the ground of its title
 * @property {string} mark  of its glyph
 * @property {string} glyph a name in glyphs.js; empty: none
 */

/**
 * @param {import('../data/model.js').Box} box
 * @param {import('./palette.js').Palette} palette
 * @returns {LookOfBox}
 */
export function lookOf(box, palette) {
  if (box.kind === 'job') return ofJob(box, palette);
  if (box.kind === 'dataset') return ofTable(box, palette);
  if (box.kind === 'group') return plain(palette, palette.operation, palette.operationSoft, '');
  const edge = { read: palette.dataset, write: palette.direct }[box.node.kind] ?? palette.operation;
  return plain(palette, edge, palette.surface, '');
}

function ofJob(box, palette) {
  const edge = box.failed ? palette.failed : palette.job;
  return plain(palette, edge, box.failed ? palette.failedSoft : palette.jobSoft, producerOf(box.node));
}

/** The title of a table has the hue of its layer, where it has one. */
function ofTable(box, palette) {
  const layered = Boolean(swatch(box.layer?.colour ?? ''));
  const mark = layered ? (box.layer?.colour ?? palette.dataset) : palette.dataset;
  const head = layered ? `${mark}2b` : palette.datasetSoft;
  return { edge: mark, fill: palette.surface, head, mark: layered ? palette.ink : mark, glyph: platformOf(box.node) };
}

function plain(_palette, edge, fill, glyph) {
  return { edge, fill, head: fill, mark: edge, glyph };
}
