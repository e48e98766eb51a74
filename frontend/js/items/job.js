/**
 * The panel's description of a job: its runs, plans, versions, code, facets.
 */
import { count, formatNumber, formatRhythm, formatTime, shorten } from '../data/format.js';
import { jobReference, link } from '../data/url.js';
import { anchor, data, element, icon, time } from '../page/dom.js';
import { runBars } from '../runs/bars.js';
import { jobTimeline, timelineList } from '../runs/history.js';
import { rhythmOf } from '../runs/measures.js';
import { compareLink, upstreamChanges } from '../panel/differences.js';
import { durationOf, millisecondsOf } from '../panel/execution.js';
import { code, describedFacts, facetsInForce, runLink } from '../panel/facets.js';
import { hiding } from '../panel/hiding.js';
import { datasetLink, impactLink, planLink } from '../panel/links.js';
import { actions, errorText, facts, gapList, later, modeChip, more, MOST_LISTED, orNone, section, separated, stateChip } from '../panel/panel.js';

const MOST_BARS = 30;

export function describeJob(context, node) {
  const { state, api } = context;
  const of = `/graph/jobs/${encodeURIComponent(node.id)}`;
  const known = api.get(of, { at: state.at }, 'panel/job');
  const runs = api.get(`${of}/runs`, { limit: MOST_BARS, at: state.at }, 'panel/runs');
  return jobTabs(context, node, { known, runs });
}

/**
 * @param {import('./details.js').Context} context
 * @param {object} node a job of a picture
 * @param {{known: Promise<import('../data/api.js').Result>, runs: Promise<import('../data/api.js').Result>}} answers
 * @returns {import('../panel/panel.js').Description}
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
          later(jobTimeline(context, node.id), (told) => section('Runs and versions', timelineList(state, node.id, told))),
        ],
      },
      {
        key: 'sql',
        words: 'SQL',
        draw: () => later(known, ({ about, plans }) => sourceOf(state, about?.described, plans ?? [])),
      },
      {
        key: 'facets',
        words: 'Facets',
        draw: () => later(known, ({ about }) => orNone(facetsInForce(state, about?.facets), 'No client sent facets of this job.')),
      },
    ],
  };
}

/**
 * For a failed job the changes before the description. The links stand above all that arrives later:
 * nobody presses one that has just moved away.
 */
function jobOverview(context, node, known, runs) {
  const { state } = context;
  const itself = state.view === 'job';
  return [
    actions(
      !(itself && state.node === jobReference(node)) && anchor(link(state, { view: 'job', node: jobReference(node) }), icon('job'), 'Open job'),
      anchor(link(state, { view: 'lineage', node: node.id }), icon('graph'), 'Lineage'),
      impactLink(state, node.id),
      compareLink(state, node.id),
    ),
    hasFailed(node) && later(runs, ({ items }) => errorText(items[0]?.error)),
    hasFailed(node) && upstreamChanges(context, 'jobs', node.id, true),
    facts([
      ['Namespace', data(node.namespace)],
      ['Last run', node.lastRun && [stateChip(node.lastRun.state), ' ', time(node.lastRun.at)]],
      ['Shared name', node.shared && 'several applications report under this name'],
    ]),
    later(runs, (list) => [barsOfRuns(state, list.items), rhythm(list.items)]),
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

function rhythm(runs) {
  const known = rhythmOf(runs);
  if (!known || known.milliseconds < 1000) return null;
  return facts([['Rhythm', `every ${formatRhythm(known.milliseconds)}, by the last ${count(known.count, known.of)}`]]);
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

/** The code of a job, and beside it its plans, which have the columns, with what the text leaves open. */
function sourceOf(state, described, plans) {
  const parts = code(described).filter(Boolean);
  if (parts.length === 0) return element('p', { class: 'muted' }, 'No client sent the code of this job.');
  const shown = plans.slice(0, MOST_LISTED).map((plan) =>
    element(
      'li',
      { class: 'card' },
      planLink(state, plan.planIds?.[0] ?? plan.id, plan.target ? `columns of ${plan.target.label}` : 'columns that it reads'),
      gapList(Array.isArray(plan.gaps) ? plan.gaps : []),
    ),
  );
  return [...parts, section('Columns and gaps', element('ul', { class: 'plain', 'data-testid': 'code-plans' }, shown), more(plans.length))];
}

/**
 * A plan in a few lines: its target, its sources, its mode, and its last run.
 * @param {import('../data/url.js').State} state
 * @param {object} plan an item of a job's `plans`
 * @returns {HTMLElement}
 */
function planCard(state, plan) {
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

function gapCount(plan) {
  return Array.isArray(plan.gaps) ? plan.gaps.length : (plan.gaps ?? 0);
}
