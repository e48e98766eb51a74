/**
 * From a reply of the server to a model for drawing and walking: boxes with rows, links, neighbours. Pure: no
 * page, no canvas, no vis.
 */
import { plain } from './format.js';
import { SIZES } from '../drawing/layout.js';
import { decodeText } from './url.js';

/**
 * @typedef {object} Box  a table, a job or an operation
 * @property {string} id
 * @property {'dataset'|'job'|'operation'|'group'} kind
 * @property {string} label
 * @property {string} detail   the second line: URI, namespace, expression
 * @property {number} x        centre
 * @property {number} y        centre
 * @property {number} width
 * @property {number} height
 * @property {Row[]} rows      the columns of a table, top to bottom
 * @property {boolean} failed  the last run failed
 * @property {boolean} via     on the way, but not itself an answer
 * @property {''|'added'|'removed'|'changed'} change  in a comparison
 * @property {{name: string, colour: string}|null} [layer]  of a table
 * @property {object} node     the node of the reply
 */

/**
 * @typedef {object} Row  a column inside its table
 * @property {string} id
 * @property {'column'} kind
 * @property {string} label
 * @property {string} short   the label below its parent: `sku` of `items.sku`
 * @property {number} indent  0, of a field one more than its parent's
 * @property {string} type
 * @property {string} aside   the type, or that no schema has the column
 * @property {string} box
 * @property {number} y       centre
 * @property {number} height
 * @property {''|'added'|'removed'|'changed'} change  in a comparison
 * @property {object} node
 */

/**
 * @typedef {object} Link
 * @property {string} id
 * @property {string} from
 * @property {string} to
 * @property {'feeds'|'DIRECT'|'INDIRECT'} kind
 * @property {'forward'|'back'|'beside'} way  to the right, to the left, or between boxes above each other
 * @property {number} parallel  its number among the links of the same two ends
 * @property {Array<[number, number]>} route  points past the boxes between its ends, of the server
 * @property {''|'added'|'removed'|'changed'} change  in a comparison
 * @property {object} edge    the edge of the reply
 */

/**
 * @typedef {object} Model
 * @property {Map<string, Box>} boxes
 * @property {Map<string, Row>} rows
 * @property {Map<string, Link>} links
 * @property {Map<string, Link[]>} outgoing
 * @property {Map<string, Link[]>} incoming
 * @property {string[]} order  every box and row once, in reading order: left to right, rows after their table
 * @property {string} focus    id of the requested node, or empty
 * @property {Array<{label: string, colour: string, top: number, bottom: number}>} [lanes]
 * @property {''|'down'} [flow]  down: it is drawn top down, after `turn`; until then it lies on its side
 */

/** @typedef {Box|Row|Link} Item */

const TITLE = SIZES.dataset.height;

/** The mark of a change: a sign and a word, never by its colour (a name in the palette) alone. */
export const CHANGES = Object.freeze({
  added: { sign: '+', word: 'Added', colour: 'ok', dashes: false },
  removed: { sign: '−', word: 'Removed', colour: 'failed', dashes: [2, 4] },
  changed: { sign: '~', word: 'Changed', colour: 'busy', dashes: [12, 4] },
});

/**
 * @param {{nodes?: object[], edges?: object[], focus?: string, layers?: object[], lanes?: object[], flow?: string}} reply
 *   a graph reply (docs/http.md); where it flows down, the model lies on its side until it is drawn (`turn`)
 * @param {string} [asked] the reference or id that was asked about
 * @returns {Model}
 */
export function toModel(reply, asked = '') {
  if (reply.flow === 'down') return { ...turn(toModel({ ...reply, flow: '' }, asked), true), flow: 'down' };
  const nodes = unique(reply.nodes ?? []);
  const layers = new Map((reply.layers ?? []).map((layer) => [layer.name, layer]));
  /** @type {Map<string, Box>} */
  const boxes = new Map();
  for (const node of nodes)
    if (node.kind !== 'column') boxes.set(node.id, { ...toBox(node), layer: layers.get(node.layer) ?? null });
  const rows = seatColumns(
    nodes.filter((node) => node.kind === 'column'),
    boxes,
  );
  const links = toLinks(reply.edges ?? [], boxes, rows);
  const model = finish(boxes, rows, links, reply.focus ?? findFocus(nodes, asked));
  return { ...model, lanes: (reply.lanes ?? []).map((lane) => toLane(lane, layers)) };
}

