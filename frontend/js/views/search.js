/**
 * Everything that a search finds, with the choices that narrow it: kind and place.
 */
import { getAll } from '../data/api.js';
import { asideWords, count, formatNumber, detailWords, matchedWords, shorten, storeOf } from '../data/format.js';
import { anchor, data, element, icon } from '../page/dom.js';
import { link, write } from '../data/url.js';

const LIMIT = 100;
const MOST_PLACES = 12;
const ICON_OF = Object.freeze({ job: 'job', column: 'list', run: 'clock' });
const KINDS = Object.freeze({ dataset: ['Tables', 'table'], job: ['Jobs', 'job'], column: ['Columns', 'column'], run: ['Runs', 'run'] });

export const search = {
  controls: ['q'],

  /**
   * @param {import('../items/details.js').Context} context
   * @returns {Promise<import('../data/api.js').Result>} data is a Page (views.js) with a document of its own
   */
  async load({ state, api }) {
    const found = await ask(api, state.q);
    if (!found.ok) return found;
    const items = found.data.flatMap(({ reply }) => reply.items);
    const total = found.data.reduce((sum, { reply }) => sum + reply.total, 0);
    return {
      ok: true,
      data: {
        heading: state.q ? `Search: ${state.q}` : 'Search',
        subtitle: state.q ? count(total, 'result') : '',
        reply: null,
        model: null,
        empty: null,
        document: () => draw(state, found.data, items),
      },
    };
  },
};

/**
 * Each kind has a question of its own, so that many columns leave room for the tables.
 * @param {ReturnType<import('../data/api.js').createApi>} api
 * @param {string} q
 * @returns {Promise<import('../data/api.js').Result>} data is a list of replies with their kinds
 */
async function ask(api, q) {
  if (!q) return { ok: true, data: [] };
  const kinds = Object.keys(KINDS);
  const replies = await getAll(api, kinds.map((kind) => ['/graph/search', { q, kind, limit: LIMIT }]), 'page');
  for (const reply of replies) if (!reply.ok) return reply;
  return { ok: true, data: replies.map((reply, place) => ({ kind: kinds[place], reply: reply.ok ? reply.data : null })) };
}

/**
 * Where a result is: the store of a table or a column, the namespace of a job.
 * @param {{kind: string, detail?: string}} item
 * @returns {string}
 */
export function placeOf({ kind, detail = '' }) {
  if (kind === 'run') return '';
  return kind === 'job' ? detail : storeOf(detail);
}

/**
 * The places of results with their numbers, the most frequent first.
 * @param {object[]} items
 * @returns {Array<[string, number]>}
 */
export function placesOf(items) {
  const counts = new Map();
  for (const item of items) counts.set(placeOf(item), (counts.get(placeOf(item)) ?? 0) + 1);
  return [...counts].filter(([place]) => place).sort(([a, one], [b, other]) => other - one || (a < b ? -1 : 1));
}

function draw(state, replies, items) {
  if (!state.q) return element('p', { class: 'document muted' }, 'Type words into the filter: they may stand in any order.');
  if (items.length === 0)
    return element('p', { class: 'document muted', 'data-testid': 'nothing-found' }, 'Nothing is known by these words: no name, owner, tag, description, error, id or path. Try fewer words, or another spelling.');
  const ofKind = items.filter(({ kind }) => !state.kind || kind === state.kind);
  const shown = ofKind.filter((item) => !state.place || placeOf(item) === state.place);
  const aside = asideWords(replies[0].reply.setAside);
  const cut = replies.some(({ reply }) => reply.total > reply.items.length);
  return element(
    'div',
    { class: 'document found', 'data-testid': 'found-page' },
    element(
      'nav',
      { class: 'facets', 'aria-label': 'Narrow the results' },
      choices(state, 'kind', 'Kind', replies.map(({ kind, reply }) => [kind, reply.total, KINDS[kind][0]])),
      choices(state, 'place', 'Place', placesOf(ofKind).slice(0, MOST_PLACES).map(([place, number]) => [place, number, place])),
    ),
    element(
      'div',
      {},
      aside && element('p', { class: 'muted', 'data-testid': 'set-aside' }, aside),
      shown.length === 0 && element('p', { class: 'muted' }, 'No result is left by these choices.'),
      element('ol', { class: 'lines', 'data-testid': 'found-items' }, shown.map((item) => line(state, item))),
      cut && element('p', { class: 'muted' }, `The best ${formatNumber(LIMIT)} of each kind are shown; more words narrow them.`),
    ),
  );
}

function choices(state, field, heading, values) {
  if (values.length === 0) return null;
  const one = ([value, number, words]) => {
    const chosen = state[field] === value;
    const to = anchor(write({ ...state, [field]: chosen ? '' : value, ...(field === 'kind' ? { place: '' } : {}) }), data(shorten(words, 60)), ' ', element('span', { class: 'muted' }, formatNumber(number)));
    if (chosen) to.setAttribute('aria-current', 'true');
    return element('li', {}, to);
  };
  return element('section', {}, element('h3', {}, heading), element('ul', { class: 'plain' }, values.filter(([, number]) => number > 0).map(one)));
}

function line(state, item) {
  const { kind, id, label, node, classifications = [] } = item;
  const view = { job: 'job', column: 'columns', dataset: 'lineage' }[kind] ?? 'lineage';
  const to = kind === 'run' ? { view: 'run', run: id } : { view, node };
  const matched = matchedWords(item.matched);
  return element(
    'li',
    {},
    icon(ICON_OF[kind] ?? 'table'),
    element(
      'span',
      { class: 'found-words' },
      anchor(link(state, to), element('strong', {}, data(shorten(label, 200)))),
      ' ',
      element('span', { class: 'chip plain' }, KINDS[kind]?.[1] ?? kind),
      classifications.map((tag) => [' ', element('span', { class: 'chip tag' }, data(tag))]),
      element('span', { class: 'muted block small' }, data(shorten(detailWords(item), 300), kind === 'job' || kind === 'run' ? '' : 'mono')),
      matched && element('span', { class: 'muted block small', 'data-testid': 'matched' }, data(matched)),
    ),
  );
}
