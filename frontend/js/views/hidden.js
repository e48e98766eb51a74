/**
 * The hidden items, each with its author and reason; each can be shown again.
 */
import { data, element, time } from '../page/dom.js';
import { count } from '../data/format.js';
import { showing } from '../panel/hiding.js';
import { table } from '../panel/panel.js';

export const hidden = {
  controls: [],

  /**
   * @param {import('../items/details.js').Context} context
   * @returns {Promise<import('../data/api.js').Result>} data is a Page (views.js) with a document of its own
   */
  async load(context) {
    const result = await context.api.get('/commands', { kind: 'hide' }, 'page');
    if (!result.ok) return result;
    const now = result.data.items.filter(({ node }) => node);
    const items = [...new Map(now.map((item) => [item.node, item])).values()];
    return {
      ok: true,
      data: {
        heading: 'Hidden',
        subtitle: count(items.length, 'table or job', 'tables and jobs'),
        reply: null,
        model: null,
        empty: null,
        document: () => draw(context, items),
      },
    };
  },
};

function draw(context, items) {
  const rows = items.map((item) => [
    data(item.target, 'mono'),
    time(item.at),
    data(item.author || '–'),
    data(item.note || '–'),
    showing(context, item),
  ]);
  return element(
    'div',
    { class: 'document', 'data-testid': 'hidden' },
    element('p', { class: 'muted' }, 'Tables and jobs that lists, search and pictures leave out. A table or a job is hidden in its panel.'),
    rows.length > 0
      ? table('Hidden', ['Name', 'Since', 'By', 'Note', ''], rows, { 'data-testid': 'hidden-items' })
      : element('p', { class: 'muted' }, 'Nothing is hidden.'),
  );
}
