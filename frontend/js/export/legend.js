/**
 * The legend of a saved picture: a line for each group, broken where the picture ends. Knows a canvas context.
 */
import { CHANGES } from '../data/model.js';
import { paintGlyph } from '../drawing/glyphs.js';
import { styleOf } from '../drawing/links.js';
import { shadeOf } from '../drawing/box-style.js';
import { FAMILY } from '../drawing/shapes.js';

const FONT = `12px ${FAMILY}`;
const BOLD = `600 12px ${FAMILY}`;
/** Of a line, of the names of groups, of a sign with the gap after it, and between two meanings. */
const ROW = 22;
const NAME = 92;
const SIGN = 26;
const GAP = 18;

/** The properties of a line that `styleOf` reads. */
const LINKS = Object.freeze({
  feeds: { kind: 'feeds', edge: {} },
  direct: { kind: 'DIRECT', edge: {} },
  indirect: { kind: 'INDIRECT', edge: {} },
  declared: { kind: 'feeds', edge: { origin: 'declared' } },
  unseen: { kind: 'feeds', edge: { seen: false } },
  attempted: { kind: 'feeds', edge: { attempted: true } },
});

/**
 * @typedef {object} Placed
 * @property {string} name  of a group, at its first line; else empty
 * @property {import('../drawing/legend.js').Sign|null} sign
 * @property {string} words
 * @property {number} x
 * @property {number} y  its middle
 */

/**
 * @param {import('../drawing/legend.js').Group[]} groups
 * @param {number} width
 * @param {(text: string, font: string) => number} widthOf
 * @returns {{placed: Placed[], height: number}}
 */
export function layLegend(groups, width, widthOf) {
  /** @type {Placed[]} */
  const placed = [];
  let y = ROW / 2;
  for (const { name, meanings } of groups) {
    placed.push({ name, sign: null, words: '', x: 0, y });
    let x = NAME;
    for (const { sign, words } of meanings) {
      const wide = SIGN + widthOf(words, FONT);
      if (x > NAME && x + wide > width) [x, y] = [NAME, y + ROW];
      placed.push({ name: '', sign, words, x, y });
      x += wide + GAP;
    }
    y += ROW;
  }
  return { placed, height: y - ROW / 2 };
}

/**
 * @param {CanvasRenderingContext2D} context
 * @param {Placed[]} placed
 * @param {{left: number, top: number}} corner
 * @param {import('../drawing/palette.js').Palette} palette
 */
export function paintLegend(context, placed, { left, top }, palette) {
  context.textAlign = 'left';
  context.textBaseline = 'middle';
  for (const { name, sign, words, x, y } of placed) {
    if (sign) paintSign(context, sign, left + x, top + y, palette);
    context.font = name ? BOLD : FONT;
    context.fillStyle = name ? palette.muted : palette.ink;
    context.fillText(name || words, left + x + (sign ? SIGN : 0), top + y);
  }
}

function paintSign(context, sign, x, y, palette) {
  if (sign.kind === 'glyph') paintGlyph(context, sign.name, { x, y, size: 16, colour: palette.ink });
  else if (sign.kind === 'letter') paintLetter(context, sign, x, y, palette);
  else if (sign.kind === 'line') paintLine(context, sign.look, x, y, palette);
  else if (sign.kind === 'mark') paintMark(context, sign.look, x, y, palette);
  else if (sign.kind === 'change') paintFrame(context, { x, y, radius: 3, edge: palette[CHANGES[sign.look].colour], fill: palette.surface, dashes: CHANGES[sign.look].dashes || [] });
  else paintFrame(context, { x, y, ...frameOf(sign.look, palette), dashes: [] });
}

function frameOf(look, palette) {
  const round = { radius: 6, band: false };
  const banded = { radius: 3, band: true, fill: palette.surface };
  return {
    dataset: { ...banded, edge: palette.dataset },
    read: { ...banded, edge: palette.dataset },
    write: { ...banded, edge: palette.direct },
    operation: { ...banded, edge: palette.operation },
    job: { ...round, edge: palette.job, fill: palette.jobSoft },
    failed: { ...round, edge: palette.failed, fill: palette.failedSoft },
  }[look];
}

function paintFrame(context, { x, y, radius, edge, fill, dashes, band = false }) {
  context.beginPath();
  context.roundRect(x, y - 6, 18, 12, radius);
  context.fillStyle = fill;
  context.fill();
  context.strokeStyle = edge;
  context.lineWidth = 1.5;
  context.setLineDash(dashes);
  context.stroke();
  context.setLineDash([]);
  if (!band) return;
  context.fillStyle = edge;
  context.fillRect(x, y - 5.5, 4.5, 11);
}

function paintLine(context, look, x, y, palette) {
  const { colour, width, dashes } = styleOf(LINKS[look], palette, false);
  context.beginPath();
  context.moveTo(x, y);
  context.lineTo(x + 20, y);
  context.strokeStyle = colour;
  context.lineWidth = width + 0.4;
  context.setLineDash(dashes);
  context.stroke();
  context.setLineDash([]);
}

/** As on a box: a diamond where checks failed, a disc where they passed or the last run was aborted. */
function paintMark(context, look, x, y, palette) {
  context.beginPath();
  if (look !== 'checks-failed') context.arc(x + 9, y, 7, 0, 2 * Math.PI);
  else {
    context.moveTo(x + 9, y - 8);
    context.lineTo(x + 17, y);
    context.lineTo(x + 9, y + 8);
    context.lineTo(x + 1, y);
    context.closePath();
  }
  context.fillStyle = { 'checks-passed': palette.ok, aborted: palette.muted }[look] ?? palette.failed;
  context.fill();
}

function paintLetter(context, { letter, colour, filled }, x, y, palette) {
  const shade = shadeOf(colour, palette);
  context.beginPath();
  context.roundRect(x + 1, y - 7, 14, 14, 3);
  context.fillStyle = filled ? shade : palette.canvas;
  context.fill();
  context.strokeStyle = shade;
  context.lineWidth = 2;
  context.stroke();
  context.font = `700 10.5px ${FAMILY}`;
  context.fillStyle = filled ? palette.canvas : palette.ink;
  context.textAlign = 'center';
  context.fillText(letter, x + 8, y);
  context.textAlign = 'left';
}
