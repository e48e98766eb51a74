/**
 * The meanings of the signs that a picture holds: the legend under the canvas and that of a
 * saved picture are made from it. Pure.
 */
import { CHANGES, troubleOf } from '../data/model.js';
import { GLYPHS, platformOf, producerOf } from './glyphs.js';

/**
 * @typedef {{kind: 'box'|'line'|'mark'|'change', look: string}} Drawn
 * @typedef {{kind: 'letter', letter: string, colour: string, filled: boolean}} Letter
 * @typedef {{kind: 'glyph', name: string}} OfGlyph
 * @typedef {Drawn|Letter|OfGlyph} Sign
 * @typedef {{sign: Sign, words: string, layer?: string}} Meaning
 * @typedef {{name: string, meanings: Meaning[]}} Group
 */

/** The tints of boxes, as a choice and as the name of its group. */
export const TINTINGS = Object.freeze({ '': ['layer', 'Layers'], class: ['class', 'Classes'], namespace: ['namespace', 'Namespaces'] });

/**
 * @param {import('../data/model.js').Model} model
 * @param {import('./box-style.js').Hues} hues
 * @returns {Group[]} none is empty
 */
export function legendOf(model, hues) {
  const boxes = [...model.boxes.values()];
  const of = (kind) => boxes.filter((box) => box.kind === kind).map(({ node }) => node);
  /** @type {Group[]} */
  const groups = [
    { name: 'Nodes', meanings: kinds(model, boxes) },
    { name: 'Edges', meanings: lines(model) },
    { name: TINTINGS[hues.by][1], meanings: hues.by === 'class' ? [] : tints(boxes, hues) },
    { name: 'Classes', meanings: classes(model, hues) },
    { name: 'Platforms', meanings: glyphs(of('dataset').map(platformOf)) },
    { name: 'Producers', meanings: glyphs(of('job').map(producerOf)) },
  ];
  return groups.filter(({ meanings }) => meanings.length > 0);
}

/** @returns {Meaning[]} */
function kinds(model, boxes) {
  const operations = new Set(boxes.filter((box) => box.kind === 'operation').map((box) => box.node.kind));
  const items = [...boxes, ...model.rows.values(), ...model.links.values()];
  const changes = new Set(items.map((item) => item.change));
  return present([
    ['box', 'dataset', 'Table', boxes.some((box) => box.kind === 'dataset')],
    ['box', 'job', 'Job', boxes.some((box) => box.kind === 'job')],
    ['box', 'operation', 'Folded: open it to see more', boxes.some((box) => box.kind === 'group')],
    ['box', 'failed', 'Last run failed', boxes.some((box) => box.failed)],
    ['mark', 'aborted', 'Last run aborted', boxes.some((box) => !box.failed && troubleOf(box))],
    ['mark', 'checks-failed', 'Checks failed', boxes.some((box) => box.node.quality?.state === 'failed')],
    ['mark', 'checks-passed', 'Checks passed', boxes.some((box) => box.node.quality?.state === 'passed')],
    ['box', 'read', 'Read', operations.has('read')],
    ['box', 'operation', 'Transformation', [...operations].some((kind) => kind !== 'read' && kind !== 'write')],
    ['box', 'write', 'Write', operations.has('write')],
    ...Object.entries(CHANGES).map(([change, { sign, word }]) => /** @type {Known} */ (['change', change, `${sign} ${word}`, changes.has(change)])),
  ]);
}

/** @returns {Meaning[]} */
function lines(model) {
  const links = [...model.links.values()];
  const found = new Set(links.map((link) => link.kind));
  return present([
    ['line', 'feeds', 'Data flow', found.has('feeds')],
    ['line', 'direct', 'Column value', found.has('DIRECT')],
    ['line', 'indirect', 'Filter, join, group, sort', found.has('INDIRECT')],
    ['line', 'declared', 'Declared by a person', links.some((link) => link.edge.origin === 'declared')],
    ['line', 'unseen', 'Not seen yet: a next run would bring it', links.some((link) => link.edge.seen === false)],
    ['line', 'attempted', 'Attempted by a run that failed or was aborted', links.some((link) => link.edge.attempted)],
  ]);
}

/** @typedef {['box'|'line'|'mark'|'change', string, string, boolean]} Known  kind, look, words, whether it is there */

/** @param {Known[]} known @returns {Meaning[]} */
function present(known) {
  return known.filter(([, , , there]) => there).map(([kind, look, words]) => ({ sign: { kind, look }, words }));
}

/** @returns {Meaning[]} */
function tints(boxes, hues) {
  const found = new Set(boxes.flatMap(({ id }) => hues.tints.get(id) ?? []));
  return [...found].map((hue) => ({ ...hued(hue, false), layer: hues.by === '' ? hue.name : undefined }));
}

/** @returns {Meaning[]} */
function classes(model, hues) {
  const drawn = new Set([...model.boxes.values(), ...model.rows.values()].flatMap(({ node }) => node.classifications ?? []));
  return [...hues.classes.values()].filter(({ name }) => drawn.has(name)).map((hue) => hued(hue, true));
}

/** A letter in its hue, as boxes and columns have it. */
function hued({ name, letter, colour }, filled) {
  return { sign: { kind: /** @type {const} */ ('letter'), letter, colour, filled }, words: name };
}

/** @param {string[]} names in glyphs.js @returns {Meaning[]} */
function glyphs(names) {
  return [...new Set(names)].sort().map((name) => ({ sign: { kind: 'glyph', name }, words: GLYPHS[name].name }));
}
