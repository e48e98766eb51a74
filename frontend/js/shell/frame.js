/**
 * The frame around the stage: heading, controls, notes, the notice in place of a picture, the document, and
 * the tables under the picture.
 */
import { createControls, formSwitch } from '../controls/controls.js';
import { createDivider } from '../controls/divider.js';
import { shorten } from '../data/format.js';
import { roomIn } from '../drawing/framing.js';
import { data, element, replace } from '../page/dom.js';
import { loadingNotice } from '../page/notices.js';
import { banners, footnote } from '../page/notes.js';
import { VIEWS } from '../views.js';
import { places } from './places.js';

/** @typedef {import('../views.js').Page} Page */
/** @typedef {import('../data/url.js').State} State */

/** @typedef {ReturnType<typeof createFrame>} Frame */

/** The usual room that header, controls and legend take, and in a wide window the panel, in pixels. */
const USUAL = Object.freeze({ above: 195, narrow: 240, beside: 356, wide: 860 });

/** Elements whose focus goes on to the one with the same words. */
const FOLLOWED = Object.freeze(['A', 'BUTTON']);

/** @param {import('../controls/controls.js').Change} go */
export function createFrame(go) {
  /** @type {{view: string, follow: import('../controls/controls.js').Control['follow']}} */
  let controls = { view: '', follow: () => {} };
  const form = formSwitch(go);
  const settleFocus = keepFocus();
  const divider = createDivider(places.divider, places.below, (split) => go({ split }, { replace: true }));
  replace(places.form, form.node);

  /**
   * Another question: its view has its controls before the answer comes.
   * @param {State} state
   * @param {import('../views.js').View} view
   * @param {Page|null} page
   */
  function begin(state, view, page) {
    document.body.dataset.view = state.view;
    if (controls.view !== state.view)
      controls = { view: state.view, follow: createControls(places.controls, view.controls, go) };
    follow(state, page);
    markWay(state.view);
    if (page) return;
    places.heading.textContent = 'Loading…';
    places.subtitle.textContent = '';
    showNotice(loadingNotice());
    settleFocus();
  }

  /**
   * @param {State} state
   * @param {Page|null} page
   */
  function follow(state, page) {
    form.follow(state, page);
    controls.follow(state, page);
  }

  /**
   * @param {Page} page
   * @param {State} state
   * @param {import('../views.js').View} view
   */
  function showNotes(page, state, view) {
    const way = { timed: view.controls.includes('at'), go };
    replace(places.notes, banners(page, state, way));
    if (page.model && !page.empty) replace(places.footnote, footnote(page.reply, state, way));
  }

  /** @param {string} name README.md lists them */
  function setState(name) {
    document.body.dataset.state = name;
    places.work.setAttribute('aria-busy', String(name === 'loading'));
    settleFocus();
  }

  return { begin, follow, divide: divider.show, setState, announce, nameView, roomOf, showNotes, showParts, showNotice, clearNotes, clear };
}

function clearNotes() {
  replace(places.notes);
}

/** Another subject: nothing about the old one must stand under the new name. */
function clear() {
  clearNotes();
  replace(places.below);
}

/** @param {string} view */
function markWay(view) {
  /** @type {NodeListOf<HTMLAnchorElement>} */
  const ways = document.querySelectorAll('nav a');
  for (const one of ways) {
    if (one.dataset.view === view) one.setAttribute('aria-current', 'page');
    else one.removeAttribute('aria-current');
  }
}

/** @param {string} text to screen readers */
function announce(text) {
  places.announcer.textContent = text;
}

/**
 * @param {string} view
 * @param {string} heading
 * @param {string} subtitle
 */
function nameView(view, heading, subtitle) {
  const { kind = '' } = VIEWS[view];
  replace(places.heading, data(shorten(heading, 2500)));
  places.heading.title = heading.length > 60 ? shorten(heading, 400) : '';
  places.kind.textContent = kind;
  places.kind.hidden = !kind;
  places.subtitle.textContent = subtitle;
  document.title = `${shorten(heading, 60)} · Headwater`;
}

/**
 * The room for boxes on the canvas, or what it will about be once a picture is shown. The overview's panel takes none.
 * @param {string} view
 */
function roomOf(view) {
  const { clientWidth: width, clientHeight: height } = places.canvas;
  if (document.body.dataset.form === 'picture' && width > 0 && height > 0) return roomIn({ width, height });
  const wide = window.innerWidth > USUAL.wide;
  const beside = wide && view !== 'overview' ? USUAL.beside : 0;
  return roomIn({ width: window.innerWidth - beside, height: window.innerHeight - (wide ? USUAL.above : USUAL.narrow) });
}

