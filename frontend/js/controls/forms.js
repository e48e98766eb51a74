/**
 * Fields of a form whose errors stand below them, told to screen readers with the field.
 */
import { data, element, replace } from '../page/dom.js';

/**
 * The place of a field's error: `aria-describedby` of its input is `<id>-error`.
 * @param {string} name of the field
 * @param {string} id   of its input
 * @returns {HTMLElement}
 */
export function errorPlace(name, id) {
  const names = { 'data-field': name, 'data-testid': `error-${name}` };
  return element('p', { class: 'field-error', id: `${id}-error`, ...names });
}

/**
 * Words below each field that is wrong; the others are cleared.
 * @param {HTMLElement} form
 * @param {Record<string, string>} errors by field
 */
export function showErrors(form, errors) {
  /** @type {NodeListOf<HTMLElement>} */
  const places = form.querySelectorAll('.field-error');
  for (const place of places) {
    const words = errors[place.dataset.field ?? ''] ?? '';
    replace(place, words ? data(words) : null);
    const input = form.querySelector(`[aria-describedby~="${place.id}"]`);
    if (words) input?.setAttribute('aria-invalid', 'true');
    else input?.removeAttribute('aria-invalid');
  }
}
