/**
 * The side panel: the details of the selected item. A frame with a heading; the content comes from
 * a description. Everything is text.
 */
import { button, chain, data, element, focusFirst, icon, replace } from '../page/dom.js';
import { formatNumber } from '../data/format.js';
import { createTabs } from './tabs.js';

/** A text with more characters than three lines of the panel is cut. */
const LONG_TITLE = 100;
/** So many entries of a list are shown; `more` counts the rest. */
export const MOST_LISTED = 12;

/**
 * @typedef {object} Description
 * @property {string} kind     a word for the reader: Table, Job, Column, Operation, …
 * @property {string} tone     dataset, job, column, operation or plain: the colour of the word
 * @property {string|string[]} title  the name of it, or those of the two ends of an edge
 * @property {string} [detail] the full URI or reference, with a button that copies it
 * @property {import('../page/dom.js').Child[]} [body]
 * @property {import('./tabs.js').Tab[]} [tabs] in place of a body: parts of which one is open
 */

/**
 * @param {HTMLElement} container
 * @param {{onClose: () => void, onTab: (key: string) => void}} listener
 */
export function createPanel(container, listener) {
  let closes = false;
  /** @type {ReturnType<typeof createTabs>|null} */
  let tabs = null;

  /**
   * @param {Description} description
   * @param {boolean} closable
   * @param {string} tab the part that is open, where it has parts
   */
  function show(description, closable, tab) {
    tabs = description.tabs ? createTabs(description.tabs, listener.onTab) : null;
    replace(
      container,
      element(
        'div',
        { class: 'panel-head' },
        element(
          'div',
          { class: 'panel-line' },
          element('span', { class: `chip ${description.tone}` }, description.kind),
          closable
            ? button(
                { icon: 'close', label: 'Close details', quiet: true, onclick: listener.onClose },
                { 'data-testid': 'panel-close' },
              )
            : null,
        ),
        headingOf([description.title].flat()),
        description.detail ? reference(description.detail) : null,
      ),
      tabs ? tabs.parts : element('div', { class: 'panel-body' }, description.body),
    );
    tabs?.open(tab);
    container.scrollTop = 0;
    closes = closable;
  }

  container.addEventListener('keydown', (event) => {
    const writing = event.target instanceof Element && event.target.closest('input, textarea, select');
    if (event.key !== 'Escape' || writing || !closes) return;
    event.preventDefault();
    listener.onClose();
  });

  return {
    show,
    openTab: (tab) => tabs?.open(tab),
    clear: () => {
      tabs = null;
      replace(container);
    },
    focus: () => focusFirst(container, '#panel-title'),
  };
}

/**
 * The heading; a long one is cut after some lines, and a press shows all of it.
 * @param {string[]} names
 * @returns {HTMLElement[]}
 */
function headingOf(names) {
  const long = names.join('').length > LONG_TITLE;
  const attributes = { class: long ? 'panel-title cut' : 'panel-title', id: 'panel-title', tabindex: -1, 'data-testid': 'panel-title' };
  const heading = element('h2', attributes, chain(names));
  if (!long) return [heading];
  const press = button(
    { label: 'Show the whole name', onclick: () => press.setAttribute('aria-expanded', String(!heading.classList.toggle('cut'))) },
    { class: 'link small', 'aria-expanded': 'false', 'aria-controls': 'panel-title', 'data-testid': 'whole-name' },
  );
  return [heading, press];
}

function reference(text) {
  return element('div', { class: 'reference' }, data(text, 'mono'), copyButton(text));
}

/**
 * @param {string} text
 * @param {string} [label] the button's name for screen readers
 * @param {(words: string) => void} [announce] called with the result
 * @returns {HTMLButtonElement}
 */
export function copyButton(text, label = 'Copy', announce = () => {}) {
  const copy = button({ icon: 'copy', label, quiet: true, onclick: () => copyText(copy, text, announce) });
  return copy;
}

async function copyText(copy, text, announce) {
  try {
    await navigator.clipboard.writeText(text);
    copy.title = 'Copied';
    copy.classList.add('done');
  } catch {
    copy.title = 'The browser refused to copy; select the text instead';
  }
  announce(copy.title);
}

/**
 * A part of the panel with its own heading.
 * @param {string} heading
 * @param {...import('../page/dom.js').Child} children
 * @returns {HTMLElement}
 */
export function section(heading, ...children) {
  return element('section', { class: 'section' }, element('h3', {}, heading), ...children);
}

/**
 * What a column lineage lacks, a line each; null without gaps.
 * @param {Array<{code: string, detail?: string}>} gaps
 * @returns {HTMLElement|null}
 */
export function gapList(gaps) {
  const lines = gaps.map(({ code, detail }) =>
    element('li', { class: 'gap' }, icon('warning'), element('span', {}, element('strong', {}, data(code)), ' ', data(detail ?? ''))),
  );
  return lines.length > 0 ? element('ul', { class: 'lines' }, lines) : null;
}

/**
 * Names and values, without empty ones.
 * @param {Array<[string, import('../page/dom.js').Child]>} pairs
 * @returns {HTMLElement|null}
 */
export function facts(pairs) {
  const known = pairs.filter(
    ([, value]) => value !== null && value !== undefined && value !== '' && value !== false,
  );
  if (known.length === 0) return null;
  return element(
    'dl',
    { class: 'facts' },
    known.map(([name, value]) => [element('dt', {}, name), element('dd', {}, value)]),
  );
}

/**
 * `a, b and 3 more`; without a limit all of them.
 * @template T
 * @param {T[]} items
 * @param {(item: T) => import('../page/dom.js').Child} draw called for those that are shown
 * @param {number} [most]
 * @returns {import('../page/dom.js').Child[]}
 */
