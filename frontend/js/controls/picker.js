/**
 * A combobox for a table: typing asks for tables by name; Down and Up move, Enter takes one, Escape
 * closes. A text like a URI can be taken as it is: people declare tables that no run has used.
 */
import { data, element, replace } from '../page/dom.js';
import { count, shorten } from '../data/format.js';

const PAUSE = 180;
const LIMIT = 12;
const LONGEST = 200;
const NEW = Object.freeze({ detail: 'not known yet; taken as it is written' });

/**
 * @param {{id: string, label: string, api: ReturnType<import('../data/api.js').createApi>,
 *   pick: (picked: import('../data/declaration.js').Picked) => void, announce: (text: string) => void}} parts
 * @returns {{node: HTMLElement, input: HTMLInputElement}}
 */
export function createPicker({ id, label, api, pick, announce }) {
  const results = element('div', {
    class: 'results',
    role: 'listbox',
    id: `${id}-results`,
    'aria-label': label,
    hidden: true,
  });
  const input = element('input', {
    id,
    type: 'text',
    role: 'combobox',
    autocomplete: 'off',
    spellcheck: 'false',
    placeholder: 'Name or URI',
    'aria-expanded': 'false',
    'aria-controls': results.id,
    'aria-autocomplete': 'list',
    'aria-describedby': `${id}-error`,
    'data-testid': id,
  });
  let options = [];
  let active = -1;
  let timer = 0;

  function show(open) {
    results.hidden = !open;
    input.setAttribute('aria-expanded', String(open));
    if (!open) activate(-1);
  }

  async function ask() {
    const q = input.value.trim().slice(0, LONGEST);
    if (!q) return show(false);
    const answer = await api.get('/graph/search', { q, kind: 'dataset', limit: LIMIT }, id);
    if (!answer.ok && answer.stale) return undefined;
    draw(answer.ok ? answer.data.items : [], input.value.trim());
    if (!answer.ok) results.prepend(element('p', { class: 'muted nothing', role: 'presentation' }, answer.error.message));
    if (!answer.ok) announce(answer.error.message);
    return show(results.childElementCount > 0);
  }

  function draw(items, text) {
    const found = items
      .filter((item) => item.kind === 'dataset')
      .map(({ id: key, label: words, detail }) => ({ id: key, uri: detail || words, label: words, detail }));
    const known = found.some((item) => item.uri === text);
    if (text.includes(':') && !known) found.push({ id: '', uri: text, label: text, ...NEW });
    options = found;
    active = -1;
    replace(results, found.map(drawOption));
    announce(count(found.length, 'table'));
  }

  function drawOption(item, place) {
    return element(
      'div',
      {
        role: 'option',
        id: `${id}-option-${place}`,
        class: 'result',
        'aria-selected': 'false',
        onpointerdown: (event) => event.preventDefault(),
        onclick: () => take(place),
      },
      element('span', { class: 'dot dataset', 'aria-hidden': 'true' }),
      element(
        'span',
        { class: 'result-words' },
        data(shorten(item.label, 140), 'result-label'),
        data(shorten(item.detail ?? '', 200), 'result-detail'),
      ),
    );
  }

  function activate(place) {
    const drawn = results.querySelectorAll('[role=option]');
    drawn[active]?.setAttribute('aria-selected', 'false');
    active = place;
    const option = drawn[place];
    if (!option) return input.removeAttribute('aria-activedescendant');
    option.setAttribute('aria-selected', 'true');
    option.scrollIntoView({ block: 'nearest' });
    return input.setAttribute('aria-activedescendant', option.id);
  }

  function take(place) {
    const { id: key, uri } = options[place];
    input.value = '';
    show(false);
    pick({ id: key, uri });
  }

  function press(event) {
    if (results.hidden || options.length === 0) {
      if (event.key !== 'Enter') return;
      ask();
    } else if (event.key === 'Escape') show(false);
    else if (event.key === 'ArrowDown') activate((active + 1) % options.length);
    else if (event.key === 'ArrowUp') activate((Math.max(active, 0) - 1 + options.length) % options.length);
    else if (event.key === 'Enter') take(Math.max(0, active));
    else return;
    event.preventDefault();
  }

  input.addEventListener('input', () => {
    clearTimeout(timer);
    timer = setTimeout(ask, PAUSE);
  });
  input.addEventListener('keydown', press);
  input.addEventListener('blur', () => show(false));
  const words = element('label', { for: id }, label);
  return { node: element('div', { class: 'control picker' }, words, input, results), input };
}
