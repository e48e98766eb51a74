/**
 * How a table, a job and an operation are painted. Knows a canvas context, not vis-network.
 * A table is a frame with a title; a job is a pill; an operation is a plain card.
 */
import { fit, formatNumber, linesOf } from '../data/format.js';
import { CHANGES, swatch, titleHeight, troubleOf } from '../data/model.js';
import { paintGlyph } from './glyphs.js';
import { shadeOf, styleOfBox } from './box-style.js';

export const FAMILY = 'system-ui, -apple-system, "Segoe UI", Roboto, "Helvetica Neue", Arial, sans-serif';
const MONO = 'ui-monospace, SFMono-Regular, Menlo, Consolas, "Liberation Mono", monospace';
/** The opacity of items without emphasis, while something is selected or the pointer rests. */
export const FADED = Object.freeze({ selected: 0.22, hovered: 0.5 });
/** Farther than this the columns of a table are left out, and than this all words. */
const ROWS = 0.3;
const WORDS = 0.16;
/** Height of the letters of a name, and of a line of them (picture/layout.py of the server has the same). */
const LETTERS = 15;
const LINE = 17;
/** Letters have one size in the drawing: they and their boxes are scaled together. */
const DETAIL = Object.freeze({ letters: 12, line: 15, rim: 7 });
const GLYPH = Object.freeze({ size: 18, gap: 7 });
const ROW = Object.freeze({ letters: 14, indent: 14, deepest: 5 });
/** So high, in pixels of the screen, letters can be read. */
const READ = 11;
/** From this zoom on. */
export const LEGIBLE = Object.freeze({ titles: READ / LETTERS, rows: READ / ROW.letters });

/**
 * @typedef {object} Look  the inputs of the painting besides the box
 * @property {import('./palette.js').Palette} palette
 * @property {import('./box-style.js').Hues} hues
 * @property {Set<string>|null} lit   emphasised ids; null: nothing fades
 * @property {number} faded           how much is left of the others
 * @property {string} selected        id, or empty
 * @property {string} focus           id of the requested node, or empty
 * @property {number} scale           zoom of the canvas
 * @property {''|'down'} [flow]       of the picture
 * @property {{left: Set<string>, right: Set<string>}} linked  rows at whose sides links end
 */

/**
 * @param {CanvasRenderingContext2D} context
 * @param {import('../data/model.js').Box} box
 * @param {Look} look
 */
export function paint(context, box, look) {
  const frame = { x: box.x - box.width / 2, y: box.y - box.height / 2, width: box.width, height: box.height };
  const colours = styleOfBox(box, look.palette, look.hues);
  context.globalAlpha = look.lit === null || look.lit.has(box.id) ? 1 : look.faded;
  context.textBaseline = 'middle';
  if (box.kind === 'group') paintPile(context, frame, colours, look.palette);
  paintHalo(context, box, frame, look);
  paintFrame(context, box, frame, colours, look);
  if (look.scale >= WORDS) paintTitle(context, box, frame, colours, look);
  if (look.scale >= ROWS) for (const row of box.rows) paintRow(context, row, frame, look);
  if (box.failed) paintBadge(context, frame.x + frame.width - 2, frame.y, '!', look.palette.failed, look);
  else if (troubleOf(box)) paintBadge(context, frame.x + frame.width - 2, frame.y, '–', look.palette.muted, look);
  if (box.node.more || box.node.open) paintHandles(context, box, look);
  if (box.change) paintChange(context, box, frame, look);
  if (box.node.quality) paintQuality(context, box, frame, look.palette);
  if (look.scale >= ROWS) paintMarks(context, box, frame, look);
  context.globalAlpha = 1;
}

/** A folded fan is a pile of cards. */
function paintPile(context, frame, colours, { canvas }) {
  for (const off of [8, 4]) {
    outline(context, { ...frame, x: frame.x + off, y: frame.y + off }, 7);
    context.fillStyle = canvas;
    context.fill();
    context.fillStyle = colours.fill;
    context.fill();
    context.strokeStyle = colours.edge;
    context.lineWidth = 1;
    context.stroke();
  }
}

/**
 * A lane behind the boxes: a frame with the name of its layer, and the layer's colour at its left.
 * @param {CanvasRenderingContext2D} context
 * @param {{label: string, colour: string, top: number, bottom: number}} lane
 * @param {{left: number, right: number}} around the drawn part
 * @param {import('./palette.js').Palette} palette
 */
