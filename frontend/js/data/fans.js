/**
 * A table that sixty jobs read would be drawn as a tower of sixty boxes. Of such a fan the first few
 * are drawn, the rest and the boxes that hang on them alone become one box, "57 more jobs", which opens in
 * steps. Pure: a model in, a model out.
 */
import { count } from './format.js';
import { settle } from '../drawing/layout.js';
import { finish } from './model.js';

/** So many of a fan are drawn at first, and so many more with each step. */
const FEW = 12;
const STEP = 24;
/** Fewer than this are not worth a box of their own. */
const LEAST = 8;
/** How far is looked ahead to find those of a fan that lead on. */
const AHEAD = 40;
const SIDES = Object.freeze(['downstream', 'upstream']);
const NOUNS = Object.freeze({ job: 'job', dataset: 'table', operation: 'operation' });

/**
 * @typedef {object} Fold
 * @property {string} id        of the box that stands for it
 * @property {string} hub       the box at which the fan opens
 * @property {'upstream'|'downstream'} side
 * @property {string[]} members the neighbours of the hub that it holds
 * @property {string[]} behind  the boxes that hang on them alone
 * @property {number} shown     how many of the fan are drawn beside it
 */

/**
 * How many of each fan are drawn, from a link: `d.ds_1.36,u.ds_2.all`.
 * @param {string} text
 * @returns {Map<string, number>} by side and hub: `downstream ds_1` => 36
 */
export function readOpened(text) {
  const found = new Map();
  for (const [, side, hub, number] of text.matchAll(/([du])\.([\w-]+)\.(\d{1,5})(?:,|$)/g))
    found.set(`${side === 'd' ? 'downstream' : 'upstream'} ${hub}`, Number(number));
  return found;
}

/**
 * The text of a link after one fan was opened further.
 * @param {string} text as it was
 * @param {Fold} fold
 * @param {boolean} [all]
 * @returns {string}
 */
export function opened(text, { hub, side, members, shown }, all = false) {
  const now = readOpened(text);
  const rest = members.length - STEP;
  now.set(`${side} ${hub}`, all || rest < LEAST ? shown + members.length : shown + STEP);
  return [...now].map(([key, number]) => `${key[0]}.${key.split(' ')[1]}.${number}`).join(',');
}

/**
 * The model with its fans folded. One in lanes stays as it is: a lane has its own height.
 * @param {import('./model.js').Model} model
 * @param {{opened?: string, pinned?: string[]}} [asked] pinned: ids that are drawn in any case
 * @returns {import('./model.js').Model}
 */
export function foldFans(model, { opened: text = '', pinned = [] } = {}) {
  if (model.lanes?.length) return model;
  const graph = neighbourhoods(model);
  const kept = new Set([model.focus, ...pinned, ...changed(model)].map((id) => model.rows.get(id)?.box ?? id));
  const shown = readOpened(text);
  const folds = [];
  for (const { hub, side } of widestFirst(graph)) {
    const most = shown.get(`${side} ${hub}`) ?? FEW;
    const fold = graph.gone.has(hub) ? null : foldOne(model, graph, { hub, side, most, kept });
    if (fold) folds.push(fold);
  }
  return folds.length > 0 ? withGroups(model, graph.gone, folds) : model;
}

/** Changed items of a comparison are never folded. */
function changed({ boxes, rows, links }) {
  const ends = [...links.values()].filter((link) => link.change).flatMap(({ from, to }) => [from, to]);
  const own = [...boxes.values(), ...rows.values()].filter((one) => one.change).map(({ id }) => id);
  return [...own, ...ends];
}

/** Neighbours, box by box; `gone` maps a folded box to its fold's id. */
function neighbourhoods({ boxes, rows, links }) {
  const sides = { downstream: new Map(), upstream: new Map() };
  for (const side of SIDES) for (const id of boxes.keys()) sides[side].set(id, new Set());
  for (const link of links.values()) {
    const [from, to] = [link.from, link.to].map((id) => rows.get(id)?.box ?? id);
    if (from === to) continue;
    sides.downstream.get(from).add(to);
    sides.upstream.get(to).add(from);
  }
  return { ...sides, gone: new Map() };
}

function widestFirst(graph) {
  return SIDES.flatMap((side) => [...graph[side]].map(([hub, near]) => ({ hub, side, size: near.size })))
    .filter(({ size }) => size >= FEW + LEAST)
    .sort((one, other) => other.size - one.size || (one.hub < other.hub ? -1 : 1));
}

function foldOne(model, graph, { hub, side, most, kept }) {
  const fan = [...graph[side].get(hub)].filter((id) => !graph.gone.has(id));
  if (fan.length < most + LEAST) return null;
  const ranked = byWorth(model, graph, { fan, hub, side, kept });
  const drawn = Math.max(most, fan.filter((id) => kept.has(id)).length);
  const members = inReadingOrder(model, ranked.slice(drawn));
  if (members.length < LEAST) return null;
  const id = `more-${side}-${hub}`;
  for (const one of members) graph.gone.set(one, id);
  const behind = hangingOn(graph, members, [hub, ...kept, ...ranked.slice(0, drawn)]);
  for (const one of behind) graph.gone.set(one, id);
  return { id, hub, side, members, behind, shown: drawn };
}

