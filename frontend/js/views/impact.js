/**
 * Everything downstream as a table: the items that break when this changes. It can be sorted, filtered and
 * taken along as CSV or Markdown.
 */
import { tagChip } from '../panel/classifications.js';
import { anchor, button, chain, data, download, element, icon, replace, time } from '../page/dom.js';
import { count, formatNumber, howWord, tellApart, shorten } from '../data/format.js';
import { filtered, fullName, nextOrder, pathWords, shortName, sorted, tallyWords, VERDICTS } from '../data/impacts.js';
import { ownerLink } from '../panel/facets.js';
import { placedJobLink } from '../panel/links.js';
import { KIND_NAMES } from '../page/list.js';
import { separated, stateChip } from '../panel/panel.js';
import { link, write } from '../data/url.js';

const ROUTE = '/graph/impact';
const FORMATS = Object.freeze([
  ['csv', 'CSV', 'impact.csv', 'text/csv'],
  ['markdown', 'Markdown', 'impact.md', 'text/markdown'],
]);
const CHANGES = Object.freeze([
  ['', 'unchanged'],
  ['dropped', 'dropped'],
  ['renamed', 'renamed'],
  ['retyped', 'retyped'],
]);
const KINDS = Object.freeze([
  ['', 'all'],
  ['dataset', 'tables'],
  ['column', 'columns'],
  ['job', 'jobs'],
]);
const MOST_READERS = 4;

export const impact = {
  controls: ['columns', 'indirect', 'at'],

  /**
   * @param {import('../items/details.js').Context} context
   * @returns {Promise<import('../data/api.js').Result>} data is a Page (views.js) with a document of its own
   */
  async load(context) {
    const { state, api } = context;
    if (!state.node) return { ok: true, data: nothingAsked(context) };
    const result = await api.get(ROUTE, questionOf(state), 'page');
    return result.ok ? { ok: true, data: page(context, result.data) } : result;
  },
};

function questionOf(state) {
  const { node, at, limit, change, columns, indirect } = state;
  // A change counts influences by itself: a filter by a column breaks too.
  return {
    node,
    at,
    limit,
    change,
    columns: columns ? true : '',
    indirect: indirect ? true : '',
  };
}

function page(context, reply) {
  const [first] = reply.starts;
  const more = reply.starts.length > 1 ? ` and ${count(reply.starts.length - 1, 'more', 'more')}` : '';
  return {
    heading: first ? `${first.label}${more}` : context.state.node,
    subtitle: subtitleOf(reply),
    reply,
    model: null,
    empty: null,
    document: () => draw(context, reply),
  };
}

function subtitleOf({ items, depth, verdict }) {
  const far = depth.reached > 0 ? [count(depth.reached, 'step')] : [];
  const said = verdict ? [VERDICTS[verdict]] : [];
  return [...said, `downstream: ${tallyWords(items)}`, ...far].join(' · ');
}

/** The link names no subject: a field for a reference, or for a prefix, to which no page links. */
function nothingAsked(context) {
  return {
    heading: 'Impact',
    subtitle: 'everything downstream of a table, a column, a job or a prefix',
    reply: null,
    model: null,
    empty: null,
    document: () => askForm(context.state),
  };
}

function askForm(state) {
  const input = element('input', {
    id: 'impact-node',
    name: 'node',
    required: true,
    maxlength: 2000,
    placeholder: 'prefix:s3://lake/raw/',
    autocomplete: 'off',
    spellcheck: 'false',
    'data-testid': 'impact-node',
  });
  const go = anchor(write({ view: 'impact' }), 'Show');
  const form = element(
    'form',
    {
      class: 'small-form',
      'aria-label': 'Subject of the impact',
      onsubmit: (event) => {
        event.preventDefault();
        go.href = link(state, { view: 'impact', node: input.value.trim() });
        go.click();
      },
    },
    element(
      'div',
      { class: 'control' },
      element('label', { for: 'impact-node' }, 'Table, column, job or prefix'),
      input,
    ),
    element('button', { type: 'submit', class: 'button', 'data-testid': 'impact-ask' }, 'Show downstream'),
    element('span', { hidden: true }, go),
  );
  const help = 'dataset:s3://lake/orders · column:s3://lake/orders#amount · job:default/load · prefix:s3://lake/raw/';
  return element('div', { class: 'document impact' }, form, element('p', { class: 'muted foot' }, data(help, 'mono')));
}

