/**
 * The content of facets: owners, code, quality, and every facet as the client sent it, as a tree of names
 * and values. Everything is text; a link leads out only where the server calls it one.
 */
import { anchor, data, element, time } from '../page/dom.js';
import { count, formatNumber, formatTime, plain, shorten } from '../data/format.js';
import { section, table } from './panel.js';
import { jobReference, link, write } from '../data/url.js';

const MOST_MEMBERS = 200;
const MOST_LEVELS = 20;
const LONGEST = 5000;

/**
 * A JSON value as a tree: an object or a list folds, everything else is text.
 * @param {string} name
 * @param {unknown} value
 * @param {number} [level]
 * @returns {HTMLElement}
 */
export function valueTree(name, value, level = 0) {
  if (value === null || typeof value !== 'object') return leaf(name, String(value));
  if (level >= MOST_LEVELS) return leaf(name, JSON.stringify(value));
  const members = Object.entries(value);
  const inside = element('div', { class: 'tree-inside' });
  const fill = () => {
    if (inside.childElementCount > 0) return;
    inside.append(...members.slice(0, MOST_MEMBERS).map(([key, item]) => valueTree(key, item, level + 1)));
    if (members.length > MOST_MEMBERS)
      inside.append(
        element('p', { class: 'muted' }, `and ${formatNumber(members.length - MOST_MEMBERS)} more`),
      );
  };
  if (level > 0 && members.length <= 4) fill();
  return element(
    'details',
    { class: 'tree', ontoggle: fill, open: level > 0 && members.length <= 4 },
    element(
      'summary',
      {},
      data(name, 'tree-name'),
      element('span', { class: 'muted' }, count(members.length, Array.isArray(value) ? 'item' : 'member')),
    ),
    inside,
  );
}

function leaf(name, text) {
  return element(
    'div',
    { class: 'tree-leaf' },
    data(name, 'tree-name'),
    data(shorten(text, LONGEST), 'mono'),
  );
}

/**
 * Facets by name, each a tree.
 * @param {string} heading
 * @param {Record<string, unknown>} facets
 * @param {string[]} [cut] those that the server left out
 * @returns {HTMLElement|null}
 */
export function facetTrees(heading, facets, cut = []) {
  const names = Object.keys(facets ?? {});
  if (names.length === 0) return null;
  return section(
    heading,
    element(
      'div',
      { class: 'trees', 'data-testid': 'facets' },
      names.map((name) => (cut.includes(name) ? tooLong(name) : valueTree(name, facets[name]))),
    ),
  );
}

/**
 * Facets in force, each with its time and the run that reported it.
 * @param {import('../data/url.js').State} state
 * @param {Array<object>} facets
 * @returns {HTMLElement|null}
 */
export function facetsInForce(state, facets) {
  if (!facets || facets.length === 0) return null;
  return section(
    `Facets · ${formatNumber(facets.length)}`,
    element(
      'div',
      { class: 'trees', 'data-testid': 'facets' },
      facets.map((facet) =>
        element(
          'div',
          {},
          facet.cut ? tooLong(facet.name) : valueTree(facet.name, facet.body),
          element('span', { class: 'small muted' }, `${facet.kind} · `, time(facet.at), said(state, facet)),
        ),
      ),
    ),
  );
}

function tooLong(name) {
  return element('p', { class: 'muted' }, data(name), ' is too long to be shown here');
}

function said(state, facet) {
  return facet.run ? [' · ', runLink(state, facet.run)] : null;
}

/**
 * @param {import('../data/url.js').State} state
 * @param {{id: string, runId?: string|null}} run
 * @param {string} [words]
 * @returns {HTMLElement}
 */
export function runLink(state, run, words = '') {
  const href = link(state, { view: 'run', run: run.id });
  return anchor(href, data(shorten(words || `run ${run.runId ?? run.id}`, 60)));
}

/**
 * The way to all tables of an owner.
 * @param {string} name
 * @returns {HTMLElement}
 */
export function ownerLink(name) {
  return anchor(write({ view: 'tables', owner: name }), data(shorten(name, 200)));
}

/**
 * Owners, tags, documentation and the other understood facets, as names and values.
 * @param {object} described of a job or a dataset
 * @returns {Array<[string, import('../page/dom.js').Child]>}
 */
