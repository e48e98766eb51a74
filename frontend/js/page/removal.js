/**
 * Removing people's statements: the page shows the effect first; then it takes one more press.
 */
import { button, data, element, icon, replace } from './dom.js';

/**
 * @param {import('../items/details.js').Context} context
 * @param {object} statement
 * @param {string} statement.name
 * @param {(preview: boolean) => string} statement.address
 * @param {HTMLElement} statement.said the place of the question and of an error
 * @param {(preview: any) => (Node | string | null | false)[]} statement.draw the effect
 * @returns {Promise<void>}
 */
export async function offerRemoval({ api, reload, announce }, { name, address, said, draw }) {
  const preview = await api.remove(address(true));
  if (!preview.ok) return replace(said, trouble(preview.error.message));

  async function remove() {
    const result = await api.remove(address(false));
    if (!result.ok) return replace(said, trouble(result.error.message));
    await reload();
    return announce(`${name} is gone.`);
  }

  const yes = button({ label: `Yes, remove ${name}`, onclick: remove }, { 'data-testid': 'confirm-removal' });
  const no = button({ label: 'Keep it', onclick: () => replace(said) });
  replace(said, draw(preview.data), element('p', { class: 'row-buttons' }, yes, no));
  return yes.focus();
}

/**
 * @param {string} message
 * @returns {HTMLElement}
 */
export function trouble(message) {
  return element('p', { class: 'note failed', role: 'alert' }, icon('warning'), data(message));
}