/* The table */

function draw(context, reply) {
  const judged = reply.verdict !== null;
  const columns = COLUMNS.filter((column) => judged || !column.judged);
  const placeOf = tellApart(reply.items.flatMap(({ readers }) => readers));
  let order = null;
  const wanted = { words: '', kind: '' };
  const body = element('tbody');
  const said = element('p', { class: 'muted', role: 'status', 'data-testid': 'impact-shown' });
  const headings = columns.map((column) => heading(column, press));

  function press(key) {
    order = nextOrder(order, key);
    show();
  }

  function show() {
    const rows = sorted(filtered(reply.items, wanted), order);
    replace(
      body,
      rows.map((item) => row(context.state, columns, item, placeOf)),
    );
    headings.forEach((cell, place) => mark(cell, columns[place].key, order));
    said.textContent = `${formatNumber(rows.length)} of ${formatNumber(reply.items.length)} shown`;
  }

  show();
  const some = reply.items.length > 0;
  return element(
    'div',
    { class: 'document impact', 'data-testid': 'impact' },
    reply.starts[0]?.kind === 'column' && whatIf(context.state),
    element('div', { class: 'impact-tools' }, some && filters(wanted, show), exports(context), said),
    some
      ? element(
          'div',
          { class: 'scroll', tabindex: 0, role: 'region', 'aria-label': 'Downstream' },
          element(
            'table',
            { 'data-testid': 'impact-items' },
            element('caption', { class: 'visually-hidden' }, 'Everything downstream; a heading sorts by it'),
            element('thead', {}, element('tr', {}, headings)),
            body,
          ),
        )
      : element('p', { class: 'muted nothing' }, nothingWords(reply)),
    foot(reply),
  );
}

function nothingWords({ verdict }) {
  return verdict ? 'Nothing uses it: nothing breaks.' : 'Nothing lies downstream.';
}

function heading(column, press) {
  return element(
    'th',
    { scope: 'col' },
    button(
      { label: column.heading, onclick: () => press(column.key) },
      { class: 'sort', 'data-testid': `sort-${column.key}` },
    ),
  );
}

function mark(cell, key, order) {
  if (order?.key === key) cell.setAttribute('aria-sort', order.descending ? 'descending' : 'ascending');
  else cell.removeAttribute('aria-sort');
}

function row(state, columns, item, placeOf) {
  return element(
    'tr',
    { 'data-id': item.id, class: `row-${item.kind}` },
    columns.map((column) => element(column.key === 'name' ? 'th' : 'td', attributesOf(column), column.cell(state, item, placeOf))),
  );
}

/** The name heads its row; a narrow screen shows each other cell beside its heading. */
function attributesOf(column) {
  return column.key === 'name' ? { scope: 'row' } : { 'data-heading': column.heading };
}

/** The colour of a verdict, beside its words. */
const TONES = Object.freeze({ breaks: 'failed', 'may-break': 'busy', none: '' });

const COLUMNS = Object.freeze([
  {
    key: 'verdict',
    heading: 'Verdict',
    judged: true,
    cell: (_state, { verdict }) =>
      element('span', { class: `chip verdict ${TONES[verdict]}` }, icon('warning'), VERDICTS[verdict]),
  },
  {
    key: 'kind',
    heading: 'Kind',
    cell: (_state, { kind }) => element('span', { class: `chip ${kind}` }, KIND_NAMES[kind]),
  },
  { key: 'name', heading: 'Name', cell: (state, item) => nameCell(state, item) },
  { key: 'depth', heading: 'Depth', cell: (_state, { depth }) => formatNumber(depth) },
  { key: 'way', heading: 'How', cell: (_state, item) => wayCell(item) },
  { key: 'readers', heading: 'Read by', cell: (state, { readers }, placeOf) => readersCell(state, readers, placeOf) },
  {
    key: 'run',
    heading: 'Last run',
    cell: (_state, { lastRun }) => (lastRun ? [stateChip(lastRun.state), ' ', time(lastRun.at)] : '–'),
  },
  { key: 'owners', heading: 'Owner', cell: (_state, { owners }) => (owners.length > 0 ? separated(owners, ownerLink) : '–') },
  {
    key: 'marks',
    heading: 'Layer and classes',
    cell: (_state, { layer, classifications }) =>
      layer || classifications.length > 0
        ? [layer && element('span', { class: 'chip plain' }, data(layer)), classifications.map(tagChip)]
        : '–',
  },
]);

