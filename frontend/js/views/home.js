/**
 * The first page, before any question: failed runs, late jobs, new writes, and
 * the map of the estate, which opens step by step down to tables.
 */
import { getAll } from '../data/api.js';
import { count, formatDuration, formatNumber, shorten } from '../data/format.js';
import { lineageOf, write } from '../data/url.js';
import { drawMap } from '../estate/map.js';
import { anchor, button, data, element, time } from '../page/dom.js';
import { firstVisit } from '../start/first-visit.js';
import { removeSample, SAMPLE } from '../start/sample.js';
import { datasetLink, jobLink } from '../panel/links.js';

/** So many entries stand on a card: with more the map would not be on the first screen. */
const ENTRIES = 4;

export const home = {
  controls: [],

  /**
   * @param {import('../items/details.js').Context} context
   * @returns {Promise<import('../data/api.js').Result>} data is a Page (views.js) with a document of its own
   */
  async load(context) {
    const { state, api } = context;
    const asked = { by: state.by === 'layer' ? 'layer' : '', within: state.within };
    const [known, map, sample] = await getAll(
      api,
      [
        ['/graph/home', {}],
        ['/graph/map', asked],
        ['/graph/jobs', { namespace: SAMPLE, limit: 1 }],
      ],
      'home',
    );
    if (!known.ok) return known;
    if (!map.ok) return map;
    const opened = await openOnly(api, map, asked);
    if (!opened.ok) return opened;
    const { totals } = known.data;
    const nothing = totals.jobs === 0 && totals.datasets === 0;
    return {
      ok: true,
      data: {
        heading: 'Home',
        subtitle: nothing ? '' : `${count(totals.jobs, 'job')} · ${count(totals.datasets, 'table')}`,
        reply: null,
        model: null,
        empty: null,
        notes: sample.ok && sample.data.total > 0 ? [sampleNote(context)] : [],
        document: () => (nothing ? firstVisit(context) : draw(context, known.data, opened.data)),
      },
    };
  },
};

/** A map of one area says nothing: it opens by itself, a step. */
function openOnly(api, map, asked) {
  const [only, other] = map.data.areas;
  if (asked.within || other || only?.kind !== 'area') return map;
  return api.get('/graph/map', { ...asked, within: only.path.join('\n') }, 'home/opened');
}

function draw({ state, go }, known, map) {
  return element(
    'div',
    { class: 'document home', 'data-testid': 'home' },
    element(
      'div',
      { class: 'summaries' },
      failedCard(state, known),
      lateCard(state, known),
      writtenCard(state, known),
    ),
    mapCard(state, map, go),
  );
}

/** A heading with its number, a list, and the way to all of it. */
function card({ tone = '', heading, number, none, href, more, bound = null }, items) {
  return element(
    'section',
    { class: `card ${number > 0 ? tone : ''}`, 'data-testid': `card-${heading.split(' ')[0].toLowerCase()}` },
    element(
      'h2',
      {},
      number === null ? null : element('span', { class: 'card-number' }, formatNumber(number)),
      heading,
    ),
    items.length > 0 ? element('ul', { class: 'lines' }, items.slice(0, ENTRIES).map((item) => element('li', {}, item))) : element('p', { class: 'muted' }, none),
    bound && element('p', { class: 'small muted' }, bound),
    href ? element('p', { class: 'card-more' }, anchor(href, more)) : null,
  );
}

function failedCard(state, { failed, failures }) {
  const items = failures.map(({ job, at, error }) => [
    element('div', { class: 'entry' }, jobLink(state, job), element('span', { class: 'muted' }, time(at))),
    error ? data(shorten(error, 160), 'small muted block mono') : null,
  ]);
  return card(
    {
      tone: 'failed',
      heading: 'failed in the last day',
      number: failed,
      none: 'No job’s newest run failed in the last 24 hours.',
      href: write({ view: 'runs', ended: 'failed' }),
      more: 'All failed runs',
    },
    items,
  );
}