/**
 * The parts of a page, the picture apart.
 * @param {Page} page
 */
function showParts({ heading, model, empty, document: made, below }) {
  const form = made ? 'document' : model && !empty ? 'picture' : 'notice';
  document.body.dataset.form = form;
  const openAgain = keepFolds();
  replace(places.document, made ? [unseenHeading(heading), made()] : []);
  replace(places.below, below ? [unseenHeading('In words'), below] : []);
  openAgain();
  places.below.hidden = places.divider.hidden = !below;
  const picture = model && !empty;
  places.form.hidden = !picture;
  showNotice(picture ? null : empty, Boolean(made));
}

/**
 * Screen readers go from heading to heading: the following parts have headings of the third level.
 * @param {string} words
 * @returns {HTMLElement}
 */
function unseenHeading(words) {
  return element('h2', { class: 'visually-hidden' }, data(shorten(words, 200)));
}

/**
 * @param {HTMLElement|null} notice in place of the picture; null: none
 * @param {boolean} [documented]  a document has its own form
 */
function showNotice(notice, documented = false) {
  replace(places.notice, notice ?? []);
  places.notice.hidden = !notice;
  if (!notice || documented) return;
  document.body.dataset.form = 'notice';
  places.below.hidden = places.divider.hidden = true;
  places.form.hidden = true;
}

/**
 * What the reader has unfolded is open again on the same page, by the words of its summary and of the rest of its row.
 * @returns {() => void} to be called when parts of the page are others
 */
function keepFolds() {
  /** @returns {HTMLDetailsElement[]} */
  const folds = () => [places.document, places.below].flatMap((place) => [...place.querySelectorAll('details')]);
  const nameOf = (fold) => [...restOfRow(fold), fold.querySelector('summary')?.textContent].join();
  const opened = new Set(folds().filter(({ open }) => open).map(nameOf));
  return () => {
    for (const fold of folds()) fold.open ||= opened.has(nameOf(fold));
  };
}

/**
 * The words of the other cells of its row, by which one of several `Copy` or links to a job is found again.
 * @param {Element} part
 */
function restOfRow(part) {
  return [...(part.closest('tr')?.cells ?? [])].filter((cell) => !cell.contains(part)).map((cell) => cell.textContent);
}

/**
 * The focus never falls to the body. What had it may go, with the page that it was on: then the link or button
 * with the same words has it, on a page of the same view, else the heading. Of several with these words it is
 * that in the row with the most equal cells, and of equal rows the nearest to the place it had.
 * @returns {() => void} to be called when parts of the page are others, or hidden
 */
function keepFocus() {
  /**
   * Nothing before a first key or press; `place` among those with the same words.
   * @type {{tag: string, words: string|null, place: number, row: Array<string|null>, view: string|undefined}|null}
   */
  let last = null;
  const wordsOf = (part) => part.getAttribute('aria-label') ?? part.textContent;
  const namesakes = (tag, words) => [...document.querySelectorAll(tag)].filter((part) => wordsOf(part) === words && isShown(part));
  document.addEventListener('pointerdown', () => (last = null));
  document.addEventListener('focusin', ({ target }) => {
    if (!(target instanceof Element) || target === places.heading) return;
    const { tagName: tag } = target;
    const words = wordsOf(target);
    const place = FOLLOWED.includes(tag) ? namesakes(tag, words).indexOf(target) : 0;
    last = { tag, words, place, row: restOfRow(target), view: document.body.dataset.view };
  });

  return () => {
    const holder = document.activeElement;
    if (!last || (holder && holder !== document.body && isShown(holder))) return;
    const { tag, words, row, place, view } = last;
    const same = view === document.body.dataset.view && FOLLOWED.includes(tag) ? namesakes(tag, words) : [];
    const ranked = same.map((part, at) => ({
      part,
      equal: restOfRow(part).filter((cell, column) => cell === row[column]).length,
      away: Math.abs(at - place),
    }));
    const [first] = ranked.sort((a, b) => b.equal - a.equal || a.away - b.away);
    (first?.part instanceof HTMLElement ? first.part : places.heading).focus({ preventScroll: true });
  };
}

/** @param {Element} part */
function isShown(part) {
  return part.isConnected && part.getClientRects().length > 0;
}
