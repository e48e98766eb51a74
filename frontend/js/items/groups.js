/**
 * A folded fan in the panel: its members, and how it is opened.
 */
import { anchor, button, data, element } from '../page/dom.js';
import { opened } from '../data/fans.js';
import { formatNumber, shorten } from '../data/format.js';
import { nodeOf } from '../data/model.js';
import { section } from '../panel/panel.js';
import { lineageOf } from '../data/url.js';

const MOST_LISTED = 200;

/**
 * @param {import('../data/url.js').State} state
 * @param {import('../data/model.js').Model} whole the picture before it was folded
 * @param {import('../data/model.js').Box} item
 * @param {(all: boolean) => void} open
 * @returns {import('../panel/panel.js').Description}
 */
export function describeGroup(state, whole, item, open) {
  const { fold } = item.node;
  const members = fold.members.map((id) => nodeOf(whole, id));
  const rest = members.length - MOST_LISTED;
  return {
    kind: 'Folded',
    tone: 'operation',
    title: item.label,
    detail: '',
    body: [
      element(
        'p',
        {},
        `They lie ${fold.side} of `,
        anchor(lineageOf(state, fold.hub), data(shorten(nodeOf(whole, fold.hub).label, 120))),
        ', beside those that are drawn. ',
        item.detail && `${item.detail}.`,
      ),
      element(
        'div',
        { class: 'actions' },
        button({ icon: 'plus', label: 'Draw more', onclick: () => open(false) }, { 'data-testid': 'fan-more' }),
        button({ label: 'Draw all', onclick: () => open(true) }, { 'data-testid': 'fan-all' }),
      ),
      section(
        'Not drawn one by one',
        element(
          'ul',
          { class: 'lines', 'data-testid': 'fan-members' },
          members
            .slice(0, MOST_LISTED)
            .map((box) => element('li', {}, anchor(lineageOf(state, box.id), data(shorten(box.label, 120))))),
        ),
        rest > 0 && element('p', { class: 'muted' }, `and ${formatNumber(rest)} more`),
      ),
    ],
  };
}

/**
 * The links to or from folded boxes, drawn as one.
 * @param {import('../data/model.js').Model} drawn
 * @param {import('../data/model.js').Link} item
 * @returns {import('../panel/panel.js').Description}
 */
export function describeBundle(drawn, item) {
  const ends = [item.from, item.to].map((id) => shorten(nodeOf(drawn, id).label, 60));
  const words = 'Several edges in one: they lead to a folded box. Select that box to draw its members.';
  return { kind: 'Flow', tone: 'plain', title: ends, detail: '', body: [element('p', {}, words)] };
}

/**
 * The change of the state when a fan is opened: its first drawn member is selected.
 * @param {import('../data/url.js').State} state
 * @param {import('../data/fans.js').Fold} fold
 * @param {boolean} all
 * @returns {Partial<import('../data/url.js').State>}
 */
export function opening(state, fold, all) {
  return { fans: opened(state.fans, fold, all), selected: fold.members[0] };
}