function lateCard(state, { late, lateJobs }) {
  const items = lateJobs.map(({ job, last, everyMs }) => [
    element('div', { class: 'entry' }, jobLink(state, job), element('span', { class: 'muted' }, 'last run ', time(last))),
    element('span', { class: 'small muted block' }, `usually every ${formatDuration(everyMs)}`),
  ]);
  return card(
    {
      tone: 'busy',
      heading: 'late',
      number: late,
      none: 'Every job with a rhythm has run when it usually runs.',
      href: write({ view: 'jobs', sort: 'last' }),
      more: 'All jobs',
    },
    items,
  );
}

function writtenCard(state, { written, partial }) {
  const items = written.map(({ dataset, at, job }) => [
    element('div', { class: 'entry' }, datasetLink(state, dataset), element('span', { class: 'muted' }, time(at))),
    job ? element('span', { class: 'small muted block' }, 'by ', jobLink(state, job)) : null,
  ]);
  return card(
    {
      heading: 'Written lately',
      number: null,
      none: 'No run has written a table yet.',
      href: write({ view: 'tables', sort: '-written' }),
      more: 'All tables',
      bound: partial && `Of the newest ${formatNumber(partial.limit)} executions.`,
    },
    items,
  );
}

function mapCard(state, map, go) {
  const hrefOf = (area) => {
    if (area.kind === 'rest') return write({ view: 'tables' });
    if (area.kind === 'dataset') return lineageOf(state, area.path[area.path.length - 1]);
    return write({ view: 'home', by: state.by, within: area.path.join('\n') });
  };
  return element(
    'section',
    { class: 'card map-card' },
    element(
      'div',
      { class: 'map-line' },
      element('h2', {}, trail(state, map.within)),
      element('div', { class: 'segments', role: 'group', 'aria-label': 'Map by' }, byButton(state, go, '', 'By place'), byButton(state, go, 'layer', 'By layer')),
      anchor(write({ view: 'overview' }), 'The whole graph'),
    ),
    map.partial ? element('p', { class: 'muted' }, `The map shows the first ${formatNumber(map.partial.limit)} tables by name.`) : null,
    map.names > 0 && !state.within ? element('p', { class: 'muted' }, `The map leaves out ${count(map.names, 'catalog name')}: each table with a known location is drawn once, at its location.`) : null,
    map.areas.length > 0 ? drawMap(map, hrefOf) : element('p', { class: 'muted' }, 'Nothing lies here.'),
  );
}

function byButton(state, go, value, words) {
  const pressed = (state.by === 'layer') === (value === 'layer');
  return element(
    'button',
    { type: 'button', class: 'button', 'aria-pressed': String(pressed), onclick: () => go({ by: value || 'job', within: '' }) },
    words,
  );
}

/** `Map › s3://lake › curated`: each part opens that step again. */
function trail(state, within) {
  if (within.length === 0) return 'Map of the estate';
  const step = (number) => write({ view: 'home', by: state.by, within: within.slice(0, number).join('\n') });
  return [
    anchor(step(0), 'Map'),
    within.map((part, place) => [' › ', place + 1 < within.length ? anchor(step(place + 1), data(part)) : data(part)]),
  ];
}

/** The sample says that it is one, and how it goes away. */
function sampleNote({ api, reload, announce, tour }) {
  const said = element('span', { role: 'status' });
  async function remove(event) {
    event.currentTarget.disabled = true;
    said.textContent = 'Removing…';
    const result = await removeSample(api);
    said.textContent = result.ok || result.stale ? '' : result.error.message;
    announce(result.ok ? 'The sample is gone.' : said.textContent);
    if (result.ok) reload();
  }
  return element(
    'p',
    { class: 'banner', role: 'note', 'data-testid': 'sample-note' },
    element('span', {}, 'A sample estate is loaded; all of its jobs are in the namespace ', element('strong', {}, SAMPLE), '.'),
    button({ label: 'Take the tour', onclick: () => tour.begin() }, { class: 'link', 'data-testid': 'tour' }),
    button({ label: 'Remove the sample', onclick: remove }, { class: 'link', 'data-testid': 'remove-sample' }),
    said,
  );
}
