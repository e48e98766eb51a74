/**
 * The sizes of boxes, and the heights of boxes after the page folded some of them. The server places
 * every box of a reply; the page keeps its columns and the order in them (decision 128). Pure and
 * deterministic.
 */

export const SIZES = Object.freeze({
  dataset: { width: 230, height: 52 },
  job: { width: 200, height: 48 },
  operation: { width: 220, height: 52 },
  row: 24,
  rowPadding: 8,
});

const GAP = Object.freeze({ row: 28, part: 60 });
const ROUNDS = 24;

/**
 * Heights anew for a picture of which boxes were taken out: columns and the order in them stay, gaps
 * close, and every box moves towards the middle of its neighbours. Parts that hold none of the
 * `changed` boxes move as a whole.
 * @param {Array<{id: string, x: number, y: number, height: number}>} boxes as they were placed before
 * @param {Array<{from: string, to: string}>} links
 * @param {Set<string>} changed
 * @returns {Map<string, number>} the centre of each box
 */
export function tighten(boxes, links, changed) {
  const placed = new Map();
  let top = 0;
  for (const part of stackedComponents(boxes, links)) {
    const moved = part.some(({ id }) => changed.has(id));
    const heights = moved ? straighten(columnsOf(part), links) : new Map(part.map(({ id, y }) => [id, y]));
    const first = Math.min(...part.map(({ id, height }) => heights.get(id) - height / 2));
    for (const { id } of part) placed.set(id, heights.get(id) - first + top);
    top = Math.max(...part.map(({ id, height }) => placed.get(id) + height / 2)) + GAP.part;
  }
  return placed;
}

/**
 * Boxes and rows in their new heights after some boxes were taken out or became smaller: see `tighten`.
 * @param {Map<string, import('../data/model.js').Box>} boxes  moved
 * @param {Map<string, import('../data/model.js').Row>} rows   theirs
 * @param {Map<string, import('../data/model.js').Link>} links
 * @param {Set<string>} changed  ids of boxes
 */
export function settle(boxes, rows, links, changed) {
  const home = (id) => rows.get(id)?.box ?? id;
  const pairs = [...links.values()].map((link) => ({ from: home(link.from), to: home(link.to) }));
  const placed = tighten([...boxes.values()], pairs, changed);
  for (const box of boxes.values()) {
    const y = placed.get(box.id) ?? box.y;
    for (const row of box.rows) row.y += y - box.y;
    box.y = y;
  }
}

/**
 * The connected components of a graph, each from its first node on.
 * @param {Iterable<string>} ids
 * @param {Array<{from: string, to: string}>} links
 * @returns {string[][]}
 */
export function componentsOf(ids, links) {
  const [after, before] = [neighbours(links, 'from', 'to'), neighbours(links, 'to', 'from')];
  const seen = new Set();
  const components = [];
  for (const start of ids) {
    if (seen.has(start)) continue;
    seen.add(start);
    const component = [start];
    for (const id of component)
      for (const near of [...(after.get(id) ?? []), ...(before.get(id) ?? [])])
        if (!seen.has(near)) {
          seen.add(near);
          component.push(near);
        }
    components.push(component);
  }
  return components;
}

/** The components from top to bottom; boxes without links are one. */
function stackedComponents(boxes, links) {
  const known = new Set(boxes.map(({ id }) => id));
  const inside = links.filter(({ from, to }) => known.has(from) && known.has(to));
  const numbers = new Map();
  componentsOf(known, inside).forEach((ids, number) => {
    for (const id of ids) numbers.set(id, ids.length > 1 ? number : -1);
  });
  const found = grouped(boxes, ({ id }) => numbers.get(id));
  const topOf = (some) => Math.min(...some.map(({ y, height }) => y - height / 2));
  return [...found.values()].sort((one, other) => topOf(one) - topOf(other));
}

function grouped(boxes, keyOf) {
  const found = new Map();
  for (const box of boxes) {
    const key = keyOf(box);
    if (!found.has(key)) found.set(key, []);
    found.get(key).push(box);
  }
  return found;
}

/**
 * The columns of the server's layout, from left to right; the boxes of each from top to bottom.
 * @template {{x: number, y: number}} Placed
 * @param {Iterable<Placed>} boxes
 * @returns {Placed[][]}
 */
export function columnsOf(boxes) {
  return [...grouped(boxes, ({ x }) => Math.round(x)).entries()]
    .sort(([one], [other]) => one - other)
    .map(([, column]) => column.sort((one, other) => one.y - other.y));
}

function straighten(columns, links) {
  const heights = new Map();
  for (const column of columns) {
    let top = -column.reduce((sum, { height }) => sum + height + GAP.row, -GAP.row) / 2;
    for (const { id, height } of column) {
      heights.set(id, top + height / 2);
      top += height + GAP.row;
    }
  }
  const sides = [neighbours(links, 'to', 'from'), neighbours(links, 'from', 'to')];
  for (let round = 0; round < ROUNDS; round += 1)
    for (const column of columns) {
      const wanted = column.map(({ id }) => middle(id, sides[round % 2], heights));
      const gaps = column.slice(1).map(({ height }, at) => (height + column[at].height) / 2 + GAP.row);
      nearestPlaces(wanted, gaps).forEach((y, at) => heights.set(column[at].id, y));
    }
  return heights;
}

/** The places nearest to those wanted (least squares) that keep order and gaps: pool adjacent violators. */
function nearestPlaces(wanted, gaps) {
  const offsets = [0];
  for (const gap of gaps) offsets.push(offsets.at(-1) + gap);
  const blocks = [];
  wanted.forEach((value, at) => {
    let block = { sum: value - offsets[at], size: 1 };
    while (blocks.length > 0 && blocks.at(-1).sum / blocks.at(-1).size > block.sum / block.size) {
      const before = blocks.pop();
      block = { sum: before.sum + block.sum, size: before.size + block.size };
    }
    blocks.push(block);
  });
  const flat = blocks.flatMap(({ sum, size }) => Array(size).fill(sum / size));
  return flat.map((value, at) => value + offsets[at]);
}

function neighbours(links, near, far) {
  const found = new Map();
  for (const link of links) {
    if (!found.has(link[near])) found.set(link[near], []);
    found.get(link[near]).push(link[far]);
  }
  return found;
}

function middle(id, side, position) {
  const near = side.get(id) ?? [];
  if (near.length === 0) return position.get(id);
  return near.reduce((sum, other) => sum + position.get(other), 0) / near.length;
}