export function separated(items, draw, most = items.length) {
  const parts = items.slice(0, most).flatMap((item, place) => (place === 0 ? [draw(item)] : [', ', draw(item)]));
  const rest = items.length - most;
  return rest > 0 ? [...parts, ` and ${formatNumber(rest)} more`] : parts;
}

/**
 * A part that arrives later; it says so, and says when it does not come.
 * @param {Promise<import('../data/api.js').Result>} coming
 * @param {(data: any) => import('../page/dom.js').Child} draw
 * @returns {HTMLElement}
 */
export function later(coming, draw) {
  const place = element(
    'div',
    { class: 'later', 'aria-busy': 'true' },
    element('p', { class: 'muted' }, 'Loading…'),
  );
  coming.then((result) => {
    if (result.ok) replace(place, draw(result.data));
    else if (!result.stale)
      replace(place, element('p', { class: 'note failed' }, icon('warning'), ` ${result.error.message}`));
    place.setAttribute('aria-busy', 'false');
  });
  return place;
}

/**
 * A table with a caption for screen readers, scrolling sideways on its own.
 * @param {string} caption
 * @param {string[]} headings
 * @param {import('../page/dom.js').Child[][]} rows
 * @param {import('../page/dom.js').Attributes} [attributes]
 * @returns {HTMLElement}
 */
export function table(caption, headings, rows, attributes = {}) {
  return element(
    'div',
    { class: 'scroll', tabindex: 0, role: 'region', 'aria-label': caption },
    element(
      'table',
      attributes,
      element('caption', { class: 'visually-hidden' }, caption),
      element(
        'thead',
        {},
        element(
          'tr',
          {},
          headings.map((heading) => (heading ? element('th', { scope: 'col' }, heading) : element('td'))),
        ),
      ),
      element(
        'tbody',
        {},
        rows.map((cells) =>
          element(
            'tr',
            {},
            cells.map((cell, place) => element('td', { 'data-heading': headings[place] || null }, cell)),
          ),
        ),
      ),
    ),
  );
}

/**
 * A field that leaves of a table the rows with these words, and says how many.
 * @param {HTMLElement} grid made by `table`
 * @param {string} words    its label
 * @returns {HTMLElement}
 */
export function rowFilter(grid, words) {
  const rows = [...grid.querySelectorAll('tbody tr')];
  const told = element('output', { class: 'muted small' });
  const input = element('input', {
    type: 'search',
    placeholder: words,
    'aria-label': words,
    autocomplete: 'off',
    'data-testid': 'row-filter',
    oninput: () => {
      const wanted = input.value.trim().toLowerCase();
      for (const row of rows) row.toggleAttribute('hidden', !row.textContent?.toLowerCase().includes(wanted));
      const left = rows.filter((row) => !row.hasAttribute('hidden')).length;
      told.textContent = wanted ? `${formatNumber(left)} of ${formatNumber(rows.length)}` : '';
    },
  });
  return element('div', { class: 'control row-filter' }, input, told);
}

/**
 * An error of a run as it was reported: its lines are broken, and a long one scrolls in its box.
 * @param {string|null|undefined} text
 * @returns {HTMLElement|null}
 */
export function errorText(text) {
  if (!text) return null;
  const shown = typeof text === 'string' ? text : JSON.stringify(text, null, 2);
  return element(
    'div',
    { class: 'error-box' },
    element(
      'pre',
      { class: 'error-text', tabindex: 0, role: 'region', 'aria-label': 'Error', 'data-testid': 'error-text' },
      shown,
    ),
    copyButton(shown, 'Copy the error'),
  );
}

/**
 * An expression in fixed width, broken where needed.
 * @param {string|null|undefined} text
 * @returns {HTMLElement|string}
 */
export function expression(text) {
  return text ? element('code', { class: 'expression' }, data(text)) : '–';
}

const STATES = Object.freeze({
  completed: 'ok',
  projected: 'ok',
  failed: 'failed',
  started: 'busy',
  running: 'busy',
  pending: 'busy',
  waiting: 'busy',
});

/**
 * A state as a word with a colour (never the colour alone).
 * @param {string|null|undefined} state
 * @returns {HTMLElement|string}
 */
export function stateChip(state) {
  return state ? element('span', { class: `chip ${STATES[state] ?? 'plain'}` }, state) : '–';
}

const MODES = Object.freeze({ overwrite: '↻', append: '+' });

/**
 * How a write treats the earlier content.
 * @param {string|null|undefined} mode null: unknown, which is nothing to say; `none`: nothing is written
 * @returns {HTMLElement|string|null}
 */
export function modeChip(mode) {
  if (mode === null) return null;
  if (mode === undefined || mode === 'none') return '–';
  const mark = mode && MODES[mode];
  return element(
    'span',
    { class: `chip mode ${mark ? mode : 'plain'}` },
    mark ? element('span', { 'aria-hidden': 'true' }, mark) : null,
    data(mode),
  );
}

/** A part that may have nothing to show says so. */
export function orNone(part, words) {
  return part ?? element('p', { class: 'muted' }, words);
}

/**
 * @param {number} total of a list of which MOST_LISTED are shown
 * @returns {HTMLElement|null}
 */
export function more(total) {
  return total > MOST_LISTED
    ? element('p', { class: 'muted' }, `and ${formatNumber(total - MOST_LISTED)} more`)
    : null;
}

/**
 * @param {...import('../page/dom.js').Child} links
 * @returns {HTMLElement}
 */
export function actions(...links) {
  return element('div', { class: 'actions' }, links);
}
