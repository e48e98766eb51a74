/**
 * Walking a picture: neighbours, everything upstream and downstream, the next step of an arrow key. Pure.
 */
import { find } from './model.js';

/** @typedef {import('./model.js').Model} Model */
/** @typedef {import('./model.js').Link} Link */

/** @typedef {'upstream'|'downstream'} Direction */

/** @type {readonly Direction[]} */
export const DIRECTIONS = Object.freeze(['upstream', 'downstream']);

/**
 * The ids on the other ends of the links, each once.
 * @param {Model} model
 * @param {string} id
 * @param {Direction} direction
 * @returns {string[]}
 */
export function next(model, id, direction) {
  const [links, end] = direction === 'downstream' ? [model.outgoing, 'to'] : [model.incoming, 'from'];
  return [...new Set((links.get(id) ?? []).map((link) => link[end]))];
}

/**
 * The items that light up with an item: itself, its links and their ends. A table lights up with its columns.
 * @param {Model} model
 * @param {string} id
 * @returns {Set<string>}
 */
export function neighbourhood(model, id) {
  const lit = new Set();
  const link = model.links.get(id);
  if (link) return light(model, lit, link);
  lit.add(id);
  const row = model.rows.get(id);
  if (row) lit.add(row.box);
  const parts = [id, ...(model.boxes.get(id)?.rows ?? []).map((one) => one.id)];
  for (const part of parts) {
    lit.add(part);
    for (const near of [...(model.outgoing.get(part) ?? []), ...(model.incoming.get(part) ?? [])])
      light(model, lit, near);
  }
  return lit;
}

function light(model, lit, link) {
  lit.add(link.id);
  for (const end of [link.from, link.to]) {
    lit.add(end);
    if (model.rows.has(end)) lit.add(model.rows.get(end).box);
  }
  for (const job of link.edge.jobs ?? []) if (model.boxes.has(job)) lit.add(job);
  return lit;
}

/**
 * Everything that an item comes from and everything that comes from it, with the links between. Only
 * one direction is followed at a time: other targets of the same source are not on the way. A
 * table is followed with its columns; a link lights up with its two ends.
 * @param {Model} model
 * @param {string} id
 * @returns {Set<string>}
 */
export function trace(model, id) {
  const lit = neighbourhood(model, id);
  if (model.links.has(id)) return lit;
  const starts = [id, ...(model.boxes.get(id)?.rows ?? []).map((row) => row.id)];
  /** @type {Array<[Map<string, Link[]>, 'from'|'to']>} */
  const ways = [
    [model.outgoing, 'to'],
    [model.incoming, 'from'],
  ];
  for (const [links, end] of ways) {
    const seen = new Set(starts);
    const open = [...starts];
    for (let at = open.pop(); at !== undefined; at = open.pop()) {
      for (const link of links.get(at) ?? []) {
        light(model, lit, link);
        if (!seen.has(link[end])) {
          seen.add(link[end]);
          open.push(link[end]);
        }
      }
    }
  }
  return lit;
}

/**
 * The items that a selection lights up: its whole way.
 * @param {Model} model
 * @param {string} id
 * @returns {Set<string>|null} null: nothing is selected, nothing fades
 */
export function emphasis(model, id) {
  return id && find(model, id) ? trace(model, id) : null;
}

/**
 * @typedef {object} Position  where the keyboard stands, and the link along which it came
 * @property {string} id
 * @property {{from: string, direction: Direction}|null} came
 */

/**
 * The next position for a key. Right and Left follow links downstream and upstream (and back the way
 * that was come); Page Down and Page Up go through the other ends of the same origin; Down, Up, Home
 * and End go through everything in reading order.
 * @param {Model} model
 * @param {Position} position
 * @param {string} key
 * @returns {Position|null} null: the key means nothing here
 */
export function step(model, position, key) {
  if (key === 'ArrowRight') return follow(model, position, 'downstream');
  if (key === 'ArrowLeft') return follow(model, position, 'upstream');
  if (key === 'PageDown') return sibling(model, position, 1);
  if (key === 'PageUp') return sibling(model, position, -1);
  const place = model.order.indexOf(position.id);
  const places = {
    ArrowDown: place + 1,
    ArrowUp: place < 0 ? 0 : place - 1,
    Home: 0,
    End: model.order.length - 1,
  };
  const id = model.order[places[key]];
  return id === undefined ? null : { id, came: null };
}

function follow(model, position, direction) {
  const { id, came } = position;
  const ends = next(model, id, direction);
  if (ends.length === 0) return null;
  const back = came && came.direction !== direction && ends.includes(came.from);
  return { id: back ? came.from : ends[0], came: { from: id, direction } };
}

function sibling(model, { id, came }, by) {
  if (!came) return null;
  const ends = next(model, came.from, came.direction);
  const place = ends.indexOf(id);
  if (place < 0 || ends.length < 2) return null;
  return { id: ends[(place + by + ends.length) % ends.length], came };
}