/**
 * The same model with its boxes and routes turned between left to right and top down; twice turned it is
 * as before.
 * @param {Model} model
 * @param {boolean} [anew] with order, ways and neighbours as they then lie
 * @returns {Model}
 */
export function turn(model, anew = false) {
  const boxes = new Map(
    [...model.boxes].map(([id, box]) => [id, { ...box, x: box.y, y: box.x, width: box.height, height: box.width }]),
  );
  const links = new Map([...model.links].map(([id, link]) => [id, { ...link, route: link.route.map(([x, y]) => /** @type {[number, number]} */ ([y, x])) }]));
  return anew ? { ...model, ...finish(boxes, model.rows, links, model.focus) } : { ...model, boxes, links };
}

/** A lane of the picture: the layer's name and colour, and where it begins and ends. */
function toLane({ layer, top, bottom }, layers) {
  return { label: layer ?? 'no layer', colour: layers.get(layer)?.colour ?? '', top, bottom };
}

/**
 * The operations of one plan as a model.
 * @param {object} plan the reply of /graph/plans/{planId}
 * @param {''|'down'} [flow] as it was asked
 * @returns {Model}
 */
export function planModel(plan, flow = '') {
  const boxes = new Map(
    unique(plan.operations ?? []).map((operation) => [operation.id, operationBox(operation)]),
  );
  const edges = (plan.edges ?? []).map((edge, number) => ({ id: `flow-${number}`, kind: 'feeds', ...edge }));
  const model = finish(boxes, new Map(), toLinks(edges, boxes, new Map()), '');
  return flow === 'down' ? { ...turn(model, true), flow } : model;
}

/**
 * The style of a mark in a layer's colour; an invalid colour gives none.
 * @param {string} colour `#rrggbb`
 * @returns {string|null}
 */
export function swatch(colour) {
  return /^#[0-9a-f]{6}$/.test(colour ?? '') ? `background: ${colour}` : null;
}

function unique(nodes) {
  const seen = new Map();
  for (const node of nodes) if (node?.id && !seen.has(node.id)) seen.set(node.id, node);
  return [...seen.values()];
}

/** @returns {Box} */
function toBox(node) {
  const kind = node.kind === 'job' ? 'job' : 'dataset';
  return {
    id: node.id,
    kind,
    label: plain(node.label || node.name || node.uri || node.id),
    detail: plain(kind === 'job' ? jobDetail(node) : node.uri),
    failed: node.lastRun?.state === 'failed',
    via: node.via === true,
    change: changeOf(node),
    rows: [],
    node,
    ...measures(node, SIZES[kind]),
  };
}

function changeOf({ change }) {
  return Object.hasOwn(CHANGES, change ?? '') ? change : '';
}

function jobDetail(node) {
  if (node.lastRun?.state === 'running') return 'running';
  return unsuccessful(node.lastRun?.state) || (node.shared ? `${node.namespace} · shared name` : node.namespace);
}

/**
 * What a box says of a run that did not complete: `last run aborted`.
 * @param {string|undefined} state
 */
function unsuccessful(state) {
  return state === 'failed' || state === 'aborted' ? `last run ${state}` : '';
}

/**
 * The same of a box or a folded fan; empty for every other one.
 * @param {Box} box
 */
export function troubleOf(box) {
  return unsuccessful(box.failed ? 'failed' : box.node.lastRun?.state);
}

/** @returns {Box} */
function operationBox(operation) {
  const tables = (operation.datasets ?? []).map((dataset) => dataset.label || dataset.uri).join(', ');
  const label = operation.label || tables || operation.name || operation.kind;
  return {
    id: operation.id,
    kind: 'operation',
    label: plain(label),
    detail: plain(operationDetail(operation, label)),
    failed: false,
    via: false,
    change: changeOf(operation),
    rows: [],
    node: operation,
    ...measures(operation, SIZES.operation),
  };
}

/** The second line: the condition or expression of a step (`a > 10`); for an end of a plan, which end it is. */
function operationDetail({ kind, name, properties }, label) {
  if (kind === 'read' || kind === 'write') return name && name !== label ? `${kind} · ${name}` : kind;
  return properties?.[0]?.text ?? (name === label ? '' : name);
}

/** The server's place; the origin for a node that has none. */
function measures(node, usual) {
  return {
    x: Number.isFinite(node.x) ? node.x : 0,
    y: Number.isFinite(node.y) ? node.y : 0,
    width: node.width > 0 ? node.width : usual.width,
    height: node.height > 0 ? node.height : usual.height,
  };
}

