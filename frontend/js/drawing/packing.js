/**
 * Parts that do not hang together, put beside each other so that all of them have the shape of the
 * window (decision 128). Pure and deterministic.
 */
import { readingOrder } from '../data/model.js';
import { partsOf } from './routes.js';

const GAP = Object.freeze({ x: 90, y: 60 });
const WIDTHS = 24;

/**
 * Move the parts of a model; a picture in lanes, or of one part, stays as it is.
 * @param {import('../data/model.js').Model} model
 * @param {number} aspect width of the window by its height
 * @returns {boolean} whether anything was moved
 */
export function pack(model, aspect) {
  if (model.lanes?.length || !(aspect > 0)) return false;
  const parts = partsOf(model).map(framed);
  if (parts.length < 2) return false;
  parts.sort((one, other) => other.height - one.height || other.width - one.width || one.order - other.order);
  const widest = Math.max(...parts.map(({ width }) => width));
  const whole = parts.reduce((sum, { width }) => sum + width + GAP.x, 0);
  let best = shelve(parts, widest);
  for (let step = 1; step <= WIDTHS; step += 1) {
    const tried = shelve(parts, widest + ((whole - widest) * step * step) / (WIDTHS * WIDTHS));
    if (scaleOf(tried, aspect) > scaleOf(best, aspect) * 1.001) best = tried;
  }
  const moves = new Map(best.places.flatMap(({ part, x, y }) => part.boxes.map((box) => [box.id, { x: x - part.left, y: y - part.top }])));
  move(model, moves);
  model.order = readingOrder(model.boxes);
  return true;
}

function framed(boxes, order) {
  const left = Math.min(...boxes.map((box) => box.x - box.width / 2));
  const right = Math.max(...boxes.map((box) => box.x + box.width / 2));
  const top = Math.min(...boxes.map((box) => box.y - box.height / 2));
  const bottom = Math.max(...boxes.map((box) => box.y + box.height / 2));
  return { boxes, order, left, top, width: right - left, height: bottom - top };
}

/** Shelves of this width, the highest parts first; lower parts stand above each other on a shelf. */
function shelve(parts, width) {
  const places = [];
  let [x, y, shelf, reach] = [0, 0, 0, 0];
  let column = null;
  for (const part of parts) {
    if (column && column.wide >= part.width && column.top + part.height <= y + shelf) {
      places.push({ part, x: column.x, y: column.top });
      column.top += part.height + GAP.y;
      continue;
    }
    if (x > 0 && x + part.width > width) {
      y += shelf + GAP.y;
      [x, shelf] = [0, 0];
    }
    places.push({ part, x, y });
    shelf = Math.max(shelf, part.height);
    column = { x, wide: part.width, top: y + part.height + GAP.y };
    x += part.width + GAP.x;
    reach = Math.max(reach, x - GAP.x);
  }
  return { places, width: reach, height: y + shelf };
}

function scaleOf({ width, height }, aspect) {
  return Math.min(aspect / width, 1 / height);
}

function move({ boxes, rows, links }, moves) {
  for (const link of links.values()) {
    const by = moves.get(rows.get(link.from)?.box ?? link.from);
    if (by) link.route = link.route.map(([x, y]) => [x + by.x, y + by.y]);
  }
  for (const box of boxes.values()) {
    const { x, y } = moves.get(box.id) ?? { x: 0, y: 0 };
    box.x += x;
    box.y += y;
    for (const row of box.rows) row.y += y;
  }
}
