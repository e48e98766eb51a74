/**
 * What the panel says of a table, a job, a column or an edge: first what the picture knows, then
 * what the server adds.
 */
import { runBars } from '../runs/bars.js';
import { classifications } from './classifications.js';
import { declaredOf } from './declared.js';
import { anchor, data, element, icon, time } from '../page/dom.js';
import {
  checkWords,
  code,
  describedFacts,
  facetHistory,
  facetsInForce,
  numbers,
  qualityChip,
  qualityPart,
  runLink,
  tagWords,
} from './facets.js';
import {
  count,
  formatDuration,
  formatNumber,
  formatSize,
  formatTime,
  howWord,
  influenceWords,
  plain,
  shorten,
} from '../data/format.js';
import { compareExecutions, compareLink, schemaVersions, upstreamChanges } from './differences.js';
import { definition, leftOut } from './definition.js';
import { hiding } from './hiding.js';
import { jobMoments, momentList, partitionTable, tableMoments } from '../runs/history.js';
import { datasetLink, impactLink, jobLink, planLink } from './links.js';
import { measuresOf } from '../runs/measures.js';
import { homeOf, nodeOf } from '../data/model.js';
import {
  errorText,
  expression,
  facts,
  later,
  modeChip,
  rowFilter,
  section,
  separated,
  stateChip,
  table,
} from './panel.js';
import { jobReference, link, write } from '../data/url.js';

const RECENT = 5;
const MOST_BARS = 30;
/** So many columns are looked through without a filter. */
const FEW_COLUMNS = 10;
const MOST_LISTED = 12;
const LONGEST_REFERENCE = 2000;

/**
 * @typedef {object} Context
 * @property {import('../data/url.js').State} state
 * @property {ReturnType<import('../data/api.js').createApi>} api
 * @property {() => Promise<void>} reload   ask everything again
 * @property {(text: string) => void} announce  to screen readers
 * @property {() => void} repaint           what was classified shows at once
 * @property {import('../controls/controls.js').Change} go
 * @property {{begin: () => void}} tour  of the sample
 */

/**
 * @param {Context} context
 * @param {import('../data/model.js').Model} model
 * @param {import('../data/model.js').Item} item
 * @returns {import('./panel.js').Description}
 */
export function describe(context, model, item) {
  if ('edge' in item) return describeLink(context, model, item);
  if (item.kind === 'column') return describeColumn(context, model, item);
  return item.kind === 'job' ? describeJob(context, item.node) : describeDataset(context, item.node);
}

/**
 * The words that a column view asks with: the URI where it is enough, else the id.
 * @param {{id: string, uri?: string, scope?: string}} dataset
 * @returns {string}
 */
export function datasetReference({ id, uri, scope }) {
  return uri && scope === '' && uri.length <= LONGEST_REFERENCE ? uri : id;
}

function describeDataset(context, node) {
  const { state, api } = context;
  const of = `/graph/datasets/${encodeURIComponent(node.id)}`;
  const known = api.get(of, { at: state.at }, 'panel/dataset');
  return {
    kind: 'Table',
    tone: 'dataset',
    title: node.label || node.uri,
    detail: node.uri,
    tabs: [
      { key: 'overview', words: 'Overview', draw: () => tableOverview(context, node, of, known) },
      {
        key: 'schema',
        words: 'Schema',
        draw: () => [
          later(known, (dataset) => schemaParts(state, dataset)),
          schemaVersions(context, node.id),
        ],
      },
      { key: 'history', words: 'History', draw: () => tableHistory(context, node, of) },
      {
        key: 'quality',
        words: 'Quality',
        draw: () => later(known, (dataset) => qualityParts(state, dataset.about)),
      },
      {
        key: 'facets',
        words: 'Facets',
        draw: () => later(known, ({ about: told }) => orNone(facetsInForce(state, told?.facets), 'No client sent facets of this table.')),
      },
    ],
  };
}

