/**
 * The same picture as a list, for keyboards and screen readers: a grid with one row in the tab order,
 * arrow keys that follow edges, Enter for details. It shows nothing that the canvas does not, and
 * hides nothing that the canvas shows.
 */
import { tagChip } from '../panel/classifications.js';
import { data, element, replace } from './dom.js';
import { qualityChip, qualityWords } from '../panel/facets.js';
import { count, formatNumber, howWord, shorten } from '../data/format.js';
import { CHANGES, nodeOf, troubleOf } from '../data/model.js';
import { DIRECTIONS, next, step } from '../data/walk.js';
import { separated } from '../panel/panel.js';

const MOST_NAMES = 3;
const HEADINGS = Object.freeze(['Name', 'Kind', 'Comes from', 'Goes to', 'Details']);
const EDGE_HEADINGS = Object.freeze(['From', 'To', 'How', 'Expression or mode']);

/** The name of each kind of item. */
export const KIND_NAMES = Object.freeze({
  dataset: 'Table',
  job: 'Job',
  column: 'Column',
  operation: 'Operation',
  group: 'Folded',
});

/**
 * The announcement of an item when the reader arrives at it.
 * @param {import('../data/model.js').Model} model
 * @param {import('../data/walk.js').Position} position
 * @returns {string}
 */
export function announcement(model, position) {
  const item = nodeOf(model, position.id);
  const ways = DIRECTIONS.map(
    (direction) => `${formatNumber(next(model, position.id, direction).length)} ${direction}`,
  );
  const trouble = item.kind !== 'column' && troubleOf(item) ? `, ${troubleOf(item)}` : '';
  const change = item.change ? `, ${item.change}` : '';
  return `${shorten(item.label, 100)}, ${KIND_NAMES[item.kind]}${change}${trouble}${stated(item)}, ${ways.join(', ')}${among(model, position)}`;
}

/** People's statements about it: `, layer curated, PII`. */
function stated(item) {
  const layer = item.layer ? [`layer ${item.layer.name}`] : [];
  const quality = item.node.quality ? [qualityWords(item.node.quality)] : [];
  return [...layer, ...(item.node.classifications ?? []), ...quality].map((words) => `, ${words}`).join('');
}

function among(model, { id, came }) {
  const ends = came ? next(model, came.from, came.direction) : [];
  if (ends.length < 2) return '';
  return `. ${formatNumber(ends.indexOf(id) + 1)} of ${formatNumber(ends.length)} ${came.direction} of ${shorten(nodeOf(model, came.from).label, 60)}`;
}

/**
 * @param {HTMLElement} container
 * @param {{onSelect: (id: string) => void, onOpen: (id: string) => void, announce: (text: string) => void}} listener
 */
export function createList(container, listener) {
  let model = null;
  let position = { id: '', came: null };
  let rows = new Map();

  function show(shown) {
    model = shown;
    position = { id: model.focus || model.order[0] || '', came: null };
    rows = new Map(model.order.map((id) => [id, drawRow(model, id)]));
    const grid = element(
      'table',
      {
        role: 'grid',
        class: 'grid',
        'aria-label': 'Nodes of the graph',
        'data-testid': 'list',
        onkeydown: press,
        onclick: click,
      },
      headingRow(HEADINGS),
      element('tbody', {}, [...rows.values()]),
    );
    const help = element(
      'p',
      { class: 'muted help' },
      'Arrow keys: down and up through the list, right and left along the edges, Page Down and Page Up among the ends of the same edge list. Enter opens details.',
    );
    replace(container, help, grid, edgeTable(model));
    mark();
  }

  function mark() {
    for (const [id, row] of rows) row.tabIndex = id === position.id ? 0 : -1;
  }

  function select(id) {
    for (const [own, row] of rows) row.setAttribute('aria-selected', String(own === id));
    if (rows.has(id) && id !== position.id) {
      position = { id, came: null };
      mark();
    }
  }

  function move(to) {
    position = to;
    mark();
    rows.get(to.id).focus();
    listener.announce(announcement(model, to));
  }

  function press(event) {
    if (event.target.closest('a, button')) return;
    if (event.key === 'Enter' || event.key === ' ') listener.onOpen(position.id);
    else {
      const to = step(model, position, event.key);
      if (!to) return;
      move(to);
    }
    event.preventDefault();
  }

  function click(event) {
    const row = event.target.closest('tr[data-id]');
    if (!row || event.target.closest('a')) return;
    position = { id: row.dataset.id, came: null };
    mark();
    row.focus();
    listener.onSelect(row.dataset.id);
  }

  return { show, select, focus: () => rows.get(position.id)?.focus(), clear: () => replace(container) };
}

