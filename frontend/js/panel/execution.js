/**
 * An execution as the panel and the pages show it: its end, its measures, its gaps.
 */
import { count, formatDuration, formatNumber, formatSize } from '../data/format.js';
import { data, element, icon, time } from '../page/dom.js';
import { measuresOf } from '../runs/measures.js';
import { compareExecutions } from './differences.js';
import { runLink } from './facets.js';
import { datasetLink, jobLink, planLink } from './links.js';
import { errorText, facts, modeChip, stateChip } from './panel.js';

/**
 * One execution: when, how it ended, how much it read and wrote, its errors.
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
    item.countedAt && element('div', { class: 'muted' }, 'a doubtful time: it counts from its receipt, ', time(item.countedAt)),
    aside(state, item),
    item.formerName &&
      element('div', { class: 'muted' }, 'under the former name ', datasetLink(state, item.formerName)),
    item.location && element('div', { class: 'muted' }, 'at ', datasetLink(state, item.location)),
    item.partitions?.length > 0 &&
      element('div', { class: 'muted' }, 'partitions ', data(item.partitions.join(', '), 'mono')),
    metrics(item.metrics),
    gapNotes(item),
    errorText(item.error),
  );
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
function metrics(groups) {
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

/** The gaps of an execution: `which partitions it replaced`. */
export function gapNotes(item) {
  return (item?.gaps ?? []).map((gap) =>
    element('p', { class: 'note' }, icon('warning'), ` ${words(gap.code)}: `, data(gap.detail)),
  );
}

/** `partitions-unknown => partitions unknown` */
function words(code) {
  return code.replaceAll('-', ' ');
}

/** The link that compares a write with the one before. */
export function withBefore(state, item, before) {
  return before && element('p', { class: 'between' }, compareExecutions(state, before, item, 'Compare with the write before'));
}

/** The key of an OpenLineage run (`run:…`) is no plan's id: its plan has one of its own. */
export function planOf({ planId, plan }) {
  return planId && !planId.includes(':') ? planId : plan;
}

/**
 * @param {{startedAt?: string|null, endedAt?: string|null, durationMs?: number|null}} run
 * @returns {number|null} null when unknown
 */
export function millisecondsOf({ durationMs, startedAt, endedAt }) {
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
