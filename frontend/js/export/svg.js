/**
 * The whole picture as SVG: boxes, titles, columns and ways, whatever the window shows. Pure; every text
 * from outside is escaped.
 */
import { fit } from '../data/format.js';
import { bounds, titleHeight } from '../data/model.js';
import { styleOf } from '../drawing/links.js';
import { lookOf, NO_HUES } from '../drawing/looks.js';
import { draw, routeLinks } from '../drawing/routes.js';

const RIM = 40;
const FAMILY = 'system-ui, -apple-system, Segoe UI, Roboto, Helvetica Neue, Arial, sans-serif';
/** Letters of a semi-bold title and of a row, in pixels. */
const WIDE = Object.freeze({ title: 7.4, row: 6.3 });

/**
 * @param {import('../data/model.js').Model} model
 * @param {import('../drawing/palette.js').Palette} palette
 * @param {import('../drawing/looks.js').Hues} [hues]
 * @returns {string} an SVG document; empty where there is nothing
 */
export function toSvg(model, palette, hues = NO_HUES) {
  const around = bounds(model);
  if (!around) return '';
  const [left, top] = [around.left - RIM, around.top - RIM];
  const [width, height] = [around.right - around.left + 2 * RIM, around.bottom - around.top + 2 * RIM];
  const ways = routeLinks(model);
  const parts = [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="${left} ${top} ${width} ${height}" width="${width}" height="${height}" font-family="${FAMILY}">`,
    `<rect x="${left}" y="${top}" width="${width}" height="${height}" fill="${palette.canvas}"/>`,
    ...[...model.links.values()].flatMap((link) => wayOf(link, ways.get(link.id), palette)),
    ...[...model.boxes.values()].flatMap((box) => boxOf(box, palette, hues)),
    '</svg>',
  ];
  return parts.join('\n');
}

function wayOf(link, way, palette) {
  if (!way) return [];
  const steps = [];
  const say = (letter) => (...numbers) => steps.push(`${letter}${numbers.map((one) => Number(one.toFixed(1))).join(' ')}`);
  draw(way, { moveTo: say('M'), lineTo: say('L'), bezierCurveTo: say('C') });
  const { colour, width, dashes } = styleOf(link, palette, false);
  const dashed = dashes.length > 0 ? ` stroke-dasharray="${dashes.join(' ')}"` : '';
  const [x, y] = [way.xs[way.xs.length - 1], way.ys[way.ys.length - 1]];
  const by = way.beside || (way.xs.findLast((one) => one !== x) ?? 0) > x ? 8 : -8;
  return [
    `<path d="${steps.join('')}" fill="none" stroke="${colour}" stroke-width="${width}"${dashed}/>`,
    way.turned ? `<path d="M${y} ${x}l-3.4 ${by}h6.8z" fill="${colour}"/>` : `<path d="M${x} ${y}l${by} -3.4v6.8z" fill="${colour}"/>`,
  ];
}

function boxOf(box, palette, hues) {
  const { edge, fill, head, mark } = lookOf(box, palette, hues);
  const [left, top] = [box.x - box.width / 2, box.y - box.height / 2];
  const title = titleHeight(box);
  const radius = box.kind === 'job' ? box.height / 2 : 7;
  const frame = `x="${left}" y="${top}" width="${box.width}"`;
  const words = fit(box.label, (box.width - 28) / WIDE.title, (text) => text.length, 'middle');
  return [
    `<g><title>${escape([box.label, box.detail, hues.tints.get(box.id)?.name].filter(Boolean).join(' '))}</title>`,
    `<rect ${frame} height="${box.height}" rx="${radius}" fill="${palette.canvas}"/>`,
    `<rect ${frame} height="${box.height}" rx="${radius}" fill="${fill}" stroke="${edge}" stroke-width="${box.failed ? 2 : 1.3}"/>`,
    box.kind === 'dataset' ? `<rect ${frame} height="${title}" rx="${radius}" fill="${head}"/>` : '',
    `<rect x="${left + 12}" y="${top + title / 2 - 5}" width="10" height="10" rx="${box.kind === 'job' ? 5 : 2}" fill="${mark}"/>`,
    `<text x="${left + 28}" y="${top + title / 2 + 4.5}" font-size="13" font-weight="600" fill="${palette.ink}">${escape(words)}</text>`,
    ...box.rows.map((row) => {
      const name = fit(row.short, (box.width - 28) / WIDE.row, (text) => text.length, 'middle');
      return `<text x="${left + 14 + 14 * row.indent}" y="${row.y + 4}" font-size="12" fill="${palette.ink}">${escape(name)}</text>`;
    }),
    '</g>',
  ].filter(Boolean);
}

const ENTITIES = Object.freeze({ '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;', "'": '&#39;' });

/**
 * @param {string} text
 * @returns {string} fit for an SVG document: escaped, and without the characters that XML does not know
 */
export function escape(text) {
  return text.replace(/[\u0000-\u0008\u000b\u000c\u000e-\u001f\ufffe\uffff]/g, '\ufffd').replace(/[&<>"']/g, (one) => ENTITIES[one]);
}
