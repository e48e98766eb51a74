/**
 * The layers: rules on a table's URI, in the order in which they are tried, and a form that shows
 * the effect of a change before it is made.
 */
import { field } from '../panel/classifications.js';
import { anchor, button, data, element, replace } from '../page/dom.js';
import { count, formatNumber } from '../data/format.js';
import { swatch } from '../data/model.js';
import { table } from '../panel/panel.js';
import { offerRemoval, trouble } from '../page/removal.js';
import { write } from '../data/url.js';

const MATCHES = Object.freeze(['prefix', 'glob', 'regex']);

export const layers = {
  controls: [],

  /**
   * @param {import('../items/details.js').Context} context
   * @returns {Promise<import('../data/api.js').Result>} data is a Page (views.js) with a document of its own
   */
  async load(context) {
    const result = await context.api.get('/layers', { counts: true }, 'page');
    if (!result.ok) return result;
    const { items } = result.data;
    return {
      ok: true,
      data: {
        heading: 'Layers',
        subtitle: count(items.length, 'layer'),
        reply: null,
        model: null,
        empty: null,
        document: () => draw(context, items),
      },
    };
  },
};

function draw(context, items) {
  const said = element('div', { role: 'status', 'data-testid': 'layer-said' });
  const fields = makeFields(items);
  return element(
    'div',
    { class: 'document', 'data-testid': 'layers' },
    element(
      'p',
      { class: 'muted' },
      'The first layer that fits the URI of a table is its layer. How URIs are made is in the ',
      anchor(write({ view: 'rules' }), 'naming rules'),
      '.',
    ),
    items.length > 0
      ? listed(context, items, fields, said)
      : element('p', { class: 'muted nothing' }, 'There are no layers yet.'),
    editor(context, fields, said),
    said,
  );
}

function listed(context, items, fields, said) {
  const rows = items.map((item) => [
    String(item.order),
    element('span', {}, mark(item.colour), data(item.name)),
    item.match,
    data(item.pattern, 'mono'),
    formatNumber(item.datasets ?? 0),
    element(
      'span',
      { class: 'row-buttons' },
      button({ label: 'Edit', onclick: () => fill(fields, item) }, { 'aria-label': `Edit ${item.name}` }),
      button(
        { label: 'Remove', onclick: () => offerRemoval(context, removalOf(item.name, said)) },
        { 'aria-label': `Remove ${item.name}` },
      ),
    ),
  ]);
  return table('Layers', ['Order', 'Name', 'Match', 'Pattern', 'Tables', ''], rows, { 'data-testid': 'layer-items' });
}

/**
 * @param {string} colour
 * @returns {HTMLElement}
 */
function mark(colour) {
  return element('span', { class: 'swatch layer', style: swatch(colour), 'aria-hidden': 'true' });
}

function makeFields(items) {
  const next = Math.max(0, ...items.map((item) => item.order)) + 10;
  const match = element(
    'select',
    { id: 'layer-match', 'data-testid': 'layer-match' },
    MATCHES.map((one) => element('option', { value: one }, one)),
  );
  return {
    name: field('Name', 'layer-name', { required: true, maxlength: 64 }),
    match: {
      input: match,
      node: element('div', { class: 'control' }, element('label', { for: 'layer-match' }, 'Match'), match),
    },
    pattern: field('Pattern', 'layer-pattern', {
      required: true,
      maxlength: 1000,
      placeholder: 's3://lake/raw/',
    }),
    order: field('Order', 'layer-order', { type: 'number', min: 0, value: next }),
    colour: field('Colour', 'layer-colour', { type: 'color', value: '#0b6a84' }),
  };
}

function fill(fields, item) {
  for (const [name, one] of Object.entries(fields)) one.input.value = item[name];
  fields.pattern.input.focus();
}

function editor(context, fields, said) {
  const save = (preview) => put(context, said, fields.name.input.value.trim(), { preview, fields });
  return element(
    'form',
    {
      class: 'small-form',
      'aria-label': 'A layer',
      onsubmit: (event) => {
        event.preventDefault();
        save(false);
      },
    },
    Object.values(fields).map((one) => one.node),
    button({ label: 'Preview', onclick: () => save(true) }, { 'data-testid': 'layer-preview' }),
    element('button', { type: 'submit', class: 'button', 'data-testid': 'layer-save' }, 'Save'),
  );
}

async function put({ api, reload, announce }, said, name, { preview, fields }) {
  const result = await api.put(addressOf(name, preview), bodyOf(fields));
  if (!result.ok) return replace(said, trouble(result.error.message));
  if (preview) return replace(said, changes(result.data));
  await reload();
  return announce(`${name} is in place.`);
}

/**
 * @param {string} name
 * @param {boolean} preview
 * @returns {string}
 */
function addressOf(name, preview) {
  return `/layers/${encodeURIComponent(name)}${preview ? '?preview=true' : ''}`;
}

function removalOf(name, said) {
  return { name, said, address: (preview) => addressOf(name, preview), draw: changes };
}

function bodyOf(fields) {
  return {
    match: fields.match.input.value,
    pattern: fields.pattern.input.value,
    order: Number(fields.order.input.value),
    colour: fields.colour.input.value,
  };
}

function changes({ items, total, datasets }) {
  const words = `${count(total, 'table')} of ${datasets} would change their layer.`;
  const rows = items.map((item) => [
    data(item.uri, 'mono'),
    item.before ? data(item.before) : '–',
    item.after ? data(item.after) : '–',
  ]);
  return [
    element('p', {}, words),
    rows.length > 0 ? table('Changes', ['Table', 'Now', 'Then'], rows, { 'data-testid': 'layer-changes' }) : null,
  ];
}
