/**
 * Parts of the panel of which one is open: made when it is first opened, kept afterwards.
 */
import { element, replace } from '../page/dom.js';

/**
 * @typedef {object} Tab
 * @property {string} key    in the link
 * @property {string} words
 * @property {() => import('../page/dom.js').Child} draw
 */

/**
 * @param {Tab[]} tabs
 * @param {(key: string) => void} onChoose called at a press or an arrow key; the first tab is the empty key
 */
export function createTabs(tabs, onChoose) {
  const made = new Map();
  const choose = (key) => onChoose(key === tabs[0].key ? '' : key);
  const place = element('div', { class: 'panel-body', role: 'tabpanel', id: 'panel-part', 'data-testid': 'panel-part' });
  const buttons = tabs.map(({ key, words }) =>
    element(
      'button',
      {
        type: 'button',
        role: 'tab',
        id: `panel-tab-${key}`,
        'aria-controls': 'panel-part',
        'data-testid': `tab-${key}`,
        onclick: () => choose(key),
        onkeydown: (event) => press(event, key),
      },
      words,
    ),
  );

  function press(event, key) {
    const at = tabs.findIndex((tab) => tab.key === key);
    const to = { ArrowRight: at + 1, ArrowLeft: at - 1, Home: 0, End: tabs.length - 1 }[event.key];
    if (to === undefined) return;
    event.preventDefault();
    const next = (to + tabs.length) % tabs.length;
    choose(tabs[next].key);
    buttons[next].focus();
  }

  /** @param {string} key a tab that is not there: the first */
  function open(key) {
    const chosen = tabs.find((tab) => tab.key === key) ?? tabs[0];
    for (const [number, button] of buttons.entries()) {
      const open = tabs[number] === chosen;
      button.setAttribute('aria-selected', String(open));
      button.tabIndex = open ? 0 : -1;
    }
    place.setAttribute('aria-labelledby', `panel-tab-${chosen.key}`);
    if (!made.has(chosen.key)) made.set(chosen.key, element('div', { class: 'panel-stack' }, chosen.draw()));
    replace(place, made.get(chosen.key));
  }

  const list = element('div', { class: 'tabs', role: 'tablist', 'aria-label': 'Details' }, buttons);
  return { parts: [list, place], open };
}
