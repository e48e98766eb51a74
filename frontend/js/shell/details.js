/**
 * The panel beside the stage: the details of the selected item, or the summary of the page. It owns the
 * panel's subject, so that nothing is asked for twice.
 */
import { find } from '../data/model.js';
import { tableOfRest } from '../data/rows.js';
import { describeBundle, describeGroup } from '../items/groups.js';
import { createPanel } from '../panel/panel.js';
import { places } from './places.js';

/** @typedef {import('../views.js').Page} Page */
/** @typedef {import('../data/model.js').Model} Model */

/** @typedef {ReturnType<typeof createDetails>} Details */

/**
 * @param {import('./navigation.js').Navigation} navigation
 * @param {import('./stage.js').Stage} stage
 * @param {{onClose: () => void, onOpenFan: (box: import('../data/model.js').Box, all: boolean) => void}} listener
 */
export function createDetails({ state, go }, stage, { onClose, onOpenFan }) {
  /** @type {{page: Page|null, id: string}} */
  let subject = { page: null, id: '' };
  const panel = createPanel(places.panel, { onClose, onTab: (tab) => go({ tab }, { replace: true }) });

  /**
   * @param {Page} page
   * @param {Model} drawn
   */
  function show(page, drawn) {
    const item = find(drawn, state().selected);
    const id = item ? item.id : '';
    document.body.dataset.selected = id;
    panel.openTab(state().tab);
    if (subject.page === page && subject.id === id) return;
    subject = { page, id };
    const description = item ? descriptionOf(page, drawn, item) : page.summary?.();
    places.panel.hidden = !description;
    if (description) panel.show(description, Boolean(item), state().tab);
    else panel.clear();
    if (item) stage.reveal(item.id, coveredWidth(), false);
  }

  /**
   * The panel is there or not, before its picture is drawn.
   * @param {Page} page
   */
  function makeRoom({ model, summary }) {
    places.panel.hidden = !summary && !(model && find(model, state().selected));
  }

  /**
   * The page knows nothing of folds.
   * @param {Page} page
   * @param {Model} drawn the drawn part of its model
   * @param {import('../data/model.js').Item} item
   */
  function descriptionOf({ model: whole, details }, drawn, item) {
    if ('edge' in item && whole && !whole.links.has(item.id)) return describeBundle(drawn, item);
    if (tableOfRest(item.id)) return null;
    if (item.kind !== 'group' || !whole) return details?.(item);
    return describeGroup(state(), whole, item, (all) => onOpenFan(item, all));
  }

  /** Another picture is drawn: its subject is described anew. */
  function forget() {
    subject = { page: null, id: '' };
  }

  return { show, makeRoom, forget, clear: panel.clear, focus: panel.focus };
}

/** In the overview the panel lies over the picture. */
export function coveredWidth() {
  const covers = getComputedStyle(places.panel).position === 'absolute' && !places.panel.hidden;
  return covers ? places.panel.offsetWidth : 0;
}
