/**
 * One job: its tables, its plans, its runs.
 */
import { getAll } from '../data/api.js';
import { describe } from '../items/details.js';
import { durationOf, execution } from '../panel/execution.js';
import { barsOfRuns, jobTabs } from '../items/job.js';
import { compareRuns, planVersions } from '../panel/differences.js';
import { button, data, element, replace, time } from '../page/dom.js';
import { emptyNotice } from '../page/notices.js';
import { code, runLink } from '../panel/facets.js';
import { count, formatNumber, formatTime, isolated } from '../data/format.js';
import { datasetLink, planLink } from '../panel/links.js';
import { jobTimeline, timelineList } from '../runs/history.js';
import { find, toModel } from '../data/model.js';
import { pick } from '../runs/pairs.js';
import { errorText, later, modeChip, section, stateChip, table } from '../panel/panel.js';
import { flowOf, lineageOf, link, write } from '../data/url.js';

const RUNS = 50;
/** Of a fingerprint, as a picture shows them. */
const DIGITS = 8;
const RUN_HEADINGS = Object.freeze(['Ended', 'State', 'Duration', 'Application', 'Executions', 'Compare']);

export const job = {
  controls: ['flow', 'at', 'timeline'],

  /**
   * @param {import('../items/details.js').Context} context
   * @returns {Promise<import('../data/api.js').Result>} data is a Page (views.js)
   */
  async load(context) {
    const { state, api, room } = context;
    if (!state.node)
      return { ok: true, data: { heading: 'Job', subtitle: '', model: null, reply: null, empty: noJob() } };
    const graph = await api.get(
      '/graph/lineage',
      { node: state.node, depth: 1, flow: flowOf(state, room), at: state.at, limit: state.limit, beyond: true, reach: 'possible', layout: true },
      'page',
    );
    if (!graph.ok) return graph;
    const model = toModel(graph.data, state.node);
    const focus = find(model, model.focus) ?? [...model.boxes.values()].find((box) => box.kind === 'job');
    if (!focus || focus.kind !== 'job')
      return { ok: true, data: { heading: 'Job', subtitle: '', model: null, reply: null, empty: noJob() } };
    const of = `/graph/jobs/${encodeURIComponent(focus.id)}`;
    const [known, runs] = await getAll(
      api,
      [
        [of, { at: state.at }],
        [`${of}/runs`, { limit: RUNS, at: state.at }],
      ],
      'job',
    );
    if (!known.ok) return known;
    return runs.ok
      ? {
          ok: true,
          data: page(context, { graph: graph.data, model, focus, known: known.data, runs: runs.data }),
        }
      : runs;
  },
};

function page(context, { graph, model, focus, known, runs }) {
  model.focus = focus.id;
  return {
    heading: known.name,
    subtitle: `${isolated(known.namespace)} · ${count(known.plans?.length ?? 0, 'plan')} · ${count(known.runs ?? runs.total ?? runs.items.length, 'run')}`,
    reply: graph,
    model,
    empty: null,
    below: element(
      'div',
      { class: 'parts' },
      plansTable(context.state, known.plans ?? []),
      planVersions(context, focus.id),
      runsTable(context, focus.id, runs),
      openRuns(context.state, runs),
      code(known.about?.described),
    ),
    timeline: () => later(jobTimeline(context, focus.id), (told) => timelineList(context.state, focus.id, told)),
    summary: () => jobTabs(context, focus.node, { known: Promise.resolve({ ok: true, data: known }), runs: Promise.resolve({ ok: true, data: runs }) }),
    details: (item) => describe(context, model, item),
    hrefOf: (item) =>
      item.id === focus.id
        ? lineageOf(context.state, item.id)
        : item.kind === 'job'
          ? link(context.state, { view: 'job', node: item.id })
          : lineageOf(context.state, item.id),
  };
}

function plansTable(state, plans) {
  if (plans.length === 0) return section('Plans', element('p', { class: 'muted' }, 'No plan was seen.'));
  const rows = plans.map((plan) => [
    planLink(state, plan.planIds?.[0] ?? plan.id, `plan ${(plan.fingerprint ?? '').slice(0, DIGITS)}`),
    plan.target ? datasetLink(state, plan.target) : 'nothing, it only reads',
    modeChip(plan.mode),
    plan.sources?.map((source, place) => [place > 0 ? ', ' : null, datasetLink(state, source)]) ?? '–',
    data(plan.partitionKeys?.join(', ') || '–', 'mono'),
    plan.lastRun ? [stateChip(plan.lastRun.state), ' ', time(plan.lastRun.at)] : '–',
  ]);
  return section(
    'Plans',
    table('Plans of this job', ['Plan', 'Writes', 'Mode', 'Reads', 'Partitioned by', 'Last run'], rows, {
      'data-testid': 'plans',
    }),
  );
}

