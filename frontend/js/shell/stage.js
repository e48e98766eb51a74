/**
 * The stage: the drawn part of a page's model, as canvas or as list, with its legend and its small map.
 * It owns the colours and what is drawn.
 */
import { matching } from '../controls/find.js';
import { foldFans } from '../data/fans.js';
import { formatNumber, shorten } from '../data/format.js';
import { find, tally, turn } from '../data/model.js';
import { foldColumns } from '../data/rows.js';
import { keeps, sameQuestion } from '../data/url.js';
import { huesOf, NO_HUES } from '../drawing/box-style.js';
import { readOpened } from '../drawing/expansion.js';
import { createGraph } from '../drawing/graph.js';
import { pack } from '../drawing/packing.js';
import { readPalette } from '../drawing/palette.js';
import { createLegend } from '../page/legend.js';
import { createList } from '../page/list.js';
import { createMinimap } from '../page/minimap.js';
import { createTooltip } from '../page/tooltip.js';
import { places } from './places.js';

/** @typedef {import('../data/model.js').Model} Model */
/** @typedef {import('../data/url.js').State} State */

/** @typedef {ReturnType<typeof createStage>} Stage */

/**
 * @typedef {object} Listener
 * @property {(id: string) => void} onClick   on the canvas; an empty id when nothing was hit
 * @property {(id: string) => void} onOpen    a double click on the canvas
 * @property {(opened: import('../drawing/expansion.js').Opened) => void} onHandle
 * @property {(id: string) => void} onSelect  in the list
 * @property {(id: string) => void} onDetails in the list
 * @property {(text: string) => void} announce
 */

/** Between a handle and what is said at it, in pixels. */
const BESIDE = 14;

/** So many matches are drawn, whatever is folded. */
const MOST_PINNED = 50;

/**
 * @param {import('./navigation.js').Navigation} navigation
 * @param {Listener} listener
 */
