/**
 * The changes in the lineage of a node between two times: one picture of both, and a list.
 */
import { getAll } from '../data/api.js';
import { describe } from '../items/details.js';
import {
  changeRows,
  evidenceLines,
  fieldSentences,
  planVersions,
  schemaVersions,
  sentenceList,
} from '../panel/differences.js';
import { data, element, time } from '../page/dom.js';
import { bothExecutions, bothRuns } from '../runs/executions.js';
import { emptyNotice } from '../page/notices.js';
import { count, shorten } from '../data/format.js';
import { changeChip } from '../page/list.js';
import { findNode, toModel } from '../data/model.js';
import { oldestFirst, pairExecutions } from '../runs/pairs.js';
import { facts, section, table } from '../panel/panel.js';
import { depthOf, lineageOf, write } from '../data/url.js';

const CHOOSE =
  'Choose the time to compare with above, and a second one if it is not now; or one of the versions below.';

export const diff = {
  controls: ['from', 'to', 'direction', 'depth', 'columns', 'indirect'],

  /**
   * @param {import('../items/details.js').Context} context
   * @returns {Promise<import('../data/api.js').Result>} data is a Page (views.js)
   */
  async load(context) {
    const { state } = context;
    if (state.fromExecution && state.toExecution) return ask(context, state);
    if (!state.node) return alone('Difference', noNode());
    if (state.fromRun && state.toRun) return betweenRuns(context);
    return state.from ? ask(context, state) : choose(context);
  },
};

async function ask(context, state) {
  const result = await context.api.get('/graph/diff', question(state), 'page');
  return result.ok ? { ok: true, data: page(context, result.data) } : result;
}

/** Runs are compared execution by execution: at once where each has written one and the same table. */
async function betweenRuns(context) {
  const { state, api } = context;
  const of = `/graph/jobs/${encodeURIComponent(state.node)}/runs`;
  const [one, other] = await getAll(
    api,
    [
      [`${of}/${encodeURIComponent(state.fromRun)}`, {}],
      [`${of}/${encodeURIComponent(state.toRun)}`, {}],
    ],
    'runs',
  );
  if (!one.ok) return one;
  if (!other.ok) return other;
  const [before, after] = oldestFirst([one.data, other.data]);
  const [first, ...rest] = pairExecutions(before.items, after.items);
  if (first?.before && first.after && rest.length === 0)
    return ask(context, { ...state, node: '', fromExecution: first.before.id, toExecution: first.after.id });
  const name = (first?.after ?? first?.before)?.job?.name ?? 'Two runs';
  return {
    ok: true,
    data: {
      heading: name,
      subtitle: 'two runs',
      model: null,
      reply: { partial: before.partial ?? after.partial },
      empty: null,
      document: () => bothRuns(state, before, after),
    },
  };
}

/** @returns {import('../data/api.js').Answer} */
function alone(heading, empty) {
  return { ok: true, data: { heading, subtitle: '', model: null, reply: null, empty } };
}

function question(state) {
  const { node, from, to, fromExecution, toExecution, limit } = state;
  const between = fromExecution ? { fromExecution, toExecution } : { from, to };
  return {
    node,
    ...between,
    limit,
    direction: state.direction,
    depth: depthOf(state),
    columns: state.columns || '',
    indirect: state.indirect || '',
    unchanged: true,
    layout: true,
  };
}

/** No time yet: its versions are times worth comparing with. */
async function choose(context) {
  const { state, api } = context;
  const graph = await api.get('/graph/lineage', { node: state.node, depth: 0 }, 'page');
  if (!graph.ok) return graph;
  const [node] = graph.data.nodes;
  const versions =
    node?.kind === 'job'
      ? planVersions(context, node.id)
      : schemaVersions(context, node?.datasetId ?? graph.data.focus ?? state.node);
  return {
    ok: true,
    data: {
      heading: node?.label ?? state.node,
      subtitle: '',
      model: null,
      reply: null,
      empty: null,
      document: () =>
        element('div', { class: 'document', 'data-testid': 'choose' }, element('p', {}, CHOOSE), versions),
    },
  };
}