export function describedFacts(described) {
  if (!described) return [];
  return [
    ['Kind of job', words([described.processingType, described.integration, described.jobType])],
    ['Dataset type', described.datasetType && data(described.datasetType)],
    ['Documentation', described.documentation && data(shorten(described.documentation, LONGEST))],
    ['Owners', listed(described.owners, ({ name, type }) => [ownerLink(name), type && ` (${plain(type)})`])],
    ['Tags', listed(described.tags, tagWords)],
    ['Storage', described.storage && data(described.storage)],
    ['Data source', described.dataSource && data(described.dataSource)],
    ['Catalog', described.catalog && data(described.catalog)],
    ['Hierarchy', described.hierarchy?.length > 0 && data(described.hierarchy.join(' / '))],
    ['Source code', location(described.sourceCodeLocation)],
    ['Runs after', dependencies(described, 'upstream')],
    ['Runs if', described.triggerRule && data(ruleWords(described.triggerRule))],
    ['Runs before', dependencies(described, 'downstream')],
  ];
}

function dependencies({ dependencies: all }, direction) {
  const those = all?.filter((one) => one.direction === direction);
  return listed(those, (one) => {
    const rules = dependencyRules(one);
    return [
      data(shorten(`${one.namespace}/${one.name}`, 200)),
      rules && element('span', { class: 'muted' }, ` ${rules}`),
    ];
  });
}

/**
 * The rules of a dependency between two jobs in words, as far as the client told them.
 * @param {{type?: string, sequenceRule?: string, statusRule?: string}} dependency
 * @returns {string} `finish to start · execute on success`, empty for none
 */
export function dependencyRules({ type, sequenceRule, statusRule }) {
  return [type, sequenceRule, statusRule].filter(Boolean).map(ruleWords).join(' · ');
}

function ruleWords(rule) {
  return plain(shorten(rule, 200).toLowerCase().replaceAll('_', ' '));
}

function words(parts) {
  const known = parts.filter(Boolean);
  return known.length > 0 && data(known.join(' · '));
}

function listed(items, draw) {
  if (!items || items.length === 0) return null;
  return element(
    'ul',
    { class: 'plain' },
    items.map((item) => element('li', {}, draw(item))),
  );
}

/**
 * @param {{key: string, value: string}} tag
 * @returns {HTMLElement}
 */
export function tagWords({ key, value }) {
  return element('span', { class: 'chip plain' }, data(value && value !== 'true' ? `${key}: ${value}` : key));
}

function location(place) {
  if (!place) return null;
  const text = place.url || place.repository;
  const shown = place.link
    ? element(
        'a',
        { href: place.link, rel: 'noreferrer noopener', target: '_blank' },
        data(shorten(text, 200)),
      )
    : data(shorten(text, 200));
  const parts = [place.path, place.branch, place.tag, place.version].filter(Boolean);
  return [
    shown,
    parts.length > 0 && element('span', { class: 'muted block' }, data(parts.join(' · '), 'mono')),
  ];
}

/**
 * SQL and source code, as they came.
 * @param {object} described
 * @returns {Array<HTMLElement|false>}
 */
export function code(described) {
  return [
    described?.sql && block('SQL', described.sql),
    described?.sourceCode && block('Source code', described.sourceCode),
  ];
}

function block(heading, { language, text }) {
  return section(
    language ? `${heading} · ${plain(language)}` : heading,
    element(
      'pre',
      { class: 'code', tabindex: 0, role: 'region', 'aria-label': heading, 'data-testid': 'code' },
      data(shorten(text, 100_000)),
    ),
  );
}

// --- quality

/**
 * Passed or failed: a shape and a word, not the colour alone.
 * @param {string} state passed, failed or warned
 * @param {boolean} [short] of one check, not of a table
 * @returns {HTMLElement}
 */
export function qualityChip(state, short = false) {
  const [kind, sign] = QUALITY[state] ?? QUALITY.passed;
  return element(
    'span',
    { class: `chip quality ${kind}`, 'data-testid': 'quality' },
    element('span', { 'aria-hidden': 'true' }, sign),
    short ? state : `checks ${state}`,
  );
}

