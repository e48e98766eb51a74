/**
 * The classes, and of one of them every column: the tagged ones and those that the tag reaches,
 * where it ended (blocks) and where it may go on unseen (gaps).
 */
import { tagChip } from '../panel/classifications.js';
import { anchor, data, element } from '../page/dom.js';
import { emptyNotice } from '../page/notices.js';
import { count, formatNumber } from '../data/format.js';
import { jobLink } from '../panel/links.js';
import { section, table } from '../panel/panel.js';
import { link } from '../data/url.js';

export const classes = {
  controls: ['at'],

  /**
   * @param {import('../items/details.js').Context} context
   * @returns {Promise<import('../data/api.js').Result>} data is a Page (views.js) with a document of its own
   */
  async load(context) {
    return context.state.classification ? one(context) : all(context);
  },
};

async function all({ state, api }) {
  const result = await api.get('/classifications', {}, 'page');
  if (!result.ok) return result;
  const { items } = result.data;
  const nothing = emptyNotice('Nothing is classified', 'Select a table or a column in a picture and give it a tag.', {
    href: link(state, { view: 'overview' }),
    words: 'Go to the overview',
  });
  const some = items.length > 0;
  return page({
    heading: 'Classes',
    subtitle: count(items.length, 'class', 'classes'),
    empty: some ? null : nothing,
    document: some ? () => listed(state, items) : undefined,
  });
}

function listed(state, items) {
  const rows = items.map((item) => [
    anchor(link(state, { view: 'classes', classification: item.tag }), data(item.tag)),
    formatNumber(item.datasets),
    formatNumber(item.columns),
    formatNumber(item.blocks),
  ]);
  return element(
    'div',
    { class: 'document' },
    table('Classes', ['Class', 'Tables', 'Columns', 'Blocks'], rows, { 'data-testid': 'class-items' }),
  );
}

async function one({ state, api }) {
  const tag = state.classification;
  const path = `/classifications/${encodeURIComponent(tag)}/columns`;
  const result = await api.get(path, { propagate: true, at: state.at, limit: state.limit }, 'page');
  if (!result.ok) return result;
  const reply = result.data;
  const direct = reply.items.filter((item) => item.direct).length;
  return page({
    heading: tag,
    subtitle: [
      count(reply.total, 'column'),
      `${formatNumber(direct)} tagged`,
      `${formatNumber(reply.total - direct)} reached`,
      count(reply.gaps.length, 'gap'),
    ].join(' · '),
    reply: { asOf: reply.asOf, partial: reply.partial, folded: reply.folded },
    document: () =>
      element(
        'div',
        { class: 'document', 'data-testid': 'class' },
        element('p', {}, tagChip(tag), ' ', anchor(link(state, { view: 'classes' }), 'All classes')),
        columns(state, reply.items),
        blocks(state, reply.blocked),
        gaps(state, reply.gaps),
      ),
  });
}

function page(parts) {
  return { ok: true, data: { reply: null, model: null, empty: null, ...parts } };
}

function columns(state, items) {
  if (items.length === 0)
    return section('Columns', element('p', { class: 'muted' }, 'No column is known to carry it.'));
  const rows = items.map((item) => [
    columnLink(state, item),
    data(item.dataset, 'mono'),
    item.direct ? 'tagged' : reached(state, item),
    reason(item.reason),
  ]);
  return section(
    'Columns',
    table('Columns of the class', ['Column', 'Table', 'How', 'Why'], rows, { 'data-testid': 'class-columns' }),
  );
}

function columnLink(state, { datasetId, name }) {
  return anchor(link(state, { view: 'columns', dataset: datasetId, column: name, direction: 'upstream' }), data(name));
}

function reached(state, { path }) {
  const steps = path.map((step) => [
    element('li', {}, columnLink(state, step.from), ' → ', columnLink(state, step.to), ' (', data(words(step)), ')'),
  ]);
  return element(
    'details',
    {},
    element('summary', {}, `reached in ${count(path.length, 'step')}`),
    element('ol', { class: 'lines' }, steps),
  );
}

function words({ how, jobs }) {
  const names = jobs.map((job) => job.name).join(', ');
  return [how.toLowerCase(), names].filter(Boolean).join(' by ');
}

function reason({ origin, owner, note, author }) {
  const from = `${origin.dataset} · ${origin.name}`;
  return [
    data(from, 'mono'),
    element('div', { class: 'muted' }, data([owner, note, author && `by ${author}`].filter(Boolean).join(' · '))),
  ];
}

function blocks(state, blocked) {
  if (blocked.length === 0) return section('Blocks', element('p', { class: 'muted' }, 'It was stopped nowhere.'));
  const rows = blocked.map((edge) => [columnLink(state, edge.from), columnLink(state, edge.to), words(edge)]);
  return section(
    'Blocks',
    table('Where the class ends', ['From', 'To', 'How'], rows, { 'data-testid': 'class-blocks' }),
  );
}

function gaps(state, items) {
  if (items.length === 0)
    return section('Gaps', element('p', { class: 'muted' }, 'Every plan on the way tells its columns.'));
  const rows = items.map((gap) => [
    jobLink(state, { ...gap.job, ...named(gap.job.name) }),
    data(gap.gaps.map(({ code }) => code).join(', ')),
    data(gap.writes.map(({ uri }) => uri).join(', '), 'mono'),
  ]);
  return section(
    'Gaps',
    element('p', { class: 'muted' }, 'These plans read the class, and their column lineage is not whole: it may go on unseen.'),
    table('Gaps', ['Job', 'Gap', 'Writes'], rows, { 'data-testid': 'class-gaps' }),
  );
}

/** `default/report` => namespace and name. */
function named(name) {
  const [namespace, ...rest] = name.split('/');
  return { namespace, name: rest.join('/') || namespace };
}