export function paintLane(context, { label, colour, top, bottom }, { left, right }, palette) {
  const frame = { x: left - 30, y: top, width: right - left + 60, height: bottom - top };
  outline(context, frame, 10);
  context.strokeStyle = palette.line;
  context.lineWidth = 1;
  context.stroke();
  context.fillStyle = swatch(colour) ? colour : palette.line;
  context.fillRect(frame.x, frame.y + 10, 4, frame.height - 20);
  context.font = `600 13px ${FAMILY}`;
  context.fillStyle = palette.muted;
  context.textBaseline = 'middle';
  context.textAlign = 'left';
  context.fillText(label, frame.x + 14, top + 16);
}

function radiusOf(box) {
  return box.kind === 'job' ? Math.min(box.height / 2, 23) : 7;
}

function outline(context, { x, y, width, height }, radius, grow = 0) {
  context.beginPath();
  context.roundRect(x - grow, y - grow, width + 2 * grow, height + 2 * grow, radius + grow);
}

function paintHalo(context, box, frame, { palette, selected, focus }) {
  const chosen = selected === box.id;
  if (!chosen && focus !== box.id) return;
  outline(context, frame, radiusOf(box), chosen ? 4 : 3.5);
  context.strokeStyle = palette.accent;
  context.lineWidth = chosen ? 3 : 1.5;
  context.setLineDash(chosen ? [] : [3, 3]);
  context.stroke();
  context.setLineDash([]);
}

function paintFrame(context, box, frame, colours, { palette }) {
  outline(context, frame, radiusOf(box));
  context.fillStyle = palette.canvas;
  context.fill();
  context.fillStyle = colours.fill;
  context.fill();
  if (box.kind === 'dataset') paintHead(context, box, frame, colours);
  else if (box.kind === 'operation') paintBand(context, frame, colours);
  outline(context, frame, radiusOf(box));
  context.strokeStyle = colours.edge;
  context.lineWidth = box.failed ? 2 : 1.3;
  context.setLineDash(box.via ? [6, 4] : []);
  context.stroke();
  context.setLineDash([]);
}

/** The title of a table on its own ground: the hue of its layer. */
function paintHead(context, box, frame, colours) {
  context.save();
  context.clip();
  context.fillStyle = colours.head;
  context.fillRect(frame.x, frame.y, frame.width, titleHeight(box));
  context.restore();
}

function paintBand(context, frame, colours) {
  context.save();
  context.clip();
  context.fillStyle = colours.mark;
  context.fillRect(frame.x, frame.y, 5, frame.height);
  context.restore();
}

/** The name on one line or two, and below it what is known of the box where there is room. */
function paintTitle(context, box, frame, colours, { palette }) {
  const height = titleHeight(box);
  const rim = box.kind === 'job' ? 13 : 11;
  const middle = frame.y + height / 2;
  const glyph = colours.glyph || box.kind === 'group' ? GLYPH.size : 0;
  if (box.kind === 'group') paintPlus(context, frame.x + rim, middle, colours.mark);
  else if (glyph > 0) paintGlyph(context, colours.glyph, { x: frame.x + rim, y: middle, size: glyph, colour: colours.mark });
  const start = frame.x + rim + (glyph > 0 ? glyph + GLYPH.gap : 0);
  const room = frame.x + frame.width - rim - start;
  const lines = titleLines(context, box.label, room, height >= 2 * LINE ? 2 : 1);
  const detailed = Boolean(box.detail) && height >= lines.length * LINE + DETAIL.line + DETAIL.rim;
  let y = middle - (lines.length * LINE + (detailed ? DETAIL.line : 0)) / 2 + LINE / 2;
  context.fillStyle = palette.ink;
  context.font = TITLE_FONT;
  for (const line of lines) {
    context.fillText(line, start, y);
    y += LINE;
  }
  if (detailed) paintDetail(context, box, start, y - (LINE - DETAIL.line) / 2, room, palette);
}

function paintDetail(context, box, x, y, room, palette) {
  const font = `${DETAIL.letters}px ${box.kind === 'operation' ? MONO : FAMILY}`;
  write(context, box.detail, x, y, room, font, box.failed ? palette.failed : palette.muted, box.kind === 'dataset' ? 'start' : 'end');
}

const TITLE_FONT = `600 ${LETTERS}px ${FAMILY}`;
/** Broken names by width and text: measuring is the dear part of painting. */
const broken = new Map();

function titleLines(context, label, room, most) {
  const key = `${Math.round(room)}|${most}|${label.slice(0, 400)}`;
  if (!broken.has(key)) {
    if (broken.size > 20_000) broken.clear();
    context.font = TITLE_FONT;
    broken.set(key, linesOf(label, room, (sample) => context.measureText(sample).width, most));
  }
  return broken.get(key);
}

