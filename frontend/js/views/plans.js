/**
 * Two plans as one picture: operations added, removed, changed, and the differences in words.
 */
import { beforeAndAfter, columnSentence, sentenceList } from '../panel/differences.js';
import { data, element } from '../page/dom.js';
import { emptyNotice } from '../page/notices.js';
import { count, howWord } from '../data/format.js';
import { jobLink, planLink } from '../panel/links.js';
import { changeChip } from '../page/list.js';
import { nodeOf, planModel } from '../data/model.js';
import { facts, section, table } from '../panel/panel.js';
import { write } from '../data/url.js';

export const plans = {
  controls: [],

  /**
   * @param {import('../items/details.js').Context} context
   * @returns {Promise<import('../data/api.js').Result>} data is a Page (views.js)
   */
  async load({ state, api }) {
    const { fromPlan, toPlan } = state;
    if (!fromPlan || !toPlan)
      return {
        ok: true,
        data: { heading: 'Two plans', subtitle: '', model: null, reply: null, empty: noPlans() },
      };
    const question = { fromPlan, toPlan, unchanged: true, layout: true };
    const result = await api.get('/graph/diff', question, 'page');
    return result.ok ? { ok: true, data: page(state, result.data) } : result;
  },
};

function page(state, reply) {
  const known = reply.plan;
  const model = planModel(known);
  const { added, removed, changed } = known.counts;
  return {
    heading: known.after.name || known.after.job?.name || known.after.planId,
    subtitle: `operations: +${added} −${removed} ~${changed}`,
    reply: { partial: reply.partial },
    model,
    empty:
      known.summary.length === 0 && added + removed + changed === 0
        ? emptyNotice('The same plan', 'Both documents say the same, values included.')
        : null,
    below: element('div', { class: 'parts' }, inWords(known), columns(known)),
    summary: () => summarise(state, known),
    details: (item) => details(model, item),
    hrefOf: () => '',
  };
}

function inWords(known) {
  return section(
    'Changes',
    element('div', { 'data-testid': 'plan-summary' }, sentenceList(known.summary)),
  );
}

function columns(known) {
  if (known.columns.length === 0) return null;
  const rows = known.columns.map((one) => [
    changeChip(one.change),
    [data(one.from.name), element('span', { class: 'muted block' }, data(one.from.dataset, 'mono'))],
    data(one.to === '*' ? 'every column' : one.to),
    [...new Set([one.howBefore, one.howAfter])].filter(Boolean).map(howWord).join(' → '),
    beforeAndAfter(one.expressionBefore, one.expressionAfter),
  ]);
  return section(
    'Column lineage',
    table('Column lineage that changed', ['Change', 'From', 'To', 'How', 'Expression'], rows, {
      'data-testid': 'changed-columns',
    }),
  );
}

function summarise(state, known) {
  const side = (one) => [jobLink(state, one.job), ' · ', planLink(state, one.id, 'plan')];
  return {
    kind: 'Two plans',
    tone: 'operation',
    title: known.after.name || known.after.planId,
    detail: '',
    body: [
      facts([
        ['Before', side(known.before)],
        ['After', side(known.after)],
        ['Logic', known.sameLogic ? 'one logical plan: only masked values differ' : 'two logical plans'],
        ['Unchanged', count(known.counts.same, 'operation')],
      ]),
      known.schema.length > 0 && section('Written schema', sentenceList(known.schema.map(columnSentence))),
      element('p', { class: 'muted' }, 'Select an operation to see its changes.'),
    ],
  };
}

function details(model, item) {
  if (model.links.has(item.id)) {
    const ends = [item.from, item.to].map((id) => nodeOf(model, id).label);
    return {
      kind: 'Flow',
      tone: 'plain',
      title: ends,
      detail: '',
      body: [changeChip(item.change) ?? element('p', { class: 'muted' }, 'unchanged')],
    };
  }
  const { node } = item;
  return {
    kind: node.kind,
    tone: 'operation',
    title: item.label,
    detail: '',
    body: [
      changeChip(node.change) ?? element('p', { class: 'muted' }, 'unchanged'),
      facts([['Operation', data(node.name)]]),
      node.properties.length > 0 &&
        section(
          'Parameters',
          element(
            'dl',
            { class: 'facts stacked' },
            node.properties.map((one) => [
              element('dt', {}, data(one.field)),
              element('dd', {}, beforeAndAfter(text(one.before), text(one.after))),
            ]),
          ),
        ),
      node.columns.length > 0 && section('Columns', outputs(node.columns)),
    ],
  };
}

/** A column without an expression passes through: its name is its value. */
function outputs(changed) {
  const rows = changed.map((one) => [
    changeChip(one.change),
    [
      data(one.name),
      element(
        'span',
        { class: 'muted block' },
        data([...new Set([one.typeBefore, one.typeAfter])].filter(Boolean).join(' → '), 'mono'),
      ),
    ],
    beforeAndAfter(
      one.change === 'added' ? null : (one.expressionBefore ?? one.name),
      one.change === 'removed' ? null : (one.expressionAfter ?? one.name),
    ),
  ]);
  return table('Columns that changed', ['Change', 'Column', 'Expression'], rows, {
    'data-testid': 'changed-outputs',
  });
}

function text(value) {
  return Array.isArray(value) ? value.join(', ') : value;
}

function noPlans() {
  return emptyNotice('Which plans?', 'Open a plan or a job and choose one to compare with.', {
    href: write({ view: 'overview' }),
    words: 'Go to the overview',
  });
}
