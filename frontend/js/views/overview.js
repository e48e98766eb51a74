/**
 * All jobs and tables.
 */
import { address } from '../data/api.js';
import { describe } from '../items/details.js';
import { anchor, data, element, icon, time } from '../page/dom.js';
import { emptyNotice, firstNotice } from '../page/notices.js';
import { count, formatNumber } from '../data/format.js';
import { jobLink } from '../panel/links.js';
import { tally, toModel } from '../data/model.js';
import { flowOf, jobReference, lineageOf, link, write } from '../data/url.js';

const MOST_NAMED = 4;
const DAY = 86_400_000;

export const overview = {
  controls: ['q', 'namespace', 'layer', 'classification', 'group', 'flow', 'at'],

  /**
   * @param {import('../items/details.js').Context} context
   * @returns {Promise<import('../data/api.js').Result>} data is a Page (views.js)
   */
  async load(context) {
    const { state, api, room } = context;
    const { q, namespace, layer, classification, group, at, limit } = state;
    const filters = { q, namespace, layer, classification };
    const asked = { ...filters, lone: 'counted', group, flow: flowOf(state, room), at, limit, layout: true };
    const graph = await api.get('/graph/overview', asked, 'page');
    if (!graph.ok) return graph;
    const model = toModel(graph.data);
    const empty = model.boxes.size === 0 ? await emptiness(context) : null;
    if (empty && !empty.ok) return empty;
    return {
      ok: true,
      data: {
        heading: 'Overview',
        subtitle: words(graph.data.totals, model),
        counts: (grown) => words(graph.data.totals, grown),
        reply: graph.data,
        asked: address('/graph/overview', asked),
        model,
        empty: empty && empty.data,
        notes: [failures(state, graph.data), lone(state, graph.data)],
        details: (item) => describe(context, model, item),
        hrefOf: (item) => hrefOf(state, item),
      },
    };
  },
};

/**
 * The totals, and the drawn number where that is less. A name in a catalog is listed as a table of its own and drawn as
 * the table that it stands for: `10 tables, 1 of them a second name`.
 * @param {{jobs: number, datasets: number, failed: number}} totals
 * @param {import('../data/model.js').Model} model
 * @returns {string}
 */
export function words(totals, model) {
  const drawn = tally(model);
  const trouble = totals.failed > 0 ? `, ${formatNumber(totals.failed)} whose last run failed` : '';
  let all = `${count(totals.jobs, 'job')}${trouble} · ${count(totals.datasets, 'table')}`;
  const names = [...model.boxes.values()].reduce((sum, { node }) => sum + (node.names?.length ?? 0), 0);
  const missing = totals.datasets - drawn.datasets;
  const whole = drawn.jobs >= totals.jobs && missing <= names;
  if (whole && missing > 0) all += `, ${formatNumber(missing)} of them ${missing === 1 ? 'a second name of a drawn one' : 'second names of drawn ones'}`;
  return whole ? all : `${all} · drawn: ${count(drawn.jobs, 'job')}, ${count(drawn.datasets, 'table')}`;
}

/** Why there is nothing: filters, a server that has received nothing, or documents not yet translated. */
async function emptiness({ state, api }) {
  if (state.q || state.namespace || state.layer || state.classification || state.at) {
    const way = { href: write({ view: 'overview', as: state.as }), words: 'Show everything' };
    return { ok: true, data: emptyNotice('Nothing matches', 'No job and no table passes these filters.', way) };
  }
  const summary = await api.get('/journal', { summary: true }, 'page');
  if (!summary.ok) return summary;
  const { received, failed } = summary.data;
  if (received === 0) return { ok: true, data: firstNotice() };
  const way = {
    href: write({ view: 'journal', state: failed > 0 ? 'failed' : 'pending' }),
    words: 'See the documents',
  };
  const words = `${count(received, 'document')} arrived; none of them is in the graph so far.`;
  return { ok: true, data: emptyNotice('Nothing to draw yet', words, way) };
}

/**
 * Whose last run failed in the day before the newest event, drawn or not; older failures are no news. An event that a
 * wrong clock dated in the future does not make them old.
 */
function failures(state, { totals, asOf, failures: all }) {
  const since = asOf ? Math.min(Date.parse(asOf), Date.now()) - DAY : 0;
  const newest = all.filter(({ at }) => Date.parse(at) >= since);
  if (newest.length === 0) return null;
  const links = newest
    .slice(0, MOST_NAMED)
    .map(({ job, at }) =>
      element('span', {}, jobLink(state, job), ' ', element('span', { class: 'muted' }, time(at))),
    );
  const rest = totals.failed - links.length;
  return element(
    'p',
    { class: 'banner failed', 'data-testid': 'failures' },
    icon('warning'),
    element('strong', {}, 'Last run failed:'),
    links,
    rest > 0 && anchor(write({ view: 'jobs', ended: 'failed' }), `and ${formatNumber(rest)} more`),
  );
}

/** Jobs that share no table with another one are no graph: their number, and who they are at a press. */
function lone(state, { lone: left }) {
  if (!left || left.jobs === 0) return null;
  const rest = left.jobs - left.items.length;
  return element(
    'details',
    { class: 'banner lone', 'data-testid': 'lone' },
    element('summary', {}, `${count(left.jobs, 'job')} that ${left.jobs === 1 ? 'shares' : 'share'} no table with another job${amongOf(left.partial)}`),
    element(
      'ul',
      {},
      left.items.map((job) => element('li', {}, jobLink(state, job), element('span', { class: 'muted' }, ' in ', data(job.namespace)))),
      rest > 0 && element('li', {}, anchor(write({ view: 'jobs' }), `${formatNumber(rest)} more: all jobs`)),
    ),
  );
}

/** @param {{limit: number}|null} partial */
function amongOf(partial) {
  return partial ? `, among the first ${formatNumber(partial.limit)} jobs and tables by name` : '';
}

/** Where a double click leads. */
function hrefOf(state, item) {
  return item.kind === 'job'
    ? link(state, { view: 'job', node: jobReference(item.node) })
    : lineageOf(state, item.id);
}