/** First pinned boxes, then failed ones, then those that lead on, each in reading order. */
function byWorth(model, graph, { fan, hub, side, kept }) {
  const worth = new Map(
    fan.map((id) => [
      id,
      [kept.has(id) ? 1 : 0, model.boxes.get(id).failed ? 1 : 0, ahead(graph[side], id, hub)],
    ]),
  );
  const compare = (one, other) => {
    const at = worth.get(one).findIndex((value, place) => value !== worth.get(other)[place]);
    return at < 0 ? 0 : worth.get(other)[at] - worth.get(one)[at];
  };
  return inReadingOrder(model, fan).sort(compare);
}

function inReadingOrder({ boxes }, ids) {
  const place = (id) => boxes.get(id);
  return [...ids].sort((one, other) => place(one).x - place(other).x || place(one).y - place(other).y);
}

/** How many boxes lie beyond one, up to AHEAD. */
function ahead(following, start, hub) {
  const seen = new Set([hub, start]);
  const open = [start];
  while (open.length > 0 && seen.size < AHEAD)
    for (const near of following.get(open.shift()))
      if (!seen.has(near)) {
        seen.add(near);
        open.push(near);
      }
  return seen.size;
}

/** The boxes reached from the members alone, once they are away. */
function hangingOn(graph, members, staying) {
  const reached = spreadFrom(graph, staying.filter((id) => graph.downstream.has(id)), new Set());
  const beside = members.flatMap((id) => around(graph, id)).filter((id) => !graph.gone.has(id));
  return [...spreadFrom(graph, beside, reached)].filter((id) => !reached.has(id));
}

function around(graph, id) {
  return [...graph.downstream.get(id), ...graph.upstream.get(id)];
}

function spreadFrom(graph, starts, beyond) {
  const seen = new Set(starts.filter((id) => !graph.gone.has(id) && !beyond.has(id)));
  const open = [...seen];
  while (open.length > 0)
    for (const near of around(graph, open.pop()))
      if (!seen.has(near) && !graph.gone.has(near) && !beyond.has(near)) {
        seen.add(near);
        open.push(near);
      }
  return seen;
}

/* The picture of it */

function withGroups(model, gone, folds) {
  const boxes = new Map();
  for (const [id, box] of model.boxes)
    if (!gone.has(id)) boxes.set(id, { ...box, rows: box.rows.map((row) => ({ ...row })) });
  for (const fold of folds) if (!gone.has(fold.hub)) boxes.set(fold.id, groupBox(model, fold));
  const rows = new Map([...boxes.values()].flatMap((box) => box.rows).map((row) => [row.id, row]));
  const links = foldedLinks(model, gone);
  for (const [id, link] of links) links.set(id, { ...link, route: [] });
  settle(boxes, rows, links, new Set(folds.flatMap(({ id, hub }) => [id, hub])));
  return { ...finish(boxes, rows, links, model.focus), flow: model.flow };
}

function groupBox(model, fold) {
  const members = fold.members.map((id) => model.boxes.get(id));
  const failed = [...members, ...fold.behind.map((id) => model.boxes.get(id))].filter((box) => box.failed);
  return {
    id: fold.id,
    kind: 'group',
    label: tallied(members, 'more'),
    detail: failed.length > 0 ? `${count(failed.length, 'job')} whose last run failed` : behindWords(model, fold),
    x: members[0].x,
    y: Math.max(...members.map((box) => box.y)),
    width: members[0].width,
    height: members[0].height,
    rows: [],
    failed: failed.length > 0,
    via: false,
    change: '',
    layer: null,
    node: { id: fold.id, kind: 'group', fold },
  };
}

/** `58 more jobs`; `58 more` where they are of several kinds. */
function tallied(boxes, word) {
  const kinds = [...new Set(boxes.map((box) => box.kind))];
  const noun = kinds.length === 1 ? NOUNS[kinds[0]] : null;
  return noun ? count(boxes.length, `${word} ${noun}`) : count(boxes.length, word, word);
}

function behindWords(model, { behind }) {
  const of = (kind) => behind.filter((id) => model.boxes.get(id).kind === kind).length;
  const parts = ['dataset', 'job'].filter((kind) => of(kind) > 0).map((kind) => count(of(kind), NOUNS[kind]));
  return parts.length > 0 ? `with ${parts.join(', ')}` : 'folded';
}

/** Links of folded boxes end at the box that stands for them, each pair of ends once. */
function foldedLinks(model, gone) {
  const links = new Map();
  for (const link of model.links.values()) {
    const [from, to] = [link.from, link.to].map((id) => gone.get(model.rows.get(id)?.box ?? id) ?? id);
    if (from === to) continue;
    if (from === link.from && to === link.to) links.set(link.id, link);
    else merge(links, { ...link, from, to });
  }
  return links;
}

/** Where something flowed in one of them, it flowed: an edge stays marked where all attempted it, or none was seen. */
function merge(links, link) {
  const id = `${link.from} ${link.to} ${link.kind}`;
  const known = links.get(id)?.edge;
  const plans = new Set([...(known?.plans ?? []), ...(link.edge.plans ?? [])]);
  const attempted = link.edge.attempted === true && known?.attempted !== false;
  const seen = link.edge.seen !== false || (known !== undefined && known.seen !== false);
  const { how } = link.edge;
  const edge = { id, from: link.from, to: link.to, kind: link.kind, how, plans: [...plans], attempted, seen };
  links.set(id, { ...link, id, parallel: 0, change: '', edge });
}