export function createStage({ state, go }, listener) {
  /** @type {Model|null} the page's model with its fans folded */
  let drawn = null;
  /** @type {Model|null} the list's model, made when the list is first seen */
  let listed = null;
  /** @type {State|null} of the picture that stands on the canvas */
  let pictured = null;
  /** Said at the handle that was pressed last. */
  let complaint = '';
  let palette = colours();
  /** Of the whole picture, folded boxes included. */
  let hues = NO_HUES;

  const { onSelect, onDetails, announce } = listener;
  const list = createList(places.list, { onSelect, onOpen: onDetails, announce });
  const tooltip = createTooltip(places.tooltip, places.stage, places.canvas);
  const minimap = createMinimap(places.minimap, (point) => graph.moveTo(point));
  const showLegend = createLegend(places.legend, (hue) => go({ hue }, { replace: true }));

  const graph = createGraph(places.canvas, palette, {
    onSelect: listener.onClick,
    onOpen: listener.onOpen,
    onHandle: (id, side, whole) => listener.onHandle({ id, side, whole }),
    onHover: (id, point) => tooltip(id && drawn ? find(drawn, id) : undefined, point),
    onMove: (seen) => {
      if (drawn) minimap.draw(drawn, palette, seen);
      followComplaint();
    },
  });

  /**
   * A loaded picture; one asked again keeps its view.
   * @param {string} heading
   * @param {Model} model
   */
  function show(heading, model) {
    const again = pictured !== null && sameQuestion(pictured, state());
    const opened = again && pictured?.opened !== state().opened;
    const before = new Set(drawn?.boxes.keys());
    pictured = state();
    complaint = '';
    draw(heading, model, again);
    if (opened) followOpened(before);
  }

  /** What is said at the pressed handle stays there while the picture moves. */
  function followComplaint() {
    const pressed = readOpened(state().opened).at(-1);
    const point = complaint && pressed ? graph.pointOf(pressed) : null;
    const box = places.complaint;
    box.hidden = !point;
    box.textContent = complaint;
    if (!point) return;
    const { clientWidth, clientHeight } = places.stage;
    const left = Math.min(Math.max(0, point.x - box.offsetWidth / 2), clientWidth - box.offsetWidth);
    const below = point.y + BESIDE + box.offsetHeight <= clientHeight;
    box.style.transform = `translate(${left}px, ${below ? point.y + BESIDE : point.y - BESIDE - box.offsetHeight}px)`;
  }

  /** @param {string} words  why the pressed handle has opened nothing; empty: it has */
  function complain(words) {
    complaint = words;
    followComplaint();
  }

  /** @param {Set<string>} before the boxes before a handle was pressed */
  function followOpened(before) {
    const fresh = [...(drawn?.boxes.keys() ?? [])].filter((id) => !before.has(id));
    const opener = readOpened(state().opened).at(-1)?.id;
    if (fresh.length > 0 && opener) graph.follow([opener, ...fresh]);
  }

  /**
   * @param {string} heading
   * @param {Model} model
   * @param {boolean} [still] the view stays where it is
   */
  function draw(heading, model, still = false) {
    const { find: words, rows, fans, hue, selected } = state();
    const found = matching(model, words);
    const pinned = [selected, ...found.slice(0, MOST_PINNED)];
    graph.light(words ? new Set(found) : null);
    drawn = placed(foldFans(foldColumns(model, { opened: rows, pinned }), { opened: fans, pinned }));
    hues = huesOf(model, hue);
    followLegend(drawn);
    places.minimap.hidden = true;
    places.minimap.hidden = graph.fits(drawn);
    graph.show(drawn, selected, hues, still);
    listed = null;
    places.stage.setAttribute('aria-label', shorten(labelOf(heading, drawn), 400));
  }

  /**
   * As it is drawn: packed to the shape of the window where it is too large to be read, and upright.
   * @param {Model} model
   * @returns {Model}
   */
  function placed(model) {
    const upright = () => (model.flow === 'down' ? turn(model) : model);
    const aspect = places.stage.clientWidth / Math.max(1, places.stage.clientHeight);
    if (!graph.fits(upright())) pack(model, model.flow === 'down' ? 1 / aspect : aspect);
    return upright();
  }

  /** @param {Model} model */
  function followLegend(model) {
    showLegend(model, hues, keeps(state().view, 'hue'));
  }

  /** Canvas or list, before there is a picture too. */
  function followForm() {
    const asList = state().as === 'list';
    document.body.dataset.as = state().as;
    places.list.hidden = !asList;
    for (const part of [places.canvas, places.strip]) part.hidden = asList;
    places.stage.tabIndex = asList ? -1 : 0;
    places.stage.setAttribute('role', asList ? 'group' : 'application');
  }

  function followSelection() {
    if (drawn && state().as === 'list' && listed !== drawn) {
      listed = drawn;
      list.show(drawn);
    }
    graph.select(state().selected);
    list.select(state().selected);
  }

  /**
   * Another choice of hues, or a new classification, shows at once.
   * @param {Model|null|undefined} model the page's
   */
  function repaint(model) {
    if (model) hues = huesOf(model, state().hue);
    graph.repaint(palette, hues);
    if (drawn) followLegend(drawn);
  }

  /** The colours of the page are others now. */
  function recolour() {
    palette = colours();
  }

  /** The old picture must not stand under a new name. */
  function clear() {
    drawn = pictured = null;
    complain('');
  }

  return {
    /** @returns {Model|null} */
    drawn: () => drawn,
    look: () => ({ palette, hues }),
    show,
    complain,
    draw,
    followForm,
    followSelection,
    repaint,
    recolour,
    clear,
    /** @param {string} id  before the state has it */
    light: (id) => graph.select(id),
    reveal: (id, covered, walking) => graph.reveal(id, covered, walking),
    zoom: (by) => graph.zoom(by),
    fit: () => graph.fit(),
    focus: () => (state().as === 'list' ? list.focus() : places.stage.focus()),
  };
}

function colours() {
  return readPalette(getComputedStyle(document.documentElement), document.body.dataset.theme === 'dark');
}

/**
 * @param {string} heading
 * @param {Model} model
 */
function labelOf(heading, model) {
  const { links } = tally(model);
  return `${heading}: graph of ${formatNumber(model.boxes.size)} nodes and ${formatNumber(links)} edges. Arrow keys follow the edges, Enter opens details. The list shows the same.`;
}