function halves(size) {
  return Math.floor(2 * size) / 2;
}

function paintPlus(context, x, y, colour) {
  context.strokeStyle = colour;
  context.lineWidth = 2;
  context.beginPath();
  context.moveTo(x + 1, y);
  context.lineTo(x + 13, y);
  context.moveTo(x + 7, y - 6);
  context.lineTo(x + 7, y + 6);
  context.stroke();
}

function paintRow(context, row, frame, look) {
  const { palette, hues, lit, selected, focus, linked } = look;
  const before = context.globalAlpha;
  const chosen = selected === row.id;
  const on = lit?.has(row.id) ?? false;
  context.globalAlpha = lit === null || on || !lit.has(row.box) ? before : 0.45;
  paintRowGround(context, row, frame, { chosen, on, palette });
  const font = `${chosen || focus === row.id ? 600 : 400} ${ROW.letters}px ${FAMILY}`;
  const indent = ROW.indent * Math.min(row.indent, ROW.deepest);
  const room = frame.width - 26 - indent;
  const ink = row.node.known === 'lineage' ? palette.muted : palette.ink;
  write(context, row.short, frame.x + 14 + indent, row.y, room, font, ink);
  if (row.change) paintRowChange(context, row, frame, palette);
  const [tag] = row.node.classifications ?? [];
  if (tag) paintTagMark(context, frame.x + 7, row.y, hues.classes.get(tag), palette);
  paintType(context, row, frame, room - measure(context, row.short, font) - 14, palette);
  if (linked.left.has(row.id)) paintPort(context, frame.x, row.y, palette);
  if (linked.right.has(row.id)) paintPort(context, frame.x + frame.width, row.y, palette);
  context.globalAlpha = before;
}

function paintRowChange(context, row, frame, palette) {
  const { sign, colour } = CHANGES[row.change];
  context.font = `700 13px ${FAMILY}`;
  context.fillStyle = palette[colour];
  context.fillText(sign, frame.x + 3, row.y);
}

/** The type of a column, or that no schema has it, in the room beside its name. */
function paintType(context, row, frame, room, palette) {
  const font = `12px ${MONO}`;
  if (!row.aside) return;
  if (room < 56 && room < measure(context, row.aside, font)) return;
  context.textAlign = 'right';
  write(context, row.aside, frame.x + frame.width - 12, row.y, room, font, palette.muted);
  context.textAlign = 'left';
}

function paintRowGround(context, row, frame, { chosen, on, palette }) {
  const top = row.y - row.height / 2;
  if (chosen || on) {
    context.fillStyle = palette.datasetSoft;
    context.fillRect(frame.x + 1.5, top + 1, frame.width - 3, row.height - 2);
  }
  if (chosen) {
    context.strokeStyle = palette.accent;
    context.lineWidth = 2;
    context.strokeRect(frame.x + 2, top + 1, frame.width - 4, row.height - 2);
    return;
  }
  context.strokeStyle = palette.line;
  context.lineWidth = 0.7;
  context.beginPath();
  context.moveTo(frame.x + 1, top);
  context.lineTo(frame.x + frame.width - 1, top);
  context.stroke();
}

function paintPort(context, x, y, palette) {
  context.fillStyle = palette.direct;
  context.beginPath();
  context.arc(x, y, 2.8, 0, 2 * Math.PI);
  context.fill();
}

/** A frame in the colour of the change, dashed where it is gone, and its sign at the left. */
function paintChange(context, box, frame, look) {
  const { sign, colour, dashes } = CHANGES[box.change];
  outline(context, frame, radiusOf(box), 1);
  context.strokeStyle = look.palette[colour];
  context.lineWidth = 3;
  context.setLineDash(dashes || []);
  context.stroke();
  context.setLineDash([]);
  paintBadge(context, frame.x + 2, frame.y, sign, look.palette[colour], look);
}

function paintBadge(context, x, y, sign, colour, { palette }) {
  context.beginPath();
  context.arc(x, y, 9, 0, 2 * Math.PI);
  context.fillStyle = colour;
  context.fill();
  context.strokeStyle = palette.canvas;
  context.lineWidth = 2;
  context.stroke();
  context.font = `700 11px ${FAMILY}`;
  context.fillStyle = palette.canvas;
  context.textAlign = 'center';
  context.fillText(sign, x, y + 0.5);
  context.textAlign = 'left';
}

/** A handle, in pixels of the drawing; it grows against the zoom so that it can be hit, and hooks into its box. */
const HANDLE = Object.freeze({ height: 20, least: 26, letter: 7.5, most: 2, hook: 7 });

