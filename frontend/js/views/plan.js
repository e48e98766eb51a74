/**
 * One plan, seen from near: its operations, their schemas and expressions, where each output column
 * comes from, and how its executions went.
 */
import { howChip } from '../items/column.js';
import { execution } from '../panel/execution.js';
import { planVersions } from '../panel/differences.js';
import { button, data, element, icon } from '../page/dom.js';
import { emptyNotice } from '../page/notices.js';
import { code, facetTrees, runLink, valueTree } from '../panel/facets.js';
import { count, formatNumber, plain, shorten } from '../data/format.js';
import { datasetLink, jobLink } from '../panel/links.js';
import { nodeOf, planModel } from '../data/model.js';
import { expression, facts, gapList, later, modeChip, section, table } from '../panel/panel.js';
import { link, write } from '../data/url.js';

/** A filter, a join or a grouping bears on all that a plan writes: one edge to this name. */
const EVERY = '*';

export const plan = {
  controls: ['find', 'steps', 'flow'],

  /**
   * @param {import('../items/details.js').Context} context
   * @returns {Promise<import('../data/api.js').Result>} data is a Page (views.js)
   */
  async load(context) {
    const { state, api } = context;
    if (!state.plan)
      return { ok: true, data: { heading: 'Plan', subtitle: '', model: null, reply: null, empty: noPlan() } };
    const flow = state.flow === 'right' ? '' : 'down';
    const query = { layout: true, flow, fold: state.steps !== 'all' };
    const result = await api.get(`/graph/plans/${encodeURIComponent(state.plan)}`, query, 'page');
    return result.ok ? { ok: true, data: page(context, result.data, flow) } : result;
  },
};

function page(context, known, flow) {
  const { state } = context;
  const model = planModel(known, flow);
  return {
    heading: titleOf(known),
    subtitle: [writtenBy(known), known.system, known.agent, count(model.boxes.size, 'operation')]
      .filter(Boolean)
      .map(plain)
      .join(' · '),
    reply: { partial: known.partial ?? null },
    model,
    empty:
      model.boxes.size === 0
        ? emptyNotice('No operations', 'The document of this plan names no operations.')
        : null,
    below: element(
      'div',
      { class: 'parts' },
      outputColumns(state, known),
      executions(state, known),
      known.openlineage && told(context, known),
      known.job && planVersions(context, known.job.id, known.plan),
    ),
    summary: () => summarise(state, known),
    details: (item) => describeItem(state, model, known, item),
    hrefOf: () => '',
  };
}

/** A plan is named after its target; one that writes nothing by its own name. */
function titleOf({ target, name, job, planId }) {
  return plain(target ? (target.label || target.uri) : name || job?.name || planId);
}

function writtenBy({ target, mode, name, job }) {
  const by = job?.name || name;
  if (!target || !by) return by;
  return `written by ${plain(by)}${mode ? ` (${plain(mode)})` : ''}`;
}

function summarise(state, known) {
  const gaps = Array.isArray(known.gaps) ? known.gaps : [];
  return {
    kind: 'Plan',
    tone: 'operation',
    title: titleOf(known),
    detail: known.planId,
    body: [
      element(
        'div',
        { class: 'actions' },
        known.job &&
          element(
            'a',
            { href: link(state, { view: 'job', node: known.job.id }), 'data-internal': true },
            icon('job'),
            'Job',
          ),
        known.target &&
          element(
            'a',
            {
              href: link(state, { view: 'lineage', node: known.target.id, columns: true }),
              'data-internal': true,
            },
            icon('graph'),
            'Lineage of the output',
          ),
      ),
      facts([
        ['Job', jobLink(state, known.job)],
        [
          'Writes',
          known.target && [
            datasetLink(state, known.target),
            ' ',
            modeChip(known.mode),
            originWords(known.origin),
          ],
        ],
        [
          'Reads',
          known.sources?.length > 0 &&
            element(
              'ul',
              { class: 'plain' },
              known.sources.map((source) =>
                element('li', {}, datasetLink(state, source), originWords(source.origin)),
              ),
            ),
        ],
        ['Goes by', known.links?.length > 0 && goesBy(state, known.links)],
        ['System', data(known.system)],
        ['Agent', data(known.agent)],
        ['API version', known.apiVersion && data(known.apiVersion)],
        ['Command', known.command && data(known.command, 'mono')],
        [
          'Labels',
          Object.keys(known.labels ?? {}).length > 0 &&
            Object.entries(known.labels).map(([name, value]) =>
              element('div', {}, data(`${name} = ${[value].flat().join(', ')}`)),
            ),
        ],
        ['Same plan, other ids', known.otherPlans > 0 && formatNumber(known.otherPlans)],
      ]),
      gaps.length > 0 &&
        section('Gaps in the column lineage', gapList(gaps)),
      element('p', { class: 'muted' }, 'Select an operation to see its schema, expressions and parameters.'),
    ],
  };
}

