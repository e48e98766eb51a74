/**
 * The canvas. The only file that names vis-network: it gives panning and zooming, and knows no node. Positions
 * come from the model, boxes are painted by shapes.js, links by links.js, and the
 * model finds the item under the pointer.
 */
import { DataSet, Network } from '/vendor/vis-network/vis-network.min.js';
import { bounds, findNode, hit, homeOf, titleHeight } from '../data/model.js';
import { emphasis, neighbourhood } from '../data/walk.js';
import { isLegible, openingOf, SMALLEST, towards, wholeOf } from './framing.js';
import { createLinks, portsOf } from './links.js';
import { NO_HUES } from './box-style.js';
import { routeLinks } from './routes.js';
import { FADED, handleAt, LEGIBLE, paint, paintLane, placeOfHandle } from './shapes.js';

/** The pointer rests so long, in ms, before the item under it lights up. */
const HOVER_WAIT = 140;
/** The margin for handles, badges and halos of a box, in pixels. */
const RIM = 40;
const SLOP = 4;
/** So long the camera moves, in ms. */
const CAMERA = 300;

const OPTIONS = Object.freeze({
  autoResize: false,
  physics: false,
  layout: { improvedLayout: false, hierarchical: false },
  interaction: {
    dragNodes: false,
    dragView: true,
    hover: false,
    keyboard: false,
    multiselect: false,
    navigationButtons: false,
    selectable: false,
    selectConnectedEdges: false,
    tooltipDelay: 1e9,
    zoomSpeed: 0.6,
  },
});

/**
 * @typedef {object} Listener
 * @property {(id: string) => void} onSelect   a click; an empty id when nothing was hit
 * @property {(id: string) => void} onOpen     a double click on a box or a row
 * @property {(id: string, side: 'upstream'|'downstream', whole: boolean) => void} onHandle  a press on a handle; whole: with shift
 * @property {(id: string, point: {x: number, y: number}) => void} onHover  pixels inside the container
 * @property {(seen: {left: number, top: number, right: number, bottom: number}) => void} onMove  after each drawing: the part in view
 */

/**
 * @typedef {object} Drawing  the model and its look
 * @property {import('../data/model.js').Model|null} model  null: nothing yet
 * @property {import('./palette.js').Palette} palette
 * @property {import('./box-style.js').Hues} hues
 * @property {Set<string>|null} lit   emphasised ids; null: nothing fades
 * @property {string} selected
 * @property {string} hovered
 * @property {Set<string>|null} found  the search's matches, lit up while nothing is selected; null: no search
 * @property {number} faded      opacity of items without emphasis
 * @property {{left: Set<string>, right: Set<string>}} linked  rows at whose sides links end
 * @property {ReturnType<createLinks>|null} links
 * @property {boolean} moved          by the reader: it is not fitted again
 */

/**
 * @param {HTMLElement} container carries data-nodes, data-edges, data-columns, data-selected,
 *   data-drawn, data-transform (scale, x, y) and data-size (of the window that this is of) for readers of the page, such
 *   as tests
 * @param {import('./palette.js').Palette} palette
 * @param {Listener} listener
 */