/** Columns take their seats in their tables; a table that did not come along is made up from them. */
function seatColumns(columns, boxes) {
  const rows = new Map();
  for (const node of columns) {
    const home = node.datasetId || `table of ${node.dataset}`;
    if (!boxes.has(home))
      boxes.set(
        home,
        toBox({ id: home, kind: 'dataset', label: lastSegment(node.dataset), uri: node.dataset }),
      );
    const label = plain(node.label || node.name);
    const parent = rows.get(node.parent);
    const row = {
      id: node.id,
      kind: 'column',
      label,
      short: parent ? within(label, parent.label) : label,
      indent: parent ? parent.indent + 1 : 0,
      type: plain(node.type),
      aside: plain(node.type) || (node.known === 'lineage' ? 'by lineage' : ''),
      box: home,
      change: changeOf(node),
      node,
    };
    rows.set(node.id, {
      ...row,
      y: Number.isFinite(node.y) ? node.y : NaN,
      height: node.height > 0 ? node.height : SIZES.row,
    });
    boxes.get(home).rows.push(rows.get(node.id));
  }
  for (const box of boxes.values()) if (box.rows.length > 0) arrange(box);
  return rows;
}

/** `items.sku` of `Items` => `sku`: the schema spells the column, lineage the field. */
function within(label, parent) {
  const inside = label.toLowerCase().startsWith(`${parent.toLowerCase()}.`);
  return inside ? label.slice(parent.length + 1) : label;
}

function lastSegment(uri) {
  return plain(uri).split(/[/:]/).filter(Boolean).pop() ?? '';
}

function arrange(box) {
  const wanted = new Map((box.node.columns ?? []).map((id, place) => [id, place]));
  const seat = (row) => (Number.isFinite(row.y) ? row.y : (wanted.get(row.id) ?? wanted.size));
  box.rows.sort((one, other) => seat(one) - seat(other));
  if (box.node.height > 0) return;
  box.height = TITLE + box.rows.length * SIZES.row + SIZES.rowPadding;
}

/** @returns {Map<string, Link>} */
function toLinks(edges, boxes, rows) {
  const links = new Map();
  const pairs = new Map();
  for (const edge of edges) {
    const known = [edge.from, edge.to].every((end) => boxes.has(end) || rows.has(end));
    if (!known || !edge.id || links.has(edge.id)) continue;
    const pair = `${edge.from} ${edge.to}`;
    const parallel = pairs.get(pair) ?? 0;
    pairs.set(pair, parallel + 1);
    links.set(edge.id, {
      id: edge.id,
      from: edge.from,
      to: edge.to,
      kind: edge.kind,
      parallel,
      route: edge.route ?? [],
      way: 'forward',
      change: changeOf(edge),
      edge,
    });
  }
  return links;
}

/** A node is the requested one when its id, its URI or its namespace and name were in the question. */
function findFocus(nodes, asked) {
  if (!asked) return '';
  const text = decodeText(asked);
  const named = (node) =>
    node.id === asked ||
    (node.kind === 'dataset' &&
      (text === node.uri ||
        text === `dataset:${node.uri}` ||
        text === `dataset:${node.scope}@${node.uri}`)) ||
    (node.kind === 'column' && text === `column:${node.dataset}#${node.name}`) ||
    (node.kind === 'job' && text === `job:${node.namespace}/${node.name}`);
  return nodes.find(named)?.id ?? '';
}

/**
 * A model of these parts: every link its way, every box its neighbours.
 * @param {Map<string, Box>} boxes
 * @param {Map<string, Row>} rows
 * @param {Map<string, Link>} links
 * @param {string} focus
 * @returns {Model}
 */
export function finish(boxes, rows, links, focus) {
  const home = (id) => rows.get(id)?.box ?? id;
  seatRows(boxes);
  for (const link of links.values()) link.way = wayOf(boxes.get(home(link.from)), boxes.get(home(link.to)));
  const model = {
    boxes,
    rows,
    links,
    outgoing: new Map(),
    incoming: new Map(),
    order: readingOrder(boxes),
    focus,
  };
  for (const link of links.values()) {
    push(model.outgoing, link.from, link);
    push(model.incoming, link.to, link);
  }
  sortByPlace(model);
  return model;
}

function wayOf(from, to) {
  if (Math.abs(from.x - to.x) < (from.width + to.width) / 2) return 'beside';
  return from.x < to.x ? 'forward' : 'back';
}

