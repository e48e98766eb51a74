/**
 * Nodes open where they stand: the neighbours on one side of a node are asked for and placed in the free
 * room beside it, while everything else keeps its place (decision 128). Pure but for the question to the server.
 */
import { finish, readingOrder, toModel } from '../data/model.js';
import { columnsOf } from './layout.js';

const GAP = Object.freeze({ rank: 64, row: 24 });
/** As far as the server walks. */
const WHOLE = 50;
const MOST = 24;

/** @typedef {{id: string, side: 'upstream'|'downstream', whole: boolean}} Opened */

/**
 * `u.ds_1,D.job_2`: upstream of one by a step, everything downstream of the other.
 * @param {string} text of the link
 * @returns {Opened[]}
 */
export function readOpened(text) {
  const sides = { u: 'upstream', d: 'downstream' };
  return [...text.matchAll(/(?:^|,)([udUD])\.([\w-]+)/g)].slice(0, MOST).map(([, letter, id]) => ({
    id,
    side: sides[letter.toLowerCase()],
    whole: letter === letter.toUpperCase(),
  }));
}

/**
 * The text after one side was pressed: opened, or closed again where it was open.
 * @param {string} text
 * @param {Opened} pressed
 * @returns {string}
 */
export function toggled(text, pressed) {
  const now = readOpened(text);
  const without = now.filter(({ id, side }) => id !== pressed.id || side !== pressed.side);
  const all = without.length < now.length ? without : [...now, pressed];
  return all.map(({ id, side, whole }) => `${whole ? side[0].toUpperCase() : side[0]}.${id}`).join(',');
}

/**
 * Ask for everything that a link has opened, in the order in which it was pressed.
 * @param {ReturnType<import('../data/api.js').createApi>} api
 * @param {import('../data/url.js').State} state
 * @param {import('../data/model.js').Model} model  grows
 * @returns {Promise<string[]>} why a side could not be opened, for each
 */
export async function openAll(api, state, model) {
  const refused = [];
  for (const opened of readOpened(state.opened)) {
    if (!model.boxes.has(opened.id)) continue;
    const { at, columns, indirect, tables } = state;
    const asked = { node: opened.id, direction: opened.side, depth: opened.whole ? WHOLE : 1, at, columns: columns || '', indirect: indirect || '' };
    const flow = model.flow;
    const reply = await api.get('/graph/lineage', { ...asked, jobs: tables ? false : '', beyond: true, reach: 'possible', layout: true, flow });
    if (reply.ok) expand(model, toModel(reply.data), opened);
    else if (!reply.stale) refused.push(`Nothing was opened at ${model.boxes.get(opened.id)?.label}: ${reply.error.message}`);
  }
  return refused;
}

/**
 * Add another model's new items to a model, beside the opened node.
 * @param {import('../data/model.js').Model} model   grows; its boxes keep their places
 * @param {import('../data/model.js').Model} found   of the opened node's side
 * @param {Opened} opened
 */
export function expand(model, found, opened) {
  const anchor = model.boxes.get(opened.id);
  const start = found.boxes.get(opened.id);
  if (!anchor || !start) return;
  const ranks = columnsOf(found.boxes.values());
  const own = ranks.findIndex((rank) => rank.some((box) => box.id === opened.id));
  const added = new Map();
  ranks.forEach((rank, number) => {
    const fresh = rank.filter((box) => !model.boxes.has(box.id));
    if (fresh.length === 0) return;
    const place = columnAt(model, anchor, number - own, fresh);
    for (const box of fresh) added.set(box.id, seat(model, box, place, anchor.y + (box.y - start.y)));
  });
  const boxes = new Map([...model.boxes, ...added]);
  const rows = new Map([...boxes.values()].flatMap((box) => box.rows).map((row) => [row.id, row]));
  const links = new Map(model.links);
  const known = (id) => boxes.has(id) || rows.has(id);
  for (const [id, link] of found.links)
    if (!links.has(id) && known(link.from) && known(link.to)) links.set(id, { ...link, route: [] });
  recount(boxes, rows, [...found.links.values()].filter(({ id }) => !model.links.has(id)), opened, added);
  const { lanes, flow } = model;
  Object.assign(model, finish(boxes, rows, links, model.focus), { lanes, flow });
  model.order = readingOrder(boxes);
}

/**
 * The rank so many ranks from the anchor's: one that stands there, else a new one beyond the last.
 * @param {import('../data/model.js').Model} model
 * @param {import('../data/model.js').Box} anchor
 * @param {number} offset
 * @param {import('../data/model.js').Box[]} fresh
 * @returns {{x: number, width: number}}
 */
function columnAt(model, anchor, offset, fresh) {
  const columns = columnsOf(model.boxes.values());
  const own = columns.findIndex((column) => column.some((box) => box.id === anchor.id));
  const there = columns[own + offset];
  if (there) return { x: there[0].x, width: there[0].width };
  const width = Math.max(...fresh.map((box) => box.width));
  const last = offset > 0 ? columns[columns.length - 1][0] : columns[0][0];
  const by = Math.sign(offset);
  const beyond = offset > 0 ? own + offset - columns.length : -(own + offset) - 1;
  const step = width + GAP.rank;
  return { x: last.x + by * (last.width / 2 + GAP.rank + width / 2 + beyond * step), width };
}

/** The free place in a rank that is nearest to where a box wants to be. */
function seat(model, box, { x, width }, wanted) {
  const beside = [...model.boxes.values()].filter((one) => Math.abs(one.x - x) < (one.width + width) / 2);
  const spans = beside
    .map((one) => [one.y - one.height / 2 - GAP.row - box.height / 2, one.y + one.height / 2 + GAP.row + box.height / 2])
    .sort(([one], [other]) => one - other);
  const free = (y) => spans.every(([top, bottom]) => y <= top || y >= bottom);
  const places = [wanted, ...spans.flat()].filter(free);
  const y = places.reduce((best, one) => (Math.abs(one - wanted) < Math.abs(best - wanted) ? one : best), places[0] ?? wanted);
  const moved = { ...box, x, y, width, rows: box.rows.map((row) => ({ ...row, y: row.y + y - box.y })) };
  model.boxes.set(box.id, moved);
  return moved;
}

/** The counts beside nodes: less the drawn ones; the opened side has nothing more. */
function recount(boxes, rows, links, opened, added) {
  const home = (id) => rows.get(id)?.box ?? id;
  const seen = { upstream: new Map(), downstream: new Map() };
  const note = (side, id, other) => {
    if (added.has(id) || !added.has(other)) return;
    if (!seen[side].has(id)) seen[side].set(id, new Set());
    seen[side].get(id).add(other);
  };
  for (const link of links) {
    const [from, to] = [home(link.from), home(link.to)];
    note('downstream', from, to);
    note('upstream', to, from);
  }
  for (const side of ['upstream', 'downstream'])
    for (const [id, others] of seen[side]) {
      const box = boxes.get(id);
      if (!box?.node.more) continue;
      box.node = { ...box.node, more: { ...box.node.more, [side]: Math.max(0, box.node.more[side] - others.size) } };
    }
  const box = boxes.get(opened.id);
  if (!box) return;
  const more = { upstream: 0, downstream: 0, ...box.node.more, [opened.side]: 0 };
  box.node = { ...box.node, more, open: { ...box.node.open, [opened.side]: true } };
}