function drawRow(model, id) {
  const item = nodeOf(model, id);
  const box = item.kind === 'column' ? null : item;
  const ends = (direction) => separated(next(model, id, direction), (end) => data(shorten(nodeOf(model, end).label, 40)), MOST_NAMES);
  return element(
    'tr',
    { tabindex: -1, 'aria-selected': 'false', 'data-id': id, class: `row-${item.kind}` },
    element('th', { scope: 'row' }, data(shorten(item.label, 160))),
    [
      [
        element('span', { class: `chip ${item.kind}` }, KIND_NAMES[item.kind]),
        item.change ? changeChip(item.change) : null,
        box && troubleOf(box) ? element('span', { class: `chip ${box.failed ? 'failed' : 'plain'}` }, troubleOf(box)) : null,
        box?.layer ? element('span', { class: 'chip plain' }, data(box.layer.name)) : null,
        (item.node.classifications ?? []).map(tagChip),
        item.node.quality && qualityChip(item.node.quality.state),
      ],
      ends('upstream'),
      ends('downstream'),
      aside(item) && data(shorten(aside(item), 160), item.kind === 'job' ? 'muted' : 'muted mono'),
    ].map((cell, place) => element('td', { 'data-heading': HEADINGS[place + 1] }, cell)),
  );
}

/**
 * `+ Added`, `− Removed`, `~ Changed`.
 * @param {string} change
 * @returns {HTMLElement|null} null for a word that is none of these
 */
export function changeChip(change) {
  const known = CHANGES[change];
  if (!known) return null;
  return element(
    'span',
    { class: `chip change ${known.colour}` },
    element('span', { 'aria-hidden': 'true' }, known.sign),
    known.word,
  );
}

function aside(item) {
  if (item.kind === 'job') return item.node.namespace ?? '';
  return item.kind === 'column' ? item.aside : item.detail;
}

/** The edges are drawn when they are asked for: there may be thousands. */
function edgeTable(model) {
  const body = element('tbody');
  const fill = () => {
    if (body.childElementCount === 0)
      replace(
        body,
        [...model.links.values()].map((link) => drawEdge(model, link)),
      );
  };
  return element(
    'details',
    { class: 'edges', ontoggle: fill, 'data-testid': 'list-edges' },
    element('summary', {}, count(model.links.size, 'edge')),
    element('table', { class: 'grid' }, headingRow(EDGE_HEADINGS), body),
  );
}

function headingRow(headings) {
  return element('thead', {}, element('tr', {}, headings.map((heading) => element('th', { scope: 'col' }, heading))));
}

function drawEdge(model, { from, to, change, edge }) {
  const way =
    edge.kind === 'feeds' ? 'feeds' : `${howWord(edge.how)}${edge.kind === 'INDIRECT' ? ' (indirect)' : ''}`;
  const how = `${way}${edge.origin === 'declared' ? ' (declared)' : ''}${edge.joined ? ' (joined by schemas)' : ''}${edge.seen === false ? ' (not seen yet)' : ''}${edge.attempted ? ' (attempted)' : ''}`;
  const text = edge.expression ?? edge.modes?.join(', ') ?? '';
  return element(
    'tr',
    {},
    [
      nameOf(model, from),
      nameOf(model, to),
      [how, ' ', changeChip(change)],
      text && data(text, edge.expression ? 'mono' : ''),
    ].map((cell, place) => element('td', { 'data-heading': EDGE_HEADINGS[place] }, cell)),
  );
}

function nameOf(model, id) {
  const row = model.rows.get(id);
  const label = shorten(nodeOf(model, id).label, 80);
  return row ? [data(shorten(model.boxes.get(row.box).label, 60)), '.', data(label)] : data(label);
}
