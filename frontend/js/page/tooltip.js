/**
 * The small box beside the pointer: the whole name where the canvas had to cut it.
 */
import { data, element, replace } from './dom.js';
import { qualityWords } from '../panel/facets.js';
import { separated } from '../panel/panel.js';
import { shorten } from '../data/format.js';

const RIM = 8;

/**
 * @param {HTMLElement} box
 * @param {HTMLElement} stage the box stays inside it
 * @param {HTMLElement} canvas inside the stage; points are its own
 * @returns {(item: object|undefined, point: {x: number, y: number}) => void} undefined hides it
 */
export function createTooltip(box, stage, canvas) {
  return (item, point) => {
    box.hidden = !item;
    if (!item) return;
    replace(box, item.edge ? edgeWords(item.edge) : nodeWords(item));
    const under = canvas.offsetTop + point.y;
    const left = Math.min(point.x + 14, stage.clientWidth - box.offsetWidth - RIM);
    const below = under + 18;
    const fits = below + box.offsetHeight <= stage.clientHeight;
    const top = fits ? below : under - box.offsetHeight - 10;
    box.style.transform = `translate(${Math.max(RIM, left)}px, ${Math.max(RIM, top)}px)`;
  };
}

function nodeWords(item) {
  const under = item.kind === 'column' ? item.aside : item.detail;
  return [
    element('strong', {}, data(shorten(item.label, 240))),
    under && data(shorten(under, 300), 'block mono'),
    stated(item),
    item.node?.quality && data(shorten(qualityWords(item.node.quality), 200), 'block'),
  ];
}

/** The meanings of hues and letters, in words. */
function stated({ layer, node }) {
  const tags = node?.classifications ?? [];
  return [
    layer && element('span', { class: 'block' }, 'layer ', data(shorten(layer.name, 100))),
    tags.length > 0 && element('span', { class: 'block' }, 'class ', separated(tags, (tag) => data(shorten(tag, 100)))),
  ];
}

function edgeWords({ expression, modes }) {
  if (expression) return data(shorten(expression, 240), 'mono');
  return data(modes?.length > 0 ? modes.join(', ') : 'data flow');
}
