/**
 * Classifications in the panel: the tags of a table or a column, and a small form to put one there
 * or take it off. The server's own words explain a refusal, with the roles that may.
 */
import { button, data, element, icon, replace } from '../page/dom.js';
import { section } from './panel.js';

/**
 * @param {import('../items/details.js').Context} context
 * @param {{id: string, classifications?: string[]}} node a table or a column of a reply
 * @returns {HTMLElement}
 */
export function classifications(context, node) {
  const place = element('div', { 'data-testid': 'classifications' });
  const said = element('p', { class: 'muted', role: 'status', 'data-testid': 'classify-said' });
  const state = { tags: [...(node.classifications ?? [])] };
  const opener = element(
    'details',
    { class: 'opener', 'data-testid': 'classify-open' },
    element('summary', {}, icon('plus'), 'Classify'),
    form(add),
  );

  function draw() {
    replace(place, tagList(state.tags, remove), opener, said);
  }

  async function add(tag, owner) {
    const result = await context.api.put(`/classifications/${encodeURIComponent(tag)}`, {
      node: node.id,
      owner,
    });
    if (!result.ok) return tell(said, refusal(result.error));
    settle([...new Set([...state.tags, tag])].sort(), `${tag} was put here.`);
  }

  async function remove(tag) {
    const result = await context.api.remove(`/classifications/${encodeURIComponent(tag)}`, { node: node.id });
    if (!result.ok) return tell(said, refusal(result.error));
    settle(
      state.tags.filter((one) => one !== tag),
      `${tag} was taken off.`,
    );
  }

  function settle(tags, words) {
    state.tags = tags;
    node.classifications = tags;
    draw();
    tell(said, words);
    context.repaint?.();
    place.querySelector('input')?.select();
  }

  draw();
  return section('Classifications', place);
}

function tell(place, words) {
  replace(place, data(words));
}

/** `jobs may not do this: it needs the role admin` is the server's message already. */
function refusal(error) {
  const fields = Object.entries(error.errors).map(([name, said]) => `${name}: ${[said].flat().join(', ')}`);
  return fields.length > 0 ? `${error.message} (${fields.join('; ')})` : error.message;
}

function tagList(tags, remove) {
  if (tags.length === 0) return element('p', { class: 'muted' }, 'None.');
  return element(
    'ul',
    { class: 'tags', 'aria-label': 'Tags' },
    tags.map((tag) =>
      element(
        'li',
        {},
        tagChip(tag),
        button({ icon: 'close', label: `Take ${tag} off`, quiet: true, onclick: () => remove(tag) }),
      ),
    ),
  );
}

/**
 * @param {string} tag
 * @returns {HTMLElement}
 */
export function tagChip(tag) {
  return element('span', { class: 'chip tag' }, data(tag));
}

function form(add) {
  const tag = field('Tag', 'classify-tag', { required: true, maxlength: 64, placeholder: 'PII' });
  const owner = field('Owner', 'classify-owner', { maxlength: 200 });
  return element(
    'form',
    {
      class: 'small-form',
      onsubmit: (event) => {
        event.preventDefault();
        if (tag.input.value.trim()) add(tag.input.value.trim(), owner.input.value.trim());
      },
    },
    tag.node,
    owner.node,
    element('button', { type: 'submit', class: 'button', 'data-testid': 'classify' }, icon('plus'), 'Classify'),
  );
}

/**
 * A labelled text field.
 * @param {string} words
 * @param {string} id
 * @param {Record<string, unknown>} [attributes]
 * @returns {{node: HTMLElement, input: HTMLInputElement}}
 */
export function field(words, id, attributes = {}) {
  const input = element('input', { id, type: 'text', autocomplete: 'off', 'data-testid': id, ...attributes });
  return { node: element('div', { class: 'control' }, element('label', { for: id }, words), input), input };
}