const ORIGINS = Object.freeze({
  explicit: 'reported by a lineage facet',
  column: 'reported by column lineage',
  sql: 'from the text of the query',
  implied: 'implied by inputs and outputs',
  declared: 'declared, not run',
});

/** Where an edge comes from, when it is not a plan's own document. */
function originWords(origin) {
  return ORIGINS[origin] ? element('span', { class: 'muted small' }, ` ${ORIGINS[origin]}`) : null;
}

function goesBy(state, links) {
  return element(
    'ul',
    { class: 'plain' },
    links.map(({ job, column }) =>
      element('li', {}, jobLink(state, job), column && [' into ', data(column, 'mono')]),
    ),
  );
}

/** The events of an OpenLineage run beside the graph: code, facets, the events themselves. */
function told({ state, api }, known) {
  const { runId, runFacets, jobFacets, cutRunFacets, cutJobFacets, datasets, events, cut, namespace, name } = known.openlineage;
  const sql = jobFacets.sql ?? {};
  const source = jobFacets.sourceCode ?? {};
  return [
    code({
      sql: sql.query && { language: sql.dialect, text: String(sql.query) },
      sourceCode: source.sourceCode && { language: source.language, text: String(source.sourceCode) },
    }),
    section(
      'As its client tells it',
      facts([
        ['Job', name && data(`${namespace} / ${name}`, 'mono')],
        ['Run', runId && runLink(state, { id: known.executions?.[0]?.run ?? runId, runId })],
        ['Events', cut ? `the newest ${formatNumber(events)}` : formatNumber(events)],
      ]),
      rawEvents(api, known),
    ),
    facetTrees('Facets of the job', jobFacets, cutJobFacets),
    facetTrees('Facets of the run', runFacets, cutRunFacets),
    datasets.map((one) =>
      facetTrees(`Facets of ${plain(one.dataset.label)} (${one.role})`, { ...one.facets, ...one.usage }, one.cut),
    ),
  ];
}

/** The events as they came, loaded when the user opens them. */
function rawEvents(api, known) {
  const place = element('div', { 'data-testid': 'raw-events' });
  const path = `/graph/plans/${encodeURIComponent(known.id)}`;
  const show = button(
    {
      label: 'Show the events as they came',
      onclick: () => {
        show.disabled = true;
        place.replaceChildren(
          later(api.get(path, { document: true }, 'raw'), ({ document }) =>
            document.map((event, number) => valueTree(eventName(event, number), event)),
          ),
        );
      },
    },
    { class: 'link' },
  );
  return [show, place];
}

function eventName(event, number) {
  return [number + 1, event.eventType, event.eventTime].filter(Boolean).join(' · ');
}

function describeItem(state, model, known, item) {
  return model.links.has(item.id) ? describeFlow(model, item) : describeOperation(state, model, known, item);
}

/** The schema on an edge is that of the operation it leaves. */
function describeFlow(model, item) {
  const [from, to] = [nodeOf(model, item.from), nodeOf(model, item.to)];
  return {
    kind: 'Flow',
    tone: 'plain',
    title: [from.label, to.label],
    detail: '',
    body: [schemaTable(from.node.schema ?? [], 'Columns that flow here')],
  };
}

