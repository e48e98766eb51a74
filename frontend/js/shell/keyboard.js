/**
 * The keyboard on the canvas: steps over it, and its other keys. It owns the place where the keyboard stands there.
 */
import { findNode } from '../data/model.js';
import { step } from '../data/walk.js';
import { announcement } from '../page/list.js';
import { isChord } from '../page/shortcuts.js';
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

/** @returns {Position|null} */
function firstOf(model) {
  const id = model.focus || model.order[0];
  return id ? { id, came: null } : null;
}