function push(map, key, value) {
  if (!map.has(key)) map.set(key, []);
  map.get(key).push(value);
}

/** A row without a place of its own stands where its table lists it. */
function seatRows(boxes) {
  for (const box of boxes.values()) {
    const top = box.y - box.height / 2 + TITLE;
    box.rows.forEach((row, number) => {
      if (Number.isNaN(row.y)) row.y = top + (number + 0.5) * SIZES.row;
    });
  }
}

/**
 * Every box and row once: left to right, rows after their table.
 * @param {Map<string, Box>} boxes
 * @returns {string[]}
 */
export function readingOrder(boxes) {
  const sorted = [...boxes.values()].sort((one, other) => one.x - other.x || one.y - other.y);
  return sorted.flatMap((box) => [box.id, ...box.rows.map((row) => row.id)]);
}

function sortByPlace(model) {
  const seat = new Map(model.order.map((id, number) => [id, number]));
  for (const links of model.outgoing.values())
    links.sort((one, other) => seat.get(one.to) - seat.get(other.to));
  for (const links of model.incoming.values())
    links.sort((one, other) => seat.get(one.from) - seat.get(other.from));
}

/**
 * The box, row or link with this id.
 * @param {Model} model
 * @param {string} id
 * @returns {Item|undefined}
 */
export function find(model, id) {
  return findNode(model, id) ?? model.links.get(id);
}

/**
 * The box or row with this id.
 * @param {Model} model
 * @param {string} id
 * @returns {Box|Row|undefined}
 */
export function findNode(model, id) {
  return model.boxes.get(id) ?? model.rows.get(id);
}

/**
 * The box or row with an id that the model itself has named: an end of a link, a place in its order.
 * @param {Model} model
 * @param {string} id
 * @returns {Box|Row}
 * @throws {RangeError} there is neither
 */
export function nodeOf(model, id) {
  const node = findNode(model, id);
  if (!node) throw new RangeError(`${id} is not in this picture`);
  return node;
}

/**
 * The table of a column.
 * @param {Model} model
 * @param {Row} row
 * @returns {Box}
 * @throws {RangeError} it is not there
 */
export function homeOf(model, row) {
  const home = model.boxes.get(row.box);
  if (!home) throw new RangeError(`${row.box} is not in this picture`);
  return home;
}

/**
 * The item under a point of the canvas: the row of a table before the table.
 * @param {Model} model
 * @param {number} x
 * @param {number} y
 * @returns {string} an id, or an empty string
 */
export function hit(model, x, y) {
  for (const box of model.boxes.values()) {
    if (Math.abs(x - box.x) > box.width / 2 || Math.abs(y - box.y) > box.height / 2) continue;
    const row = box.rows.find((one) => Math.abs(y - one.y) <= one.height / 2);
    return row ? row.id : box.id;
  }
  return '';
}

/**
 * The rectangle around everything.
 * @param {Pick<Model, 'boxes'>} model
 * @returns {{left: number, top: number, right: number, bottom: number}|null} null when there is nothing
 */
export function bounds(model) {
  if (model.boxes.size === 0) return null;
  const around = { left: Infinity, top: Infinity, right: -Infinity, bottom: -Infinity };
  for (const box of model.boxes.values()) {
    around.left = Math.min(around.left, box.x - box.width / 2);
    around.right = Math.max(around.right, box.x + box.width / 2);
    around.top = Math.min(around.top, box.y - box.height / 2);
    around.bottom = Math.max(around.bottom, box.y + box.height / 2);
  }
  return around;
}

/**
 * The height of a table's title: the part above its first column, or all of it.
 * @param {Box} box
 * @returns {number}
 */
export function titleHeight(box) {
  const [first] = box.rows;
  return first ? Math.max(0, first.y - first.height / 2 - (box.y - box.height / 2)) : box.height;
}

/**
 * How many of each there are, for headings and announcements.
 * @param {Model} model
 * @returns {{datasets: number, jobs: number, columns: number, operations: number, links: number, failed: number}}
 */
export function tally(model) {
  const boxes = [...model.boxes.values()];
  const of = (kind) => boxes.filter((box) => box.kind === kind).length;
  return {
    datasets: of('dataset'),
    jobs: of('job'),
    operations: of('operation'),
    columns: model.rows.size,
    links: model.links.size,
    failed: boxes.filter((box) => box.failed).length,
  };
}