function nameCell(state, item) {
  const to = { dataset: { view: 'lineage' }, column: { view: 'columns' }, job: { view: 'job' } }[item.kind];
  const aside = item.kind === 'job' ? item.namespace : item.uri;
  return [
    anchor(link(state, { ...to, node: item.id }), data(shorten(shortName(item), 120))),
    element('span', { class: 'muted block mono', title: shorten(fullName(item), 400) }, data(shorten(aside ?? '', 120))),
  ];
}

function wayCell(item) {
  return [...way(item), item.reads && metadataChip(), item.declared && declaredChip()];
}

function metadataChip() {
  const words = 'The last step of this path reads tables about its source, such as snapshots, and no row of it.';
  return element('span', { class: 'chip plain', title: words }, 'metadata only');
}

function declaredChip() {
  const words = 'A step of this path is declared: no run does it.';
  return element('span', { class: 'chip plain declared', title: words }, 'declared');
}

function way({ reason, path, how, expression }) {
  if (reason) return [data(shorten(reason, 400)), ' '];
  const names = path.map(({ kind, label }) => shorten(kind === 'job' ? `(${label})` : label, 80));
  return [
    element('span', { title: shorten(pathWords(path), 1000) }, chain(names)),
    how &&
      element(
        'span',
        { class: 'muted block' },
        howWord(how),
        expression && [': ', data(shorten(expression, 120), 'mono')],
      ),
  ];
}

function readersCell(state, readers, placeOf) {
  return readers.length > 0 ? separated(readers, (job) => placedJobLink(state, job, placeOf), MOST_READERS) : '–';
}

/* Around the table */

function whatIf(state) {
  return element(
    'nav',
    { class: 'segments', 'aria-label': 'Change of the column' },
    element('span', { class: 'muted' }, 'If it is'),
    CHANGES.map(([change, words]) => {
      const way = anchor(write({ ...state, change }), words);
      if (state.change === change) way.setAttribute('aria-current', 'true');
      return way;
    }),
  );
}

function filters(wanted, show) {
  const words = element('input', {
    type: 'search',
    id: 'impact-filter',
    placeholder: 'name, path, owner, class',
    autocomplete: 'off',
    'data-testid': 'impact-filter',
    oninput: () => {
      wanted.words = words.value;
      show();
    },
  });
  const kind = element(
    'select',
    {
      id: 'impact-kind',
      'data-testid': 'impact-kind',
      onchange: () => {
        wanted.kind = kind.value;
        show();
      },
    },
    KINDS.map(([value, text]) => element('option', { value }, text)),
  );
  return [
    element('div', { class: 'control' }, element('label', { for: 'impact-filter' }, 'Filter'), words),
    element('div', { class: 'control' }, element('label', { for: 'impact-kind' }, 'Kind'), kind),
  ];
}

function exports({ state, api, announce }) {
  return element(
    'div',
    { class: 'control', role: 'group', 'aria-label': 'Take it along' },
    FORMATS.map(([format, words, name, type]) =>
      button(
        { label: words, onclick: () => save({ state, api, announce }, { format, name, type }) },
        { 'data-testid': `export-${format}`, 'aria-label': `Save as ${words}` },
      ),
    ),
  );
}

/** Through the page's own fetch, so that the reader's key goes with it. */
async function save({ state, api, announce }, { format, name, type }) {
  const result = await api.text(ROUTE, { ...questionOf(state), format });
  if (!result.ok) return announce(result.stale ? '' : result.error.message);
  download(new Blob([result.data], { type }), name);
  return announce(`${name} was saved.`);
}

function foot({ asOf, hidden }) {
  return element(
    'p',
    { class: 'muted foot' },
    asOf && ['Newest event: ', time(asOf), '. '],
    hidden > 0 && `${count(hidden, 'node')} hidden.`,
  );
}
