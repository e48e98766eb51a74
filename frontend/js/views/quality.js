/**
 * Rules that read a run facet of one's own as a check: the list, and a form that previews the
 * effect of a rule.
 */
import { field } from '../panel/classifications.js';
import { button, data, element, focusFirst, replace } from '../page/dom.js';
import { qualityChip } from '../panel/facets.js';
import { errorPlace, showErrors } from '../controls/forms.js';
import { count, shorten } from '../data/format.js';
import { datasetLink } from '../panel/links.js';
import { table } from '../panel/panel.js';
import { fieldWords, lacking, previewWords, readValues, writeValues } from '../data/quality.js';
import { offerRemoval, trouble } from '../page/removal.js';

export const quality = {
  controls: [],

  /**
   * @param {import('../items/details.js').Context & {reload: () => void, announce: (text: string) => void}} context
   * @returns {Promise<import('../data/api.js').Result>} data is a Page (views.js) with a document of its own
   */
  async load(context) {
    const result = await context.api.get('/quality-rules', {}, 'page');
    if (!result.ok) return result;
    const { items } = result.data;
    return {
      ok: true,
      data: {
        heading: 'Quality rules',
        subtitle: count(items.length, 'rule'),
        reply: null,
        model: null,
        empty: null,
        document: () => draw(context, items),
      },
    };
  },
};

function draw(context, items) {
  const said = element('div', { role: 'status', 'data-testid': 'quality-said' });
  const form = editor(context, said);
  return element(
    'div',
    { class: 'document', 'data-testid': 'quality' },
    element(
      'p',
      { class: 'muted' },
      'A run may carry a facet of its own that says how its checks went. A rule reads it: the tables that ' +
        'the run wrote are marked passed or failed, beside the assertions that clients report.',
    ),
    items.length > 0
      ? listed(context, items, form, said)
      : element('p', { class: 'muted nothing' }, 'There are no rules yet.'),
    form.node,
    said,
  );
}

function listed(context, items, form, said) {
  const rows = items.map((rule) => [
    data(rule.name),
    data(rule.facet, 'mono'),
    data(rule.path, 'mono'),
    data(rule.passes.map((value) => String(value)).join(', '), 'mono'),
    rule.note ? data(rule.note) : '–',
    element(
      'span',
      { class: 'row-buttons' },
      button({ label: 'Edit', onclick: () => form.fill(rule) }, { 'aria-label': `Edit ${rule.name}` }),
      button(
        { label: 'Remove', onclick: () => offerRemoval(context, removalOf(context, rule, said)) },
        { 'aria-label': `Remove ${rule.name}` },
      ),
    ),
  ]);
  const headings = ['Name', 'Run facet', 'Path', 'Passes with', 'Note', ''];
  return table('Quality rules', headings, rows, { 'data-testid': 'quality-rules' });
}

/* The form */

function makeFields({ facet }) {
  const described = (id) => ({ 'aria-describedby': `${id}-error` });
  const passes = element('textarea', {
    id: 'quality-passes',
    rows: 3,
    spellcheck: 'false',
    placeholder: 'ok\nwarn',
    'data-testid': 'quality-passes',
    ...described('quality-passes'),
  });
  const text = (words, id, more) => field(words, id, { ...described(id), spellcheck: 'false', ...more });
  return {
    name: text('Name', 'quality-name', { maxlength: 64, placeholder: 'acme' }),
    facet: text('Run facet', 'quality-facet', { maxlength: 200, placeholder: 'acme_checks', value: facet }),
    path: text('Path in it', 'quality-path', { maxlength: 200, placeholder: 'result.status' }),
    passes: {
      input: passes,
      node: element(
        'div',
        { class: 'control' },
        element('label', { for: 'quality-passes' }, 'Passes with (one a line)'),
        passes,
      ),
    },
    note: text('Note', 'quality-note', { maxlength: 500 }),
  };
}

function ruleOf(fields) {
  const words = (name) => fields[name].input.value.trim();
  const passes = readValues(fields.passes.input.value);
  return { name: words('name'), facet: words('facet'), path: words('path'), passes, note: words('note') };
}

function editor(context, said) {
  const fields = makeFields(context.state);

  async function send(preview) {
    const { name, ...body } = ruleOf(fields);
    const wrong = lacking({ name, ...body });
    if (Object.keys(wrong).length > 0) return refuse(wrong, '');
    showErrors(node, {});
    const result = await context.api.put(addressOf(name, preview), body);
    if (!result.ok) return refuse(fieldWords(result.error.errors), result.error.message);
    if (preview) return replace(said, changes(context.state, result.data));
    await context.reload();
    return context.announce(`${name} is in place.`);
  }

  function refuse(errors, message) {
    showErrors(node, errors);
    replace(said, Object.keys(errors).length > 0 ? null : trouble(message));
    focusFirst(node, '[aria-invalid="true"]');
  }

  function submit(event) {
    event.preventDefault();
    send(false);
  }

  function fill(rule) {
    for (const name of ['name', 'facet', 'path', 'note']) fields[name].input.value = rule[name];
    fields.passes.input.value = writeValues(rule.passes);
    showErrors(node, {});
    fields.facet.input.focus();
  }

  const node = element(
    'form',
    { class: 'declaration rule', 'aria-label': 'A quality rule', novalidate: true, onsubmit: submit },
    Object.entries(fields).map(([name, one]) =>
      element('div', { class: 'part' }, one.node, errorPlace(name, `quality-${name}`)),
    ),
    element(
      'div',
      { class: 'row-buttons' },
      button({ label: 'Preview', onclick: () => send(true) }, { 'data-testid': 'quality-preview' }),
      element('button', { type: 'submit', class: 'button', 'data-testid': 'quality-save' }, 'Save'),
    ),
  );
  return { node, fill };
}

function addressOf(name, preview) {
  return `/quality-rules/${encodeURIComponent(name)}${preview ? '?preview=true' : ''}`;
}

function changes(state, preview) {
  const rows = preview.items.map((item) => [
    [datasetLink(state, item), element('span', { class: 'muted block' }, data(shorten(item.uri, 300), 'mono'))],
    markWords(item.before),
    markWords(item.after),
  ]);
  return [
    element('p', {}, previewWords(preview)),
    rows.length > 0 && table('Changes', ['Table', 'Now', 'Then'], rows, { 'data-testid': 'quality-changes' }),
  ];
}

function markWords(state) {
  return state ? qualityChip(state, true) : '–';
}

function removalOf({ state }, { name }, said) {
  return {
    name,
    said,
    address: (preview) => addressOf(name, preview),
    draw: (preview) => changes(state, preview),
  };
}
