/**
 * Changes, in words and lists: fields that differ, versions of a table or a job, and the
 * changes upstream since the last good run.
 */
import { anchor, button, data, element, icon, time } from '../page/dom.js';
import { count, formatNumber, howWord, partialSentence, shorten } from '../data/format.js';
import { datasetLink, jobLink, planLink } from './links.js';
import { changeChip } from '../page/list.js';
import { expression, facts, later, modeChip, section, stateChip, table } from './panel.js';
import { link, write } from '../data/url.js';

const LONGEST = 200;
const FIELDS = Object.freeze({
  names: 'catalog names',
  plans: 'plans',
  modes: 'mode',
  how: 'how',
  expression: 'expression',
  name: 'spelling',
  type: 'type',
  schema: 'schema',
  inputs: 'inputs',
  datasets: 'tables',
});
const COLUMN = Object.freeze({
  added: ({ path, after }) => `column ${path} added${after ? ` (${after})` : ''}`,
  removed: ({ path }) => `column ${path} removed`,
  retyped: ({ path, before, after }) => `column ${path} was ${before || 'untyped'}, is ${after || 'untyped'}`,
  respelled: ({ before, after }) => `column ${before} is now spelled ${after}`,
  moved: ({ path, before, after }) => `column ${path} moved from place ${before} to ${after}`,
});

/**
 * A field that differs as a sentence, a schema column by column.
 * @param {{field: string, before?: any, after?: any, columns?: object[]}} change each field has its own values
 * @returns {string[]}
 */
export function fieldSentences(change) {
  if (change.field === 'schema') return (change.columns ?? []).map(columnSentence);
  const words = FIELDS[change.field] ?? change.field;
  if (change.field === 'plans') return [plansSentence(change)];
  return [`${words} was ${value(change, 'before')}, is ${value(change, 'after')}`];
}

/**
 * @param {{change: string, path: string, before: string|null, after: string|null}} change
 * @returns {string}
 */
export function columnSentence(change) {
  return COLUMN[change.change]?.(change) ?? `column ${change.path} ${change.change}`;
}

/** @param {{before?: string[]|null, after?: string[]|null}} change */
function plansSentence({ before, after }) {
  const [old, now] = [new Set(before ?? []), new Set(after ?? [])];
  const fresh = [...now].filter((one) => !old.has(one)).length;
  const gone = [...old].filter((one) => !now.has(one)).length;
  const parts = [fresh > 0 && `${count(fresh, 'new plan')}`, gone > 0 && `${count(gone, 'plan')} no longer`];
  return parts.filter(Boolean).join(', ');
}

function value({ field, ...sides }, side) {
  const given = sides[side];
  if (given === null || given === undefined || given === '' || given.length === 0)
    return field === 'type' ? 'untyped' : 'nothing';
  if (field === 'how') return howWord(given);
  return shorten(
    typeof given === 'string' ? given : Array.isArray(given) ? given.join(', ') : JSON.stringify(given),
    LONGEST,
  );
}

/**
 * The report behind an element on each side: job, plan and time of the newest good run.
 * @param {import('../data/url.js').State} state
 * @param {{before: object[], after: object[]}|undefined} evidence
 * @returns {HTMLElement[]}
 */
export function evidenceLines(state, evidence) {
  const line = (words, one) =>
    element(
      'li',
      {},
      element('span', { class: 'muted' }, `${words} `),
      jobLink(state, one.job),
      ' · ',
      planLink(state, one.plan, 'plan'),
      one.at ? [' · ', time(one.at)] : null,
    );
  return [
    ...(evidence?.before ?? []).map((one) => line('before:', one)),
    ...(evidence?.after ?? []).map((one) => line('after:', one)),
  ];
}

/**
 * @param {string[]} sentences
 * @returns {HTMLElement|string}
 */
export function sentenceList(sentences) {
  if (sentences.length === 0) return '–';
  return element(
    'ul',
    { class: 'plain' },
    sentences.map((words) => element('li', {}, data(words))),
  );
}

/* Versions */

/**
 * The schemas of a table: newest first, each with its changes and its writer.
 * @param {import('../items/details.js').Context} context
 * @param {string} dataset id
 * @returns {HTMLElement}
 */
export function schemaVersions({ state, api }, dataset) {
  const path = `/graph/datasets/${encodeURIComponent(dataset)}/versions`;
  return later(api.get(path, { at: state.at }, 'versions/dataset'), ({ items, total, next }) =>
    items.length === 0
      ? null
      : section(
          `Schema versions · ${formatNumber(total)}`,
          element(
            'ul',
            { class: 'lines', 'data-testid': 'schema-versions' },
            items.map((one) => schemaVersion(state, dataset, one)),
          ),
          next && element('p', { class: 'muted' }, `The newest ${formatNumber(items.length)}.`),
        ),
  );
}

