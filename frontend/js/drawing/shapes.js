/**
 * How a table, a job and an operation are painted. Knows a canvas context, not vis-network.
 * A table is a frame with a title; a job is a pill; an operation is a plain card.
 */
import { fit, formatNumber } from '../data/format.js';
import { CHANGES, swatch, titleHeight } from '../data/model.js';
import { paintGlyph } from './glyphs.js';
import { shadeOf, styleOfBox } from './box-style.js';

export const FAMILY = 'system-ui, -apple-system, "Segoe UI", Roboto, "Helvetica Neue", Arial, sans-serif';
const MONO = 'ui-monospace, SFMono-Regular, Menlo, Consolas, "Liberation Mono", monospace';
/** The opacity of items without emphasis, while something is selected or the pointer rests. */
export const FADED = Object.freeze({ selected: 0.22, hovered: 0.5 });
/** Nearer than this a box has a second line; farther away its name has all the room. */
const NEAR = 1;
/** Farther than this the columns of a table are left out, and than this all words. */
const ROWS = 0.3;
const WORDS = 0.16;
/** Letters grow against the zoom so that they stay legible, up to the height of a title or a row. */
const TITLE = Object.freeze({ size: 13, screen: 12, most: 28, far: 18, share: 0.7 });
const ROW = Object.freeze({ size: 12, screen: 12, most: 19.5, indent: 14, deepest: 5 });
/** From this zoom on letters are 12 pixels high on the screen. */
export const LEGIBLE = Object.freeze({ titles: TITLE.screen / TITLE.most, rows: ROW.screen / ROW.most });

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
  if (box.failed) paintBadge(context, frame.x + frame.width - 6, frame.y + 3, '!', look.palette.failed, look);
  if (box.node.more || box.node.open) paintHandles(context, box, look);
  if (box.change) paintChange(context, box, frame, look);
  if (box.node.quality) paintQuality(context, box, frame, look.palette);
  if (look.scale >= ROWS) paintMarks(context, box, frame, colours, look);
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
  return box.kind === 'job' ? box.height / 2 : 7;
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

/** One line, one size in the whole picture; a longer one loses its middle. */
function paintTitle(context, box, frame, colours, look) {
  const { palette, scale } = look;
  const { height, size, left, right, glyph } = titleOf(context, box, frame, colours, scale);
  const middle = frame.y + height / 2;
  if (box.kind === 'group') paintPlus(context, left, middle, colours.mark);
  else if (glyph > 0) paintGlyph(context, colours.glyph, { x: left, y: middle, size: glyph, colour: colours.mark });
  const start = left + (glyph > 0 ? glyph + 7 : 0);
  const room = right - start;
  const twoLines = scale >= NEAR && Boolean(box.detail) && height >= 36;
  const font = `600 ${size}px ${FAMILY}`;
  write(context, box.label, start, twoLines ? middle - 8 : middle, room, font, palette.ink, 'middle');
  if (!twoLines) return;
  const below = `12px ${box.kind === 'operation' ? MONO : FAMILY}`;
  const colour = box.failed ? palette.failed : palette.muted;
  write(context, box.detail, start, middle + 9, room, below, colour, box.kind === 'dataset' ? 'start' : 'end');
}

/** The size of a title's letters and of its glyph, and where it begins and ends. */
function titleOf(context, box, frame, colours, scale) {
  const height = titleHeight(box);
  const size = Math.min(TITLE.most, height * TITLE.share, Math.max(TITLE.size, grown(TITLE.screen, scale)));
  const rim = box.kind !== 'job' ? 9 : size > TITLE.far ? 10 : 13;
  const [left, right] = [frame.x + rim, frame.x + frame.width - rim];
  return { height, size, left, right, glyph: glyphWithin(context, box, right - left, size, colours) };
}

/** From afar a name that does not fit has the room of the glyph; that of a table stands among its marks then. */
function glyphWithin(context, box, width, size, colours) {
  const glyph = colours.glyph || box.kind === 'group' ? Math.min(20, Math.max(16, size)) : 0;
  if (size <= TITLE.far || box.kind === 'group') return glyph;
  const needed = measure(context, box.label, `600 ${size}px ${FAMILY}`);
  return needed <= width - glyph - 7 ? glyph : 0;
}

