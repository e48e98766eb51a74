/**
 * The panel's description of a table: its writers and readers, schema, history, quality, facets.
 */
import { count, formatNumber, keptIn, shorten } from '../data/format.js';
import { change, link, write } from '../data/url.js';
import { anchor, data, element, icon, time } from '../page/dom.js';
import { volumeBars } from '../runs/bars.js';
import { partitionTable, tableTimeline, timelineList } from '../runs/history.js';
import { measuresOf } from '../runs/measures.js';
import { classifications } from '../panel/classifications.js';
import { declaredOf } from '../panel/declared.js';
import { leftOut } from '../panel/definition.js';
import { compareLink, schemaVersions, upstreamChanges } from '../panel/differences.js';
import { execution, gapNotes, planOf, withBefore } from '../panel/execution.js';
import { checkWords, describedFacts, facetHistory, facetsInForce, numbers, qualityChip, qualityPart, tagWords } from '../panel/facets.js';
import { hiding } from '../panel/hiding.js';
import { datasetLink, datasetReference, impactLink, jobLink, planLink } from '../panel/links.js';
import { actions, facts, later, modeChip, more, MOST_LISTED, orNone, rowFilter, section, table } from '../panel/panel.js';

const RECENT = 5;
/** So many writes are drawn as bars. */
const CHARTED = 30;
/** So many columns are looked through without a filter. */
const FEW_COLUMNS = 10;

export function describeDataset(context, node) {
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
      { key: 'history', words: 'History', draw: () => tableHistory(context, node, of, known) },
      {
        key: 'quality',
        words: 'Quality',
        draw: () => [
          later(api.get(`${of}/history`, { limit: CHARTED, at: state.at }, 'panel/volume'), ({ items }) => volume(state, items)),
          later(known, (dataset) => qualityParts(state, dataset.about)),
        ],
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
      ['Kept in', node.type && data(keptIn(node.type, node.uri))],
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

/** Its history, and its newest writes with a link that compares each with the one before. */
function tableHistory(context, node, of, known) {
  const { state, api } = context;
  const written = api.get(`${of}/history`, { limit: RECENT, at: state.at }, 'panel/history');
  return [
    upstreamChanges(context, 'datasets', node.id, false),
    later(tableTimeline(context, node.id), (told) => [
      later(known, (dataset) => partitionTable(state, told.writes, dataset.partitionKeys ?? [])),
      section('Writes and versions', timelineList(state, node.id, told)),
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

function failures({ failed, failures: total }) {
  if (total === 0) return null;
  const words = failed.slice(0, MOST_LISTED).map(checkWords).join(', ');
  return data(total > MOST_LISTED ? `${words} and ${formatNumber(total - MOST_LISTED)} more` : words);
}

/** Rows and bytes of its newest completed writes. */
function volume(state, items) {
  const writes = items.filter((item) => item.state === 'completed' && item.mode !== 'lifecycle');
  const chart = (noun) =>
    volumeBars(noun, writes.map((item) => ({ href: write(change(state, { at: item.at, opened: '' })), at: item.at, value: measuresOf(item.metrics).write[noun] })));
  const charts = [chart('rows'), chart('bytes')].filter(Boolean);
  return charts.length > 0 && section('Volume of each write', charts);
}

/** The checks of a table, and its clients' measurements over time. */
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
  const aborted = failedSince.filter(({ state }) => state === 'aborted').length;
  const failed = failedSince.length - aborted;
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
        { class: failed > 0 ? 'note failed' : 'note' },
        icon('warning'),
        ` ${[failed > 0 && count(failed, 'failed attempt'), aborted > 0 && count(aborted, 'aborted attempt')].filter(Boolean).join(' and ')} since then, the latest `,
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

/** The clients' facets of a column, under its name. */
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
        user.mode !== 'none' && modeChip(user.mode),
        element('span', { class: 'muted block' }, time(user.at), ' · ', planLink(state, user.plan, 'plan')),
      ),
    );
  return section(heading, element('ul', { class: 'lines' }, lines), more(items.length));
}