function page(context, reply) {
  const { state } = context;
  const model = toModel(reply, state.node);
  const focus = findNode(model, model.focus);
  const changed = [...reply.nodes, ...reply.edges].filter((one) => one.change).length;
  const executions = reply.executions ? bothExecutions(state, reply.executions, reply.plan) : [];
  const same = executions.length > 0 && changed === 0;
  const below = element('div', { class: 'parts' }, executions, changes(state, model, reply));
  return {
    heading: focus?.label ?? state.node,
    subtitle: `${executions.length > 0 ? 'two executions · ' : ''}${words(reply)}`,
    reply: { partial: reply.partial, folded: reply.from.folded || reply.to.folded, asOf: reply.to.asOf },
    model: same ? null : model,
    empty: same ? null : empty(model, changed),
    document: same ? () => unchanged(below) : undefined,
    below: same ? null : below,
    summary: () => summarise(reply, focus),
    details: (item) => details(context, model, item),
    hrefOf: (item) => lineageOf({ ...state, at: state.to }, item.id),
  };
}

/** The lineage is the same: there is no picture of a change, but the executions may well differ. */
function unchanged(below) {
  const words = 'The lineage around it is the same at both times.';
  return element('div', { class: 'document', 'data-testid': 'unchanged' }, element('p', {}, words), below);
}

function words({ counts: { nodes, edges } }) {
  const [added, removed, changed] = ['added', 'removed', 'changed'].map((one) => nodes[one] + edges[one]);
  return added + removed + changed === 0 ? 'nothing changed' : `+${added} −${removed} ~${changed}`;
}

function empty(model, changed) {
  if (model.boxes.size === 0)
    return emptyNotice('Nothing at both times', 'This node is in no document before either time.');
  if (changed > 0) return null;
  return emptyNotice(
    'Nothing changed',
    'Both times have the same jobs, tables, columns and plans. Try another time, more steps, or columns.',
  );
}

function changes(state, model, reply) {
  const name = (id) => {
    const item = findNode(model, id);
    const row = model.rows.get(id);
    const label = shorten(item?.label ?? id, 80);
    return row ? `${shorten(model.boxes.get(row.box).label, 60)}.${label}` : label;
  };
  const nodes = changeRows(state, reply.nodes, (one) => [
    data(name(one.id)),
    element('span', { class: 'muted block' }, one.kind === 'dataset' ? 'table' : one.kind),
  ]);
  const edges = changeRows(state, reply.edges, (one) => [
    data(name(one.from)),
    ' → ',
    data(name(one.to)),
    one.kind === 'feeds' ? null : element('span', { class: 'muted block' }, one.kind.toLowerCase()),
  ]);
  const headings = ['Change', 'Item', 'Details', 'Reported by'];
  return [
    nodes.length > 0 &&
      section('Nodes', table('Nodes that changed', headings, nodes, { 'data-testid': 'changed-nodes' })),
    edges.length > 0 &&
      section('Edges', table('Edges that changed', headings, edges, { 'data-testid': 'changed-edges' })),
  ];
}

function summarise(reply, focus) {
  const side = ({ at, asOf }) => [at ? time(at) : 'now', asOf ? [', newest event ', time(asOf)] : null];
  const tally = (kind) => {
    const { added, removed, changed } = reply.counts[kind];
    return `${count(added, 'added', 'added')}, ${removed} removed, ${changed} changed`;
  };
  return {
    kind: 'Difference',
    tone: 'plain',
    title: focus?.label ?? '',
    detail: focus?.detail ?? '',
    body: [
      facts([
        ['From', side(reply.from)],
        ['To', side(reply.to)],
        ['Nodes', tally('nodes')],
        ['Edges', tally('edges')],
        ['Hidden', reply.hidden > 0 && String(reply.hidden)],
      ]),
      element('p', { class: 'muted' }, 'Select a node or an edge to see its changes and the run that reported them.'),
    ],
  };
}

function details(context, model, item) {
  const description = describe(context, model, item);
  const { change, changes: fields, evidence } = item.edge ?? item.node;
  if (!change) return description;
  const lines = evidenceLines(context.state, evidence);
  const between = section(
    'Between both times',
    changeChip(change),
    sentenceList((fields ?? []).flatMap(fieldSentences)),
    lines.length > 0 && element('ul', { class: 'plain' }, lines),
  );
  if (description.body) return { ...description, body: [between, ...description.body] };
  const tab = { key: 'change', words: 'Change', draw: () => between };
  return { ...description, tabs: [tab, ...(description.tabs ?? [])] };
}

function noNode() {
  return emptyNotice('Which table or job?', 'Open one and choose “Compare with…”.', {
    href: write({ view: 'overview' }),
    words: 'Go to the overview',
  });
}
