/**
 * Which part of a picture the window shows. A picture opens whole where its letters are high enough to be
 * read then, else as a close-up that begins at the requested node. Pure.
 */

/** @typedef {{left: number, top: number, right: number, bottom: number}} Around  a rectangle of the picture */
/** @typedef {{width: number, height: number}} Size  of the window, in pixels of the screen */
/** @typedef {{scale: number, position: {x: number, y: number}}} Frame  the zoom, and the point in the middle */

const LARGEST = 1.2;
export const SMALLEST = 0.02;
const CLOSE_UP = Object.freeze({ least: 0.75, most: 0.9 });
/** Room around the fitted part, for badges and handles; the same on all sides. */
const PADDING = 30;

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
 * in the middle, or where the flow begins, and shows nothing beyond the edges of the picture.
 * @param {Around} around
 * @param {Size} size
 * @param {number} legible
 * @param {{x: number, y: number}|undefined} asked
 * @returns {Frame}
 */
export function openingOf(around, size, legible, asked) {
  if (isLegible(around, size, legible)) return wholeOf(around, size);
  const fits = fitting(around, size);
  const scale = Math.min(CLOSE_UP.most, Math.max(CLOSE_UP.least, legible, fits.x, fits.y));
  const x = along(around.left, around.right, size.width / scale, asked?.x);
  const y = along(around.top, around.bottom, size.height / scale, asked?.y);
  return { scale, position: { x, y } };

  /** The middle of a view of this length between two edges. */
  function along(start, end, length, wanted = start) {
    const rim = length / 2 - PADDING / scale;
    const [first, last] = [start + rim, end - rim];
    return first >= last ? (start + end) / 2 : Math.min(last, Math.max(first, wanted));
  }
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
  const position = {
    x: moved(around.left, around.right, size.width / scale, now.position.x, scale),
    y: moved(around.top, around.bottom, size.height / scale, now.position.y, scale),
  };
  const stays = scale === now.scale && position.x === now.position.x && position.y === now.position.y;
  return stays ? null : { scale, position };
}

/** The middle of a view of this length that shows all between two edges, next to where it is. */
function moved(start, end, length, middle, scale) {
  const half = length / 2 - PADDING / scale;
  const [least, most] = [end - half, start + half];
  return least > most ? (start + end) / 2 : Math.min(most, Math.max(least, middle));
}

function wholeScale(around, size) {
  const { x, y } = fitting(around, size);
  return Math.max(SMALLEST, Math.min(LARGEST, x, y));
}

/** The zoom at which it just fits along each axis. */
function fitting({ left, top, right, bottom }, { width, height }) {
  return { x: (width - 2 * PADDING) / (right - left), y: (height - 2 * PADDING) / (bottom - top) };
}
