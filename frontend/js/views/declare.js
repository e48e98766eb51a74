/**
 * Declared lineage: a form for the source of a table, and the declarations with author and time.
 */
import { field } from '../panel/classifications.js';
import { emptyDraft, fieldErrors, missing, referenceOf, toBody } from '../data/declaration.js';
import { button, data, element, focusFirst, icon, replace, time } from '../page/dom.js';
import { errorPlace, showErrors } from '../controls/forms.js';
import { count, shorten } from '../data/format.js';
import { datasetLink } from '../panel/links.js';
import { table } from '../panel/panel.js';
import { createPicker } from '../controls/picker.js';

const MOST = 1000;

export const declare = {
  controls: [],

  /**
   * @param {import('../items/details.js').Context} context
   * @returns {Promise<import('../data/api.js').Result>} data is a Page (views.js) with a document of its own
   */
  async load(context) {
    const { api, state } = context;
    const [listed, target] = await Promise.all([
      api.get('/declarations', { limit: MOST }, 'page'),
      state.node ? findTarget(api, state.node) : null,
    ]);
    if (!listed.ok) return listed;
    const { items, total } = listed.data;
    return {
      ok: true,
      data: {
        heading: 'Declared lineage',
        subtitle: words(total, items.length),
        reply: null,
        model: null,
        empty: null,
        document: () => draw(context, items, target),
      },
    };
  },
};

function words(total, shown) {
  const all = count(total, 'declaration');
  return total > shown ? `${all}, the newest ${shown} below` : all;
}

/** The table that the link names; null where it is unknown. */
async function findTarget(api, node) {
  const asked = await api.get(`/graph/datasets/${encodeURIComponent(node)}`, {}, 'target');
  return asked.ok ? { id: asked.data.id, uri: asked.data.uri } : null;
}

function draw(context, items, target) {
  return element(
    'div',
    { class: 'document', 'data-testid': 'declare' },
    element(
      'p',
      { class: 'muted' },
      'State the source of a table that no run reports: an upload, a dashboard, a job without an agent. ',
      'It is drawn dotted, stays in force after later writes, and can be retracted.',
    ),
    editor(context, target),
    listed(context, items),
  );
}

/* The form */

function editor(context, target) {
  const draft = { ...emptyDraft(), target };
  const places = {
    target: element('div', { class: 'picked' }),
    sources: element('ul', { class: 'tags picked', 'aria-label': 'Chosen sources' }),
    columns: element('div', { class: 'mappings', role: 'group', 'aria-label': 'Columns' }),
    said: element('div', { role: 'alert', 'data-testid': 'declare-said' }),
  };
  const pickers = {
    target: createPicker({
      ...context,
      id: 'declare-target',
      label: 'Table that is written',
      pick: setTarget,
    }),
    sources: createPicker({ ...context, id: 'declare-source', label: 'Comes from', pick: addSource }),
  };
  const inputs = {
    job: told('Job (optional)', 'declare-job', 'finance/monthly close', 2000),
    since: told('Holds since (optional)', 'declare-since', 'now, or 2026-01-31', 40),
    note: told('Note', 'declare-note', 'why, for the record', 2000),
  };

  function setTarget(picked) {
    draft.target = picked;
    drawTarget();
    showErrors(form, {});
    context.announce(`${picked.uri} is the target.`);
  }

  function addSource(picked) {
    if (!draft.sources.some((one) => referenceOf(one) === referenceOf(picked))) draft.sources.push(picked);
    drawSources();
    drawColumns();
    showErrors(form, {});
    context.announce(`${picked.uri} was added.`);
  }

  function removeSource(picked) {
    draft.sources = draft.sources.filter((one) => one !== picked);
    draft.columns = draft.columns.filter((one) => one.source !== referenceOf(picked));
    drawSources();
    drawColumns();
    pickers.sources.input.focus();
  }

  function drawTarget() {
    replace(places.target, draft.target ? chosen(draft.target) : null);
  }

  function drawSources() {
    const chips = draft.sources.map((one) =>
      element(
        'li',
        {},
        chosen(one),
        leaveOut(`Leave ${shorten(one.uri, 80)} out`, () => removeSource(one)),
      ),
    );
    replace(places.sources, chips);
  }

  function drawColumns() {
    const add = button(
      { icon: 'plus', label: 'Map a column', onclick: addColumn },
      { 'data-testid': 'declare-add-column' },
    );
    const lines = draft.columns.map((one, place) => mappingLine(draft, one, place, () => removeColumn(one)));
    replace(places.columns, lines, draft.sources.length > 0 ? add : null, error('columns'));
  }

  function addColumn() {
    draft.columns.push({ source: referenceOf(draft.sources[0]), from: '', to: '' });
    drawColumns();
    focusFirst(places.columns, '.mapping:last-of-type input');
  }

  function removeColumn(one) {
    draft.columns = draft.columns.filter((other) => other !== one);
    drawColumns();
    focusFirst(places.columns, 'button');
  }

  async function submit(event) {
    event.preventDefault();
    for (const [name, one] of Object.entries(inputs)) draft[name] = one.input.value;
    const lacking = missing(draft);
    if (Object.keys(lacking).length > 0) return refuse(lacking, '');
    const result = await context.api.post('/declarations', { declarations: [toBody(draft)] });
    if (!result.ok) return refuse(fieldErrors(result.error.errors), result.error.message);
    await context.reload();
    const known = result.data.new === 0;
    context.announce(known ? 'You had declared that before.' : 'It is declared.');
    return undefined;
  }

  function refuse(errors, message) {
    showErrors(form, errors);
    const placed = Object.keys(errors).length > 0;
    const trouble = element('p', { class: 'note failed' }, icon('warning'), data(message));
    replace(places.said, placed ? null : trouble);
    focusFirst(form, '[aria-invalid="true"]');
  }

  const form = element(
    'form',
    { class: 'declaration', 'aria-label': 'Declare lineage', novalidate: true, onsubmit: submit },
    part(pickers.sources.node, places.sources, error('sources', 'declare-source')),
    element('span', { class: 'flow', 'aria-hidden': 'true' }, icon('right')),
    part(pickers.target.node, places.target, error('target', 'declare-target')),
    places.columns,
    Object.entries(inputs).map(([name, one]) => part(one.node, error(name, `declare-${name}`))),
    element(
      'button',
      { type: 'submit', class: 'button', 'data-testid': 'declare-save' },
      icon('plus'),
      'Declare',
    ),
    places.said,
  );
  drawTarget();
  drawSources();
  drawColumns();
  return form;
}