function tableOverview(context, node, of, known) {
  const { state, api } = context;
  const last = api.get(`${of}/last-writer`, { at: state.at }, 'panel/last-writer');
  return [
    actions(
      anchor(link(state, { view: 'lineage', node: node.id, columns: true }), icon('graph'), 'Lineage'),
      anchor(link(state, { view: 'columns', dataset: datasetReference(node) }), icon('table'), 'Columns'),
      impactLink(state, node.id),
      compareLink(state, node.id),
      anchor(link(state, { view: 'declare', node: node.id }), icon('plus'), 'Declare lineage'),
    ),
    facts([
      ['Type', node.type && data(node.type)],
      ['Scope', node.scope && data(node.scope)],
      ['Layer', node.layer && data(node.layer)],
      ['Last write', time(node.lastWrite, 'never seen')],
      [
        'Also known as',
        node.names?.length > 0 &&
          element(
            'ul',
            { class: 'plain' },
            node.names.map((name) => element('li', {}, data(name, 'mono'))),
          ),
      ],
    ]),
    leftOut(state, node),
    node.quality && element('p', {}, qualityChip(node.quality.state), ' ', failures(node.quality)),
    later(last, (reply) => lastWriter(state, reply)),
    later(known, (dataset) => [
      renames(state, dataset),
      users(state, 'Written by', dataset.writers ?? []),
      users(state, 'Read by', dataset.readers ?? []),
      facts(describedFacts(dataset.about?.described)),
    ]),
    classifications(context, node),
    declaredOf(context, node.id),
    hiding(context, node),
  ];
}

/** What happened to it, and its newest writes with the way to compare each with the one before. */
function tableHistory(context, node, of) {
  const { state, api } = context;
  const written = api.get(`${of}/history`, { limit: RECENT, at: state.at }, 'panel/history');
  return [
    upstreamChanges(context, 'datasets', node.id, false),
    later(tableMoments(context, node.id), (told) => [
      section('Writes and versions', momentList(state, node.id, told)),
      partitionTable(state, told.writes),
    ]),
    later(
      written,
      (history) =>
        history.items.length > 0 &&
        section(
          'Recent writes',
          history.items.map((item, place) => [
            execution(state, item),
            withBefore(state, item, history.items[place + 1]),
          ]),
        ),
    ),
  ];
}

/** A part that may have nothing to show says so. */
function orNone(part, words) {
  return part ?? element('p', { class: 'muted' }, words);
}

function failures({ failed, failures: total }) {
  if (total === 0) return null;
  const words = failed.slice(0, MOST_LISTED).map(checkWords).join(', ');
  return data(total > MOST_LISTED ? `${words} and ${formatNumber(total - MOST_LISTED)} more` : words);
}

/** The checks of a table, and what clients measured of it over time. */
function qualityParts(state, told) {
  const parts = [
    qualityPart(state, told?.quality),
    facetHistory('Versions', state, told?.versions, (body) => body.datasetVersion ?? JSON.stringify(body)),
    facetHistory('Lifecycle', state, told?.lifecycle, (body) => body.lifecycleStateChange ?? JSON.stringify(body)),
    facetHistory('Rows and bytes written', state, told?.statistics, numbers),
    facetHistory('Quality metrics', state, told?.metrics, numbers),
  ].filter(Boolean);
  return parts.length > 0 ? parts : element('p', { class: 'muted' }, 'No check and no measurement of this table was reported.');
}

function lastWriter(state, { execution: writer, failedSince = [], candidates = [] }) {
  if (!writer && failedSince.length === 0) return null;
  return section(
    'Last writer',
    writer
      ? element(
          'p',
          {},
          writer.job ? jobLink(state, writer.job) : 'a hidden job',
          ' ',
          modeChip(writer.mode),
          element('br'),
          time(writer.at),
          ' · ',
          planLink(state, planOf(writer), 'plan'),
        )
      : element('p', { class: 'muted' }, 'No successful write was seen.'),
    gapNotes(writer),
    candidates.length > 1 &&
      element('p', { class: 'note' }, `It may be any of ${candidates.length} writes since `, time(candidates.at(-1).at), '.'),
    failedSince.length > 0 &&
      element(
        'p',
        { class: 'note failed' },
        icon('warning'),
        ` ${count(failedSince.length, 'failed attempt')} since then, the latest `,
        time(failedSince[0].at),
        '.',
      ),
  );
}