/**
 * The handles of a box, where there is more than is drawn, or where it was opened: pills at its lower
 * corners, top down at its left ones, `+3` or `−`. They lie beside the box, in the gap before the next
 * rank, where they cover no name.
 * @param {import('../data/model.js').Box} box
 * @param {number} scale of the canvas
 * @param {''|'down'} [flow]
 * @returns {Array<{side: 'upstream'|'downstream', text: string, x: number, y: number, width: number, height: number, size: number}>}
 */
export function handlesOf(box, scale, flow = '') {
  const { more, open } = box.node;
  const size = Math.min(HANDLE.most, Math.max(1, 0.95 / scale));
  const found = [];
  for (const side of /** @type {const} */ (['upstream', 'downstream'])) {
    const number = more?.[side] ?? 0;
    const text = number > 0 ? `+${formatNumber(number)}` : open?.[side] ? '−' : '';
    if (!text || box.kind === 'group') continue;
    const width = Math.max(HANDLE.least, text.length * HANDLE.letter + 12) * size;
    const height = HANDLE.height * size;
    const by = side === 'upstream' ? -1 : 1;
    const beyond = (flow === 'down' ? height : width) / 2 - HANDLE.hook * size;
    const [x, y] =
      flow === 'down'
        ? [box.x - box.width / 2 + width / 2, box.y + by * (box.height / 2 + beyond)]
        : [box.x + by * (box.width / 2 + beyond), box.y + box.height / 2];
    found.push({ side, text, x, y, width, height, size });
  }
  return found;
}

/**
 * Where the handle on one side of a box is.
 * @param {import('../data/model.js').Model} model
 * @param {{id: string, side: 'upstream'|'downstream'}} handle
 * @param {number} scale of the canvas
 * @returns {{x: number, y: number}|undefined}
 */
export function placeOfHandle(model, { id, side }, scale) {
  const box = model.boxes.get(id);
  return box && handlesOf(box, scale, model.flow).find((handle) => handle.side === side);
}

/**
 * The handle under a point.
 * @param {import('../data/model.js').Model} model
 * @param {number} x
 * @param {number} y
 * @param {number} scale of the canvas
 * @returns {{id: string, side: 'upstream'|'downstream'}|null}
 */
export function handleAt(model, x, y, scale) {
  for (const box of model.boxes.values())
    for (const handle of handlesOf(box, scale, model.flow))
      if (Math.abs(x - handle.x) <= handle.width / 2 + 2 && Math.abs(y - handle.y) <= handle.height / 2 + 2)
        return { id: box.id, side: handle.side };
  return null;
}

/**
 * @param {CanvasRenderingContext2D} context
 * @param {import('../data/model.js').Box} box
 * @param {Look} look
 */
function paintHandles(context, box, { palette, scale, flow }) {
  for (const { text, x, y, width, height, size } of handlesOf(box, scale, flow)) {
    outline(context, { x: x - width / 2, y: y - height / 2, width, height }, height / 2);
    context.fillStyle = palette.surface;
    context.fill();
    context.strokeStyle = palette.accent;
    context.lineWidth = 1.3;
    context.stroke();
    context.font = `600 ${halves(11.5 * size)}px ${FAMILY}`;
    context.fillStyle = palette.accent;
    context.textAlign = 'center';
    context.fillText(text, x, y + 0.5);
    context.textAlign = 'left';
  }
}

/** A diamond with a cross where checks failed, a disc with a tick where they passed. */
function paintQuality(context, box, frame, palette) {
  const failed = box.node.quality.state === 'failed';
  const [x, y] = [frame.x + frame.width - (box.failed ? 24 : 2), frame.y];
  context.beginPath();
  if (failed) {
    context.moveTo(x, y - 11);
    context.lineTo(x + 11, y);
    context.lineTo(x, y + 11);
    context.lineTo(x - 11, y);
    context.closePath();
  } else context.arc(x, y, 9, 0, 2 * Math.PI);
  context.fillStyle = failed ? palette.failed : palette.ok;
  context.fill();
  context.strokeStyle = palette.canvas;
  context.lineWidth = 2;
  context.stroke();
  paintTick(context, failed, x, y);
}

function paintTick(context, failed, x, y) {
  context.lineWidth = 1.8;
  context.beginPath();
  if (failed) {
    context.moveTo(x - 3, y - 3);
    context.lineTo(x + 3, y + 3);
    context.moveTo(x + 3, y - 3);
    context.lineTo(x - 3, y + 3);
  } else {
    context.moveTo(x - 4, y);
    context.lineTo(x - 1, y + 3.2);
    context.lineTo(x + 4.2, y - 3.4);
  }
  context.stroke();
}