function halves(size) {
  return Math.floor(2 * size) / 2;
}

/** At least so many pixels on the screen, in half units: a text of another size is measured anew. */
function grown(pixels, scale) {
  return Math.ceil((2 * pixels) / scale) / 2;
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
  const size = Math.min(ROW.most, Math.max(ROW.size, grown(ROW.screen, look.scale)));
  const font = `${chosen || focus === row.id ? 600 : 400} ${size}px ${FAMILY}`;
  const indent = ROW.indent * Math.min(row.indent, ROW.deepest);
  const room = frame.width - 26 - indent;
  const ink = row.node.known === 'lineage' ? palette.muted : palette.ink;
  write(context, row.short, frame.x + 14 + indent, row.y, room, font, ink);
  if (row.change) paintRowChange(context, row, frame, palette);
  const [tag] = row.node.classifications ?? [];
  if (tag) paintTagMark(context, frame.x + 7, row.y, hues.classes.get(tag), palette);
  paintType(context, row, frame, room - measure(context, row.short, font) - 14, palette, look.scale);
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
function paintType(context, row, frame, room, palette, scale) {
  const font = `12px ${MONO}`;
  if (!row.aside || scale < NEAR) return;
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
  paintBadge(context, frame.x + 4, frame.y + 3, sign, look.palette[colour], look);
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
  const [x, y] = [frame.x + frame.width - (box.change ? 30 : 6), frame.y + 3];
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

/** Marks on the upper edge of a box, in pixels of the drawing; they grow against the zoom. */
const MARK = Object.freeze({ height: 15, letter: 10, near: 0.85, most: 1.7, gap: 4 });

/**
 * The glyph that has no room in the title, the letter of its tint, then its classes by their names,
 * as far as there is room.
 * @param {CanvasRenderingContext2D} context
 * @param {import('../data/model.js').Box} box
 * @param {{x: number, y: number, width: number, height: number}} frame
 * @param {import('./box-style.js').BoxStyle} colours
 * @param {Look} look
 */
function paintMarks(context, box, frame, colours, { palette, hues, scale }) {
  const size = Math.min(MARK.most, Math.max(1, MARK.near / scale));
  const end = frame.x + frame.width - 24;
  let x = frame.x + (box.kind === 'job' ? 20 : 10) + (box.change ? 8 : 0);
  if (box.kind === 'dataset' && colours.glyph && titleOf(context, box, frame, colours, scale).glyph === 0)
    x += MARK.gap + paintGlyphMark(context, x, frame.y, colours, size, palette);
  const tint = hues.by === 'class' ? undefined : hues.tints.get(box.id);
  if (tint) x += MARK.gap + paintLetter(context, x, frame.y, tint, size, palette);
  for (const tag of box.node.classifications ?? []) {
    if (end - x < 3 * MARK.height) return;
    x += MARK.gap + paintClass(context, x, frame.y, { tag, hue: hues.classes.get(tag), width: end - x }, size, palette);
  }
}

/** A square with a frame in the colour; its width. */
function paintSquare(context, x, y, colour, size, palette) {
  const side = MARK.height * size;
  outline(context, { x, y: y - side / 2, width: side, height: side }, 3 * size);
  context.fillStyle = palette.canvas;
  context.fill();
  context.strokeStyle = colour;
  context.lineWidth = 2;
  context.stroke();
  return side;
}

function paintGlyphMark(context, x, y, { glyph, edge, mark }, size, palette) {
  const side = paintSquare(context, x, y, edge, size, palette);
  const inner = 0.8 * side;
  paintGlyph(context, glyph, { x: x + (side - inner) / 2, y, size: inner, colour: mark });
  return side;
}

function paintLetter(context, x, y, { letter, colour }, size, palette) {
  const side = paintSquare(context, x, y, shadeOf(colour, palette), size, palette);
  writeMiddle(context, letter, x + side / 2, y + 0.5, MARK.letter * size, palette.ink);
  return side;
}

/** A pill in the hue of the class with its name; its width. */
function paintClass(context, x, y, { tag, hue, width }, size, palette) {
  const font = `600 ${halves(MARK.letter * size)}px ${FAMILY}`;
  const [height, rim] = [MARK.height * size, 6 * size];
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
