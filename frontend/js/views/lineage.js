/**
 * The neighbourhood of a table, a job or a column.
 */
import { describe } from '../items/details.js';
import { jobTimeline, tableTimeline, timelineList } from '../runs/history.js';
import { later } from '../panel/panel.js';
import { address } from '../data/api.js';
import { emptyNotice } from '../page/notices.js';
import { count } from '../data/format.js';
import { findNode, tally, toModel } from '../data/model.js';
import { depthOf, flowOf, lineageOf, write } from '../data/url.js';

export const lineage = {
  controls: ['direction', 'depth', 'columns', 'indirect', 'tables', 'group', 'flow', 'at', 'timeline', 'find'],

  /**
   * @param {import('../items/details.js').Context} context
   * @returns {Promise<import('../data/api.js').Result>} data is a Page (views.js)
   */
  async load(context) {
    const { state, api, room } = context;
    if (!state.node)
      return {
        ok: true,
        data: { heading: 'Lineage', subtitle: '', model: null, reply: null, empty: noNode() },
      };
    const result = await api.get('/graph/lineage', question(state, room), 'page');
    if (!result.ok) return result;
    const model = toModel(result.data, state.node);
    const focus = findNode(model, model.focus);
    return {
      ok: true,
      data: {
        heading: focus?.label ?? state.node,
        subtitle: words(state, model),
        counts: (drawn) => words(state, drawn),
        reply: result.data,
        asked: address('/graph/lineage', question(state, room)),
        model,
        empty:
          model.boxes.size === 0
            ? emptyNotice('Nothing here', 'This node has no lineage that can be drawn.')
            : null,
        timeline: timelineOf(context, focus),
        summary: () => (focus ? describe(context, model, focus) : null),
        details: (item) => describe(context, model, item),
        hrefOf: (item) => lineageOf(state, item.id),
      },
    };
  },
};

/** The writes and versions of the subject; those of a column are its table's and shown elsewhere. */
function timelineOf(context, focus) {
  if (!focus || focus.kind === 'column') return undefined;
  const asked = focus.kind === 'job' ? jobTimeline : tableTimeline;
  return () => later(asked(context, focus.id), (told) => timelineList(context.state, focus.id, told));
}

/** The parameters of the question, without those that equal the server's defaults. */
function question(state, room) {
  const { node, at, limit } = state;
  return {
    node,
    direction: state.direction,
    depth: depthOf(state),
    columns: state.columns || '',
    indirect: state.indirect || '',
    group: state.group,
    flow: flowOf(state, room),
    jobs: state.tables ? false : '',
    beyond: true,
    reach: 'possible',
    at,
    limit,
    layout: true,
  };
}

function words(state, model) {
  const { datasets, jobs, columns } = tally(model);
  const way = state.direction === 'both' ? 'upstream and downstream' : state.direction;
  if (jobs === 1 && datasets === 0 && columns === 0 && depthOf(state) > 0)
    return 'No table holds its writes: other jobs have overwritten them, or no run has completed';
  const parts = [`${way}, ${count(depthOf(state), 'step')}`, count(datasets, 'table'), count(jobs, 'job')];
  return (columns > 0 ? [...parts, count(columns, 'column')] : parts).join(' · ');
}

function noNode() {
  return emptyNotice(
    'Whose lineage?',
    'Search for a table, a job or a column, or pick one from the overview.',
    { href: write({ view: 'overview' }), words: 'Go to the overview' },
  );
}
