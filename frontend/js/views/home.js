/**
 * The first page, before any question: the desk of the person on call, and the map of the estate, which
 * opens step by step down to tables.
 */
import { getAll, unreachable } from '../data/api.js';
import { count, formatNumber } from '../data/format.js';
import { lineageOf, SAMPLE, write } from '../data/url.js';
import { drawDesk } from '../estate/desk.js';
import { drawMap } from '../estate/map.js';
import { anchor, button, data, element } from '../page/dom.js';

export const home = {
  controls: [],

  /**
   * @param {import('../items/details.js').Context} context
   * @returns {Promise<import('../data/api.js').Result>} data is a Page (views.js) with a document of its own
   */
  async load(context) {
    const { state, api } = context;
    const asked = { by: state.by === 'layer' ? 'layer' : '', within: state.within };
    const [known, map, sample, incidents] = await getAll(
      api,
      [
        ['/graph/home', {}],
        ['/graph/map', asked],
        ['/graph/jobs', { namespace: SAMPLE, limit: 1 }],
        ['/graph/incidents', {}],
      ],
      'home',
    );
    if (!known.ok) return known;
    if (!map.ok) return map;
    if (!incidents.ok && incidents.stale) return incidents;
    const opened = await openOnly(api, map, asked);
    if (!opened.ok) return opened;
    const { totals } = known.data;
    const nothing = totals.jobs === 0 && totals.datasets === 0;
    const first = nothing ? await import('../start/first-visit.js').catch(() => null) : null;
    if (nothing && !first) return unreachable();
    return {
      ok: true,
      data: {
        heading: 'Home',
        subtitle: nothing ? '' : `${count(totals.jobs, 'job')} · ${count(totals.datasets, 'table')}`,
        reply: null,
        model: null,
        empty: null,
        notes: sample.ok && sample.data.total > 0 ? [sampleNote(context)] : [],
        document: () => (first ? first.firstVisit(context) : draw(context, known.data, incidents, opened.data)),
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

function draw({ state, go, reload }, known, incidents, map) {
  return element(
    'div',
    { class: 'document home', 'data-testid': 'home' },
    drawDesk(state, known, incidents, reload),
    mapCard(state, map, go),
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
    const module = await import('../start/sample.js').catch(() => null);
    const result = module ? await module.removeSample(api) : unreachable();
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
