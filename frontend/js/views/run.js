/**
 * One run: its ancestors and children, its events, its writes, its client's facets.
 */
import { errorText, facts, later, section, separated, stateChip, table } from '../panel/panel.js';
import { anchor, data, element, icon, time } from '../page/dom.js';
import { durationOf, execution } from '../panel/execution.js';
import { compareRuns } from '../panel/differences.js';
import { emptyNotice } from '../page/notices.js';
import { facetTrees, runLink } from '../panel/facets.js';
import { count, formatNumber, formatTime, plain, shorten } from '../data/format.js';
import { jobLink } from '../panel/links.js';
import { link, write } from '../data/url.js';

/** The newest of them may be this one, or one that ended in the same moment. */
const RUNS_BEFORE = 3;
const CLOSED = Object.freeze({
  parent: 'it never ended by its own word: closed by the run above it',
  stale: 'nothing was heard of it for a day',
});

export const run = {
  controls: ['at'],

  /**
   * @param {import('../items/details.js').Context} context
   * @returns {Promise<import('../data/api.js').Result>} data is a Page (views.js) with a document of its own
   */
  async load(context) {
    const { state, api } = context;
    if (!state.run)
      return { ok: true, data: { heading: 'Run', subtitle: '', model: null, reply: null, empty: noRun() } };
    const result = await api.get(`/graph/runs/${encodeURIComponent(state.run)}`, { at: state.at }, 'page');
    return result.ok ? { ok: true, data: page(context, result.data) } : result;
  },
};

function page(context, known) {
  const named = known.job?.name ?? known.runId ?? known.id;
  return {
    heading: plain(named),
    subtitle: [formatTime(known.startedAt ?? known.endedAt ?? known.lastEventAt), known.rolledUp].filter(Boolean).join(' · '),
    reply: { partial: known.partial ?? null },
    model: null,
    empty: null,
    document: () => draw(context, known),
  };
}

function draw(context, known) {
  const { state } = context;
  return element(
    'div',
    { class: 'document run', 'data-testid': 'run' },
    facts([
      ['Job', jobLink(state, known.job)],
      ['State', [stateChip(known.state), closed(known)]],
      ['With its children', belowWords(known)],
      ['Started', time(known.startedAt, 'unknown')],
      ['Ended', time(known.endedAt, 'not yet')],
      ['Took', known.endedAt && (durationOf(known) || 'unknown')],
      ['Last heard of', known.lastEventAt !== known.endedAt && time(known.lastEventAt)],
      ['Producer', known.producer && data(known.producer)],
      ['Application', known.applicationId && data(known.applicationId, 'mono')],
      ['Client’s id', known.runId && data(known.runId, 'mono')],
      ['Known', !known.known && 'others call it their parent; it never reported itself'],
    ]),
    errorText(known.error),
    comparisons(context, known),
    tree(state, known),
    history(known),
    wrote(state, known),
    facetTrees('Facets of the run', known.facets, known.cut),
    Object.keys(known.facets ?? {}).length > 0 && aboutRules(state, known.facets),
  );
}

/** With the run before, and with any other: there the boxes of the job's runs are ticked. */
function comparisons({ state, api }, known) {
  if (!known.job || !known.run || known.items.length === 0) return null;
  const of = `/graph/jobs/${encodeURIComponent(known.job.id)}/runs`;
  const other = write({ view: 'job', node: known.job.id, runs: known.run });
  return element(
    'div',
    { class: 'actions', 'data-testid': 'run-comparisons' },
    anchor(other, icon('both'), 'Compare with another run…'),
    later(api.get(of, { at: known.endedAt, limit: RUNS_BEFORE }, 'run/before'), ({ items }) => {
      const before = items.find((run) => run.id !== known.run);
      return before && compareRuns(state, known.job.id, [before.id, known.run], 'Compare with the run before');
    }),
  );
}

/** Facets of one's own have a prefix by OpenLineage's rule: `acme_checks`. */
function aboutRules(state, facets) {
  const own = Object.keys(facets).filter((name) => name.includes('_'));
  if (own.length === 0) return null;
  const links = separated(own, (facet) => anchor(link(state, { view: 'quality', facet }), data(facet)));
  return element('p', { class: 'muted' }, 'Read as a check by a quality rule: ', links);
}

function closed(known) {
  return known.closed && element('span', { class: 'muted' }, ` ${CLOSED[known.closed] ?? known.closed}`);
}

function belowWords(known) {
  const states = Object.entries(known.below ?? {});
  if (states.length === 0) return null;
  return [
    stateChip(known.rolledUp),
    ' ',
    element(
      'span',
      { class: 'muted' },
      states.map(([state, number]) => `${formatNumber(number)} ${state}`).join(', '),
    ),
  ];
}

/** Ancestors lead down to the run, then its children. */
function tree(state, known) {
  if (known.children.length === 0 && known.ancestors.length === 0 && !known.parent) return null;
  const above = known.ancestors.length > 0 ? [...known.ancestors].reverse() : [known.parent].filter(Boolean);
  const own = element(
    'li',
    { 'aria-current': 'true' },
    line(state, known, true),
    branches(state, known.children),
  );
  const whole = above.reduceRight(
    (inner, one) => element('li', {}, line(state, one), element('ul', { class: 'run-tree' }, inner)),
    own,
  );
  return section(
    'Runs above and below',
    element('ul', { class: 'run-tree', 'data-testid': 'run-tree' }, whole),
  );
}

function branches(state, children) {
  if (!children || children.length === 0) return null;
  return element(
    'ul',
    { class: 'run-tree' },
    children.map((child) => element('li', {}, line(state, child), branches(state, child.children))),
  );
}

function line(state, one, here = false) {
  const words = shorten(plain(one.job?.name ?? one.runId ?? one.id), 100);
  return element(
    'span',
    { class: 'run-line' },
    here ? element('strong', {}, data(words)) : runLink(state, one, words),
    ' ',
    stateChip(one.state),
    one.folded && element('span', { class: 'chip plain' }, 'helper'),
    element('span', { class: 'muted' }, ' ', time(one.startedAt, '')),
    closed(one),
  );
}

function history(known) {
  if (known.history.length === 0) return null;
  const rows = known.history.map((event) => [
    event.at ? time(event.at) : '–',
    [
      event.type && element('span', { class: 'chip plain' }, data(event.type)),
      event.state !== 'projected' && [' ', stateChip(event.state)],
      event.reason && element('span', { class: 'muted block' }, data(shorten(event.reason, 300))),
    ],
    data(shorten(event.producer, 160), 'small'),
    `#${formatNumber(event.document)}`,
  ]);
  return section(
    `History · ${count(known.history.length, 'event')}`,
    table('Events of this run', ['Time', 'Event', 'Producer', 'Document'], rows, {
      class: 'history',
      'data-testid': 'history',
    }),
  );
}

function wrote(state, known) {
  if (known.items.length === 0) return null;
  return section(
    'Executions',
    element(
      'div',
      { class: 'cards', 'data-testid': 'executions' },
      known.items.map((item) =>
        element(
          'div',
          {},
          item.target && element('p', {}, icon('table'), ' ', data(item.target.label)),
          execution(state, { ...item, job: null, run: null }),
        ),
      ),
    ),
  );
}

function noRun() {
  return emptyNotice('Which run?', 'Open a job to see its runs.', {
    href: write({ view: 'overview' }),
    words: 'Go to the overview',
  });
}
