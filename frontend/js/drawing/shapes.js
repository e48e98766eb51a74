/**
 * How a table, a job and an operation are painted. Knows a canvas context, not vis-network.
 * A table is a frame with a band at its left; a job is a pill; an operation is a plain card.
 */
import { fit, formatNumber, wrap } from '../data/format.js';
import { CHANGES, swatch, titleHeight } from '../data/model.js';

const FAMILY = 'system-ui, -apple-system, "Segoe UI", Roboto, "Helvetica Neue", Arial, sans-serif';
const MONO = 'ui-monospace, SFMono-Regular, Menlo, Consolas, "Liberation Mono", monospace';
const FADED = 0.22;
/** Nearer than this a box has a mark and a second line; farther away its name has all the room. */
const NEAR = 0.7;
/** Farther than this the columns of a table are left out. */
const ROWS = 0.3;
/** Letters grow against the zoom so that they stay legible, up to what a title or a row can hold. */
const TITLE = Object.freeze({ size: 13, least: 11.5, screen: 10.5, most: 22 });
const ROW = Object.freeze({ size: 12, screen: 9.8, most: 16, indent: 14, deepest: 5 });
const LEADING = 1.08;

/**
 * @typedef {object} Look  what the painting depends on besides the box
 * @property {import('./palette.js').Palette} palette
 * @property {Set<string>|null} lit   emphasised ids; null: nothing fades
 * @property {string} selected        id, or empty
 * @property {string} focus           id of what was asked about, or empty
 * @property {number} scale           zoom of the canvas
 * @property {{left: Set<string>, right: Set<string>}} linked  rows at whose sides links end
 */

/**
 * @param {CanvasRenderingContext2D} context
 * @param {import('../data/model.js').Box} box
 * @param {Look} look
 */