function schemaParts(state, dataset) {
  const columns = dataset.schema?.columns ?? [];
  const alone = columns.filter((column) => column.known === 'lineage').length;
  const listed = columns.filter((column) => column.known !== 'lineage' && !column.parent).length;
  const href = (column) =>
    link(state, { view: 'columns', dataset: datasetReference(dataset), column: column.path ?? column.name });
  const grid = table(
    'Schema',
    ['Column', 'Type'],
    columns.map((column) => [
      [anchor(href(column), data(column.name)), columnWords(column)],
      column.known === 'lineage'
        ? element('span', { class: 'chip plain' }, 'by lineage')
        : data(column.type, 'mono'),
    ]),
    { 'data-testid': 'schema' },
  );
  return [
    columns.length === 0
      ? element('p', { class: 'muted' }, 'No schema was reported.')
      : section(
        `Schema · ${count(listed, 'column')}${alone ? ` · ${formatNumber(alone)} by lineage alone` : ''}`,
        columns.length > FEW_COLUMNS && rowFilter(grid, 'Filter columns'),
        grid,
      ),
    dataset.partitionKeys?.length > 0 &&
      facts([['Partitioned by', data(dataset.partitionKeys.join(', '), 'mono')]]),
  ];
}

/** Where a table's name came from, and where it went. */
function renames(state, { renamedFrom, renamedTo }) {
  const end = (told) => told && [datasetLink(state, told.dataset), ' · ', time(told.at)];
  const told = facts([
    ['Renamed from', end(renamedFrom)],
    ['Renamed to', end(renamedTo)],
  ]);
  return told && element('div', { 'data-testid': 'renames' }, told);
}

/** What clients say of a column, under its name. */
function columnWords({ description, tags }) {
  return [
    description && element('span', { class: 'muted block' }, data(shorten(description, 300))),
    tags?.length > 0 && element('span', { class: 'block' }, tags.map(tagWords)),
  ];
}

function users(state, heading, items) {
  if (items.length === 0) return null;
  const lines = items
    .slice(0, MOST_LISTED)
    .map((user) =>
      element(
        'li',
        {},
        jobLink(state, user.job),
        ' ',
        modeChip(user.mode),
        element('span', { class: 'muted block' }, time(user.at), ' · ', planLink(state, user.plan, 'plan')),
      ),
    );
  return section(heading, element('ul', { class: 'lines' }, lines), more(items.length));
}

function more(total) {
  return total > MOST_LISTED
    ? element('p', { class: 'muted' }, `and ${formatNumber(total - MOST_LISTED)} more`)
    : null;
}

function describeJob(context, node) {
  const { state, api } = context;
  const of = `/graph/jobs/${encodeURIComponent(node.id)}`;
  const known = api.get(of, { at: state.at }, 'panel/job');
  const runs = api.get(`${of}/runs`, { limit: MOST_BARS, at: state.at }, 'panel/runs');
  return jobTabs(context, node, { known, runs });
}

/**
 * @param {Context} context
 * @param {object} node a job of a picture
 * @param {{known: Promise<import('../data/api.js').Result>, runs: Promise<import('../data/api.js').Result>}} answers
 * @returns {import('./panel.js').Description}
 */
export function jobTabs(context, node, { known, runs }) {
  const { state } = context;
  return {
    kind: 'Job',
    tone: 'job',
    title: node.name || node.label,
    detail: '',
    tabs: [
      { key: 'overview', words: 'Overview', draw: () => jobOverview(context, node, known, runs) },
      { key: 'runs', words: 'Runs', draw: () => later(runs, (list) => jobRuns(state, list)) },
      {
        key: 'history',
        words: 'History',
        draw: () => [
          !hasFailed(node) && upstreamChanges(context, 'jobs', node.id, false),
          later(jobMoments(context, node.id), (told) => section('Runs and versions', momentList(state, node.id, told))),
        ],
      },
      {
        key: 'sql',
        words: 'SQL',
        draw: () => later(known, ({ about }) => sourceOf(about?.described)),
      },
      {
        key: 'facets',
        words: 'Facets',
        draw: () => later(known, ({ about }) => orNone(facetsInForce(state, about?.facets), 'No client sent facets of this job.')),
      },
    ],
  };
}

