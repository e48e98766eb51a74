/**
 * The documents that were received: how many are where, and why some are not in the graph.
 */
import { getAll } from '../data/api.js';
import { anchor, button, data, element, time } from '../page/dom.js';
import { count, formatNumber, formatSize, plain, shorten } from '../data/format.js';
import { datasetLink, jobLink, planLink } from '../panel/links.js';
import { copyButton, stateChip, table } from '../panel/panel.js';
import { write } from '../data/url.js';

const PAGE = 100;
/** Letters of an id in the list: its begin tells one from another, the whole is in its title. */
const SHOWN_ID = 9;

export const journal = {
  controls: ['state'],

  /**
   * @param {import('../items/details.js').Context} context
   * @returns {Promise<import('../data/api.js').Result>} data is a Page (views.js) with a document of its own
   */
  async load(context) {
    const { state, api } = context;
    const wanted = { ...chosenOf(state.state), limit: PAGE };
    const [summary, list] = await getAll(
      api,
      [
        ['/journal', { summary: true }],
        ['/journal', wanted],
      ],
      'page',
    );
    if (!summary.ok) return summary;
    if (!list.ok) return list;
    const refused = await api.get('/journal/refused', {}, 'page/refused'); // for admins
    const words = `${count(summary.data.received, 'document')} received`;
    return {
      ok: true,
      data: {
        heading: 'Documents',
        subtitle: words,
        reply: null,
        model: null,
        empty: null,
        document: () => draw(context, summary.data, list.data, refused.ok ? refused.data : null),
      },
    };
  },
};

/**
 * What people commanded is listed by itself, unless it is still to be done: a removed sample leaves no rows among
 * the reports.
 * @param {string} state of the link
 */
function chosenOf(state) {
  if (state === 'commands') return { kind: 'command' };
  if (state === 'all') return { besides: 'command' };
  return state === 'projected' ? { state, besides: 'command' } : { state };
}

function draw(context, summary, list, refused) {
  return element(
    'div',
    { class: 'document', 'data-testid': 'journal' },
    figures(summary),
    element('p', { class: 'way' }, anchor(write({ view: 'storage' }), 'Disk and memory in use')),
    summary.failed > 0 &&
      context.state.state === 'failed' &&
      element('div', { class: 'replay' }, replayButton(context)),
    lastNews(),
    element('p', { class: 'muted live', 'data-testid': 'live' }, element('span', { class: 'pulse', 'aria-hidden': 'true' }), 'New documents appear here by themselves, newest first.'),
    list.items.length > 0
      ? documents(context, list.items, refused !== null)
      : element('p', { class: 'muted nothing' }, 'No documents in this state.'),
    list.next
      ? element(
          'p',
          { class: 'muted' },
          `The newest ${formatNumber(list.items.length)} of ${formatNumber(list.total ?? 0)}.`,
        )
      : null,
    refused?.total > 0 && refusals(refused),
  );
}

/** Requests whose documents were refused: they are in no state. */
function refusals({ items, total }) {
  const rows = items.map((row) => [
    [time(row.last), row.count > 1 && element('span', { class: 'muted block' }, `${count(row.count, 'time')} in a minute`)],
    row.kind,
    data(row.principal),
    [element('span', { class: 'chip failed' }, row.reason), ' ', data(row.message)],
    row.beginning && element('details', {}, element('summary', {}, 'Beginning'), element('pre', { class: 'mono' }, data(row.beginning))),
  ]);
  return element(
    'div',
    { 'data-testid': 'refused-requests' },
    element('h3', {}, `Refused in the last day · ${formatNumber(total)}`),
    table('Refused requests', ['Last', 'Kind', 'Sent by', 'Reason', 'Document'], rows, { class: 'documents' }),
    total > items.length && element('p', { class: 'muted' }, `The newest ${formatNumber(items.length)} of ${formatNumber(total)}.`),
  );
}

