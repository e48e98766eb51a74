/**
 * The way of every link: from side to side of its boxes, and through the free room between the boxes
 * of each rank that it passes. No way runs through a box. Pure and deterministic.
 *
 * A rank is a stack of boxes: their left and right edges overlap. Between two ranks
 * a way is a curve inside the gap; inside a rank it is level. A picture that runs down is looked at on its
 * side, where it runs to the right.
 */
import { titleHeight, turn } from '../data/model.js';
import { componentsOf } from './layout.js';

/** How near to a box a way may come, and how near to each other two ways run, in pixels. */
const CLEAR = 6;
const BESIDE = 4;
/** How far a way between boxes of one rank bows out to the right. */
const BOW = 34;

/**
 * @typedef {object} Way
 * @property {string} id       of the link
 * @property {number[]} xs     stops from its source to its target: level from an odd one to the next
 * @property {number[]} ys
 * @property {boolean} beside  between boxes of one rank: both ends on the right
 * @property {boolean} turned  its stops lie on their side: x runs down
 * @property {{left: number, right: number, top: number, bottom: number}} around
 */

/**
 * @typedef {object} Path  the commands of a canvas path that ways need
 * @property {(x: number, y: number) => void} moveTo
 * @property {(x: number, y: number) => void} lineTo
 * @property {(a: number, b: number, c: number, d: number, x: number, y: number) => void} bezierCurveTo
 */

/** @typedef {{left: number, right: number, boxes: import('../data/model.js').Box[]}} Rank */

/** @typedef {{way: Way, at: number, wanted: number}} Passage  a way through a rank: `at` is its first stop there */

/**
 * @param {import('../data/model.js').Model} model
 * @returns {Map<string, Way>} by the id of the link
 */
export function routeLinks(model) {
  if (model.flow !== 'down') return routeAcross(model);
  const ways = routeAcross(turn(model));
  for (const way of ways.values()) {
    const { left, right, top, bottom } = way.around;
    Object.assign(way, { turned: true, around: { left: top, right: bottom, top: left, bottom: right } });
  }
  return ways;
}

function routeAcross(model) {
  const ways = new Map();
  const parts = partsOf(model);
  const partOf = new Map(parts.flatMap((part, number) => part.map((box) => [box.id, number])));
  /** @type {import('../data/model.js').Link[][]} */
  const linksOf = parts.map(() => []);
  for (const link of model.links.values()) linksOf[partOf.get(homeOf(model, link.from)) ?? 0].push(link);
  parts.forEach((part, number) => routePart(model, part, linksOf[number], ways));
  return ways;
}

/**
 * The boxes of each connected component.
 * @param {import('../data/model.js').Model} model
 * @returns {import('../data/model.js').Box[][]}
 */
export function partsOf(model) {
  const ends = [...model.links.values()].map(({ from, to }) => ({ from: homeOf(model, from), to: homeOf(model, to) }));
  return componentsOf(model.boxes.keys(), ends).map((ids) => ids.map((id) => boxOf(model, id)));
}

function homeOf(model, id) {
  return model.rows.get(id)?.box ?? id;
}

/** @returns {import('../data/model.js').Box} */
function boxOf(model, id) {
  const box = model.boxes.get(id);
  if (!box) throw new RangeError(`${id} is not in this picture`);
  return box;
}

function routePart(model, boxes, links, ways) {
  const ranks = ranksOf(boxes);
  const rankOf = new Map(ranks.flatMap((rank, number) => rank.boxes.map((box) => [box.id, number])));
  /** @type {Passage[][]} */
  const passages = ranks.map(() => []);
  for (const link of links) {
    const from = boxOf(model, homeOf(model, link.from));
    const to = boxOf(model, homeOf(model, link.to));
    const [start, end] = [rankOf.get(from.id) ?? 0, rankOf.get(to.id) ?? 0];
    const way =
      start === end ? bowed(model, link, from, to) : stretched(model, link, { from, to, start, end }, ranks, passages);
    ways.set(link.id, way);
  }
  passages.forEach((some, number) => placePassages(some, ranks[number]));
  for (const link of links) measure(ways.get(link.id));
}

/**
 * From left to right; the boxes of each from top to bottom.
 * @param {import('../data/model.js').Box[]} boxes
 * @returns {Rank[]}
 */
function ranksOf(boxes) {
  const sorted = [...boxes].sort((one, other) => one.x - one.width / 2 - (other.x - other.width / 2));
  /** @type {Rank[]} */
  const ranks = [];
  for (const box of sorted) {
    const [left, right] = [box.x - box.width / 2, box.x + box.width / 2];
    const last = ranks.at(-1);
    if (last && left < last.right) {
      last.boxes.push(box);
      last.right = Math.max(last.right, right);
    } else ranks.push({ left, right, boxes: [box] });
  }
  for (const rank of ranks) rank.boxes.sort((one, other) => one.y - other.y);
  return ranks;
}

/** @returns {Way} */
function bowed(model, link, from, to) {
  const xs = [from.x + from.width / 2, to.x + to.width / 2];
  return { id: link.id, xs, ys: [heightOf(model, link.from, false) + aside(link), heightOf(model, link.to, from === to) + aside(link)], beside: true, turned: false, around: none() };
}

