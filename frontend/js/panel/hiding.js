/**
 * Hiding a table or a job, and showing it again: for every reader, as a command with its author.
 */
import { button, data, element, icon, replace } from '../page/dom.js';
import { trouble } from '../page/removal.js';

/**
 * A button that explains hiding before it hides, and takes it back afterwards.
 * @param {import('../items/details.js').Context} context
 * @param {{id: string}} node
 * @returns {HTMLElement}
 */
export function hiding({ api, announce }, { id }) {
  const place = element('div', { class: 'hiding', 'data-testid': 'hiding' });
  const hide = button({ label: 'Hide…', quiet: true, onclick: ask }, { 'data-testid': 'hide' });

  function ask() {
    const words = 'It leaves lists, search and pictures, for every reader. “Hidden” under “More” shows it again.';
    const yes = button({ label: 'Hide it', onclick: () => order('hide') }, { 'data-testid': 'confirm-hide' });
    replace(place, element('p', {}, words), element('p', { class: 'row-buttons' }, yes, button({ label: 'Keep it', onclick: () => replace(place, hide) })));
    yes.focus();
  }

  async function order(command) {
    const result = await api.post('/commands', { command, node: id });
    if (!result.ok) return replace(place, trouble(result.error.message), hide);
    if (command === 'show') {
      announce('It is shown again.');
      replace(place, hide);
      return hide.focus();
    }
    const back = button({ label: 'Show it again', onclick: () => order('show') }, { 'data-testid': 'show' });
    replace(place, element('p', { class: 'note' }, icon('warning'), ' It is hidden from the next question on. '), back);
    announce('It is hidden.');
    return back.focus();
  }

  replace(place, hide);
  return place;
}

/**
 * The button of a row of the list of hidden items.
 * @param {import('../items/details.js').Context} context
 * @param {{node: string, target: string}} item
 * @returns {HTMLElement}
 */
export function showing({ api, announce, reload }, { node, target }) {
  const place = element('span', {});
  async function show() {
    const result = await api.post('/commands', { command: 'show', node });
    if (!result.ok) return replace(place, trouble(result.error.message));
    announce(`${target} is shown again.`);
    return reload();
  }
  const label = element('span', { class: 'visually-hidden' }, data(target));
  place.append(button({ label: 'Show again', onclick: show }, { 'data-testid': 'show-again' }), label);
  return place;
}