export function createGraph(container, palette, listener) {
  /** @type {Drawing} */
  const state = {
    model: null,
    palette,
    hues: NO_HUES,
    lit: null,
    found: null,
    faded: FADED.selected,
    selected: '',
    hovered: '',
    linked: { left: new Set(), right: new Set() },
    links: null,
    moved: false,
  };
  let filled = { width: 0, height: 0 };
  const network = new Network(container, { nodes: new DataSet(), edges: new DataSet() }, OPTIONS);
  const drawing = container.querySelector('.vis-network');
  drawing?.setAttribute('tabindex', '-1');
  drawing?.setAttribute('aria-hidden', 'true');

  /** Every box of which something is in view, with its handles, badges and halos. */
  function paintBoxes(context, model) {
    const look = { ...state, focus: model.focus, flow: model.flow, scale: network.getScale() };
    const { left, top, right, bottom } = seenOf(container, network);
    const rim = RIM / look.scale;
    for (const box of model.boxes.values()) {
      const [wide, high] = [box.width / 2 + rim, box.height / 2 + rim];
      if (box.x + wide >= left && box.x - wide <= right && box.y + high >= top && box.y - high <= bottom)
        paint(context, box, look);
    }
  }

  /** A table that is higher than the view keeps its title in sight. */
  function paintTitlesOfTall(context, { boxes }) {
    const scale = network.getScale();
    const top = network.DOMtoCanvas({ x: 0, y: 0 }).y;
    for (const box of boxes.values()) {
      const height = titleHeight(box);
      const [above, below] = [box.y - box.height / 2, box.y + box.height / 2];
      if (box.rows.length === 0 || above >= top || below < top + 2 * height) continue;
      const title = { ...box, y: top + height / 2, height, rows: [] };
      paint(context, title, { ...state, focus: '', selected: '', scale });
    }
  }

  /**
   * @param {import('../data/model.js').Model} model
   * @param {string} selected
   * @param {import('./box-style.js').Hues} hues
   * @param {boolean} [still] the view stays where it is: more is shown of the same picture
   */
  function show(model, selected, hues, still = false) {
    container.dataset.selected = selected;
    const ways = routeLinks(model);
    Object.assign(state, {
      model,
      selected,
      hues,
      lit: emphasis(model, selected) ?? state.found,
      faded: FADED.selected,
      hovered: '',
      linked: portsOf(model),
      links: createLinks(model, ways),
    });
    Object.assign(container.dataset, {
      nodes: model.boxes.size,
      columns: model.rows.size,
      edges: model.links.size,
    });
    if (still) stand();
    else open();
  }

  /** More or less of the same picture: what stays keeps its place, also when the window then changes. */
  function stand() {
    keep();
    resize(true);
  }

  /**
   * Boxes that were opened, and that which opened them, come into view: not farther than they must.
   * @param {string[]} ids
   */
  function follow(ids) {
    const boxes = ids.flatMap((id) => state.model?.boxes.get(id) ?? []);
    const around = boxes.length > 0 && bounds({ boxes: new Map(boxes.map((box) => [box.id, box])) });
    if (!around || container.clientWidth === 0) return;
    const now = { scale: network.getScale(), position: network.getViewPosition() };
    const frame = towards(around, sizeOf(container), now);
    if (!frame) return;
    const still = window.matchMedia('(prefers-reduced-motion: reduce)').matches;
    network.moveTo({ ...frame, animation: still ? false : { duration: CAMERA, easingFunction: 'easeInOutQuad' } });
  }

  function restyle(lit, faded) {
    state.faded = faded;
    if (!sameSet(lit, state.lit)) state.lit = lit;
    network.redraw();
  }

  function select(id) {
    state.selected = id;
    container.dataset.selected = id;
    restyle(state.model ? (emphasis(state.model, id) ?? state.found) : null, FADED.selected);
  }

  /** @param {Set<string>|null} found ids that the reader looks for; null: nothing */
  function light(found) {
    state.found = found;
  }

  let waiting = 0;

  function hover(id, point) {
    const { model } = state;
    if (model && id !== state.hovered) {
      state.hovered = id;
      container.style.cursor = id ? 'pointer' : '';
      container.dataset.hovered = id;
      clearTimeout(waiting);
      if (!emphasis(model, state.selected))
        waiting = setTimeout(() => glow(model, id), id || state.lit ? HOVER_WAIT : 0);
    }
    listener.onHover(id, point);
  }

  function glow(model, id) {
    if (model !== state.model || id !== state.hovered || emphasis(model, state.selected)) return;
    restyle(id ? neighbourhood(model, id) : state.found, FADED.hovered);
  }

  function at(pointer) {
    if (!state.model) return '';
    const { x, y } = network.DOMtoCanvas(pointer);
    return hit(state.model, x, y) || (state.links?.hit(x, y, network.getScale()) ?? '');
  }

  function pressed(pointer) {
    const { x, y } = network.DOMtoCanvas(pointer);
    return state.model ? handleAt(state.model, x, y, network.getScale()) : null;
  }

  /** Where a handle is inside the container, in pixels. */
  function pointOf(handle) {
    const place = state.model && placeOfHandle(state.model, handle, network.getScale());
    return place ? network.canvasToDOM(place) : null;
  }

  /** Everything, at any scale. */
  function fitAll() {
    const around = state.model && bounds(state.model);
    if (!around || container.clientWidth === 0) return;
    state.moved = true;
    network.moveTo({ ...wholeOf(around, sizeOf(container)), animation: false });
  }

  /** The first view of the picture (framing.js). */
  function open() {
    const { model } = state;
    const around = model && bounds(model);
    if (!around || container.clientWidth === 0) return;
    state.moved = false;
    fill();
    const focus = findNode(model, state.selected) ?? findNode(model, model.focus);
    const asked = focus && centreOf(model, focus);
    const frame = openingOf(around, sizeOf(container), legible(model), asked, [...model.boxes.values()].map(aroundOf));
    network.moveTo({ ...frame, animation: false });
  }

  function zoom(factor) {
    keep();
    const scale = Math.min(4, Math.max(SMALLEST, network.getScale() * factor));
    network.moveTo({ scale, animation: false });
  }

  /**
   * Move the picture when an item is out of sight, or under the cover on the right side (pixels).
   * A walk with the keyboard also zooms in: the reached item should be legible.
   */
  function reveal(id, covered, walking) {
    const { model } = state;
    const item = model && findNode(model, id);
    if (!item) return;
    const centre = centreOf(model, item);
    const place = network.canvasToDOM(centre);
    const rim = walking ? RIM : 0;
    const inside =
      place.x > rim &&
      place.y > rim &&
      place.x < container.clientWidth - covered - rim &&
      place.y < container.clientHeight - rim;
    const scale = walking ? Math.max(network.getScale(), legible(model)) : network.getScale();
    if (inside && scale === network.getScale()) return;
    network.moveTo({
      position: { x: centre.x + covered / (2 * scale), y: centre.y },
      scale,
      animation: false,
    });
  }

  /**
   * @param {import('./palette.js').Palette} colours
   * @param {import('./box-style.js').Hues} hues
   */
  function repaint(colours, hues) {
    Object.assign(state, { palette: colours, hues });
    if (state.model) network.redraw();
  }

  network.on('click', ({ pointer, event }) => {
    const handle = pressed(pointer.DOM);
    if (handle) listener.onHandle(handle.id, handle.side, Boolean(event.srcEvent?.shiftKey));
    else listener.onSelect(at(pointer.DOM));
  });
  network.on('doubleClick', ({ pointer }) => {
    const id = pressed(pointer.DOM) ? '' : at(pointer.DOM);
    if (id && !state.model?.links.has(id)) listener.onOpen(id);
  });
  network.on('beforeDrawing', (context) => {
    const { model } = state;
    const around = model?.lanes?.length ? bounds(model) : null;
    if (around) for (const lane of model?.lanes ?? []) paintLane(context, lane, around, state.palette);
    state.links?.paint(context, { ...state, scale: network.getScale() });
    if (model) paintBoxes(context, model);
  });
  network.on('afterDrawing', (context) => {
    if (!state.model) return;
    paintTitlesOfTall(context, state.model);
    note(container, network);
    listener.onMove(seenOf(container, network));
  });
  followPointer(container, (point) => hover(point ? at(point) : '', point ?? { x: 0, y: 0 }));
  network.on('dragEnd', keep);
  network.on('zoom', keep);
  new ResizeObserver(followSize).observe(container);

  /** In whole pixels: a canvas that is stretched by a part of one is blurred. */
  function fill() {
    filled = sizeOf(container);
    network.setSize(`${filled.width}px`, `${filled.height}px`);
  }

  /** By more than a trifle, such as a scroll bar's rounding, from the size that the picture was fitted to. */
  function followSize() {
    const { width, height } = sizeOf(container);
    if (Math.max(Math.abs(width - filled.width), Math.abs(height - filled.height)) < SLOP) return;
    if (state.model) resize(state.moved);
  }

  /** The upper left corner of the picture stays in place; vis-network would zoom. */
  function resize(stays) {
    const [scale, corner] = [network.getScale(), network.DOMtoCanvas({ x: 0, y: 0 })];
    fill();
    if (stays) stay(scale, corner);
    else open();
    note(container, network);
    network.redraw();
  }

  function stay(scale, corner) {
    const middle = { x: container.clientWidth / (2 * scale), y: container.clientHeight / (2 * scale) };
    network.moveTo({ scale, position: { x: corner.x + middle.x, y: corner.y + middle.y }, animation: false });
  }

  function keep() {
    state.moved = true;
  }

  function moveTo(point) {
    keep();
    network.moveTo({ position: point, animation: false });
  }

  /** Whether all of it can be read at once, as it stands. */
  function fits(model) {
    const around = bounds(model);
    return !around || isLegible(around, sizeOf(container), legible(model));
  }

  return { show, follow, select, light, fits, reveal, pointOf, zoom, moveTo, fit: fitAll, repaint };
}

