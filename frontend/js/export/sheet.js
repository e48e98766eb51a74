/**
 * A saved picture: its heading, the whole picture whatever the window shows, and its legend. Knows a canvas
 * context; as SVG it is pure.
 */
import { fit } from '../data/format.js';
import { bounds } from '../data/model.js';
import { arrowhead, portsOf, styleOf } from '../drawing/links.js';
import { draw, routeLinks } from '../drawing/routes.js';
import { FAMILY, paint, paintLane } from '../drawing/shapes.js';
import { legendOf } from '../drawing/legend.js';
import { layLegend, paintLegend } from './legend.js';
import { createRecorder } from './recorder.js';

const RIM = 40;
/** A small picture is as wide as this, so that its legend has room. */
const LEAST = 520;
const HEADING = 58;
/** Browsers refuse a larger canvas. */
const LONGEST_SIDE = 12_000;
const MOST_PIXELS = 64_000_000;

/**
 * @typedef {object} Sheet
 * @property {import('../data/model.js').Model} model
 * @property {import('../drawing/palette.js').Palette} palette
 * @property {import('../drawing/box-style.js').Hues} hues
 * @property {string} heading
 * @property {string} subtitle
 */

/** @typedef {{left: number, top: number, width: number, height: number, legend: import('./legend.js').Placed[], legendTop: number}} Frame */

/**
 * @param {Sheet} sheet
 * @param {(text: string, font: string) => number} [widthOf] a text in a font, in pixels
 * @returns {string} an SVG document; empty where there is nothing
 */
export function toSvg(sheet, widthOf = roughWidth) {
  const frame = frameOf(sheet, widthOf);
  if (!frame) return '';
  const recorder = createRecorder(widthOf);
  paintSheet(recorder.context, sheet, frame, 1, recorder.group);
  const { left, top, width, height } = frame;
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="${left} ${top} ${width} ${height}" width="${width}" height="${height}">\n${recorder.text()}\n</svg>`;
}

/**
 * @param {Sheet} sheet
 * @returns {Promise<Blob>} smaller where it would be too large for a browser
 */
export function toPng(sheet) {
  const copy = document.createElement('canvas');
  const context = copy.getContext('2d');
  const frame = context && frameOf(sheet, widthIn(context));
  if (!context || !frame) throw new Error('There is no picture to save.');
  const { left, top, width, height } = frame;
  const scale = Math.min(2, LONGEST_SIDE / width, LONGEST_SIDE / height, Math.sqrt(MOST_PIXELS / (width * height)));
  [copy.width, copy.height] = [Math.ceil(width * scale), Math.ceil(height * scale)];
  context.scale(scale, scale);
  context.translate(-left, -top);
  paintSheet(context, sheet, frame, Math.max(scale, 0.5), (_, paintOne) => paintOne());
  return new Promise((resolve, reject) => {
    copy.toBlob((blob) => (blob ? resolve(blob) : reject(new Error('The picture is too large.'))), 'image/png');
  });
}

/**
 * @param {CanvasRenderingContext2D} context
 * @returns {(text: string, font: string) => number}
 */
export function widthIn(context) {
  return (text, font) => {
    context.font = font;
    return context.measureText(text).width;
  };
}

/** Where nothing can be measured. */
function roughWidth(text, font) {
  return 0.58 * [...text].length * Number(/([\d.]+)px/.exec(font)?.[1] ?? 12);
}

/** @returns {Frame|null} */
function frameOf({ model, hues }, widthOf) {
  const around = bounds(model);
  if (!around) return null;
  const width = Math.max(LEAST, around.right - around.left + 2 * RIM);
  const { placed, height } = layLegend(legendOf(model, hues), width - 2 * RIM, widthOf);
  const top = around.top - RIM - HEADING;
  const legendTop = around.bottom + RIM;
  return { left: around.left - RIM, top, width, height: legendTop + height + RIM / 2 - top, legend: placed, legendTop };
}

/**
 * @param {CanvasRenderingContext2D} context
 * @param {Sheet} sheet
 * @param {Frame} frame
 * @param {number} scale at which it will be seen
 * @param {(title: string, paint: () => void) => void} group a box with its title
 */
function paintSheet(context, sheet, frame, scale, group) {
  const { model, palette, hues } = sheet;
  const { left, top, width, height } = frame;
  context.fillStyle = palette.canvas;
  context.fillRect(left, top, width, height);
  context.textBaseline = 'middle';
  paintHeading(context, sheet, frame);
  const around = bounds(model);
  if (around) for (const lane of model.lanes ?? []) paintLane(context, lane, around, palette);
  const ways = routeLinks(model);
  for (const link of model.links.values()) {
    const way = ways.get(link.id);
    if (way) paintWay(context, link, way, palette, model.rows.has(link.to) ? 6 : 8);
  }
  const look = { palette, hues, lit: null, faded: 1, selected: '', focus: model.focus, scale, flow: model.flow, linked: portsOf(model) };
  for (const box of model.boxes.values())
    group([box.label, box.detail, hues.tints.get(box.id)?.name].filter(Boolean).join(' '), () => paint(context, box, look));
  paintLegend(context, frame.legend, { left: left + RIM, top: frame.legendTop }, palette);
}

function paintHeading(context, { heading, subtitle, palette }, { left, top, width }) {
  const write = (text, y, font, colour) => {
    context.font = font;
    context.fillStyle = colour;
    context.fillText(fit(text, width - 2 * RIM, (sample) => context.measureText(sample).width), left + RIM, y);
  };
  write(heading, top + 30, `600 17px ${FAMILY}`, palette.ink);
  write(subtitle, top + 52, `12px ${FAMILY}`, palette.muted);
}

function paintWay(context, link, way, palette, size) {
  const { colour, width, dashes } = styleOf(link, palette, false);
  context.strokeStyle = context.fillStyle = colour;
  context.lineWidth = width;
  context.setLineDash(dashes);
  context.beginPath();
  draw(way, context);
  context.stroke();
  context.setLineDash([]);
  context.beginPath();
  arrowhead(way, context, size);
  context.closePath();
  context.fill();
}
