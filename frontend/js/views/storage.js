/**
 * Storage: disk and memory in use, when disk and heap are full, and the savings of each setting.
 */
import { anchor, data, element, icon } from '../page/dom.js';
import { emptyNotice } from '../page/notices.js';
import { count, formatSize, shorten } from '../data/format.js';
import { copyButton, section, table } from '../panel/panel.js';
import { basis, capacities, inForce, jobOf, savings, shares, shareWords, summary, takers } from '../data/storage.js';
import { jobReference, link, write } from '../data/url.js';

const BY = Object.freeze({
  job: ['Job', 'jobs'],
  namespace: ['Namespace', 'namespaces'],
  producer: ['Producer', 'producers'],
  kind: ['Kind of document', 'kinds of documents'],
});

export const storage = {
  controls: ['by'],

  /**
   * @param {import('../items/details.js').Context} context
   * @returns {Promise<import('../data/api.js').Result>} data is a Page (views.js) with a document of its own
   */
  async load(context) {
    const result = await context.api.get('/storage', {}, 'page');
    if (!result.ok) return result;
    const reply = result.data;
    const empty = reply.documents === 0;
    return {
      ok: true,
      data: {
        heading: 'Storage',
        subtitle: empty ? '' : summary(reply),
        reply: null,
        model: null,
        notes: empty ? [] : [warning(reply)],
        empty: empty ? nothing() : null,
        document: empty ? undefined : () => draw(context, reply),
      },
    };
  },
};

function nothing() {
  return emptyNotice(
    'Nothing is stored yet',
    'Disk and memory in use appear here as soon as a job reports its first run.',
    { href: write({ view: 'overview' }), words: 'How to send the first lineage' },
  );
}

function warning(reply) {
  const near = capacities(reply).filter(({ state }) => state === 'soon');
  if (near.length === 0) return null;
  return element(
    'p',
    { class: 'banner warning', role: 'note', 'data-testid': 'storage-warning' },
    icon('warning'),
    element('span', {}, near.map(({ title, verdict }) => `${title}: ${verdict.toLowerCase()}.`).join(' ')),
    element('a', { href: '#savings', onclick: toSavings }, 'Savings by setting'),
  );
}

/** The query string is the state of the page: a fragment stays out of it. */
function toSavings(event) {
  event.preventDefault();
  const place = document.getElementById('savings');
  place?.scrollIntoView();
  place?.focus();
}

function draw(context, reply) {
  return element(
    'div',
    { class: 'document storage', 'data-testid': 'storage' },
    section(
      'When it is full',
      element('p', { class: 'muted', 'data-testid': 'storage-basis' }, basis(reply)),
      element('div', { class: 'capacities' }, capacities(reply).map(capacityCard)),
    ),
    section('In use', takersTable(reply)),
    journalShares(context.state, reply),
    savingsSection(context, reply),
  );
}

/** @param {import('../data/storage.js').Capacity} capacity */
function capacityCard({ name, title, state, verdict, rate, left, parts }) {
  return element(
    'div',
    { class: `capacity ${state}`, 'data-testid': `capacity-${name}` },
    element('h4', {}, title),
    element('p', { class: 'verdict' }, state === 'soon' ? icon('warning') : null, element('span', {}, verdict)),
    parts.length > 0 && bar(parts),
    element('p', { class: 'muted' }, [left, rate].filter(Boolean).join(' · ')),
  );
}

/** The numbers stand beside it: a screen reader does not need the drawing. */
function bar(parts) {
  return element(
    'div',
    { class: 'capacity-bar', 'aria-hidden': 'true' },
    parts.map(({ name, part }) => element('span', { class: name, style: widthOf(part) })),
  );
}

function widthOf(part) {
  return `width: ${(100 * part).toFixed(2)}%`;
}

function takersTable(reply) {
  const rows = takers(reply).map(({ name, size, said }) => [name, size || '–', said]);
  return table('Disk and memory in use', ['Part', 'In use', 'Description'], rows, { class: 'takers', 'data-testid': 'storage-takers' });
}

function journalShares(state, reply) {
  const [word, plural] = BY[state.by];
  const rows = shares(reply, state.by).map((one) => [
    nameOf(state, one, plural),
    [shareBar(one.share), shareWords(one.share)],
    formatSize(one.bytes),
  ]);
  const part = reply.sampled < reply.documents ? `a sample of ${count(reply.sampled, 'document')}` : 'all documents';
  return section(
    `Shares of the journal, by ${word.toLowerCase()}`,
    rows.length > 0
      ? table(`The journal by ${word.toLowerCase()}`, [word, 'Share', 'About'], rows, {
          class: 'shares',
          'data-testid': 'storage-shares',
        })
      : element('p', { class: 'muted nothing' }, 'Nothing to show.'),
    element('p', { class: 'muted foot' }, `Worked out from ${part}; the largest ten are listed.`),
  );
}

function shareBar(share) {
  return element('span', { class: 'share-bar', 'aria-hidden': 'true' }, element('span', { style: widthOf(share) }));
}

function nameOf(state, { name, rest }, plural) {
  if (rest) return element('span', { class: 'muted' }, state.by === 'job' ? 'All other jobs, hidden ones too' : `All other ${plural}`);
  if (!name) return element('span', { class: 'muted' }, 'Of no run that has ended yet');
  if (state.by === 'namespace') return anchor(link(state, { view: 'overview', namespace: name }), data(shorten(name, 200)));
  if (state.by !== 'job') return data(shorten(name, 200));
  const job = jobOf(name);
  return [
    anchor(link(state, { view: 'job', node: jobReference(job) }), data(shorten(job.name, 200))),
    element('span', { class: 'muted block' }, data(shorten(job.namespace, 200))),
  ];
}

/** A narrow screen breaks it after a word of the setting. */
function lineToCopy(setting, announce) {
  const words = setting.split(/(?<=[_=])/).flatMap((word) => [word, element('wbr')]);
  return element(
    'div',
    { class: 'reference' },
    element('code', { class: 'data mono' }, words),
    copyButton(setting, `Copy ${setting}`, announce),
  );
}

function savingsSection({ announce }, reply) {
  const rows = savings(reply).map(({ setting, inForce: now, saves, lasts }) => [
    [lineToCopy(setting, announce), now ? element('span', { class: 'chip plain' }, 'in force') : null],
    [saves, lasts && element('span', { class: 'muted block' }, `${lasts} more at this rate`)],
  ]);
  return element(
    'section',
    { class: 'section', id: 'savings', tabindex: -1 },
    element('h3', {}, 'Savings by setting'),
    table('Savings by setting', ['Line to copy', 'Would save'], rows, {
      class: 'savings',
      'data-testid': 'storage-savings',
    }),
    element(
      'p',
      { class: 'muted foot' },
      'Put a line into the environment of headwater serve and start it again. HEADWATER_KEEP works at night (after 3:00 UTC, or the hour= that it says). A larger HEADWATER_GREMLIN_HEAP (in MB) holds a larger graph.',
    ),
    element('p', { class: 'muted foot', 'data-testid': 'storage-saved-note' }, `“Up to” means ${reply.savedNote}.`),
    element(
      'p',
      { class: 'muted foot', 'data-testid': 'storage-in-force' },
      'In force now: ',
      inForce(reply).map((line) => [data(line, 'mono'), ' ']),
    ),
  );
}