/** @returns {Way} */
function stretched(model, link, { from, to, start, end }, ranks, passages) {
  const forward = start < end;
  const by = forward ? 1 : -1;
  const out = forward ? 'right' : 'left';
  const into = forward ? 'left' : 'right';
  const sideOf = (box, side) => box.x + (side === 'left' ? -box.width / 2 : box.width / 2);
  const [y0, y1] = [link.from, link.to].map((id) => heightOf(model, id, !forward) + aside(link));
  const way = {
    id: link.id,
    xs: [sideOf(from, out), ranks[start][out]],
    ys: [y0, y0],
    beside: false,
    turned: false,
    around: none(),
  };
  for (let rank = start + by; rank !== end; rank += by) {
    const { left, right } = ranks[rank];
    const hint = link.route.find(([x]) => x > left && x < right);
    const wanted = hint ? hint[1] : y0 + ((y1 - y0) * Math.abs(rank - start)) / Math.abs(end - start);
    passages[rank].push({ way, at: way.xs.length, wanted });
    way.xs.push(ranks[rank][into], ranks[rank][out]);
    way.ys.push(wanted, wanted);
  }
  way.xs.push(ranks[end][into], sideOf(to, into));
  way.ys.push(y1, y1);
  return way;
}

/** Links of the same two ends lie beside each other. */
function aside({ parallel }) {
  return Math.min(9, 3 * Math.ceil(parallel / 2)) * (parallel % 2 === 0 ? 1 : -1);
}

/** Where a link meets a box or a row; a link that runs back meets it a little lower. */
function heightOf(model, id, back) {
  const row = model.rows.get(id);
  if (row) return row.y + (back ? row.height * 0.22 : 0);
  const box = boxOf(model, id);
  const title = titleHeight(box);
  return box.y - box.height / 2 + title / 2 + (back ? title * 0.22 : 0);
}

/** Every way takes the free room that is nearest to where it wants to be; in it they keep apart. */
function placePassages(passages, rank) {
  const rooms = roomsOf(rank);
  /** @type {Passage[][]} */
  const taken = rooms.map(() => []);
  for (const passage of passages) taken[nearest(rooms, passage.wanted)].push(passage);
  taken.forEach((some, number) => keepApart(some, rooms[number]));
}

/** The free room above, between and below the boxes of a rank. */
function roomsOf({ boxes }) {
  const rooms = [];
  let top = -Infinity;
  for (const box of boxes) {
    const [above, below] = [box.y - box.height / 2 - CLEAR, box.y + box.height / 2 + CLEAR];
    if (above >= top) rooms.push({ top, bottom: above });
    top = Math.max(top, below);
  }
  rooms.push({ top, bottom: Infinity });
  return rooms;
}

function nearest(rooms, y) {
  const far = ({ top, bottom }) => Math.max(0, top - y, y - bottom);
  let best = 0;
  rooms.forEach((room, number) => {
    if (far(room) < far(rooms[best])) best = number;
  });
  return best;
}

function keepApart(passages, { top, bottom }) {
  passages.sort((one, other) => one.wanted - other.wanted || (one.way.id < other.way.id ? -1 : 1));
  const apart = passages.length > 1 ? Math.min(BESIDE, (bottom - top) / (passages.length - 1)) : BESIDE;
  let least = top;
  passages.forEach((passage, number) => {
    const most = bottom - apart * (passages.length - 1 - number);
    const y = Math.min(most, Math.max(least, passage.wanted));
    least = y + apart;
    passage.way.ys[passage.at] = passage.way.ys[passage.at + 1] = y;
  });
}

function none() {
  return { left: 0, right: 0, top: 0, bottom: 0 };
}

function measure(way) {
  way.around = {
    left: Math.min(...way.xs),
    right: Math.max(...way.xs) + (way.beside ? BOW : 0),
    top: Math.min(...way.ys),
    bottom: Math.max(...way.ys),
  };
}

/**
 * Draw a way with the commands of a path: levels inside ranks, curves between them.
 * @param {Pick<Way, 'xs'|'ys'|'beside'> & {turned?: boolean}} way
 * @param {Path} path
 * @returns {void}
 */
export function draw({ xs, ys, beside, turned }, path) {
  if (turned) return draw({ xs, ys, beside }, onItsSide(path));
  path.moveTo(xs[0], ys[0]);
  if (beside) {
    const out = Math.max(xs[0], xs[1]) + BOW;
    path.bezierCurveTo(out, ys[0], out, ys[1], xs[1], ys[1]);
    return undefined;
  }
  for (let at = 1; at < xs.length; at += 1) {
    if (at % 2 === 1) path.lineTo(xs[at], ys[at]);
    else {
      const middle = (xs[at - 1] + xs[at]) / 2;
      path.bezierCurveTo(middle, ys[at - 1], middle, ys[at], xs[at], ys[at]);
    }
  }
}

/**
 * @param {Path} path
 * @returns {Path} which takes points of a picture on its side
 */
export function onItsSide(path) {
  return {
    moveTo: (x, y) => path.moveTo(y, x),
    lineTo: (x, y) => path.lineTo(y, x),
    bezierCurveTo: (a, b, c, d, x, y) => path.bezierCurveTo(b, a, d, c, y, x),
  };
}

const STEPS = 8;

/**
 * Points along a way, near enough to each other to measure distances.
 * @param {Way} way
 * @returns {Array<[number, number]>}
 */
export function pointsOf(way) {
  /** @type {Array<[number, number]>} */
  const points = [];
  const last = () => points[points.length - 1];
  draw(way, {
    moveTo: (x, y) => points.push([x, y]),
    lineTo: (x, y) => points.push([x, y]),
    bezierCurveTo: (a, b, c, d, x, y) => {
      const [x0, y0] = last();
      for (let step = 1; step <= STEPS; step += 1) {
        const t = step / STEPS;
        const s = 1 - t;
        const mix = (p0, p1, p2, p3) => s * s * s * p0 + 3 * s * s * t * p1 + 3 * s * t * t * p2 + t * t * t * p3;
        points.push([mix(x0, a, c, x), mix(y0, b, d, y)]);
      }
    },
  });
  return points;
}