function schemaVersion(state, dataset, one) {
  const told = one.toldBy[0];
  return element(
    'li',
    {},
    element(
      'div',
      {},
      time(one.first),
      ' ',
      one.current && element('span', { class: 'chip ok' }, 'current'),
      one.role === 'read' && element('span', { class: 'chip plain' }, 'as read'),
    ),
    one.changes === null
      ? element('span', { class: 'muted' }, `${count(one.columns.length, 'column')}, the first seen`)
      : sentenceList(one.changes.map(columnSentence)),
    element(
      'span',
      { class: 'muted block' },
      `${count(one.executions, 'execution')}, last `,
      time(one.last),
      told && [' · ', jobLink(state, told.job), ' · ', planLink(state, told.plan, 'plan')],
    ),
    one.changes !== null &&
      anchor(
        write({ view: 'diff', node: dataset, from: justBefore(one.first), to: one.first, as: state.as }),
        'Compare with before',
      ),
  );
}

/**
 * The millisecond before a time.
 * @param {string} iso
 * @returns {string}
 */
export function justBefore(iso) {
  return new Date(new Date(iso).getTime() - 1).toISOString();
}

/**
 * The logical plans of a job over time.
 * @param {import('../items/details.js').Context} context
 * @param {string} job id
 * @param {string} [besides] a plan that is left out: the one that is shown
 * @returns {HTMLElement}
 */
export function planVersions({ state, api }, job, besides = '') {
  const path = `/graph/jobs/${encodeURIComponent(job)}/versions`;
  return later(api.get(path, { at: state.at }, 'versions/job'), ({ items, total, next }) =>
    section(
      'Versions',
      items.length === 0
        ? element('p', { class: 'muted' }, 'No plan of this job has run.')
        : table(
            'Plans of this job over time',
            ['First seen', 'Writes', 'Changes', 'Executions', ''],
            items.filter((one) => one.id !== besides).map((one) => planVersion(state, one, besides)),
            { 'data-testid': 'plan-versions' },
          ),
      next && element('p', { class: 'muted' }, `The newest of ${formatNumber(total)}.`),
    ),
  );
}

function planVersion(state, one, besides) {
  const pair = besides ? [one.id, besides] : [one.previous, one.id];
  return [
    [time(one.first), ' · ', planLink(state, one.id, 'plan')],
    [datasetLink(state, one.target), ' ', modeChip(one.mode)],
    one.changes === null
      ? element('span', { class: 'muted' }, one.previous ? 'not kept' : 'the first seen')
      : sentenceList(one.changes),
    [formatNumber(one.executions), element('span', { class: 'muted block' }, 'last ', time(one.last))],
    pair[0] &&
      anchor(
        link(state, { view: 'plans', fromPlan: pair[0], toPlan: pair[1] }),
        besides ? 'Compare with this plan' : 'Compare with before',
      ),
  ];
}

/* Since the last good run */

/**
 * The changes upstream since the last good run; loaded at once where the last run failed.
 * @param {import('../items/details.js').Context} context
 * @param {'jobs'|'datasets'} kind
 * @param {string} id
 * @param {boolean} failed
 * @returns {HTMLElement}
 */
export function upstreamChanges({ state, api }, kind, id, failed) {
  const path = `/graph/${kind}/${encodeURIComponent(id)}/changes`;
  const ask = () =>
    later(api.get(path, { at: state.at }, `changes/${kind}`), (found) => causes(state, id, found));
  const place = element('section', { class: 'section', 'data-testid': 'upstream-changes' });
  const heading = element('h3', {}, 'What changed upstream since the last good run');
  const open = button(
    { icon: 'clock', label: 'Look', onclick: () => place.replaceChildren(heading, ask()) },
    { 'data-testid': 'upstream-look' },
  );
  place.append(heading, failed ? ask() : open);
  return place;
}

function causes(state, id, found) {
  if (!found.subject) return element('p', { class: 'muted' }, 'No run was seen.');
  if (!found.reference)
    return element('p', { class: 'muted' }, 'There was no good run before: nothing to compare with.');
  return [
    facts([
      ['This run', [stateChip(found.subject.state), ' ', time(found.subject.at)]],
      ['Last good run', time(found.reference.at)],
    ]),
    found.partial && element('p', { class: 'note' }, icon('warning'), ` ${partialSentence(found.partial)}`),
    found.items.length === 0
      ? element(
          'p',
          { class: 'muted', 'data-testid': 'no-causes' },
          'Nothing is known to have changed upstream.',
        )
      : element(
          'ol',
          { class: 'lines causes', 'data-testid': 'causes' },
          found.items.map((one) => cause(state, one)),
        ),
    element(
      'p',
      {},
      anchor(
        write({
          view: 'diff',
          node: id,
          direction: 'upstream',
          depth: 10,
          from: found.since,
          to: found.until,
        }),
        'Compare the lineage of both times',
      ),
    ),
  ];
}

