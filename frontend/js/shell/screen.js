/**
 * The page that is shown: the newest result of a view, in the frame, on the stage and in the panel. It owns
 * that result, and shows it again after changes of the state that need no other answer.
 */
import { shorten } from '../data/format.js';

/** @typedef {import('../views.js').Page} Page */

/** @typedef {ReturnType<typeof createScreen>} Screen */

/**
 * @typedef {object} Parts
 * @property {import('./navigation.js').Navigation} navigation
 * @property {import('./frame.js').Frame} frame
 * @property {import('./stage.js').Stage} stage
 * @property {import('./details.js').Details} details
 * @property {() => void} onDraw  another picture is drawn
 */

/** @param {Parts} parts */
export function createScreen({ navigation: { state }, frame, stage, details, onDraw }) {
  /** @type {Page|null} */
  let page = null;

  /**
   * @param {Page} loaded
   * @param {import('../views.js').View} view
   */
  function show(loaded, view) {
    page = loaded;
    frame.nameView(state().view, page.heading, page.subtitle);
    frame.follow(state(), page);
    frame.showNotes(page, state(), view);
    showBody(page);
    frame.setState(page.empty ? 'empty' : 'ready');
    frame.announce(wordsOf(page));
  }

  /** @param {Page} shown */
  function showBody(shown) {
    frame.showParts(shown);
    if (shown.empty || !shown.model) {
      stage.clear();
      details.clear();
      return;
    }
    makeRoom(shown);
    stage.show(shown.heading, shown.model);
    startAnew();
    follow();
  }

  /**
   * All parts have their size before the picture is fitted into what they leave: fitted first, it would jump.
   * @param {Page} shown
   */
  function makeRoom(shown) {
    frame.divide(state().split);
    stage.followForm();
    details.makeRoom(shown);
  }

  /**
   * More or less of the same picture.
   * @param {boolean} still the view stays where it is
   */
  function redraw(still) {
    if (!page?.model) return;
    stage.draw(page.heading, page.model, still);
    startAnew();
  }

  function startAnew() {
    details.forget();
    onDraw();
  }

  /** Selection and form: changes without another question. */
  function follow() {
    frame.follow(state(), page);
    frame.divide(state().split);
    stage.followForm();
    const drawn = stage.drawn();
    if (!page || !drawn) return;
    stage.followSelection();
    details.show(page, drawn);
  }

  /** Another subject: the old picture must not stand under the new name. */
  function forget() {
    page = null;
    stage.clear();
    details.clear();
    frame.clear();
  }

  /**
   * No page: a name stands above a notice.
   * @param {string} name
   */
  function leave(name) {
    page = null;
    stage.clear();
    frame.nameView(state().view, name, '');
    frame.clearNotes();
    details.clear();
  }

  return { page: () => page, show, redraw, follow, forget, leave, repaint: () => stage.repaint(page?.model) };
}

/** @param {Page} page */
function wordsOf({ empty, heading, subtitle }) {
  return empty ? (empty.querySelector('h2')?.textContent ?? '') : `${shorten(heading, 120)}. ${subtitle}`;
}
