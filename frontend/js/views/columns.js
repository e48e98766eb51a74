/**
 * Columns across jobs: the picture, and every hop with its expression.
 */
import { columnCell, howChip } from '../items/column.js';
import { describe } from '../items/details.js';
import { datasetReference, jobById } from '../panel/links.js';
import { element } from '../page/dom.js';
import { emptyNotice } from '../page/notices.js';
import { count, influenceWords, plain, shorten } from '../data/format.js';
import { findNode, homeOf, tally, toModel } from '../data/model.js';
import { expression, section, table } from '../panel/panel.js';
import { depthOf, link, write } from '../data/url.js';

const MOST_HOPS = 500;
const MOST_JOBS = 4;

export const columns = {
  controls: ['direction', 'depth', 'indirect', 'ends', 'at'],

  /**
   * @param {import('../items/details.js').Context} context
   * @returns {Promise<import('../data/api.js').Result>} data is a Page (views.js)
   */
  async load(context) {
    const { state, api } = context;
    const asked = await resolve(state, api);
    if (!asked.ok) return asked;
    if (!asked.data.dataset)
      return {
        ok: true,
        data: { heading: 'Columns', subtitle: '', model: null, reply: null, empty: noColumn() },
      };
    const { direction, at, limit } = state;
    const query = {
      ...asked.data,
      direction,
      depth: depthOf(state),
      indirect: state.indirect || '',
      ends: state.ends || '',
      reach: state.ends ? '' : 'possible',
      at,
      limit,
      layout: true,
    };
    const result = await api.get('/graph/column-lineage', query, 'page');
    return result.ok ? { ok: true, data: page(context, asked.data, result.data) } : result;
  },
};

/** A column known by its id alone is looked up first: the question takes a table and a path. */
async function resolve(state, api) {
  if (state.dataset || !state.node)
    return { ok: true, data: { dataset: state.dataset, column: state.column } };
  const result = await api.get('/graph/lineage', { node: state.node, depth: 0 }, 'page');
  if (!result.ok) return result;
  const node = result.data.nodes.find((one) => one.kind === 'column') ?? result.data.nodes[0];
  return {
    ok: true,
    data: { dataset: node?.datasetId ?? node?.id ?? '', column: node?.kind === 'column' ? node.name : '' },
  };
}

function page(context, asked, reply) {
  const { state } = context;
  const model = toModel(reply);
  model.focus = reply.focus ?? focusOf(model, asked);
  const focus = findNode(model, model.focus);
  const home = focus?.kind === 'column' ? homeOf(model, focus) : focus;
  const named = asked.column
    ? `${shorten(home?.label ?? plain(asked.dataset), 80)}.${asked.column}`
    : `Columns of ${home?.label ?? plain(asked.dataset)}`;
  return {
    heading: named,
    subtitle: words(state, model, reply, focus),
    reply,
    model,
    empty:
      model.boxes.size === 0
        ? emptyNotice('Nothing here', 'Nothing is known of where this column comes from or goes to.')
        : null,
    below: model.links.size > 0 ? hops(context, model) : null,
    summary: () => (focus ? describe(context, model, focus) : null),
    details: (item) => describe(context, model, item),
    hrefOf: (item) => hrefOf(state, model, item),
  };
}

function focusOf(model, { dataset, column }) {
  const homes = [...model.boxes.values()].filter((box) => box.id === dataset || box.node.uri === dataset);
  const home = homes[0] ?? [...model.boxes.values()].find((box) => sameTail(box.node.uri, dataset));
  if (!home || !column) return home?.id ?? '';
  return home.rows.find((row) => plain(row.node.name).toLowerCase() === column.toLowerCase())?.id ?? home.id;
}

/** `s3a://lake/t/` was asked for, `s3://lake/t` came back: the rest after the scheme is the same. */
function sameTail(uri, asked) {
  const tail = (text) =>
    plain(text)
      .replace(/^[a-z0-9+.-]+:\/*/i, '')
      .replace(/\/+$/, '');
  return tail(uri) === tail(asked);
}

/** The influences on the requested column, and whether any value flows into it. */
function influences(state, model, reply, column) {
  const words = column?.kind === 'column' ? influenceWords(column.node.indirect) : '';
  if (!words) return '';
  const links = model.incoming.get(column.id) ?? [];
  const told = state.direction !== 'downstream' && depthOf(state) > 0 && !reply.partial;
  const flows = !told || links.some((one) => one.kind === 'DIRECT');
  return flows ? ` · ${words}` : ` · no value flows here; ${words}`;
}

function words(state, model, reply, focus) {
  const tables = tally(model);
  const way =
    state.direction === 'both'
      ? 'where it comes from and where it goes'
      : state.direction === 'upstream'
        ? 'where it comes from'
        : 'where it goes';
  return `${way} · ${count(tables.columns, 'column')} in ${count(tables.datasets, 'table')} · ${count(tables.links, 'hop')}${influences(state, model, reply, focus)}`;
}

function hops(context, model) {
  const { state } = context;
  const seat = new Map(model.order.map((id, place) => [id, place]));
  const links = [...model.links.values()].sort(
    (one, other) => seat.get(one.from) - seat.get(other.from) || seat.get(one.to) - seat.get(other.to),
  );
  const rows = links
    .slice(0, MOST_HOPS)
    .map((hop) => [
      columnCell(state, model, hop.from),
      columnCell(state, model, hop.to),
      howChip(hop.edge),
      expression(hop.edge.expression),
      jobsOf(context, model, hop.edge),
    ]);
  const rest =
    links.length > MOST_HOPS
      ? element('p', { class: 'muted' }, `and ${count(links.length - MOST_HOPS, 'more hop')}`)
      : null;
  return section(
    'Every hop',
    table('Every hop with its expression', ['From', 'To', 'How', 'Expression', 'Job'], rows, {
      class: 'hops',
      'data-testid': 'hops',
    }),
    rest,
  );
}

function jobsOf(context, model, edge) {
  return (edge.jobs ?? [])
    .slice(0, MOST_JOBS)
    .map((id, place) => [place > 0 ? ', ' : null, jobById(context, model, id)]);
}

function hrefOf(state, model, item) {
  const home = item.kind === 'column' ? model.boxes.get(item.box) : item;
  const column = item.kind === 'column' ? (item.node.name ?? item.label) : '';
  const { direction, depth, indirect } = state;
  return link(state, {
    view: 'columns',
    dataset: datasetReference(home.node),
    column,
    direction,
    depth,
    indirect,
  });
}

function noColumn() {
  return emptyNotice('Which column?', 'Search for a column, or pick one from a table’s schema.', {
    href: write({ view: 'overview' }),
    words: 'Go to the overview',
  });
}