/** Marks on the upper edge of a box, above its name. */
const MARK = Object.freeze({ height: 15, letter: 10, gap: 4 });

/**
 * The letter of its tint, then its classes by their names, as far as there is room.
 * @param {CanvasRenderingContext2D} context
 * @param {import('../data/model.js').Box} box
 * @param {{x: number, y: number, width: number, height: number}} frame
 * @param {Look} look
 */
function paintMarks(context, box, frame, { palette, hues, scale, flow }) {
  const end = frame.x + frame.width - 24;
  let x = frame.x + (box.kind === 'job' ? 20 : 10) + (box.change ? 8 : 0);
  const [handle] = flow === 'down' ? handlesOf(box, scale, flow) : [];
  if (handle?.side === 'upstream') x = Math.max(x, handle.x + handle.width / 2 + MARK.gap);
  const tint = hues.by === 'class' ? undefined : hues.tints.get(box.id);
  if (tint) x += MARK.gap + paintLetter(context, x, frame.y, tint, palette);
  for (const tag of box.node.classifications ?? []) {
    if (end - x < 3 * MARK.height) return;
    x += MARK.gap + paintClass(context, x, frame.y, { tag, hue: hues.classes.get(tag), width: end - x }, palette);
  }
}

/** A square with a frame in the colour, and the letter; its width. */
function paintLetter(context, x, y, { letter, colour }, palette) {
  const side = MARK.height;
  outline(context, { x, y: y - side / 2, width: side, height: side }, 3);
  context.fillStyle = palette.canvas;
  context.fill();
  context.strokeStyle = shadeOf(colour, palette);
  context.lineWidth = 2;
  context.stroke();
  writeMiddle(context, letter, x + side / 2, y + 0.5, MARK.letter, palette.ink);
  return side;
}

/** A pill in the hue of the class with its name; its width. */
function paintClass(context, x, y, { tag, hue, width }, palette) {
  const font = `600 ${MARK.letter}px ${FAMILY}`;
  const [height, rim] = [MARK.height, 6];
  const wide = Math.min(measure(context, tag, font) + 2 * rim, width);
  outline(context, { x, y: y - height / 2, width: wide, height }, height / 2);
  context.fillStyle = hue ? shadeOf(hue.colour, palette) : palette.accent;
  context.fill();
  write(context, tag, x + rim, y + 0.5, wide - 2 * rim, font, palette.canvas);
  return wide;
}

/** The class of a column: its letter in its hue. */
function paintTagMark(context, x, y, hue, palette) {
  outline(context, { x: x - 5.5, y: y - 5.5, width: 11, height: 11 }, 2.5);
  context.fillStyle = hue ? shadeOf(hue.colour, palette) : palette.accent;
  context.fill();
  if (hue) writeMiddle(context, hue.letter, x, y + 0.5, 9, palette.canvas);
}

function writeMiddle(context, text, x, y, size, colour) {
  context.font = `700 ${halves(size)}px ${FAMILY}`;
  context.fillStyle = colour;
  context.textAlign = 'center';
  context.fillText(text, x, y);
  context.textAlign = 'left';
}

/** Fitted texts by font, width and text: measuring is the dear part of painting. */
const fitted = new Map();

/**
 * @param {CanvasRenderingContext2D} context
 * @param {string} text
 * @param {number} x
 * @param {number} y
 * @param {number} width
 * @param {string} font
 * @param {string} colour
 * @param {'start'|'middle'|'end'} [cut]
 */
function write(context, text, x, y, width, font, colour, cut = 'end') {
  if (!text || width <= 0) return;
  context.font = font;
  context.fillStyle = colour;
  const key = `${font}|${Math.round(width)}|${cut}|${text.length > 200 ? text.slice(0, 100) + text.slice(-100) + text.length : text}`;
  if (!fitted.has(key)) {
    if (fitted.size > 20_000) fitted.clear();
    fitted.set(
      key,
      fit(text, width, (sample) => context.measureText(sample).width, cut),
    );
  }
  context.fillText(fitted.get(key), x, y);
}

/** Widths by font and text. */
const widths = new Map();

function measure(context, text, font) {
  const sample = text.slice(0, 120);
  const key = `${font}|${sample}`;
  if (!widths.has(key)) {
    if (widths.size > 20_000) widths.clear();
    context.font = font;
    widths.set(key, context.measureText(sample).width);
  }
  return widths.get(key);
}