const CAUSES = Object.freeze({
  'failed-run': ['failed', 'Failed run'],
  'aborted-run': ['busy', 'Aborted run'],
  plan: ['busy', 'Other plan'],
  schema: ['busy', 'Other schema'],
  'input-removed': ['failed', 'Input gone'],
  'input-added': ['ok', 'New input'],
  'writer-removed': ['failed', 'Writer gone'],
  'writer-added': ['ok', 'New writer'],
  late: ['busy', 'Late'],
  rows: ['busy', 'Rows'],
});

function cause(state, one) {
  const [tone, words] = CAUSES[one.kind] ?? ['plain', one.kind];
  const [before, after] = [one.plansBefore[0], one.plansAfter[0]];
  return element(
    'li',
    {},
    element('span', { class: `chip ${tone}` }, words),
    ' ',
    data(one.reason),
    element(
      'span',
      { class: 'muted block' },
      count(one.distance, 'edge'),
      ' away · ',
      one.node.kind === 'job'
        ? anchor(link(state, { view: 'job', node: one.node.id }), data(shorten(one.node.label, 120)))
        : datasetLink(state, one.node),
      one.at && [' · ', time(one.at)],
      one.kind === 'plan' &&
        before &&
        after &&
        before !== after && [
          ' · ',
          anchor(link(state, { view: 'plans', fromPlan: before, toPlan: after }), 'Compare the plans'),
        ],
    ),
  );
}

/**
 * The rows of a table of changes: the item, the change, and the job that reported it.
 * @param {import('../data/url.js').State} state
 * @param {object[]} elements nodes or edges of a difference
 * @param {(one: object) => import('../page/dom.js').Child} nameOf
 * @returns {import('../page/dom.js').Child[][]}
 */
export function changeRows(state, elements, nameOf) {
  return elements
    .filter((one) => one.change)
    .map((one) => [
      changeChip(one.change),
      nameOf(one),
      sentenceList((one.changes ?? []).flatMap(fieldSentences)),
      element('ul', { class: 'plain' }, evidenceLines(state, one.evidence)),
    ]);
}

/**
 * Before and after as two expressions, one above the other.
 * @param {string|null|undefined} before
 * @param {string|null|undefined} after
 * @returns {HTMLElement}
 */
export function beforeAndAfter(before, after) {
  const line = (sign, words, text, tone) =>
    element(
      'div',
      { class: `version ${tone}` },
      element('span', { class: 'sign', 'aria-hidden': 'true' }, sign),
      element('span', { class: 'visually-hidden' }, words),
      text ? expression(text) : element('span', { class: 'muted' }, 'nothing'),
    );
  return element(
    'div',
    { class: 'versions' },
    line('−', 'before: ', before, 'removed'),
    line('+', 'after: ', after, 'added'),
  );
}

/**
 * The link that opens a comparison of a node.
 * @param {import('../data/url.js').State} state
 * @param {string} node
 * @returns {HTMLElement}
 */
export function compareLink(state, node) {
  const href = write({ view: 'diff', node, to: state.at });
  return anchor(href, icon('both'), 'Compare with…');
}

/**
 * The link that compares two executions.
 * @param {import('../data/url.js').State} state
 * @param {object} before
 * @param {object} after
 * @param {string} words
 * @returns {HTMLElement}
 */
export function compareExecutions(state, before, after, words) {
  const { direction, depth, columns, indirect } = state.view === 'diff' ? state : {};
  const asked = { direction, depth, columns, indirect };
  const kept = Object.fromEntries(Object.entries(asked).filter(([, value]) => value !== undefined));
  const to = { view: 'diff', fromExecution: before.id, toExecution: after.id, as: state.as, ...kept };
  return anchor(write(to), words);
}

/**
 * The link that compares two runs of a job.
 * @param {import('../data/url.js').State} state
 * @param {string} job id
 * @param {[string, string]} runs ids, in any order
 * @param {string} words
 * @returns {HTMLElement}
 */
export function compareRuns(state, job, [fromRun, toRun], words) {
  return anchor(write({ view: 'diff', node: job, fromRun, toRun, as: state.as }), icon('both'), words);
}
