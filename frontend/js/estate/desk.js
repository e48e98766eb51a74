/**
 * The desk of the person on call: the cards of the home page. Failures by their error, each with its jobs,
 * what changed and what it reaches; beside them only the cards that have something to say.
 */
import { count, formatNumber, formatRhythm, tellApart, shorten } from '../data/format.js';
import { jobReference, link, write } from '../data/url.js';
import { anchor, button, data, element, time } from '../page/dom.js';
import { datasetLink, placedJobLink } from '../panel/links.js';
import { factsOf, rowsAgainst, timeAgainst, wellOf } from './incidents.js';

/** So many entries stand on a card: with more the map would not be on the first screen. */
const ENTRIES = 4;
/** So many errors, and jobs of one, are open; the others are a press away. */
const OPEN = Object.freeze({ errors: 4, jobs: 3 });
/** What stands for the error of a run whose producer gave none. */
const NO_TEXT = 'failed';

/**
 * @param {import('../data/url.js').State} state
 * @param {any} known the reply of /graph/home
 * @param {import('../data/api.js').Answer} incidents that of /graph/incidents, or why it was not read
 * @param {() => unknown} again
 * @returns {HTMLElement}
 */
export function drawDesk(state, known, incidents, again) {
  const placeOf = tellApart(jobsOf(known, incidents));
  const beside = incidents.ok ? besideOf(state, incidents.data, placeOf) : [];
  const numbers = incidents.ok ? lengthsOf(incidents.data) : {};
  const well = wellOf({ late: known.late, ...numbers });
  return element(
    'div',
    { class: 'summaries' },
    incidents.ok ? failedCard(state, known, incidents.data.incidents, placeOf) : unreadCard(state, incidents.error, again),
    element('div', { class: 'beside' }, known.late > 0 && lateCard(state, known, placeOf), beside, writtenCard(state, known, placeOf)),
    well && element('p', { class: 'well muted', 'data-testid': 'well' }, well),
  );
}

/** Every job on the desk: equal names tell where they are. */
function jobsOf({ lateJobs, written }, incidents) {
  const beside = incidents.ok ? incidents.data : { incidents: [], runningJobs: [], slow: [], small: [] };
  const failed = beside.incidents.flatMap(({ members }) => members);
  return [...lateJobs, ...written, ...failed, ...beside.runningJobs, ...beside.slow, ...beside.small].map(({ job }) => job);
}

function lengthsOf({ slow, small, checks }) {
  return { slow: slow.length, small: small.length, checks: checks.length };
}

function besideOf(state, incidents, placeOf) {
  const { slow, small, checks, partial } = incidents;
  const bound = partial && `Of the newest ${formatNumber(partial.limit)} executions.`;
  return [
    incidents.running > 0 && runningCard(state, incidents, placeOf),
    slow.length > 0 && unusualCard(state, { heading: 'slow', bound, words: timeAgainst, placeOf }, slow),
    small.length > 0 && unusualCard(state, { heading: 'small', bound, words: rowsAgainst, placeOf }, small),
    checks.length > 0 && checksCard(state, checks, bound),
  ];
}

/**
 * A heading with its number, its content, and the way to all of it.
 * @param {{tone?: string, heading: string, number: number|null, href?: string, more?: string, bound?: string|null}} head
 * @param {import('../page/dom.js').Child} content
 */
function card({ tone = '', heading, number, href, more, bound = null }, content) {
  return element(
    'section',
    { class: `card ${number ? tone : ''}`, 'data-testid': `card-${heading.split(' ')[0].toLowerCase()}` },
    element('h2', {}, number === null ? null : element('span', { class: 'card-number' }, formatNumber(number)), heading),
    content,
    bound && element('p', { class: 'small muted' }, bound),
    href ? element('p', { class: 'card-more' }, anchor(href, more)) : null,
  );
}

/** @param {import('../page/dom.js').Child[]} items */
function lines(items, most = ENTRIES) {
  return element('ul', { class: 'lines' }, items.slice(0, most).map((item) => element('li', {}, item)));
}

/** The first ones, and the others behind a line that counts them. */
function folded(items, most, noun) {
  const rest = items.slice(most);
  return [
    lines(items, most),
    rest.length > 0 && element('details', { class: 'rest' }, element('summary', {}, `${count(rest.length, `more ${noun}`)}`), lines(rest, rest.length)),
  ];
}

/* Failures */

function failedCard(state, { failed }, incidents, placeOf) {
  const groups = incidents.map((incident) => drawIncident(state, incident, placeOf));
  const none = element('p', { class: 'muted' }, 'No job’s newest run failed in the last 24 hours.');
  return card(
    {
      tone: groups.length > 1 ? 'failed tall' : 'failed',
      heading: 'failed in the last day',
      number: failed,
      href: write({ view: 'runs', ended: 'failed' }),
      more: 'All failed runs',
    },
    groups.length > 0 ? folded(groups, OPEN.errors, 'error') : none,
  );
}

