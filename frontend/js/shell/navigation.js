/**
 * Where the reader is: the state of the page, which the query string spells, and every way to another
 * state: a changed value, a link, back and forward.
 */
import { change, parse, write } from '../data/url.js';

/** @typedef {import('../data/url.js').State} State */

/** @typedef {ReturnType<typeof createNavigation>} Navigation */

/**
 * @param {(from: State) => unknown} onArrive  the state is another than this one now
 */
export function createNavigation(onArrive) {
  let state = parse(location.search);

  function move(to, instead) {
    const from = state;
    state = to;
    const href = write(to);
    if (href !== location.pathname + location.search)
      history[instead ? 'replaceState' : 'pushState'](null, '', href);
    onArrive(from);
  }

  /** @type {import('../controls/controls.js').Change} */
  function go(changes, { replace = false } = {}) {
    move(change(state, changes), replace);
  }

  /** @param {string} href of the page itself */
  function follow(href) {
    move(parse(new URL(href, location.href).search), false);
  }

  window.addEventListener('popstate', () => {
    const from = state;
    state = parse(location.search);
    onArrive(from);
  });

  return { state: () => state, go, follow };
}

/**
 * Links of the page itself are followed without another document; those for another tab are the browser's.
 * @param {(href: string, link: Element) => void} follow
 */
export function catchLinks(follow) {
  document.addEventListener('click', (event) => {
    const link = event.target instanceof Element ? event.target.closest('a[data-internal]') : null;
    const href = link?.getAttribute('href');
    if (!link || !href || !isPlain(event) || event.defaultPrevented) return;
    event.preventDefault();
    follow(href, link);
  });
}

/** @param {MouseEvent} event */
function isPlain({ button, ctrlKey, metaKey, shiftKey, altKey }) {
  return button === 0 && !ctrlKey && !metaKey && !shiftKey && !altKey;
}
