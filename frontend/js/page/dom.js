/**
 * Elements, made without markup: text from outside only ever becomes text.
 */
import { formatTime, plain } from '../data/format.js';

const SVG = 'http://www.w3.org/2000/svg';

/**
 * The content of an element: a node, a text, nothing, or a list of these. An alias may name itself
 * only inside an object, so a list is recognised by its shape.
 * @typedef {Node|string|number|false|null|undefined|Children} Child
 * @typedef {{readonly length: number, readonly [place: number]: Child}} Children
 */

/**
 * Attributes and listeners by name; the value of an attribute becomes text.
 * @typedef {{
 *   [name: string]: string|number|boolean|null|undefined|((event: never) => unknown),
 *   onchange?: (event: Event) => unknown,
 *   onclick?: (event: MouseEvent) => unknown,
 *   oninput?: (event: Event) => unknown,
 *   onkeydown?: (event: KeyboardEvent) => unknown,
 *   onpointerdown?: (event: PointerEvent) => unknown,
 *   onsubmit?: (event: SubmitEvent) => unknown,
 *   ontoggle?: (event: Event) => unknown,
 * }} Attributes
 */

/**
 * Make an element. `class`, `data-…`, `aria-…` and other attributes are set as they are; false, null
 * and undefined leave an attribute out; functions become listeners (`onclick`).
 * @template {keyof HTMLElementTagNameMap} Tag
 * @param {Tag} tag
 * @param {Attributes} [attributes]
 * @param {...Child} children strings become text
 * @returns {HTMLElementTagNameMap[Tag]}
 */
export function element(tag, attributes = {}, ...children) {
  const made = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) assign(made, name, value);
  append(made, children);
  return made;
}

function assign(made, name, value) {
  if (value === null || value === undefined || value === false) return;
  if (typeof value === 'function') made.addEventListener(name.replace(/^on/, ''), value);
  else made.setAttribute(name, value === true ? '' : String(value));
}

function append(parent, children) {
  for (const child of children.flat(Infinity)) {
    if (child === null || child === undefined || child === false) continue;
    parent.append(child instanceof Node ? child : document.createTextNode(String(child)));
  }
}

/**
 * Put new children in the place of the old ones.
 * @param {Element} parent
 * @param {...Child} children
 */
export function replace(parent, ...children) {
  parent.replaceChildren();
  append(parent, children);
}

/**
 * The element of index.html with this id and of this kind.
 * @template {HTMLElement} Kind
 * @param {string} id
 * @param {new () => Kind} kind
 * @returns {Kind}
 * @throws {TypeError} the page has none
 */
export function byId(id, kind) {
  const found = document.getElementById(id);
  if (!(found instanceof kind)) throw new TypeError(`#${id} is not a ${kind.name} of this page`);
  return found;
}

/**
 * Give the keyboard to the first element that fits, where there is one.
 * @param {Element} parent
 * @param {string} selector
 */
export function focusFirst(parent, selector) {
  const found = parent.querySelector(selector);
  if (found instanceof HTMLElement) found.focus();
}

/**
 * Text from outside: control characters shown, direction isolated, broken anywhere when long.
 * @param {unknown} value
 * @param {string} [style] extra classes, such as `mono`
 * @returns {HTMLElement}
 */
export function data(value, style = '') {
  return element('bdi', { class: `data ${style}`.trim() }, breakable(plain(value)));
}

/**
 * Names with an arrow between them; each keeps its direction of writing to itself.
 * @param {unknown[]} names
 * @returns {Child[]}
 */
export function chain(names) {
  return names.flatMap((name, place) => (place > 0 ? [' → ', data(name)] : [data(name)]));
}

/**
 * A text that may go on in the next line after each `/` and `_`.
 * @param {string} text
 * @returns {Child[]}
 */
function breakable(text) {
  const [first, ...rest] = text.split(/(?<=[/_])(?=[^/_])/);
  return [first, ...rest.flatMap((part) => [element('wbr'), part])];
}

/**
 * A time in the reader's words, with the exact one in its title.
 * @param {string|null|undefined} iso
 * @param {string|HTMLElement} [none] shown when there is no time
 * @returns {HTMLElement|string}
 */
export function time(iso, none = '–') {
  const words = formatTime(iso);
  return words ? element('time', { datetime: iso, title: iso }, words) : none;
}

