/**
 * The item that the reader chooses, with the pointer, in the list or from the keyboard: it is selected,
 * described, gone to, or opened where it stands.
 */
import { formatNumber } from '../data/format.js';
import { findNode } from '../data/model.js';
import { tableOfRest, tenMore } from '../data/rows.js';
import { toggled } from '../drawing/expansion.js';
import { opening } from '../items/groups.js';
import { places } from './places.js';

/** The second click of a double click comes within this time, in ms. */
const DOUBLE_CLICK = 280;

/** @typedef {ReturnType<typeof createSelection>} Selection */

/**
 * @typedef {object} Parts
 * @property {import('./navigation.js').Navigation} navigation
 * @property {import('./stage.js').Stage} stage
 * @property {() => import('../views.js').Page|null} page
 * @property {() => void} focusDetails
 * @property {(id: string) => void} onSelect  not by a step of the keyboard
 * @property {(text: string) => void} announce
 */

/** @param {Parts} parts */
export function createSelection({ navigation, stage, page, focusDetails, onSelect, announce }) {
  const { state, go, follow } = navigation;
  let clickTimer = 0;

  /** @param {string} id  empty: nothing */
  function select(id) {
    onSelect(id);
    if (id !== state().selected) go({ selected: id }, { replace: true });
  }

  /**
   * Where the panel will come to lie over the picture it waits until the click can no longer become a
   * double click; else the second click would meet the panel.
   * @param {string} id
   */
  function click(id) {
    clearTimeout(clickTimer);
    if (drawMore(id)) return;
    if (state().view !== 'overview' || !places.panel.hidden) {
      select(id);
      return;
    }
    stage.light(id);
    clickTimer = setTimeout(() => select(id), DOUBLE_CLICK);
  }

  /**
   * Go to an item, or open a fold.
   * @param {string} id
   */
  function open(id) {
    clearTimeout(clickTimer);
    const drawn = stage.drawn();
    const item = drawn && findNode(drawn, id);
    if (!item || tableOfRest(id)) return;
    const href = item.kind === 'group' ? '' : page()?.hrefOf?.(item);
    if (item.kind === 'group') openFan(item, false);
    else if (href) follow(href);
  }

  /** @param {string} id */
  function openDetails(id) {
    if (!id || drawMore(id)) return;
    if (state().selected !== id) go({ selected: id }, { replace: true });
    focusDetails();
  }

  /** @returns {boolean} whether the item stands for columns that are not drawn */
  function drawMore(id) {
    const wide = tableOfRest(id);
    if (wide) go({ rows: tenMore(state().rows, wide) });
    return Boolean(wide);
  }

  /**
   * The keyboard goes on where the fan was opened.
   * @param {import('../data/model.js').Box} box
   * @param {boolean} all
   */
  function openFan({ node: { fold } }, all) {
    go(opening(state(), fold, all));
    stage.focus();
    announce(`${formatNumber(stage.drawn()?.boxes.size ?? 0)} nodes are drawn.`);
  }

  /** @param {import('../drawing/expansion.js').Opened} side  opened, or closed again */
  function toggleSide(side) {
    go({ opened: toggled(state().opened, side) });
  }

  return { select, click, open, openDetails, openFan, toggleSide };
}
