/**
 * Two runs and two executions on the page: side by side, with the links that compare them.
 */
import { compareExecutions, sentenceList } from '../panel/differences.js';
import { durationOf } from '../panel/execution.js';
import { anchor, data, element, time } from '../page/dom.js';
import { count, formatNumber, shorten } from '../data/format.js';
import { datasetLink, jobLink, planLink } from '../panel/links.js';
import { changeChip } from '../page/list.js';
import { growth, pairExecutions, sideBySide } from './pairs.js';
import { errorText, section, stateChip, table } from '../panel/panel.js';
import { link } from '../data/url.js';

const LONGEST = 200;

/**
 * The measures of both executions, and the changes of the plan between them.
 * @param {import('../data/url.js').State} state
 * @param {{before: object, after: object}} executions
 * @param {object|null} plan the difference of their plans; null: not kept
 * @returns {HTMLElement[]}
 */
export function bothExecutions(state, { before, after }, plan) {
  const rows = [
    ['Ended', time(before.at), time(after.at), ''],
    ['Took', durationOf(before) || 'unknown', durationOf(after) || 'unknown', ''],
    ['Job', jobLink(state, before.job), jobLink(state, after.job), ''],
    ['Writes', datasetLink(state, before.target), datasetLink(state, after.target), targetChange(before, after)],
    ...sideBySide(before, after).map((row) => [
      row.name,
      cell(row.name, row.before),
      [cell(row.name, row.after), grown(row)],
      row.differs ? changeChip('changed') : '',
    ]),
  ];
  return [
    section(
      'Both executions',
      table('Both executions', ['', 'Before', 'After', 'Change'], rows, { 'data-testid': 'both-executions' }),
    ),
    section('Their plans', element('div', { 'data-testid': 'both-plans' }, plans(state, plan))),
  ];
}

function targetChange(before, after) {
  return before.target?.id === after.target?.id ? '' : changeChip('changed');
}

function cell(name, value) {
  if (value === null) return '–';
  if (name === 'State') return stateChip(value);
  if (name === 'Error') return errorText(value);
  return typeof value === 'number' ? formatNumber(value) : data(shorten(String(value), LONGEST));
}

function grown({ before, after }) {
  const share = growth(before, after);
  if (share === null) return null;
  const format = new Intl.NumberFormat(undefined, { style: 'percent', signDisplay: 'always', maximumFractionDigits: 1 });
  return element('span', { class: 'muted' }, ` ${format.format(share)}`);
}

function plans(state, plan) {
  if (!plan) return element('p', { class: 'muted' }, 'A plan of these two is not kept: they cannot be compared.');
  const to = { view: 'plans', fromPlan: plan.before.id, toPlan: plan.after.id };
  return [
    plan.summary.length > 0
      ? sentenceList(plan.summary)
      : element('p', { class: 'muted' }, 'Both ran the same plan, values included.'),
    plan.summary.length > 0 && element('p', {}, anchor(link(state, to), 'Compare the plans operation by operation')),
  ];
}

/**
 * Two runs of which each wrote several tables: the pairs of executions, with a link for each.
 * @param {import('../data/url.js').State} state
 * @param {object} before the earlier run, with its executions
 * @param {object} after
 * @returns {HTMLElement}
 */
export function bothRuns(state, before, after) {
  const pairs = pairExecutions(before.items, after.items);
  const rows = pairs.map((pair) => [
    datasetLink(state, (pair.after ?? pair.before).target),
    oneOf(state, pair.before),
    oneOf(state, pair.after),
    pair.before && pair.after
      ? compareExecutions(state, pair.before, pair.after, 'Compare')
      : element('span', { class: 'chip plain' }, pair.after ? 'only after' : 'only before'),
  ]);
  const facts = [
    ['Started', time(before.startedAt, 'unknown'), time(after.startedAt, 'unknown')],
    ['Ended', time(before.endedAt), time(after.endedAt)],
    ['State', stateChip(before.state), stateChip(after.state)],
    ['Took', durationOf(before) || 'unknown', durationOf(after) || 'unknown'],
    ['Application', data(before.applicationId || '–', 'mono'), data(after.applicationId || '–', 'mono')],
    ['Executions', formatNumber(before.items.length), formatNumber(after.items.length)],
  ];
  return element(
    'div',
    { class: 'document', 'data-testid': 'both-runs' },
    section('Both runs', table('Both runs', ['', 'Before', 'After'], facts)),
    section(
      `Tables written · ${count(pairs.length, 'write')}`,
      table('Tables written by both runs', ['Table', 'Before', 'After', ''], rows, { 'data-testid': 'pairs' }),
    ),
  );
}

function oneOf(state, execution) {
  if (!execution) return '–';
  const plan = execution.plan && [' · ', planLink(state, execution.plan, 'plan')];
  return [stateChip(execution.state), ' ', time(execution.at), plan];
}