/** State -> class and sign of its chip. */
const QUALITY = { passed: ['ok', '✓'], failed: ['failed', '✗'], warned: ['plain', '!'] };

/**
 * The failed checks, in a few words: `not_null on id`.
 * @param {{assertion: string, column: string|null}} check
 * @returns {string}
 */
export function checkWords({ assertion, column }) {
  return plain(column ? `${assertion} on ${column}` : assertion);
}

/**
 * A dataset's mark in words, for lists and tooltips; empty where there is no check.
 * @param {object|undefined} quality of a node
 * @returns {string}
 */
export function qualityWords(quality) {
  if (!quality) return '';
  const warned = quality.warnings ? `, ${count(quality.warnings, 'warning')}` : '';
  if (quality.state !== 'failed') return `checks passed${warned}`;
  const [first] = quality.failed;
  const more = quality.failures > 1 ? ` and ${formatNumber(quality.failures - 1)} more` : '';
  return `checks failed: ${first ? checkWords(first) : ''}${more}${warned}`;
}

/**
 * All checks in force, those that failed first.
 * @param {import('../data/url.js').State} state
 * @param {object|null} quality
 * @returns {HTMLElement|null}
 */
export function qualityPart(state, quality) {
  if (!quality) return null;
  const rows = quality.checks.map((check) => [
    [data(checkWords({ ...check, assertion: check.name ?? check.assertion })), checkAside(check), resultMarks(check.results)],
    [
      qualityChip(resultState(check), true),
      element('span', { class: 'block small' }, time(check.at)),
      check.job && element('span', { class: 'muted block' }, checkedBy(state, check.job)),
    ],
  ]);
  return section(
    'Quality',
    element('p', {}, qualityChip(quality.state), ' ', time(quality.at)),
    table('Checks of this table', ['Check', 'Result, when, by'], rows, { 'data-testid': 'checks' }),
  );
}

/** The results of a check as a row of marks, oldest first; one result is no row. */
function resultMarks(results = []) {
  if (results.length < 2) return null;
  const marks = results.map((result) => {
    const [kind, sign] = QUALITY[resultState(result)];
    const words = `${resultState(result)}, ${formatTime(result.at)}`;
    return element('li', { class: `mark ${kind}`, title: words }, element('span', { 'aria-hidden': 'true' }, sign), element('span', { class: 'visually-hidden' }, words));
  });
  return element('ol', { class: 'marks', 'aria-label': 'Results, oldest first', 'data-testid': 'check-results' }, marks.reverse());
}

function resultState({ passed, fails }) {
  if (passed) return 'passed';
  return fails === false ? 'warned' : 'failed';
}

function checkAside({ severity, expected, actual }) {
  const parts = [severity, (expected ?? actual) && `expected ${expected ?? '–'}, was ${actual ?? '–'}`];
  const words = parts.filter(Boolean).join(' · ');
  return words && element('span', { class: 'muted block' }, data(words));
}

function checkedBy(state, job) {
  const href = link(state, { view: 'job', node: jobReference(job) });
  return element('a', { href, 'data-internal': true }, data(shorten(plain(job.name), 80)));
}

/**
 * Versions, lifecycle and statistics over time: the value of each facet, newest first.
 * @param {string} heading
 * @param {import('../data/url.js').State} state
 * @param {Array<object>} facets
 * @param {(body: object) => string} draw
 * @returns {HTMLElement|null}
 */
export function facetHistory(heading, state, facets, draw) {
  const told = (facets ?? []).filter((facet) => facet.body);
  if (told.length === 0) return null;
  const rows = told.map((facet) => [
    time(facet.at),
    data(shorten(draw(facet.body), 300)),
    facet.run ? runLink(state, facet.run, 'run') : '–',
  ]);
  return section(heading, table(heading, ['Time', 'Value', 'Run'], rows));
}

/**
 * `rowCount 9, size 70` of the numbers in a body.
 * @param {object} body
 * @returns {string}
 */
export function numbers(body) {
  return Object.entries(body)
    .filter(([, value]) => typeof value === 'number')
    .map(([name, value]) => `${name} ${formatNumber(value)}`)
    .join(', ');
}