export function paint(context, box, look) {
  const frame = { x: box.x - box.width / 2, y: box.y - box.height / 2, width: box.width, height: box.height };
  const colours = coloursOf(box, look.palette);
  context.globalAlpha = look.lit === null || look.lit.has(box.id) ? 1 : FADED;
  context.textBaseline = 'middle';
  if (box.kind === 'group') paintPile(context, frame, colours, look.palette);
  paintHalo(context, box, frame, look);
  paintFrame(context, box, frame, colours, look);
  paintTitle(context, box, frame, colours, look);
  if (look.scale >= ROWS) for (const row of box.rows) paintRow(context, row, frame, look);
  if (box.failed) paintBadge(context, frame.x + frame.width - 6, frame.y + 3, '!', look.palette.failed, look);
  if (box.node.more) paintMore(context, box.node.more, frame, look);
  if (box.change) paintChange(context, box, frame, look);
  if (box.node.quality) paintQuality(context, box, frame, look.palette);
  if (look.scale >= ROWS) paintTags(context, box.node.classifications, frame, look.palette);
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
 * @param {{left: number, right: number}} around what is drawn
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

function coloursOf(box, palette) {
  if (box.kind === 'group')
    return { edge: palette.operation, fill: palette.operationSoft, mark: palette.operation };
  if (box.kind === 'job')
    return {
      edge: box.failed ? palette.failed : palette.job,
      fill: box.failed ? palette.failedSoft : palette.jobSoft,
      mark: palette.job,
    };
  if (box.kind === 'dataset') {
    const mark = swatch(box.layer?.colour) ? box.layer.colour : palette.dataset;
    return { edge: mark, fill: palette.surface, mark };
  }
  const ends = { read: palette.dataset, write: palette.direct };
  const edge = ends[box.node.kind] ?? palette.operation;
  return { edge, fill: palette.surface, mark: edge };
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
  if (box.kind !== 'job' && box.kind !== 'group') paintBand(context, box, frame, colours, palette);
  outline(context, frame, radiusOf(box));
  context.strokeStyle = colours.edge;
  context.lineWidth = box.failed ? 2 : 1.3;
  context.setLineDash(box.via ? [6, 4] : []);
  context.stroke();
  context.setLineDash([]);
}

function paintBand(context, box, frame, colours, palette) {
  context.save();
  context.clip();
  if (box.rows.length > 0) {
    context.fillStyle = palette.datasetSoft;
    context.fillRect(frame.x, frame.y, frame.width, titleHeight(box));
  }
  context.fillStyle = colours.mark;
  context.fillRect(frame.x, frame.y, 5, box.rows.length > 0 ? titleHeight(box) : frame.height);
  context.restore();
}

function paintTitle(context, box, frame, colours, look) {
  (look.scale >= NEAR ? paintNearTitle : paintFarTitle)(context, box, frame, colours, look);
}

function paintNearTitle(context, box, frame, colours, look) {
  const { palette } = look;
  const height = titleHeight(box);
  const middle = frame.y + height / 2;
  const twoLines = Boolean(box.detail) && height >= 36;
  const { mark, size } = nearTitle(context, box, frame.width - 26);
  if (size === 0) return paintFarTitle(context, box, frame, colours, look);
  const left = frame.x + 15 + mark;
  const width = frame.width - 26 - mark;
  if (mark > 0 && box.kind === 'dataset') paintTableMark(context, frame.x + 15, middle, colours.mark);
  if (mark > 0 && box.kind === 'group') paintPlus(context, frame.x + 15, middle, colours.mark);
  if (mark > 0 && box.kind === 'job') paintJobMark(context, frame.x + 15, middle, colours.mark);
  write(
    context,
    box.label,
    left,
    twoLines ? middle - 8 : middle,
    width,
    `600 ${size}px ${FAMILY}`,
    palette.ink,
  );
  if (!twoLines) return undefined;
  const colour = box.failed ? palette.failed : palette.muted;
  const font = box.kind === 'operation' ? `11px ${MONO}` : `11px ${FAMILY}`;
  return write(
    context,
    box.detail,
    left,
    middle + 9,
    width,
    font,
    colour,
    box.kind === 'dataset' ? 'start' : 'end',
  );
}

/** The name comes first: it gives up size, then its mark, and last the second line (size 0). */
function nearTitle(context, box, room) {
  const wide = measure(context, box.label, `600 ${TITLE.size}px ${FAMILY}`);
  const usual = box.kind === 'operation' ? 0 : 21;
  for (const [mark, size] of [
    [usual, TITLE.size],
    [usual, 12.5],
    [usual, 12],
    [0, TITLE.size],
    [0, 12],
    [0, TITLE.least],
  ]) {
    if ((wide * size) / TITLE.size <= room - mark) return { mark, size };
  }
  return { mark: 0, size: 0 };
}

function paintFarTitle(context, box, frame, _colours, { palette, scale }) {
  const height = titleHeight(box);
  const { size, lines } = farTitle(
    context,
    box.label,
    frame.width - (box.kind === 'job' ? 26 : 22),
    height,
    scale,
  );
  context.font = `600 ${size}px ${FAMILY}`;
  context.fillStyle = palette.ink;
  const top = frame.y + height / 2 - ((lines.length - 1) * size * LEADING) / 2;
  lines.forEach((line, number) => context.fillText(line, frame.x + 14, top + number * size * LEADING));
}

/** On one line when it costs little size; else on two; else smaller; cut when nothing else is left. */
function farTitle(context, label, room, height, scale) {
  const wanted = Math.max(TITLE.size - 1, TITLE.screen / scale);
  const wide = measure(context, label, `600 ${TITLE.size}px ${FAMILY}`) / TITLE.size;
  const single = Math.min(TITLE.most, height * 0.6, wanted);
  const near = [single, single * 0.92, single * 0.84].find((size) => wide * size <= room);
  if (near) return { size: halves(near), lines: [label] };
  const double = halves(Math.min((height - 3) / (2 * LEADING), wanted));
  const lines = wrapped(context, label, room, `600 ${double}px ${FAMILY}`);
  const whole = !lines.at(-1).endsWith('…');
  const small = room / wide;
  return whole || small < TITLE.least ? { size: double, lines } : { size: halves(small), lines: [label] };
}

function halves(size) {
  return Math.floor(2 * size) / 2;
}

const wraps = new Map();

function wrapped(context, label, width, font) {
  const key = `${font}|${Math.round(width)}|${label.slice(0, 200)}|${label.length}`;
  if (!wraps.has(key)) {
    if (wraps.size > 20_000) wraps.clear();
    context.font = font;
    wraps.set(
      key,
      wrap(label, width, (sample) => context.measureText(sample).width),
    );
  }
  return wraps.get(key);
}

function paintTableMark(context, x, y, colour) {
  context.strokeStyle = colour;
  context.lineWidth = 1.4;
  context.beginPath();
  context.roundRect(x, y - 7, 15, 14, 2);
  context.moveTo(x, y - 2.2);
  context.lineTo(x + 15, y - 2.2);
  context.moveTo(x + 6, y - 2.2);
  context.lineTo(x + 6, y + 7);
  context.moveTo(x + 6, y + 2.6);
  context.lineTo(x + 15, y + 2.6);
  context.stroke();
}

function paintJobMark(context, x, y, colour) {
  context.fillStyle = colour;
  context.beginPath();
  context.moveTo(x + 2, y - 7);
  context.lineTo(x + 14, y);
  context.lineTo(x + 2, y + 7);
  context.closePath();
  context.fill();
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
  const { palette, lit, selected, focus, linked } = look;
  const before = context.globalAlpha;
  const chosen = selected === row.id;
  const on = lit?.has(row.id) ?? false;
  context.globalAlpha = lit === null || on || !lit.has(row.box) ? before : 0.45;
  paintRowGround(context, row, frame, { chosen, on, palette });
  const size = Math.min(ROW.most, Math.max(ROW.size, Math.round((2 * ROW.screen) / look.scale) / 2));
  const font = `${chosen || focus === row.id ? 600 : 400} ${size}px ${FAMILY}`;
  const indent = ROW.indent * Math.min(row.indent, ROW.deepest);
  const room = frame.width - 26 - indent;
  const ink = row.node.known === 'lineage' ? palette.muted : palette.ink;
  write(context, row.short, frame.x + 14 + indent, row.y, room, font, ink);
  if (row.change) paintRowChange(context, row, frame, palette);
  if (row.node.classifications?.length > 0) paintTagMark(context, frame.x + 7, row.y, palette);
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

/** The type of a column, or that no schema has it, in what its name leaves over. */
function paintType(context, row, frame, room, palette, scale) {
  const font = `11px ${MONO}`;
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

/** `+4,501` beside a box, at each side where a limit has left neighbours out. */
function paintMore(context, { upstream, downstream }, frame, { palette }) {
  context.font = `600 11px ${FAMILY}`;
  context.fillStyle = palette.muted;
  const middle = frame.y + frame.height / 2 + 11;
  if (upstream > 0) {
    context.textAlign = 'right';
    context.fillText(`+${formatNumber(upstream)}`, frame.x - 6, middle);
  }
  context.textAlign = 'left';
  if (downstream > 0) context.fillText(`+${formatNumber(downstream)}`, frame.x + frame.width + 6, middle);
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
  paintGlyph(context, failed, x, y);
}

function paintGlyph(context, failed, x, y) {
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

/** The tags of a table on its upper edge, as far as there is room. */
function paintTags(context, tags, frame, palette) {
  if (!tags || tags.length === 0) return;
  const font = `600 10px ${FAMILY}`;
  const words = tags.join(' · ');
  const width = Math.min(measure(context, words, font) + 12, frame.width - 20);
  context.beginPath();
  context.roundRect(frame.x + 10, frame.y - 8, width, 15, 7);
  context.fillStyle = palette.accent;
  context.fill();
  write(context, words, frame.x + 16, frame.y, width - 12, font, palette.canvas);
}

function paintTagMark(context, x, y, palette) {
  context.fillStyle = palette.accent;
  context.beginPath();
  context.roundRect(x - 3, y - 3, 6, 6, 1.5);
  context.fill();
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
 * @param {'start'|'end'} [cut]
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
