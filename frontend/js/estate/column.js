/**
 * The map of the estate for a narrow window: its areas one below the other in the order of the flow, the
 * flows as arcs at their left. Pure.
 */

const WIDTH = 250;
const HEIGHT = 64;
const GAP = 14;
/** How far an arc swings out for each area that it passes, and at most; where it leaves and where it arrives. */
const SWING = Object.freeze({ least: 18, each: 12, most: 74 });
const APART = 9;

/** @typedef {{x: number, y: number, width: number, height: number}} Place  its middle and its size */

/**
 * @param {Array<{id: string, place: Place}>} areas as the server places them, left to right
 * @returns {Map<string, Place>} by id, in the order in which they stand
 */
export function placesInColumn(areas) {
  const sorted = [...areas].sort((one, other) => one.place.x - other.place.x || one.place.y - other.place.y);
  return new Map(sorted.map(({ id }, number) => [id, { x: WIDTH / 2, y: number * (HEIGHT + GAP) + HEIGHT / 2, width: WIDTH, height: HEIGHT }]));
}

/**
 * An arc from the left side of one area to that of another.
 * @param {Place} from
 * @param {Place} to
 * @returns {{path: string, left: number}} as SVG, and how far it reaches
 */
export function arcBetween(from, to) {
  const by = to.y > from.y ? APART : -APART;
  const [start, end] = [from.y + by, to.y - by];
  const passed = Math.abs(to.y - from.y) / (HEIGHT + GAP);
  const swing = Math.min(SWING.most, SWING.least + SWING.each * passed);
  const side = from.x - from.width / 2;
  return { path: `M${side} ${start}C${side - swing} ${start} ${side - swing} ${end} ${side} ${end}`, left: side - 0.75 * swing };
}
