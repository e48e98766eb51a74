/**
 * The page that is shown: the newest result of a view, in the frame, on the stage and in the panel. It owns
 * that result, and shows it again after changes of the state that need no other answer.
 */
import { shorten } from '../data/format.js';

/** @typedef {import('../views.js').Page} Page */
/** @typedef {import('./picture.js').Picture} Picture */

/** @typedef {ReturnType<typeof createScreen>} Screen */

/**
 * @typedef {object} Parts
 * @property {import('./navigation.js').Navigation} navigation
 * @property {import('./frame.js').Frame} frame
 * @property {import('./picture.js').Pictures} picture  made before a page with a model is shown
 */

/** @param {Parts} parts */
export function createScreen({ navigation: { state }, frame, picture }) {
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

  /**
   * The same page, asked again: its newest event may be another one.
   * @param {Page} loaded
   * @param {import('../views.js').View} view
   */
  function date({ reply }, view) {
    if (!page) return;
    page.reply = reply;
    frame.follow(state(), page);
    frame.showNotes(page, state(), view);
    frame.setState(page.empty ? 'empty' : 'ready');
  }

  /** @param {Page} shown */
  function showBody(shown) {
    frame.showParts(shown);
    const made = picture.made();
    if (shown.empty || !shown.model || !made) {
      clear();
      return;
    }
    makeRoom(shown, made);
    made.stage.show(shown.heading, shown.model);
    startAnew(made);
    follow();
  }

  function clear() {
    const made = picture.made();
    made?.stage.clear();
    made?.details.clear();
  }

  /**
   * All parts have their size before the picture is fitted into what they leave: fitted first, it would jump.
   * @param {Page} shown
   * @param {Picture} made
   */
  function makeRoom(shown, { stage, details }) {
    frame.divide(state().split);
    stage.followForm();
    details.makeRoom(shown);
  }

  /**
   * More or less of the same picture.
   * @param {boolean} still the view stays where it is
   */
  function redraw(still) {
    const made = picture.made();
    if (!page?.model || !made) return;
    made.stage.draw(page.heading, page.model, still);
    startAnew(made);
  }

  /** @param {Picture} made */
  function startAnew({ details, stand }) {
    details.forget();
    stand('');
  }

  /** Selection and form: changes without another question. */
  function follow() {
    frame.follow(state(), page);
    frame.divide(state().split);
    const made = picture.made();
    made?.stage.followForm();
    const drawn = made?.stage.drawn();
    if (!page || !made || !drawn) return;
    made.stage.followSelection();
    made.details.show(page, drawn);
  }

  /** Another subject: the old picture must not stand under the new name. */
  function forget() {
    page = null;
    clear();
    frame.clear();
  }

  /**
   * No page: a name stands above a notice.
   * @param {string} name
   */
  function leave(name) {
    page = null;
    clear();
    frame.nameView(state().view, name, '');
    frame.clearNotes();
  }

  return { page: () => page, show, date, redraw, follow, forget, leave, repaint: () => picture.made()?.stage.repaint(page?.model) };
}

/** @param {Page} page */
function wordsOf({ empty, heading, subtitle }) {
  return empty ? (empty.querySelector('h2')?.textContent ?? '') : `${shorten(heading, 120)}. ${subtitle}`;
}
