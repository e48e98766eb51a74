/**
 * Which columns of a wide table are drawn: those with links first, ten at a time, and a last row that
 * says how many there are and opens ten more. Links of columns that are not drawn end at that row.
 * Pure: a model in, a model out.
 */
import { formatNumber } from './format.js';
import { finish, titleHeight } from './model.js';
import { columnsOf, settle } from '../drawing/layout.js';

const STEP = 10;
/** So few more are shown rather than counted. */
const SLACK = 2;
const PADDING = 8;
const PREFIX = 'columns of ';

/**
 * How many columns of each table are drawn, from a link: `ds_1.20`.
 * @param {string} text
 * @returns {Map<string, number>}
 */
function readRows(text) {
  return new Map([...text.matchAll(/([\w-]+)\.(\d{1,4})(?:,|$)/g)].map(([, id, number]) => [id, Number(number)]));
}

/**
 * The table whose last row this is, or an empty string.
 * @param {string} id
 * @returns {string}
 */
export function tableOfRest(id) {
  return id.startsWith(PREFIX) ? id.slice(PREFIX.length) : '';
}

/**
 * The text of a link after ten more columns of a table were opened.
 * @param {string} text as it was
 * @param {string} table
 * @returns {string}
 */
export function tenMore(text, table) {
  const now = readRows(text);
  now.set(table, (now.get(table) ?? STEP) + STEP);
  return [...now].map(([id, number]) => `${id}.${number}`).join(',');
}

/**
 * @param {import('./model.js').Model} model
 * @param {{opened?: string, pinned?: string[]}} [asked] pinned: rows that are drawn in any case
 * @returns {import('./model.js').Model} the very model where no table is wide
 */
export function foldColumns(model, { opened = '', pinned = [] } = {}) {
  const wide = [...model.boxes.values()].filter((box) => isFolded(box, STEP));
  if (wide.length === 0 || model.lanes?.length) return model;
  const kept = new Set([...pinned, model.focus]);
  const first = folded(model, new Map(), kept);
  settle(first.boxes, first.rows, first.links, new Set(wide.map(({ id }) => id)));
  const most = readRows(opened);
  const drawn = most.size > 0 ? folded(model, most, kept) : first;
  if (drawn !== first) growDown(drawn.boxes, first.boxes);
  return finish(drawn.boxes, drawn.rows, drawn.links, model.focus);
}

function isFolded({ rows }, most) {
  return rows.length > most + SLACK;
}

/** Copies of the boxes, rows and links with so many columns of each table. */
function folded(model, most, kept) {
  const boxes = new Map([...model.boxes].map(([id, box]) => [id, { ...box, rows: box.rows.map((row) => ({ ...row })) }]));
  const hidden = new Map();
  for (const [id, box] of boxes) if (isFolded(box, most.get(id) ?? STEP)) foldOne(model, box, { most: most.get(id) ?? STEP, kept, hidden });
  const rows = new Map([...boxes.values()].flatMap((box) => box.rows).map((row) => [row.id, row]));
  return { boxes, rows, links: redirected(model, hidden) };
}

/**
 * A table of which more is shown keeps its top and pushes down what is below it: nothing else moves.
 * @param {Map<string, import('./model.js').Box>} boxes  moved
 * @param {Map<string, import('./model.js').Box>} before where they stood with fewer columns
 */
function growDown(boxes, before) {
  for (const column of columnsOf(before.values())) {
    let pushed = 0;
    for (const { id, y, height } of column) {
      const box = boxes.get(id);
      if (!box) continue;
      const to = y - height / 2 + pushed + box.height / 2;
      for (const row of box.rows) row.y += to - box.y;
      box.y = to;
      pushed += box.height - height;
    }
  }
}

function foldOne(model, box, { most, kept, hidden }) {
  const title = titleHeight(box);
  const height = box.rows[0].height;
  const linked = (row) => model.outgoing.has(row.id) || model.incoming.has(row.id);
  const rank = (row) => (kept.has(row.id) ? 0 : row.change ? 1 : linked(row) ? 2 : 3);
  const ranked = box.rows.map((row, place) => ({ row, place })).sort((one, other) => rank(one.row) - rank(other.row) || one.place - other.place);
  const drawn = new Set(ranked.slice(0, most).map(({ row }) => row.id));
  const shown = box.rows.filter((row) => drawn.has(row.id));
  const rest = restRow(box, shown.length, height);
  for (const row of box.rows) if (!drawn.has(row.id)) hidden.set(row.id, rest.id);
  box.rows = [...shown.filter(linked), ...shown.filter((row) => !linked(row)), rest];
  box.height = title + box.rows.length * height + PADDING;
  placeRows(box, title);
}

function restRow(box, shown, height) {
  const label = `${formatNumber(shown)} of ${formatNumber(box.rows.length)} columns: show more`;
  return {
    id: `${PREFIX}${box.id}`,
    kind: 'column',
    label,
    short: `+ ${formatNumber(box.rows.length - shown)} more`,
    indent: 0,
    type: '',
    aside: '',
    box: box.id,
    change: '',
    y: NaN,
    height,
    node: { id: `${PREFIX}${box.id}`, rest: true },
  };
}

function placeRows(box, title) {
  const top = box.y - box.height / 2 + title;
  box.rows.forEach((row, number) => {
    row.y = top + (number + 0.5) * row.height;
  });
}

/** Links of rows that are not drawn end at the last row of their table, each pair of ends once. */
function redirected(model, hidden) {
  const links = new Map();
  for (const link of model.links.values()) {
    const [from, to] = [link.from, link.to].map((id) => hidden.get(id) ?? id);
    if (from === link.from && to === link.to) links.set(link.id, { ...link, route: [] });
    else if (from !== to) {
      const id = `${from} ${to} ${link.kind}`;
      links.set(id, { ...link, id, from, to, parallel: 0, route: [], edge: { ...link.edge, id, from, to, expression: '' } });
    }
  }
  return links;
}
