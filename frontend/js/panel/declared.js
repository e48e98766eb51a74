/**
 * The declarations about a table or a job, in the panel: source, target, author, time, reason.
 */
import { anchor, data, element, time } from '../page/dom.js';
import { shorten } from '../data/format.js';
import { later, section } from './panel.js';
import { link } from '../data/url.js';

const MOST = 12;

/**
 * Nothing where nothing is declared.
 * @param {import('../items/details.js').Context} context
 * @param {string} id of a table or a job
 * @returns {HTMLElement}
 */
export function declaredOf(context, id) {
  const asked = context.api.get('/declarations', { node: id }, 'panel/declared');
  return later(asked, ({ items = [] }) => {
    if (items.length === 0) return null;
    return section(
      'Declared',
      element(
        'ul',
        { class: 'lines', 'data-testid': 'declared' },
        items.slice(0, MOST).map(line),
      ),
      anchor(link(context.state, { view: 'declare' }), 'All declarations'),
    );
  });
}

function line(item) {
  const from = item.sources.map((source) => shorten(source.uri, 120)).join(', ');
  return element(
    'li',
    {},
    data(from, 'mono'),
    ' → ',
    data(shorten(item.target.uri, 120), 'mono'),
    element(
      'span',
      { class: 'muted block' },
      'declared by ',
      data(item.author),
      ', ',
      time(item.declaredAt),
      item.note ? [': ', data(item.note)] : null,
      item.hidden ? ' (hidden)' : null,
    ),
  );
}