/** Of a job that failed first what changed, then what it is. */
function jobOverview(context, node, known, runs) {
  const { state } = context;
  const itself = state.view === 'job';
  return [
    hasFailed(node) && later(runs, ({ items }) => errorText(items[0]?.error)),
    hasFailed(node) && upstreamChanges(context, 'jobs', node.id, true),
    actions(
      !(itself && state.node === jobReference(node)) && anchor(link(state, { view: 'job', node: jobReference(node) }), icon('job'), 'Open job'),
      anchor(link(state, { view: 'lineage', node: node.id }), icon('graph'), 'Lineage'),
      impactLink(state, node.id),
      compareLink(state, node.id),
    ),
    facts([
      ['Namespace', data(node.namespace)],
      ['Last run', node.lastRun && [stateChip(node.lastRun.state), ' ', time(node.lastRun.at)]],
      ['Shared name', node.shared && 'several applications report under this name'],
    ]),
    later(runs, (list) => barsOfRuns(state, list.items)),
    later(known, (job) => [
      facts([['Producer', job.producer && data(job.producer)], ...describedFacts(job.about?.described)]),
      endsOf(state, 'Reads', (job.plans ?? []).flatMap(({ sources }) => sources ?? [])),
      endsOf(state, 'Writes', (job.plans ?? []).flatMap(({ target }) => target ?? [])),
      !itself &&
        section(
          'Plans',
          (job.plans ?? []).slice(0, MOST_LISTED).map((plan) => planCard(state, plan)),
          more(job.plans?.length ?? 0),
        ),
    ]),
    hiding(context, node),
  ];
}

function hasFailed({ lastRun }) {
  return lastRun?.state === 'failed';
}

/** The tables of a job on one side, each once. */
function endsOf(state, heading, datasets) {
  const listed = [...new Map(datasets.map((dataset) => [dataset.id, dataset])).values()];
  if (listed.length === 0) return null;
  const line = (dataset) =>
    element('li', {}, datasetLink(state, dataset), element('span', { class: 'muted block' }, data(shorten(dataset.uri ?? '', 300), 'mono')));
  return section(heading, element('ul', { class: 'lines' }, listed.slice(0, MOST_LISTED).map(line)), more(listed.length));
}

/**
 * @param {import('../data/url.js').State} state
 * @param {object[]} runs newest first
 * @returns {HTMLElement|null}
 */
export function barsOfRuns(state, runs) {
  return runBars(
    runs.slice(0, MOST_BARS).map((run) => ({
      href: link(state, { view: 'run', run: (run.told ?? run).id }),
      state: run.state,
      at: run.endedAt ?? run.startedAt,
      milliseconds: millisecondsOf(run),
    })),
  );
}

function jobRuns(state, { items, total }) {
  if (items.length === 0) return element('p', { class: 'muted' }, 'No run was seen.');
  return [
    barsOfRuns(state, items),
    section(`Runs · ${formatNumber(total)}`, items.map((run) => runLine(state, run))),
    total > items.length && element('p', { class: 'muted' }, `The newest ${formatNumber(items.length)}.`),
  ];
}

function sourceOf(described) {
  const parts = code(described).filter(Boolean);
  return parts.length > 0 ? parts : element('p', { class: 'muted' }, 'No client sent the code of this job.');
}

/**
 * A plan in a few lines: where it writes, from what, how, and when it last ran.
 * @param {import('../data/url.js').State} state
 * @param {object} plan an item of a job's `plans`
 * @returns {HTMLElement}
 */
