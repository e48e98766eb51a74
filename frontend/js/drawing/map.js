/**
 * The map of the estate as a drawing of links: areas with their counts, and the flows between them.
 * Every area is a link, so keyboard and screen reader go through it as through any list.
 */
import { element, svg } from '../page/dom.js';
import { count, fit, formatNumber, isolated, plain } from '../data/format.js';
import { toModel } from '../data/model.js';
import { platformOf, GLYPHS } from './glyphs.js';
import { draw, routeLinks } from './routes.js';

const RIM = 10;
/** Letters of the size of a title that fit into an area. */
const LETTERS = 16;

/**
 * @param {{areas: object[], flows: object[]}} map the reply of /graph/map
 * @param {(area: object) => string} hrefOf where an area leads; empty: nowhere
 * @returns {HTMLElement}
 */
export function drawMap({ areas, flows }, hrefOf) {
  const nodes = areas.map(({ id, label, place }) => ({ id, kind: 'dataset', label, uri: '', ...place }));
  const edges = flows.map((flow) => ({ ...flow, id: `${flow.source} ${flow.target}`, from: flow.source, to: flow.target, kind: 'feeds' }));
  const model = toModel({ nodes, edges });
  const ways = routeLinks(model);
  const around = frameOf(areas, [...ways.values()]);
  const drawing = svg('svg', {
    class: 'map',
    viewBox: `${around.left} ${around.top} ${around.width} ${around.height}`,
    width: around.width,
    height: around.height,
    role: 'group',
    'aria-label': `${count(areas.length, 'area')} and ${count(flows.length, 'flow')} between them`,
    'data-testid': 'map',
  });
  drawing.append(arrow());
  for (const link of model.links.values()) drawing.append(...flowOf(link, ways.get(link.id)));
  for (const area of areas) drawing.append(areaOf(area, hrefOf(area)));
  return element('div', { class: 'map-scroll', tabindex: 0, role: 'region', 'aria-label': 'Map of the estate' }, drawing);
}

function frameOf(areas, ways) {
  const xs = areas.flatMap(({ place }) => [place.x - place.width / 2, place.x + place.width / 2]);
  const ys = areas.flatMap(({ place }) => [place.y - place.height / 2, place.y + place.height / 2]);
  for (const { around } of ways) ys.push(around.top, around.bottom);
  const [left, top] = [Math.min(...xs) - RIM, Math.min(...ys) - RIM];
  return { left, top, width: Math.max(...xs) + RIM - left, height: Math.max(...ys) + RIM - top };
}

function arrow() {
  const head = svg('path', { d: 'M0 0 8 3.5 0 7z', class: 'map-head' });
  return svg('defs', {}, svg('marker', { id: 'map-arrow', markerWidth: 8, markerHeight: 7, refX: 8, refY: 3.5, orient: 'auto', markerUnits: 'userSpaceOnUse' }, head));
}

function flowOf(link, way) {
  const steps = [];
  const say = (letter) => (...numbers) => steps.push(`${letter}${numbers.map((one) => one.toFixed(1)).join(' ')}`);
  draw(way, { moveTo: say('M'), lineTo: say('L'), bezierCurveTo: say('C') });
  const width = Math.min(6, 1.2 + Math.log2(link.edge.jobs));
  const words = `${link.edge.jobs} ${link.edge.jobs === 1 ? 'job' : 'jobs'}`;
  const title = svg('title', {}, words);
  return [svg('path', { d: steps.join(''), class: 'map-flow', 'stroke-width': width, 'marker-end': 'url(#map-arrow)' }, title)];
}

function areaOf(area, href) {
  const { place, kind, label, datasets, failed } = area;
  const [left, top] = [place.x - place.width / 2, place.y - place.height / 2];
  const counted = kind === 'dataset' ? 'table' : count(datasets, 'table');
  const trouble = failed > 0 ? ` · ${formatNumber(failed)} failed` : '';
  const glyph = platformOf({ uri: area.path[0] ?? '' });
  const parts = [
    svg('title', {}, `${isolated(label)}: ${counted}${trouble}`),
    svg('rect', { x: left, y: top, width: place.width, height: place.height, rx: kind === 'dataset' ? 6 : 10 }),
    glyphOf(kind === 'rest' ? 'table' : glyph, left + 12, place.y - 18),
    svg('text', { x: left + 36, y: place.y - 6, class: 'map-title' }, fit(nameOf(label), LETTERS, (text) => text.length, 'middle')),
    svg('text', { x: left + 36, y: place.y + 15, class: failed > 0 ? 'map-count failed' : 'map-count' }, counted + trouble),
  ];
  const look = `map-area ${kind}${failed > 0 ? ' failed' : ''}`;
  return href ? svg('a', { href, class: look, 'data-internal': 'true' }, ...parts) : svg('g', { class: look }, ...parts);
}

/** `jdbc:redshift://warehouse` => `warehouse`: the glyph says the rest. */
function nameOf(label) {
  const [, place] = /^(?:jdbc:)?[a-z][a-z0-9+.-]*:\/\/([^/]+)\/?$/i.exec(label) ?? [];
  return plain(place || label.replace(/:$/, ''));
}

function glyphOf(name, x, y) {
  const { lines, fills } = GLYPHS[name] ?? GLYPHS.table;
  const group = svg('g', { transform: `translate(${x} ${y})`, class: 'map-glyph' });
  if (lines) group.append(svg('path', { d: lines }));
  if (fills) group.append(svg('path', { d: fills, class: 'filled' }));
  return group;
}
