/**
 * The keyboard: steps over the canvas, its other keys, the shortcuts of the whole page, and the focus where what
 * had it goes. It owns the place where the keyboard stands on the canvas.
 */
import { findNode } from '../data/model.js';
import { step } from '../data/walk.js';
import { announcement } from '../page/list.js';
import { coveredWidth } from './details.js';
import { places } from './places.js';

/** Arrow keys point the way that the picture takes. */
const DOWNWARDS = Object.freeze({ ArrowDown: 'ArrowRight', ArrowUp: 'ArrowLeft', ArrowRight: 'ArrowDown', ArrowLeft: 'ArrowUp' });
const SIDES = Object.freeze({ '>': 'downstream', '<': 'upstream' });

/** @typedef {import('../data/walk.js').Position} Position */

/**
 * @param {import('./navigation.js').Navigation} navigation
 * @param {import('./stage.js').Stage} stage
 * @param {import('./selection.js').Selection} selection
 * @param {(text: string) => void} announce
 */
export function createKeyboard({ state, go }, stage, selection, announce) {
  /** @type {Position} */
  let position = { id: '', came: null };

  const acts = {
    '+': () => stage.zoom(1.25),
    '=': () => stage.zoom(1.25),
    '-': () => stage.zoom(0.8),
    0: () => stage.fit(),
    Enter: () => selection.openDetails(state().selected),
    Escape: () => selection.select(''),
  };

  /** @param {KeyboardEvent} event */
  function press(event) {
    const drawn = stage.drawn();
    if (event.target !== places.stage || !drawn || isChord(event)) return;
    if (act(drawn, event)) event.preventDefault();
  }

  /** @returns {boolean} whether the key means something here */
  function act(drawn, { key, shiftKey }) {
    const { selected } = state();
    if (SIDES[key] && drawn.boxes.has(selected)) selection.toggleSide({ id: selected, side: SIDES[key], whole: false });
    else if (key === 'Enter' && shiftKey) selection.open(selected);
    else if (acts[key]) acts[key]();
    else return walk(drawn, key);
    return true;
  }

  /** One step over the canvas. */
  function walk(model, key) {
    if (!/^(Arrow|Page|Home$|End$)/.test(key)) return false;
    const { selected } = state();
    const from = position.id === selected ? position : { id: selected, came: null };
    const along = model.flow === 'down' ? (DOWNWARDS[key] ?? key) : key;
    const to = findNode(model, selected) ? step(model, from, along) : firstOf(model);
    if (!to) return false;
    go({ selected: to.id }, { replace: true });
    position = to;
    stage.reveal(to.id, coveredWidth(), true);
    announce(announcement(model, to));
    return true;
  }

  /** @param {string} id  reached by another way than a step */
  function stand(id) {
    position = { id, came: null };
  }

  places.stage.addEventListener('keydown', press);
  return { stand };
}

/**
 * The focus never falls to the body. What had it may go, with the page that it was on: then the link or button
 * with the same words has it, on a page of the same view, else the heading.
 * @returns {() => void} to be called when parts of the page are others, or hidden
 */
export function keepFocus() {
  /** @type {{tag: string, words: string, view: string|undefined}|null} nothing before a first key or press */
  let last = null;
  const wordsOf = (part) => part.getAttribute('aria-label') ?? part.textContent;
  document.addEventListener('pointerdown', () => (last = null));
  document.addEventListener('focusin', ({ target }) => {
    if (target instanceof Element && target !== places.heading)
      last = { tag: target.tagName, words: wordsOf(target), view: document.body.dataset.view };
  });

  return () => {
    const holder = document.activeElement;
    if (!last || (holder && holder !== document.body && isShown(holder))) return;
    const { tag, words, view } = last;
    const alike = view === document.body.dataset.view && ['A', 'BUTTON'].includes(tag) ? [...document.querySelectorAll(tag)] : [];
    const same = alike.find((part) => isShown(part) && wordsOf(part) === words);
    (same instanceof HTMLElement ? same : places.heading).focus({ preventScroll: true });
  };
}

/** @param {Element} part */
function isShown(part) {
  return part.isConnected && part.getClientRects().length > 0;
}

/**
 * "/" and "?" on the whole page, except where the reader writes.
 * @param {{search: () => void, help: () => void}} shortcuts
 */
export function catchShortcuts({ search, help }) {
  const acts = { '/': search, '?': help };
  document.addEventListener('keydown', (event) => {
    const writing = event.target instanceof Element && event.target.closest('input, select, textarea');
    if (!acts[event.key] || writing || isChord(event)) return;
    event.preventDefault();
    acts[event.key]();
  });
}

/** @param {KeyboardEvent} event */
function isChord({ ctrlKey, metaKey, altKey }) {
  return ctrlKey || metaKey || altKey;
}

/** @returns {Position|null} */
function firstOf(model) {
  const id = model.focus || model.order[0];
  return id ? { id, came: null } : null;
}