function figures(summary) {
  const named = [
    ['Received', 'received'],
    ['In the graph', 'projected'],
    ['Pending', 'pending'],
    ['Waiting', 'waiting'],
    ['Failed', 'failed'],
  ];
  return element(
    'dl',
    { class: 'figures' },
    named.map(([words, field]) =>
      element(
        'div',
        { class: `figure ${field} ${summary[field] > 0 ? 'some' : 'none'}` },
        element('dt', {}, words),
        element('dd', {}, formatNumber(summary[field] ?? 0)),
      ),
    ),
  );
}

/** The effect of the last command; it outlives the page that is drawn anew after it. */
let news = '';

function replayButton({ api, reload, announce }) {
  const again = button(
    { icon: 'refresh', label: 'Try the failed ones again', onclick: replay },
    { 'data-testid': 'replay' },
  );
  async function replay() {
    again.disabled = true;
    const result = await api.post('/journal/replay', { state: 'failed' });
    const words = result.ok
      ? `${count(result.data.reopened ?? 0, 'document')} will be tried again.`
      : result.error.message;
    news = words;
    await reload();
    announce(words);
  }
  return again;
}

function lastNews() {
  const words = news;
  news = '';
  return words && element('p', { class: 'muted', 'data-testid': 'news' }, data(words));
}

/** The newest document that was on the page before: later ones are new. */
let looked = -1;

/** Payloads may name what is hidden: they are an admin's, as the list of refused requests is. */
function documents(context, items, admin) {
  const { state } = context;
  const before = looked;
  looked = Math.max(looked, ...items.map(({ position }) => position));
  const rows = items.map((item) => [
    [time(item.receivedAt), before >= 0 && item.position > before && element('span', { class: 'chip ok' }, 'new')],
    item.kind,
    item.job && jobLink(state, item.job),
    item.table && datasetLink(state, item.table),
    subject(state, item),
    item.producer && data(item.producer),
    formatSize(item.size),
    element('span', {}, chip(item.state), item.reason && element('span', { class: 'reason' }, ' ', data(item.reason))),
    ...(admin ? [payload(context, item)] : []),
  ]);
  const headings = ['Received', 'Kind', 'Job', 'Table', 'Plan or run', 'Producer', 'Size', 'State'];
  return table('Documents', admin ? [...headings, 'Payload'] : headings, rows, {
    class: 'documents',
    'data-testid': 'journal-items',
  });
}

/** Where the effect of a command is looked at. */
const EFFECTS = { layer: 'layers', classify: 'classes', hide: 'hidden', rules: 'rules', quality: 'quality' };

/** The document as it is kept, fetched when it is unfolded for the first time. */
function payload({ api, announce }, { position, kind }) {
  const place = element('div', { 'aria-live': 'polite' });
  const fold = element('details', { class: 'payload' }, element('summary', {}, 'Payload'), place);
  fold.addEventListener('toggle', async () => {
    if (!fold.open || place.firstChild) return;
    place.replaceChildren('Loading …');
    const result = await api.get(`/journal/${position}`, {}, `journal/${position}`);
    if (!result.ok) return place.replaceChildren(result.stale ? '' : data(result.error.message));
    const { text, size, partial } = result.data;
    const view = kind === 'command' && !partial && EFFECTS[JSON.parse(text).command];
    place.replaceChildren(
      copyButton(text, 'Copy', announce),
      view ? anchor(write({ view }), 'What it did') : '',
      partial ? element('p', { class: 'muted' }, `The first ${count(partial.limit, 'character')} of ${formatSize(size)}.`) : '',
      element('pre', { class: 'mono' }, data(text)),
    );
  });
  return fold;
}

/** Statements of people, whose subject key begins with `#`, have neither plan nor run. */
function subject(state, { planId }) {
  if (!planId || planId.startsWith('#')) return null;
  const id = planId.replace(/^run:/, '');
  const made = planLink(state, planId, shorten(id, SHOWN_ID));
  if (typeof made !== 'string') made.title = plain(id);
  return made;
}

/** The word of the choice above the list. */
function chip(state) {
  const made = stateChip(state);
  if (typeof made !== 'string' && state === 'projected') made.textContent = 'in the graph';
  return made;
}
