/**
 * How links are painted and hit: lines along their ways, an arrowhead at the end; those of one look
 * are one stroke. Knows a canvas context, not vis-network.
 */
import { CHANGES } from '../data/model.js';
import { draw, onItsSide, pointsOf } from './routes.js';

/** Farther than this arrowheads are left out. */
const HEADS = 0.18;
const NEAR = 7;

/**
 * @typedef {object} Style
 * @property {string} colour
 * @property {number} width
 * @property {number[]} dashes
 */

/**
 * The look of a link: attempts of failed runs alone are dashed red, flow that was not seen yet has long
 * dashes, declarations are dotted, influences without a flow are dashed.
 * @param {import('../data/model.js').Link} link
 * @param {import('./palette.js').Palette} palette
 * @param {boolean} strong
 * @returns {Style}
 */
export function styleOf(link, palette, strong) {
  const change = CHANGES[link.change];
  const width = (strong ? 2.4 : 1.4) + (change ? 1 : 0);
  if (change) return { colour: palette[change.colour], width, dashes: change.dashes || [] };
  if (link.edge.attempted) return { colour: palette.failed, width, dashes: [6, 4] };
  const base = { feeds: palette.feeds, INDIRECT: palette.indirect }[link.kind] ?? palette.direct;
  const colour = strong && link.kind === 'feeds' ? palette.accent : base;
  if (link.edge.seen === false) return { colour, width, dashes: [10, 6] };
  if (link.edge.origin === 'declared') return { colour, width, dashes: [2, 5] };
  return { colour, width, dashes: link.kind === 'INDIRECT' ? [5, 4] : [] };
}

/**
 * The links of a picture, ready to be painted again and again.
 * @param {import('../data/model.js').Model} model
 * @param {Map<string, import('./routes.js').Way>} ways
 */
export function createLinks(model, ways) {
  /** @type {Map<string, Array<{style: Style, alpha: number, line: Path2D, heads: Path2D}>>} */
  let strokes = new Map();
  let painted = '';
  const sampled = new Map();

  /**
   * @param {CanvasRenderingContext2D} context
   * @param {{palette: import('./palette.js').Palette, lit: Set<string>|null, faded: number, scale: number}} look
   */
  function paint(context, { palette, lit, faded, scale }) {
    if (painted !== key(palette, lit, faded)) {
      strokes = gather(palette, lit, faded);
      painted = key(palette, lit, faded);
    }
    for (const level of ['faded', 'usual', 'strong'])
      for (const { style, alpha, line, heads } of strokes.get(level) ?? []) {
        context.globalAlpha = alpha;
        context.strokeStyle = context.fillStyle = style.colour;
        context.lineWidth = style.width;
        context.setLineDash(style.dashes);
        context.stroke(line);
        if (scale >= HEADS) context.fill(heads);
      }
    context.setLineDash([]);
    context.globalAlpha = 1;
  }

  function gather(palette, lit, faded) {
    const levels = new Map();
    for (const link of model.links.values()) {
      const way = ways.get(link.id);
      if (!way) continue;
      const level = lit === null ? 'usual' : lit.has(link.id) ? 'strong' : 'faded';
      const style = styleOf(link, palette, level === 'strong');
      const alpha = level === 'faded' ? faded : 1;
      if (!levels.has(level)) levels.set(level, new Map());
      const looks = levels.get(level);
      const name = `${style.colour} ${style.width} ${style.dashes}`;
      if (!looks.has(name)) looks.set(name, { style, alpha, line: new Path2D(), heads: new Path2D() });
      const { line, heads } = looks.get(name);
      draw(way, line);
      arrowhead(way, heads, model.rows.has(link.to) ? 6 : 8);
    }
    return new Map([...levels].map(([level, looks]) => [level, [...looks.values()]]));
  }

  /**
   * The link that runs nearest to a point, within a few pixels of the screen.
   * @param {number} x
   * @param {number} y
   * @param {number} scale
   * @returns {string} an id, or an empty string
   */
  function hit(x, y, scale) {
    const reach = NEAR / scale;
    let [best, nearest] = ['', reach];
    for (const { id, around } of ways.values()) {
      if (x < around.left - reach || x > around.right + reach) continue;
      if (y < around.top - reach || y > around.bottom + reach) continue;
      const far = distance(pointsAlong(id), x, y);
      if (far < nearest) [best, nearest] = [id, far];
    }
    return best;
  }

  function pointsAlong(id) {
    const way = ways.get(id);
    if (!sampled.has(id) && way) sampled.set(id, pointsOf(way));
    return sampled.get(id);
  }

  return { paint, hit };
}

const numbers = new WeakMap();
let last = 0;

/** The inputs of a painting, as a text; a set that lights up is another whenever it changes. */
function key(palette, lit, faded) {
  return `${numberOf(palette)} ${lit === null ? '' : numberOf(lit)} ${faded}`;
}

function numberOf(value) {
  if (!numbers.has(value)) numbers.set(value, (last += 1));
  return numbers.get(value);
}

/**
 * A link ends level; its head points along its last piece.
 * @param {import('./routes.js').Way} way
 * @param {import('./routes.js').Path} heads to be filled, which closes them
 * @param {number} size
 */
export function arrowhead({ xs, ys, beside, turned }, heads, size) {
  const path = turned ? onItsSide(heads) : heads;
  const [x, y] = [xs[xs.length - 1], ys[ys.length - 1]];
  const before = xs.findLast((one) => one !== x) ?? x;
  const by = beside || before > x ? 1 : -1;
  path.moveTo(x, y);
  path.lineTo(x + by * size, y - size * 0.42);
  path.lineTo(x + by * size, y + size * 0.42);
}

function distance(points, x, y) {
  let nearest = Infinity;
  for (let at = 1; at < points.length; at += 1) nearest = Math.min(nearest, toPiece(points[at - 1], points[at], x, y));
  return nearest;
}

function toPiece([x0, y0], [x1, y1], x, y) {
  const [dx, dy] = [x1 - x0, y1 - y0];
  const length = dx * dx + dy * dy;
  const t = length === 0 ? 0 : Math.min(1, Math.max(0, ((x - x0) * dx + (y - y0) * dy) / length));
  return Math.hypot(x - x0 - t * dx, y - y0 - t * dy);
}

const SIDES = Object.freeze({ forward: ['right', 'left'], back: ['left', 'right'], beside: ['right', 'right'] });

/**
 * The rows at whose sides links end.
 * @param {import('../data/model.js').Model} model
 * @returns {{left: Set<string>, right: Set<string>}}
 */
export function portsOf(model) {
  const sides = { left: new Set(), right: new Set() };
  for (const link of model.links.values()) {
    const [leaving, arriving] = SIDES[link.way];
    sides[leaving].add(link.from);
    sides[arriving].add(link.to);
  }
  return sides;
}