function describeOperation(state, model, known, box) {
  const operation = box.node;
  const inputs = (model.incoming.get(box.id) ?? []).map((link) => nodeOf(model, link.from).label);
  const columns = operation.kind === 'write' ? (known.columns ?? []) : [];
  return {
    kind: plain(operation.kind || 'operation'),
    tone: operation.kind === 'read' ? 'dataset' : operation.kind === 'write' ? 'direct' : 'operation',
    title: box.label,
    detail: '',
    body: [
      facts([
        ['Operation', data(operation.name, 'mono')],
        ['Used as', operation.aliases?.length > 0 && data(operation.aliases.join(', '))],
        ['Folded into it', operation.folded?.length > 0 && data(operation.folded.join(', '), 'mono')],
        ['Inputs', inputs.length > 0 && data(inputs.join(', '))],
        [
          'Tables',
          operation.datasets?.length > 0 &&
            operation.datasets.map((dataset) =>
              element(
                'div',
                {},
                datasetLink(state, dataset),
                element('span', { class: 'muted block' }, data(shorten(dataset.uri ?? '', 300), 'mono')),
              ),
            ),
        ],
        ['Mode', operation.kind === 'write' && modeChip(known.mode)],
      ]),
      operation.properties?.length > 0 &&
        section(
          'Parameters',
          element(
            'dl',
            { class: 'facts stacked' },
            operation.properties.map(({ name, text }) => [
              element('dt', {}, data(name)),
              element('dd', {}, expression(text)),
            ]),
          ),
        ),
      schemaTable(operation.schema ?? [], 'Output schema'),
      columns.length > 0 &&
        element('p', { class: 'muted' }, 'Where each output column comes from stands below the picture.'),
    ],
  };
}

function schemaTable(schema, heading) {
  if (schema.length === 0) return section(heading, element('p', { class: 'muted' }, 'not reported'));
  const rows = schema.map((column) => [
    [data(column.name), element('span', { class: 'muted block' }, data(column.type, 'mono'))],
    column.expression ? expression(column.expression) : element('span', { class: 'muted' }, 'unchanged'),
  ]);
  return section(
    `${heading} · ${count(schema.length, 'column')}`,
    table(heading, ['Column', 'Expression'], rows, { 'data-testid': 'operation-schema' }),
  );
}

function outputColumns(state, known) {
  const edges = known.columns ?? [];
  const outputs = [...new Map(edges.map((edge) => [edge.to.id, edge.to])).values()];
  const seats = seatsOf(known);
  const seat = ({ name }) => (name === EVERY ? Infinity : (seats.get(name.toLowerCase()) ?? seats.size));
  outputs.sort((one, other) => seat(one) - seat(other) || 0);
  if (outputs.length === 0)
    return section(
      'Output columns',
      element('p', { class: 'muted' }, 'No source of an output column is known.'),
    );
  const rows = outputs.flatMap((output) => {
    const sources = edges.filter((edge) => edge.to.id === output.id);
    return sources.map((edge, place) => [
      place === 0 ? columnOf(state, known, output, false) : '',
      columnOf(state, known, edge.from, true),
      [howChip(edge), edge.masking && element('span', { class: 'chip plain' }, 'masked')],
      expression(edge.expression),
    ]);
  });
  return section(
    'Output columns',
    table('Output columns and their sources', ['Column', 'Comes from', 'How', 'Expression'], rows, {
      'data-testid': 'plan-columns',
    }),
  );
}

/** The order in which the plan writes its columns. */
function seatsOf({ operations = [] }) {
  const last = operations.findLast(({ kind, schema }) => kind === 'write' && schema?.length > 0);
  return new Map((last?.schema ?? []).map(({ name }, place) => [plain(name).toLowerCase(), place]));
}

function columnOf(state, known, column, withTable) {
  if (column.name === EVERY) return element('span', { class: 'muted' }, 'every column');
  const dataset = [known.target, ...(known.sources ?? [])].find((one) => one?.uri === column.dataset);
  const href = link(state, { view: 'columns', dataset: dataset?.id ?? column.dataset, column: column.name });
  const above = withTable
    ? element(
        'span',
        { class: 'small muted block' },
        data(shorten(plain(dataset?.label ?? column.dataset), 60)),
      )
    : null;
  return [above, element('a', { href, 'data-internal': true }, element('strong', {}, data(column.name)))];
}

function executions(state, known) {
  const items = known.executions ?? [];
  if (items.length === 0)
    return section('Executions', element('p', { class: 'muted' }, 'No execution of this plan was seen.'));
  return section(
    'Executions',
    element(
      'div',
      { class: 'cards', 'data-testid': 'executions' },
      items.map((item) => execution(state, { ...item, job: null, planId: null, plan: null })),
    ),
  );
}

function noPlan() {
  return emptyNotice('Which plan?', 'Open a job to see its plans.', {
    href: write({ view: 'overview' }),
    words: 'Go to the overview',
  });
}