const ICONS = Object.freeze({
  search: 'M11 4a7 7 0 1 0 0 14 7 7 0 0 0 0-14zM16 16l4.5 4.5',
  sun: 'M12 8a4 4 0 1 0 0 8 4 4 0 0 0 0-8zM12 2v2M12 20v2M2 12h2M20 12h2M5 5l1.4 1.4M17.6 17.6 19 19M5 19l1.4-1.4M17.6 6.4 19 5',
  moon: 'M20 14.5A8.5 8.5 0 0 1 9.5 4 8.5 8.5 0 1 0 20 14.5z',
  refresh: 'M20 11a8 8 0 0 0-14.5-3.5L4 9M4 4v5h5M4 13a8 8 0 0 0 14.5 3.5L20 15M20 20v-5h-5',
  plus: 'M12 5v14M5 12h14',
  minus: 'M5 12h14',
  fit: 'M4 9V4h5M20 9V4h-5M4 15v5h5M20 15v5h-5',
  image: 'M4 5h16v14H4zM4 16l5-5 4 4 3-3 4 4M15.5 9h.01',
  clock: 'M12 3.5a8.5 8.5 0 1 0 0 17 8.5 8.5 0 0 0 0-17zM12 7.5V12l3 2',
  close: 'M6 6l12 12M18 6 6 18',
  out: 'M14 4h6v6M20 4l-9 9M18 14v6H4V6h6',
  copy: 'M9 9h11v11H9zM5 15H4V4h11v1',
  graph: 'M4 9h6v6H4zM15 4h5v5h-5zM15 15h5v5h-5zM10 12h3M13 12V6.5h2M13 12v5.5h2',
  list: 'M8 6h12M8 12h12M8 18h12M4 6h.01M4 12h.01M4 18h.01',
  key: 'M8 11a4 4 0 1 0 0 8 4 4 0 0 0 0-8zM11 12.2 20 3.5M16.5 7l3 3M8 15h.01',
  warning: 'M12 4 2.8 20h18.4zM12 10v4.5M12 17.2v.1',
  inbox: 'M4 13h4.5l1.5 3h4l1.5-3H20M4 13v6h16v-6L17 5H7z',
  table: 'M4 5h16v14H4zM4 10h16M10 10v9',
  job: 'M8 5.5v13l11-6.5z',
  left: 'M19 12H5M11 6l-6 6 6 6',
  right: 'M5 12h14M13 6l6 6-6 6',
  both: 'M3 12h18M7 8l-4 4 4 4M17 8l4 4-4 4',
});

/** @typedef {keyof typeof ICONS} Mark  the name of a line drawing */

/**
 * An element of a drawing.
 * @param {string} name
 * @param {Record<string, string|number|boolean|null>} attributes null: none
 * @param {...(Node|string)} children a string becomes text
 * @returns {SVGElement}
 */
export function svg(name, attributes, ...children) {
  const made = document.createElementNS(SVG, name);
  for (const [key, value] of Object.entries(attributes)) if (value !== null) made.setAttribute(key, String(value));
  made.append(...children);
  return /** @type {SVGElement} */ (made);
}

/**
 * A line drawing, hidden from screen readers: the words stand beside it.
 * @param {Mark} name
 * @returns {SVGElement}
 */
export function icon(name) {
  return svg('svg', { viewBox: '0 0 24 24', class: 'icon', 'aria-hidden': true }, svg('path', { d: ICONS[name] }));
}

/**
 * A button with an icon and words; the words can be kept for screen readers and the tooltip alone.
 * @param {{icon?: Mark, label: string, quiet?: boolean, onclick: (event: Event) => unknown}} parts
 * @param {Attributes} [attributes]
 * @returns {HTMLButtonElement}
 */
export function button(parts, attributes = {}) {
  const words = parts.quiet ? { 'aria-label': parts.label, title: parts.label } : {};
  return element(
    'button',
    {
      type: 'button',
      class: parts.quiet ? 'button quiet' : 'button',
      onclick: parts.onclick,
      ...words,
      ...attributes,
    },
    parts.icon ? icon(parts.icon) : null,
    parts.quiet ? null : element('span', {}, parts.label),
  );
}

/**
 * A link inside the page; the wiring follows it without a reload.
 * @param {string} href made by url.js
 * @param {...Child} children
 * @returns {HTMLAnchorElement}
 */
export function anchor(href, ...children) {
  return element('a', { href, 'data-internal': true }, ...children);
}

/**
 * Save a file on the reader's computer.
 * @param {Blob} blob
 * @param {string} name
 */
export function download(blob, name) {
  const address = URL.createObjectURL(blob);
  element('a', { href: address, download: name }).click();
  setTimeout(() => URL.revokeObjectURL(address), 10_000);
}