/** No answer is not "nothing failed". */
function unreadCard(state, { message }, again) {
  return element(
    'section',
    { class: 'card busy', 'data-testid': 'card-failed' },
    element('h2', {}, 'Not read: what failed, runs or is unusual'),
    element('p', { role: 'status' }, message),
    element(
      'p',
      { class: 'ways' },
      button({ label: 'Try again', onclick: again }, { 'data-testid': 'read-incidents' }),
      anchor(write({ view: 'runs', ended: 'failed' }), 'All failed runs'),
    ),
  );
}

function drawIncident(state, incident, placeOf) {
  const { error, first, members } = incident;
  return [
    error && error !== NO_TEXT ? data(shorten(error, 160), 'mono error-line') : element('p', { class: 'error-line' }, 'Failed without a text'),
    element('p', { class: 'small muted' }, data(factsOf(incident).join(' · ')), ' · since ', time(first)),
    folded(members.map((member) => drawMember(state, member, placeOf)), OPEN.jobs, 'job'),
  ];
}

function drawMember(state, { job, at, run, goodRun }, placeOf) {
  const node = jobReference(job);
  const changed = goodRun && write({ view: 'diff', node: job.id, fromRun: goodRun, toRun: run });
  return element(
    'div',
    { class: 'entry' },
    element('span', {}, placedJobLink(state, job, placeOf)),
    element(
      'span',
      { class: 'ways small' },
      changed && anchor(changed, 'What changed'),
      anchor(link(state, { view: 'impact', node }), 'Impact'),
      element('span', { class: 'muted' }, time(at)),
    ),
  );
}

/* Beside them */

function lateCard(state, { late, lateJobs }, placeOf) {
  const items = lateJobs.map(({ job, last, everyMs }) => [
    entry(placedJobLink(state, job, placeOf), ['last run ', time(last)]),
    element('span', { class: 'small muted block' }, `usually every ${formatRhythm(everyMs)}`),
  ]);
  return card({ tone: 'busy', heading: 'late', number: late, href: write({ view: 'jobs', late: true }), more: 'All late jobs' }, lines(items));
}

function runningCard(state, { running, runningJobs }, placeOf) {
  const items = runningJobs.map(({ job, at }) => entry(placedJobLink(state, job, placeOf), ['since ', time(at)]));
  return card({ heading: 'running', number: running, href: write({ view: 'runs', ended: 'running' }), more: 'All running' }, lines(items));
}

function unusualCard(state, { heading, bound, words, placeOf }, writes) {
  const items = writes.map((one) => [
    entry(datasetLink(state, one.dataset), time(one.at)),
    element('span', { class: 'small block' }, words(one), one.job && [' · by ', placedJobLink(state, one.job, placeOf)]),
  ]);
  return card({ tone: 'busy', heading, number: writes.length, bound }, folded(items, ENTRIES, 'write'));
}

function checksCard(state, checks, bound) {
  const placed = placedTables(state, checks);
  const items = checks.map(({ dataset, at, check, failures }) => [
    entry(placed(dataset), time(at)),
    element('span', { class: 'small block' }, data(shorten(check, 100)), failures > 1 && ` and ${count(failures - 1, 'more check')}`),
  ]);
  return card({ tone: 'failed', heading: `${checks.length === 1 ? 'table' : 'tables'} with failed checks`, number: checks.length, bound }, folded(items, ENTRIES, 'table'));
}

function writtenCard(state, { written, partial }, placeOf) {
  const placed = placedTables(state, written);
  const items = written.map(({ dataset, at, job }) => [
    entry(placed(dataset), time(at)),
    job ? element('span', { class: 'small muted block' }, 'by ', placedJobLink(state, job, placeOf)) : null,
  ]);
  const none = element('p', { class: 'muted' }, 'No run has written a table yet.');
  return card(
    {
      heading: 'Written lately',
      number: null,
      href: write({ view: 'tables', sort: '-written' }),
      more: 'All tables',
      bound: partial && `Of the newest ${formatNumber(partial.limit)} executions.`,
    },
    items.length > 0 ? lines(items) : none,
  );
}

/** Tables of one name each with what tells it apart: `churn in features`, `churn in scores`. */
function placedTables(state, listed) {
  const asJob = ({ label, uri }) => ({ name: label, namespace: uri });
  const placeOf = tellApart(listed.map(({ dataset }) => asJob(dataset)));
  return (dataset) => {
    const place = placeOf(asJob(dataset));
    return [datasetLink(state, dataset), place && element('span', { class: 'muted' }, ' in ', data(shorten(place, 120)))];
  };
}

function entry(name, beside) {
  return element('div', { class: 'entry' }, element('span', {}, name), element('span', { class: 'muted' }, beside));
}