function runsTable(context, jobId, runs) {
  if (runs.items.length === 0) return section('Runs', element('p', { class: 'muted' }, 'No run was seen.'));
  const choice = runChoice(context, jobId, runs.items);
  const rows = runs.items.flatMap((run) => runRows(context, jobId, run, choice.boxOf(run)));
  const headings = RUN_HEADINGS.map((heading) => element('th', { scope: 'col' }, heading));
  const grid = element(
    'div',
    { class: 'scroll', tabindex: 0, role: 'region', 'aria-label': 'Runs of this job' },
    element(
      'table',
      { 'data-testid': 'runs' },
      element('thead', {}, element('tr', {}, headings)),
      element('tbody', {}, rows),
    ),
  );
  const rest = runs.next
    ? element(
        'p',
        { class: 'muted' },
        `The newest ${formatNumber(runs.items.length)} of ${formatNumber(runs.total)}.`,
      )
    : null;
  return section('Runs', barsOfRuns(context.state, runs.items), runs.items.length > 1 && choice.said, grid, rest);
}

/** Boxes of which two can be ticked, and the link that compares those runs. */
function runChoice({ state, go }, jobId, runs) {
  const said = element('p', { class: 'pick actions', role: 'status', 'data-testid': 'compare-runs' });
  const boxes = new Map();
  let picked = state.runs;

  function tick(run, wanted) {
    picked = pick(picked, run.id, wanted);
    go({ runs: picked }, { replace: true });
    show();
  }

  function show() {
    const ids = picked.split(',').filter(Boolean);
    for (const [id, box] of boxes) box.checked = ids.includes(id);
    const words = ids.length === 1 ? 'Tick one more run to compare the two.' : 'Tick two runs to compare them.';
    replace(said, ids.length === 2 ? compareRuns(state, jobId, ids, 'Compare the two runs') : words);
  }

  function boxOf(run) {
    const words = `Compare the run of ${formatTime(run.endedAt ?? run.startedAt) || run.id}`;
    const box = element('input', {
      type: 'checkbox',
      'aria-label': words,
      title: words,
      'data-testid': 'pick-run',
      onchange: () => tick(run, box.checked),
    });
    boxes.set(run.id, box);
    if (boxes.size === runs.length) show();
    return box;
  }

  return { said, boxOf };
}

/** Runs that have not ended by their own word, without those that the list above has because they named tables. */
function openRuns(state, { items, open = [] }) {
  const runs = open.filter(({ run }) => !items.some(({ id }) => id === run));
  if (runs.length === 0) return null;
  const rows = runs.map((run) => [
    time(run.startedAt, 'unknown'),
    [
      stateChip(run.state),
      run.closed && ` ${run.closed === 'stale' ? 'silent for a day' : 'closed by its parent'}`,
    ],
    time(run.lastEventAt),
    runLink(state, run),
  ]);
  return section(
    'Runs that have not ended',
    table('Runs that have not ended', ['Started', 'State', 'Last heard of', 'Run'], rows, {
      'data-testid': 'open-runs',
    }),
  );
}

/** A run and, beneath it, its error and (when asked for) its executions. */
function runRows(context, jobId, run, box) {
  const under = element(
    'tr',
    { class: 'under', hidden: !run.error },
    element('td', { colspan: RUN_HEADINGS.length }, errorText(run.error)),
  );
  const open = button(
    {
      label: count(run.executions ?? 0, 'execution'),
      onclick: () => unfold(context, jobId, run, open, under),
    },
    { class: 'link', 'aria-expanded': 'false' },
  );
  return [
    element(
      'tr',
      {},
      [
        runLink(context.state, run.told ?? run, formatTime(run.endedAt ?? run.startedAt)),
        stateChip(run.state),
        durationOf(run) || 'unknown',
        data(run.applicationId ?? '–', 'mono'),
        open,
        box,
      ].map((cell, place) => element('td', { 'data-heading': RUN_HEADINGS[place] }, cell)),
    ),
    under,
  ];
}

function unfold({ state, api }, jobId, run, open, under) {
  const unfolded = open.getAttribute('aria-expanded') === 'true';
  open.setAttribute('aria-expanded', String(!unfolded));
  under.hidden = unfolded && !run.error;
  const cell = under.firstElementChild;
  if (unfolded) return cell.replaceChildren(...[errorText(run.error)].filter(Boolean));
  const path = `/graph/jobs/${encodeURIComponent(jobId)}/runs/${encodeURIComponent(run.id)}`;
  return cell.replaceChildren(
    later(api.get(path, {}, `run/${run.id}`), (whole) =>
      (whole.items ?? []).map((item) => execution(state, { ...item, job: null })),
    ),
  );
}

function noJob() {
  return emptyNotice('Which job?', 'Search for a job, or pick one from the overview.', {
    href: write({ view: 'overview' }),
    words: 'Go to the overview',
  });
}
