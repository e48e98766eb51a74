/**
 * A drawing context that writes SVG: the canvas's painter paints a document too. It has
 * the calls that this page's painter uses. Pure; every text from outside is escaped.
 */
import { textOf } from '../drawing/glyphs.js';

/** From the middle of a line of text down to its base, as a share of its size. */
const BASE = 0.35;
const ANCHORS = Object.freeze({ center: 'middle', right: 'end', left: 'start' });

/**
 * @param {(text: string, font: string) => number} widthOf a text in a font, in pixels
 * @returns {{context: CanvasRenderingContext2D, group: (title: string, paint: () => void) => void, text: () => string}}
 */
export function createRecorder(widthOf) {
  /** @type {string[]} */
  const written = [];
  const state = { path: '', dashes: /** @type {number[]} */ ([]), move: '', clip: '' };
  /** @type {object[]} */
  const kept = [];
  let clips = 0;

  const say = (letter) => (...numbers) => {
    state.path += `${letter}${numbers.map(short).join(' ')}`;
  };
  const shape = (d, paint) => {
    if (d) written.push(`<path d="${d}" ${paint}${around()}/>`);
  };
  const around = () => `${state.move ? ` transform="${state.move.trim()}"` : ''}${state.clip ? ` clip-path="url(#${state.clip})"` : ''}`;
  const filling = () => paintOf('fill', own.fillStyle, own.globalAlpha);
  const stroking = () => {
    const dashes = state.dashes.length > 0 ? ` stroke-dasharray="${state.dashes.join(' ')}"` : '';
    return `fill="none" ${paintOf('stroke', own.strokeStyle, own.globalAlpha)} stroke-width="${own.lineWidth}" stroke-linejoin="${own.lineJoin}"${dashes}`;
  };

  const own = {
    fillStyle: '#000000', strokeStyle: '#000000', lineWidth: 1, lineJoin: 'miter', globalAlpha: 1,
    font: '', textAlign: 'left', textBaseline: 'middle',
    save() {
      const { fillStyle, strokeStyle, lineWidth, lineJoin, globalAlpha, font, textAlign } = own;
      kept.push([{ fillStyle, strokeStyle, lineWidth, lineJoin, globalAlpha, font, textAlign }, { ...state }]);
    },
    restore() {
      const [before, at] = kept.pop() ?? [{}, {}];
      Object.assign(own, before);
      Object.assign(state, at);
    },
    translate: (x, y) => (state.move += ` translate(${short(x)} ${short(y)})`),
    scale: (by) => (state.move += ` scale(${Number(by.toFixed(4))})`),
    beginPath: () => (state.path = ''),
    closePath: () => (state.path += 'Z'),
    moveTo: say('M'),
    lineTo: say('L'),
    bezierCurveTo: say('C'),
    /** A whole circle: the page paints no other arc. */
    arc(x, y, radius) {
      say('M')(x - radius, y);
      const half = `${short(radius)} ${short(radius)} 0 1 0`;
      state.path += `a${half} ${short(2 * radius)} 0a${half} ${short(-2 * radius)} 0Z`;
    },
    roundRect(x, y, width, height, given) {
      const radius = Math.max(0, Math.min(given, width / 2, height / 2));
      const corner = (dx, dy) => `a${short(radius)} ${short(radius)} 0 0 1 ${short(dx)} ${short(dy)}`;
      state.path += `M${short(x + radius)} ${short(y)}h${short(width - 2 * radius)}${corner(radius, radius)}v${short(height - 2 * radius)}${corner(-radius, radius)}`;
      state.path += `h${short(2 * radius - width)}${corner(-radius, -radius)}v${short(2 * radius - height)}${corner(radius, -radius)}Z`;
    },
    clip() {
      clips += 1;
      state.clip = `clip-${clips}`;
      written.push(`<clipPath id="${state.clip}"><path d="${state.path}"/></clipPath>`);
    },
    fill: (path) => shape(path ? textOf(path) : state.path, filling()),
    stroke: (path) => shape(path ? textOf(path) : state.path, stroking()),
    fillRect: (x, y, width, height) => shape(rectangle(x, y, width, height), filling()),
    strokeRect: (x, y, width, height) => shape(rectangle(x, y, width, height), stroking()),
    setLineDash: (dashes) => (state.dashes = dashes),
    measureText: (text) => ({ width: widthOf(text, own.font) }),
    fillText(text, x, y) {
      const { size, weight, family } = fontOf(own.font);
      const font = `font-size="${size}"${weight === '400' ? '' : ` font-weight="${weight}"`} font-family="${escape(family)}"`;
      const anchor = own.textAlign === 'left' ? '' : ` text-anchor="${ANCHORS[own.textAlign]}"`;
      written.push(`<text x="${short(x)}" y="${short(y + BASE * size)}" ${font}${anchor} ${filling()}${around()}>${escape(text)}</text>`);
    },
  };

  return {
    context: /** @type {CanvasRenderingContext2D} */ (/** @type {unknown} */ (own)),
    group(title, paint) {
      written.push(`<g><title>${escape(title)}</title>`);
      paint();
      written.push('</g>');
    },
    text: () => written.join('\n'),
  };
}

function rectangle(x, y, width, height) {
  return `M${short(x)} ${short(y)}h${short(width)}v${short(height)}h${short(-width)}Z`;
}

function short(number) {
  return Number(number.toFixed(2));
}

/** `#rrggbbaa` is not known to every program that reads SVG: the last two become an opacity. */
function paintOf(name, colour, alpha) {
  const [, solid = colour, own = 'ff'] = /^(#[\da-f]{6})([\da-f]{2})$/i.exec(colour) ?? [];
  const opacity = (parseInt(own, 16) / 255) * alpha;
  return `${name}="${escape(solid)}"${opacity < 1 ? ` ${name}-opacity="${short(opacity)}"` : ''}`;
}

/** `600 13px Arial` => its parts. */
function fontOf(font) {
  const [, weight = '400', size = '12', family = 'sans-serif'] = /^(?:(\d+) )?([\d.]+)px (.*)$/.exec(font) ?? [];
  return { weight, size: Number(size), family };
}

const ENTITIES = Object.freeze({ '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;', "'": '&#39;' });

/**
 * @param {string} text
 * @returns {string} fit for an SVG document: escaped, and without the characters that XML does not know
 */
export function escape(text) {
  return text.replace(/[\u0000-\u0008\u000b\u000c\u000e-\u001f\ufffe\uffff]/g, '\ufffd').replace(/[&<>"']/g, (one) => ENTITIES[one]);
}