export function planCard(state, plan) {
  return element(
    'div',
    { class: 'card' },
    element(
      'div',
      { class: 'card-line' },
      planLink(state, plan.planIds?.[0] ?? plan.id, plan.target ? `plan → ${plan.target.label}` : 'plan'),
      modeChip(plan.mode),
    ),
    plan.sources?.length > 0 &&
      element(
        'div',
        { class: 'muted' },
        'from ',
        separated(plan.sources, (source) => datasetLink(state, source)),
      ),
    plan.lastRun &&
      element('div', { class: 'muted' }, stateChip(plan.lastRun.state), ' ', time(plan.lastRun.at)),
    gapCount(plan) > 0 &&
      element(
        'div',
        { class: 'note' },
        icon('warning'),
        ` ${count(gapCount(plan), 'gap')} in its lineage`,
      ),
  );
}

/** What is not known of an execution: `which partitions it replaced`. */
function gapNotes(item) {
  return (item?.gaps ?? []).map((gap) =>
    element('p', { class: 'note' }, icon('warning'), ` ${words(gap.code)}: `, data(gap.detail)),
  );
}

/** `partitions-unknown => partitions unknown` */
function words(code) {
  return code.replaceAll('-', ' ');
}

function gapCount(plan) {
  return Array.isArray(plan.gaps) ? plan.gaps.length : (plan.gaps ?? 0);
}

function runLine(state, run) {
  const ended = run.endedAt ?? run.startedAt;
  return element(
    'div',
    { class: 'card' },
    element('div', { class: 'card-line' }, runLink(state, run.told ?? run, formatTime(ended) || 'time unknown'), stateChip(run.state)),
    element('div', { class: 'muted' }, [
      durationOf(run) || 'duration unknown',
      run.applicationId && [' · ', data(run.applicationId, 'mono')],
    ]),
    errorText(run.error),
  );
}

/**
 * @param {{startedAt?: string|null, endedAt?: string|null, durationMs?: number|null}} run
 * @returns {number|null} null when unknown
 */
function millisecondsOf({ durationMs, startedAt, endedAt }) {
  if (typeof durationMs === 'number' && Number.isFinite(durationMs)) return durationMs;
  return startedAt && endedAt ? new Date(endedAt).getTime() - new Date(startedAt).getTime() : null;
}

/**
 * @param {{startedAt?: string|null, endedAt?: string|null, durationMs?: number|null}} run
 * @returns {string} an empty string when unknown
 */
export function durationOf(run) {
  return formatDuration(millisecondsOf(run));
}

/**
 * One execution: when, how it ended, how much it read and wrote, what went wrong.
 * @param {import('../data/url.js').State} state
 * @param {object} item
 * @returns {HTMLElement}
 */
export function execution(state, item) {
  return element(
    'div',
    { class: 'card' },
    element(
      'div',
      { class: 'card-line' },
      time(item.at),
      element('span', {}, modeChip(item.mode), ' ', stateChip(item.state)),
    ),
    aside(state, item),
    item.formerName &&
      element('div', { class: 'muted' }, 'under the former name ', datasetLink(state, item.formerName)),
    item.partitions?.length > 0 &&
      element('div', { class: 'muted' }, 'partitions ', data(item.partitions.join(', '), 'mono')),
    metrics(item.metrics),
    gapNotes(item),
    errorText(item.error),
  );
}

/** The link that compares a write with the one before. */
function withBefore(state, item, before) {
  return before && element('p', {}, compareExecutions(state, before, item, 'Compare with the write before'));
}

/** The key of an OpenLineage run (`run:…`) is no plan's id: its plan has one of its own. */
function planOf({ planId, plan }) {
  return planId && !planId.includes(':') ? planId : plan;
}

function aside(state, item) {
  const plan = planOf(item);
  const parts = [
    item.job && jobLink(state, item.job),
    durationOf(item) || 'duration unknown',
    item.branch && ['branch ', data(item.branch, 'mono')],
    plan && planLink(state, plan, 'plan'),
    item.run && runLink(state, { id: item.run }, 'run'),
  ].filter(Boolean);
  return (
    parts.length > 0 &&
    element(
      'div',
      { class: 'muted' },
      parts.map((part, place) => [place > 0 ? ' · ' : null, part]),
    )
  );
}

