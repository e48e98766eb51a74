/**
 * Which part of a picture the window shows. A picture opens whole where its letters are high enough to be
 * read then, else as a close-up that begins at the requested node. Pure.
 */

/** @typedef {{left: number, top: number, right: number, bottom: number}} Around  a rectangle of the picture */
/** @typedef {{width: number, height: number}} Size  of the window, in pixels of the screen */
/** @typedef {{scale: number, position: {x: number, y: number}}} Frame  the zoom, and the point in the middle */

const LARGEST = 1.2;
export const SMALLEST = 0.02;
/** The zoom of a close-up: letters a little above the least, so that as many names as can be are in view. */
const CLOSE_UP = 0.75;
/** A close-up moves by this part of its length at most for the sake of boxes that would be cut. */
const NUDGE = 0.2;
/** Between a whole box and the edge of a close-up, in pixels: room for the ring of the requested one. */
const RIM = 6;
const TRIFLE = 1e-6;
/** Room around the fitted part, for badges, halos and handles, in pixels; a phone has less to spare beside it. */
const paddingOf = ({ width }) => ({ x: Math.min(28, width / 24), y: 10 });

/**
 * The part of a window that boxes fill where a picture just fits.
 * @param {Size} size
 * @returns {Size}
 */
export function roomIn(size) {
  const { x, y } = paddingOf(size);
  return { width: size.width - 2 * x, height: size.height - 2 * y };
}

/**
 * Everything, at any scale.
 * @param {Around} around
 * @param {Size} size
 * @returns {Frame}
 */
export function wholeOf(around, size) {
  const { left, top, right, bottom } = around;
  return { scale: wholeScale(around, size), position: { x: (left + right) / 2, y: (top + bottom) / 2 } };
}

/**
 * Whether all of it can be read at once.
 * @param {Around} around
 * @param {Size} size
 * @param {number} legible the least zoom at which the letters can be read
 * @returns {boolean}
 */
export function isLegible(around, size, legible) {
  return wholeScale(around, size) >= legible;
}

/**
 * The first view of a picture: everything where it can be read, else a close-up. That has the requested node
 * about in the middle, so that the most boxes are whole, or begins where the flow begins; it shows nothing beyond
 * the edges of the picture.
 * @param {Around} around
 * @param {Size} size
 * @param {number} legible
 * @param {{x: number, y: number}|undefined} asked
 * @param {Around[]} [boxes] of the picture
 * @returns {Frame}
 */
export function openingOf(around, size, legible, asked, boxes = []) {
  if (isLegible(around, size, legible)) return wholeOf(around, size);
  const scale = Math.max(CLOSE_UP, legible);
  const [rim, width, height] = [RIM / scale, size.width / scale, size.height / scale];
  const padding = paddingOf(size);
  const pad = { x: padding.x / scale, y: padding.y / scale };
  const across = boxes.map(({ left, right }) => ({ start: left, end: right }));
  const along = boxes.map(({ top, bottom }) => ({ start: top, end: bottom }));
  const middle = within(around.left, around.right, width, pad.x, asked?.x);
  if (!asked) return { scale, position: { x: middle, y: within(around.top, around.bottom, height, pad.y) } };
  const beside = along.filter((_, at) => isWhole(across[at], middle, width / 2 - rim));
  const own = boxes.find(({ left, right, top, bottom }) => left <= asked.x && asked.x <= right && top <= asked.y && asked.y <= bottom);
  const [ownAcross, ownAlong] = [own && { start: own.left, end: own.right }, own && { start: own.top, end: own.bottom }];
  const y = nudged(beside, within(around.top, around.bottom, height, pad.y, asked.y), height, rim, ownAlong);
  const level = across.filter((_, at) => isWhole(along[at], y, height / 2 - rim));
  return { scale, position: { x: nudged(level, middle, width, rim, ownAcross), y } };
}

/** The middle of a view of this length that shows nothing beyond two edges, next to the wanted one. */
function within(start, end, length, pad, wanted = start) {
  const [first, last] = [start + length / 2 - pad, end - length / 2 + pad];
  return first >= last ? (start + end) / 2 : Math.min(last, Math.max(first, wanted));
}

/**
 * The middle, moved a little where more of the spans are whole then; the shortest of such ways. The requested node's `own`
 * span stays whole where it is.
 */
function nudged(spans, middle, length, rim, own) {
  const half = length / 2 - rim;
  const whole = (at) => spans.filter((span) => isWhole(span, at, half)).length;
  let best = { at: middle, count: whole(middle) };
  for (const span of spans)
    for (const at of [span.start + half, span.end - half]) {
      const by = Math.abs(at - middle);
      if (by > length * NUDGE || (own && isWhole(own, middle, half) && !isWhole(own, at, half))) continue;
      const count = whole(at);
      if (count > best.count || (count === best.count && by < Math.abs(best.at - middle))) best = { at, count };
    }
  return best.at;
}

function isWhole({ start, end }, middle, half) {
  return start >= middle - half - TRIFLE && end <= middle + half + TRIFLE;
}

/**
 * The nearest frame that shows a part of the picture: at the zoom as it is where there is room, moved no farther than it must.
 * @param {Around} around the part
 * @param {Size} size
 * @param {Frame} now
 * @returns {Frame|null} null: it is in view
 */
export function towards(around, size, now) {
  const scale = Math.min(now.scale, wholeScale(around, size));
  const padding = paddingOf(size);
  const position = {
    x: moved(around.left, around.right, size.width / scale, now.position.x, padding.x / scale),
    y: moved(around.top, around.bottom, size.height / scale, now.position.y, padding.y / scale),
  };
  const stays = scale === now.scale && position.x === now.position.x && position.y === now.position.y;
  return stays ? null : { scale, position };
}

/** The middle of a view of this length that shows all between two edges, next to where it is. */
function moved(start, end, length, middle, pad) {
  const half = length / 2 - pad;
  const [least, most] = [end - half, start + half];
  return least > most ? (start + end) / 2 : Math.min(most, Math.max(least, middle));
}

function wholeScale(around, size) {
  const { x, y } = fitting(around, size);
  return Math.max(SMALLEST, Math.min(LARGEST, x, y));
}

/** The zoom at which it just fits along each axis. */
function fitting({ left, top, right, bottom }, size) {
  const { width, height } = roomIn(size);
  return { x: width / (right - left), y: height / (bottom - top) };
}