function part(...children) {
  return element('div', { class: 'part' }, children);
}

/** A field with its error below it. */
function told(words, id, placeholder, maxlength) {
  return field(words, id, { 'aria-describedby': `${id}-error`, placeholder, maxlength });
}

function error(name, id = `declare-${name}`) {
  return errorPlace(name, id);
}

function chosen(picked) {
  return element('span', { class: 'chip dataset-chip' }, data(shorten(picked.uri, 200), 'mono'));
}

function leaveOut(label, onclick) {
  return button({ icon: 'close', label, quiet: true, onclick });
}

function mappingLine(draft, one, place, remove) {
  const named = (words, key) => {
    const input = element('input', {
      type: 'text',
      value: one[key],
      'aria-label': `${words}, line ${place + 1}`,
      'aria-describedby': 'declare-columns-error',
      placeholder: words,
      maxlength: 2000,
      'data-testid': `declare-column-${key}`,
      oninput: () => {
        one[key] = input.value;
      },
    });
    return input;
  };
  return element(
    'div',
    { class: 'mapping' },
    draft.sources.length > 1 && sourceChoice(draft, one, place),
    named('Column of the source', 'from'),
    element('span', { 'aria-hidden': 'true' }, icon('right')),
    named('Column of the target', 'to'),
    leaveOut(`Remove line ${place + 1}`, remove),
  );
}

function sourceChoice(draft, one, place) {
  const select = element(
    'select',
    {
      'aria-label': `Source, line ${place + 1}`,
      onchange: () => {
        one.source = select.value;
      },
    },
    draft.sources.map((source) =>
      element(
        'option',
        { value: referenceOf(source), selected: referenceOf(source) === one.source },
        shorten(source.uri, 80),
      ),
    ),
  );
  return select;
}

/* The declarations */

function listed(context, items) {
  if (items.length === 0) return element('p', { class: 'muted nothing' }, 'Nothing is declared yet.');
  const rows = items.map((item) => [
    element(
      'ul',
      { class: 'plain' },
      item.sources.map((source) => element('li', {}, tableLink(context, source))),
    ),
    tableLink(context, item.target),
    item.columns.length > 0 ? mappings(item.columns) : '–',
    data(item.job.namespace === '(declared)' ? '–' : `${item.job.namespace}/${item.job.name}`),
    [
      data(item.author),
      element('span', { class: 'muted block' }, time(item.declaredAt)),
      item.hidden ? element('span', { class: 'muted block' }, 'hidden') : null,
    ],
    item.note ? data(item.note) : '–',
    item.removable ? removal(context, item) : '',
  ]);
  return table('Declarations', ['From', 'To', 'Columns', 'Job', 'Author, time', 'Note', ''], rows, {
    class: 'declarations',
    'data-testid': 'declarations',
  });
}

function tableLink({ state }, one) {
  return datasetLink(state, { ...one, label: one.uri });
}

function mappings(columns) {
  const lines = columns.map((one) =>
    element('li', {}, data(one.from, 'mono'), ' → ', data(one.to, 'mono')),
  );
  return element('ul', { class: 'plain' }, lines);
}

/** A button that asks for a second press before it acts. */
function removal(context, item) {
  const place = element('span', { class: 'row-buttons' });
  const words = `the declaration of ${shorten(item.target.uri, 80)}`;

  function offer() {
    replace(place, button({ label: 'Take back', onclick: confirm }, { 'aria-label': `Take back ${words}` }));
  }

  function confirm() {
    const yes = button({ label: 'Yes, take it back', onclick: remove }, { 'data-testid': 'declare-remove' });
    const no = button({
      label: 'Keep it',
      onclick: () => {
        offer();
        focusFirst(place, 'button');
      },
    });
    replace(place, element('span', {}, 'Take it back?'), yes, no);
    yes.focus();
    context.announce(`Take back ${words}?`);
  }

  async function remove() {
    const result = await context.api.remove(`/declarations/${encodeURIComponent(item.id)}`);
    if (!result.ok) return replace(place, refusal(result.error));
    await context.reload();
    context.announce('It was taken back.');
    return undefined;
  }

  offer();
  return place;
}

function refusal({ message }) {
  return element('span', { class: 'note failed', role: 'alert' }, data(message));
}