/**
 * Rows and bytes first, the rest folded.
 * @param {Record<string, Record<string, number>>|null|undefined} groups `{"read": {…}, "write": {…}}`
 * @returns {import('../page/dom.js').Child[]}
 */
export function metrics(groups) {
  const { read, write, rest } = measuresOf(groups);
  const amount = ({ rows, bytes }) =>
    [rows !== null && count(rows, 'row'), bytes !== null && formatSize(bytes)].filter(Boolean).join(', ');
  return [
    facts([
      ['Wrote', amount(write)],
      ['Read', amount(read)],
    ]),
    rest.length > 0 &&
      element(
        'details',
        { class: 'tree', 'data-testid': 'more-metrics' },
        element('summary', {}, element('span', { class: 'muted' }, count(rest.length, 'further metric'))),
        facts(rest.map(([name, value]) => [name, typeof value === 'number' ? formatNumber(value) : data(value)])),
      ),
  ];
}

function describeColumn(context, model, row) {
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

function describeLink(context, model, item) {
  const { state } = context;
  const { edge } = item;
  const column = edge.kind !== 'feeds';
  const ends = [item.from, item.to].map((id) => nodeOf(model, id));
  const endLink = (end) => (column ? columnLink(state, model, end.id) : boxLink(state, end));
  return {
    kind: column ? (edge.kind === 'INDIRECT' ? 'Indirect dependency' : 'Column dependency') : 'Flow',
    tone: edge.kind === 'INDIRECT' ? 'indirect' : column ? 'direct' : 'plain',
    title: ends.map(({ label }) => shorten(label, 60)),
    detail: '',
    body: [
      facts([
        ['From', endLink(ends[0])],
        ['To', endLink(ends[1])],
        ['How', column && howChip(edge)],
        ['Origin', edge.origin === 'declared' && 'declared by a person: no run tells of it'],
        ['Attempted', edge.attempted && 'the last run failed: nothing flowed here'],
        ['Mode', edge.modes?.length > 0 && edge.modes.map(modeChip)],
        [
          'Jobs',
          edge.jobs?.length > 0 &&
            separated(edge.jobs.slice(0, MOST_LISTED), (id) => jobById(context, model, id)),
        ],
      ]),
      edge.origin === 'declared' && declaredOf(context, declaredEnd(model, item)),
      edge.expression && section('Expression', expression(edge.expression)),
      edge.plans?.length > 0 &&
        section(
          'Plans',
          element(
            'ul',
            { class: 'lines' },
            edge.plans.slice(0, MOST_LISTED).map((id) => element('li', {}, planLink(state, id, id))),
          ),
          more(edge.plans.length),
        ),
    ],
  };
}

/** The table at an edge that is written, or read where the other end is a job. */
function declaredEnd(model, { from, to }) {
  const ends = [to, from].map((id) => model.boxes.get(model.rows.get(id)?.box ?? id));
  return (ends.find((box) => box.kind === 'dataset') ?? ends[0]).id;
}

function boxLink(state, box) {
  if (box.kind === 'job') return jobLink(state, box.node);
  return box.kind === 'dataset' ? datasetLink(state, box.node) : data(box.label);
}

/** Names of jobs that a reply mentions by id alone; a name belongs to its id for ever. */
const jobNames = new Map();

/**
 * A job that may not be in the picture: its id stands until its name has come.
 * @param {Context} context
 * @param {import('../data/model.js').Model} model
 * @param {string} id
 * @returns {HTMLElement|string}
 */
export function jobById({ state, api }, model, id) {
  const box = model.boxes.get(id);
  if (box) return jobLink(state, box.node);
  const made = anchor(link(state, { view: 'job', node: id }), data(shorten(id, 18), 'mono'));
  if (!jobNames.has(id)) jobNames.set(id, api.get(`/graph/jobs/${encodeURIComponent(id)}`));
  jobNames.get(id).then((result) => {
    if (result.ok) made.replaceChildren(data(shorten(plain(result.data.name), 120)));
    else jobNames.delete(id);
  });
  return made;
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

function actions(...links) {
  return element('div', { class: 'actions' }, links);
}