/**
 * The least zoom at which a picture can be read: of columns those, else titles.
 * @param {import('../data/model.js').Model} model
 * @returns {number}
 */
function legible(model) {
  return model.rows.size > 0 ? LEGIBLE.rows : LEGIBLE.titles;
}

/**
 * The middle of a box, or of a row inside its box.
 * @param {import('../data/model.js').Model} model
 * @param {import('../data/model.js').Box|import('../data/model.js').Row} item
 * @returns {{x: number, y: number}}
 */
function centreOf(model, item) {
  return { x: (item.kind === 'column' ? homeOf(model, item) : item).x, y: item.y };
}

function aroundOf({ x, y, width, height }) {
  return { left: x - width / 2, top: y - height / 2, right: x + width / 2, bottom: y + height / 2 };
}

function sizeOf({ clientWidth, clientHeight }) {
  return { width: clientWidth, height: clientHeight };
}

function sameSet(one, other) {
  if (one === null || other === null) return one === other;
  return one.size === other.size && [...one].every((id) => other.has(id));
}

/** The drawn items and their transform, for tests and for elements placed over the canvas. */
function note(container, network) {
  const origin = network.canvasToDOM({ x: 0, y: 0 });
  container.dataset.transform = [network.getScale(), origin.x, origin.y]
    .map((value) => value.toFixed(4))
    .join(' ');
  container.dataset.size = `${container.clientWidth} ${container.clientHeight}`;
  container.dataset.drawn = 'true';
}

function seenOf(container, network) {
  const [first, last] = [
    { x: 0, y: 0 },
    { x: container.clientWidth, y: container.clientHeight },
  ].map((point) => network.DOMtoCanvas(point));
  return { left: first.x, top: first.y, right: last.x, bottom: last.y };
}

/** Pointer positions, at most one for each frame; null when the pointer leaves or drags. */
function followPointer(container, tell) {
  let waiting = null;
  let last = null;
  const send = () => {
    waiting = null;
    tell(last);
  };
  const ask = (point) => {
    last = point;
    waiting ??= requestAnimationFrame(send);
  };
  container.addEventListener('pointermove', (event) => {
    if (event.buttons !== 0 || event.pointerType === 'touch') return ask(null);
    const { left, top } = container.getBoundingClientRect();
    return ask({ x: event.clientX - left, y: event.clientY - top });
  });
  container.addEventListener('pointerleave', () => ask(null));
}
