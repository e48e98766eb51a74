/**
 * The search box: a combobox whose results are grouped by kind. Typing asks after a short pause;
 * Down and Up move through the results, Enter opens one, Escape closes.
 */
import { data, element, replace } from '../page/dom.js';
import { asideWords, count, detailWords, matchedWords, shorten } from '../data/format.js';

const PAUSE = 180;
const LIMIT = 24;
const LONGEST = 200;
const GROUPS = Object.freeze([
  ['dataset', 'Tables'],
  ['job', 'Jobs'],
  ['column', 'Columns'],
  ['run', 'Runs'],
]);

/**
 * Results in the order of the groups; unknown kinds are left out.
 * @param {Array<{kind: string}>} items
 * @returns {Array<{kind: string, heading: string, items: object[]}>}
 */
export function grouped(items) {
  return GROUPS.map(([kind, heading]) => ({
    kind,
    heading,
    items: items.filter((item) => item.kind === kind),
  })).filter((group) => group.items.length > 0);
}

/**
 * @param {{input: HTMLInputElement, results: HTMLElement}} parts
 * @param {ReturnType<import('../data/api.js').createApi>} api
 * @param {{hrefOf: (item: object) => string, allOf: (q: string) => string, open: (href: string) => void, announce: (text: string) => void}} listener
 */
export function createSearch({ input, results }, api, listener) {
  let options = [];
  let active = -1;
  let timer = 0;

  function close() {
    results.hidden = true;
    input.setAttribute('aria-expanded', 'false');
    input.removeAttribute('aria-activedescendant');
    active = -1;
  }

  function open() {
    results.hidden = false;
    input.setAttribute('aria-expanded', 'true');
  }

  async function ask() {
    const q = input.value.trim().slice(0, LONGEST);
    if (!q) return close();
    const answer = await api.get('/graph/search', { q, limit: LIMIT, kind: GROUPS.map(([kind]) => kind).join(',') }, 'search');
    if (!answer.ok && answer.stale) return undefined;
    if (!answer.ok) draw([], 0, answer.error.message);
    else draw(answer.data.items ?? [], answer.data.total, 'Nothing is known by these words.', asideWords(answer.data.setAside));
    return open();
  }

  function draw(items, total, otherwise, aside = '') {
    options = [];
    active = -1;
    input.removeAttribute('aria-activedescendant');
    const groups = grouped(items).map((group) => drawGroup(group));
    replace(
      results,
      groups.length > 0 ? [aside && element('p', { class: 'muted nothing', role: 'presentation' }, aside), groups, drawAll()] : element('p', { class: 'muted nothing', role: 'presentation' }, otherwise),
    );
    const counted = total > items.length ? `${items.length} of ${count(total, 'result')}` : count(items.length, 'result');
    listener.announce(groups.length > 0 ? [counted, aside].filter(Boolean).join('. ') : otherwise);
  }

  /** The last option leads to the page of all results. */
  function drawAll() {
    const q = input.value.trim().slice(0, LONGEST);
    const option = element(
      'a',
      { ...optionAttributes(listener.allOf(q)), class: 'result all', 'data-testid': 'all-results' },
      element('span', { class: 'result-words' }, 'All results, with choices'),
    );
    options.push(option);
    return option;
  }

  function optionAttributes(href) {
    return {
      role: 'option',
      id: `result-${options.length}`,
      href,
      tabindex: -1,
      'aria-selected': 'false',
      'data-internal': true,
      onclick: () => finish(),
    };
  }

  function drawGroup({ kind, heading, items }) {
    return element(
      'div',
      { role: 'group', 'aria-labelledby': `results-${kind}`, class: 'result-group' },
      element('div', { class: 'result-heading', id: `results-${kind}`, role: 'presentation' }, heading),
      items.map((item) => drawOption(item)),
    );
  }

  function drawOption(item) {
    const option = element(
      'a',
      { ...optionAttributes(listener.hrefOf(item)), class: 'result' },
      element('span', { class: `dot ${item.kind}`, 'aria-hidden': 'true' }),
      element(
        'span',
        { class: 'result-words' },
        data(shorten(item.label, 140), 'result-label'),
        data(shorten([detailWords(item), matchedWords(item.matched)].filter(Boolean).join(' · '), 240), 'result-detail'),
      ),
    );
    options.push(option);
    return option;
  }

  function finish() {
    close();
    input.value = '';
  }

  function activate(place) {
    options[active]?.setAttribute('aria-selected', 'false');
    active = (place + options.length) % options.length;
    options[active].setAttribute('aria-selected', 'true');
    options[active].scrollIntoView({ block: 'nearest' });
    input.setAttribute('aria-activedescendant', options[active].id);
  }

  function press(event) {
    if (event.key === 'Escape') {
      if (results.hidden) input.value = '';
      close();
    } else if (event.key === 'ArrowDown' && options.length > 0 && !results.hidden) activate(active + 1);
    else if (event.key === 'ArrowUp' && options.length > 0 && !results.hidden)
      activate(active < 0 ? -1 : active - 1);
    else if (event.key === 'Enter' && options.length > 0 && !results.hidden) {
      listener.open(options[Math.max(0, active)].getAttribute('href'));
      finish();
    } else return;
    event.preventDefault();
  }

  input.addEventListener('input', () => {
    clearTimeout(timer);
    timer = setTimeout(ask, PAUSE);
  });
  input.addEventListener('keydown', press);
  input.addEventListener('focus', () => options.length > 0 && input.value.trim() && open());
  const form = input.closest('form');
  form?.addEventListener('submit', (event) => event.preventDefault());
  document.addEventListener('pointerdown', (event) => {
    if (!(event.target instanceof Node && form?.contains(event.target))) close();
  });
  form?.addEventListener('focusout', ({ relatedTarget }) => {
    if (relatedTarget instanceof Node && !form.contains(relatedTarget)) close();
  });
  return { focus: () => input.select() };
}
