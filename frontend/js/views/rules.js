/**
 * The naming rules in force: the tables that differ from the program's own, and the author and time of each change.
 */
import { data, element, time } from '../page/dom.js';
import { count } from '../data/format.js';
import { section, table } from '../panel/panel.js';

export const rules = {
  controls: [],

  /**
   * @param {import('../items/details.js').Context} context
   * @returns {Promise<import('../data/api.js').Result>} data is a Page (views.js) with a document of its own
   */
  async load({ api }) {
    const result = await api.get('/rules', {}, 'page');
    if (!result.ok) return result;
    const reply = result.data;
    return {
      ok: true,
      data: {
        heading: 'Naming rules',
        subtitle: `${reply.state} · ${count(reply.changed.length, 'table')} changed`,
        reply: null,
        model: null,
        empty: null,
        document: () => draw(reply),
      },
    };
  },
};

function draw({ rules: tables, changed, versions, digest }) {
  return element(
    'div',
    { class: 'document', 'data-testid': 'rules' },
    element(
      'p',
      { class: 'muted' },
      'How names in documents become names here. They are changed by PUT /rules, which shows the changes beforehand on request.',
    ),
    section(
      'Tables',
      Object.entries(tables).map(([name, entries]) => ruleTable(name, entries, changed.includes(name))),
    ),
    section('Versions', history(versions)),
    element('p', { class: 'muted' }, 'Digest ', data(digest, 'mono')),
  );
}

function ruleTable(name, entries, changed) {
  const size = Array.isArray(entries) ? ` (${entries.length})` : '';
  return element(
    'details',
    { 'data-rule': name },
    element(
      'summary',
      {},
      data(name),
      size,
      changed ? [' ', element('span', { class: 'chip' }, 'changed')] : null,
    ),
    element('pre', { class: 'mono', tabindex: 0 }, JSON.stringify(entries, null, 2)),
  );
}

function history(versions) {
  if (versions.length === 0) return element('p', { class: 'muted' }, 'They were never changed.');
  const rows = versions.map((one) => [
    time(one.at),
    data(one.author || '–'),
    one.default ? 'back to the program’s own' : data(one.note || '–'),
  ]);
  return table('Versions', ['Time', 'Author', 'Note'], rows, { 'data-testid': 'rule-versions' });
}
