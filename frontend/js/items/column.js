/**
 * The panel's description of a column, and how columns are named and linked.
 */
import { howWord, influenceWords, shorten } from '../data/format.js';
import { homeOf } from '../data/model.js';
import { link, write } from '../data/url.js';
import { anchor, data, element, icon } from '../page/dom.js';
import { classifications } from '../panel/classifications.js';
import { definition, leftOut } from '../panel/definition.js';
import { datasetLink, datasetReference, impactLink } from '../panel/links.js';
import { actions, expression, facts, later, MOST_LISTED, section } from '../panel/panel.js';

export function describeColumn(context, model, row) {
  const { state } = context;
  const home = homeOf(model, row);
  const dataset = datasetReference({
    id: row.node.datasetId ?? home.id,
    uri: row.node.dataset,
    scope: home.node.scope,
  });
  const name = row.node.name ?? row.label;
  const known = context.api.get(
    `/graph/columns/${encodeURIComponent(row.id)}`,
    { at: state.at },
    'panel/column',
  );
  return {
    kind: 'Column',
    tone: 'column',
    title: row.label,
    detail: row.node.dataset,
    body: [
      actions(
        !isAsked(state, dataset, name) &&
          anchor(link(state, { view: 'columns', dataset, column: name }), icon('graph'), 'Trace across jobs'),
        anchor(
          link(state, { view: 'lineage', node: row.node.datasetId ?? home.id, columns: true }),
          icon('table'),
          'Table lineage',
        ),
        impactLink(state, row.id),
      ),
      facts([
        ['Table', datasetLink(state, home.node)],
        ['Type', row.type && data(row.type, 'mono')],
        ['Known', row.node.known === 'lineage' && 'by column lineage alone: the schema does not have it'],
        ['Decided by', influenceWords(row.node.indirect)],
      ]),
      later(known, (column) => definition(state, column)),
      leftOut(state, row.node),
      classifications(context, row.node),
      hops('Comes from', state, model, model.incoming.get(row.id) ?? [], 'from', noValue(state, row.node)),
      hops('Goes to', state, model, model.outgoing.get(row.id) ?? [], 'to'),
    ],
  };
}

/** The column view of this very column is open already. */
function isAsked(state, dataset, column) {
  return state.view === 'columns' && state.dataset === dataset && state.column === column;
}

/**
 * Of a column that only filters, joins, groups and windows bear on: how many, and the way to see them.
 * @param {import('../data/url.js').State} state
 * @param {{indirect?: Record<string, number>}} node
 * @returns {HTMLElement|null} null: nothing decides over it
 */
function noValue(state, { indirect }) {
  const influences = influenceWords(indirect);
  if (!influences) return null;
  return element(
    'p',
    { 'data-testid': 'no-value' },
    `No value flows here; ${influences}. `,
    !state.indirect && anchor(write({ ...state, indirect: true }), 'Show them'),
  );
}

/**
 * @param {string} heading
 * @param {import('../data/url.js').State} state
 * @param {import('../data/model.js').Model} model
 * @param {import('../data/model.js').Link[]} links
 * @param {'from'|'to'} end
 * @param {HTMLElement|null} [otherwise] in place of no link
 * @returns {HTMLElement}
 */
function hops(heading, state, model, links, end, otherwise = null) {
  if (links.length === 0)
    return section(heading, otherwise ?? element('p', { class: 'muted' }, 'nothing in this picture'));
  const lines = links
    .slice(0, 4 * MOST_LISTED)
    .map((hop) =>
      element(
        'li',
        {},
        columnLink(state, model, hop[end]),
        ' ',
        howChip(hop.edge),
        hop.edge.expression ? element('div', {}, expression(hop.edge.expression)) : null,
      ),
    );
  return section(heading, element('ul', { class: 'lines' }, lines));
}

/**
 * @param {{kind: string, how: string}} edge
 * @returns {HTMLElement}
 */
export function howChip(edge) {
  return element(
    'span',
    { class: `chip ${edge.kind === 'INDIRECT' ? 'indirect' : 'direct'}`, title: `${edge.kind} ${edge.how}` },
    howWord(edge.how),
  );
}

/**
 * `table.column`, leading to the column across jobs.
 * @param {import('../data/url.js').State} state
 * @param {import('../data/model.js').Model} model
 * @param {string} id
 * @returns {HTMLElement}
 */
export function columnLink(state, model, id) {
  const row = model.rows.get(id);
  if (!row) return data(id, 'mono');
  const home = homeOf(model, row);
  return columnHome(state, home, row, data(`${shorten(home.label, 60)}.`));
}

/**
 * The same in two lines, for tables.
 * @param {import('../data/url.js').State} state
 * @param {import('../data/model.js').Model} model
 * @param {string} id
 * @returns {HTMLElement|Array}
 */
export function columnCell(state, model, id) {
  const row = model.rows.get(id);
  if (!row) return data(id, 'mono');
  const home = homeOf(model, row);
  return [
    element(
      'span',
      { class: 'small muted block', title: shorten(home.detail, 300) },
      data(shorten(home.label, 60)),
    ),
    columnHome(state, home, row),
  ];
}

/**
 * @param {import('../data/url.js').State} state
 * @param {import('../data/model.js').Box} home
 * @param {import('../data/model.js').Row} row
 * @param {import('../page/dom.js').Child} [before]
 */
function columnHome(state, home, row, before = null) {
  const dataset = datasetReference({
    id: row.node.datasetId ?? home.id,
    uri: row.node.dataset,
    scope: home.node.scope,
  });
  const href = link(state, { view: 'columns', dataset, column: row.node.name ?? row.label });
  return anchor(href, before, element('strong', {}, data(shorten(row.label, 120))));
}
