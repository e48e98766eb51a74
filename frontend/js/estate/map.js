/**
 * The map of the estate as a drawing of links: areas with their counts, and the flows between them.
 * Every area is a link, so keyboard and screen reader go through it as through any list. In a narrow
 * window the areas stand in one column.
 */
import { element, replace, svg } from '../page/dom.js';
import { count, formatNumber, isolated, linesOf, plain } from '../data/format.js';
import { toModel } from '../data/model.js';
import { arcBetween, placesInColumn } from './column.js';
import { platformOf, GLYPHS } from '../drawing/glyphs.js';
import { draw, routeLinks } from '../drawing/routes.js';

const RIM = 10;
/** Below the middle of an area: the base lines of a title of one line and of two, and of the count. */
const TITLE_FROM = Object.freeze({ 1: -6, 2: -13 });
const LINE = 16;
const COUNT_BELOW = Object.freeze({ 1: 15, 2: 21 });
/** Letters of the size of a title that fit into an area. */
const LETTERS = Object.freeze({ beside: 17, column: 21 });
/** Wider a drawing is shrunk to its place no further than this. */
const WIDE = 620;
const NARROW = '(max-width: 700px)';

/**
 * @typedef {object} FlowLine
 * @property {string} path of SVG
 * @property {number} jobs
 */

/**
 * @param {{areas: object[], flows: object[]}} map the reply of /graph/map
 * @param {(area: object) => string} hrefOf where an area leads; empty: nowhere
 * @returns {HTMLElement}
 */
export function drawMap(map, hrefOf) {
  const place = element('div', { class: 'map-scroll', tabindex: 0, role: 'region', 'aria-label': 'Map of the estate' });
  const narrow = matchMedia(NARROW);
  const show = () => replace(place, narrow.matches ? inColumn(map, hrefOf) : besideEachOther(map, hrefOf));
  narrow.addEventListener('change', function again() {
    if (place.isConnected) show();
    else narrow.removeEventListener('change', again);
  });
  show();
  return place;
}

function inColumn({ areas, flows }, hrefOf) {
  const places = placesInColumn(areas);
  const byId = new Map(areas.map((area) => [area.id, area]));
  const placed = [...places].map(([id, place]) => ({ ...byId.get(id), place }));
  const arcs = flows.flatMap(({ source, target, jobs }) => {
    const [from, to] = [places.get(source), places.get(target)];
    return from && to ? [{ ...arcBetween(from, to), jobs }] : [];
  });
  const around = frameOf(placed, []);
  const left = Math.min(around.left, ...arcs.map((arc) => arc.left - RIM));
  return drawingOf(placed, arcs, { ...around, left, width: around.width + around.left - left }, hrefOf, LETTERS.column);
}

function besideEachOther({ areas, flows }, hrefOf) {
  const nodes = areas.map(({ id, label, place }) => ({ id, kind: 'dataset', label, uri: '', ...place }));
  const edges = flows.map((flow) => ({ ...flow, id: `${flow.source} ${flow.target}`, from: flow.source, to: flow.target, kind: 'feeds' }));
  const model = toModel({ nodes, edges });
  const ways = routeLinks(model);
  const lines = [...model.links.values()].map((link) => ({ path: pathOf(ways.get(link.id)), jobs: link.edge.jobs }));
  return drawingOf(areas, lines, frameOf(areas, [...ways.values()]), hrefOf, LETTERS.beside);
}

/**
 * @param {object[]} areas
 * @param {FlowLine[]} lines
 * @param {{left: number, top: number, width: number, height: number}} around
 * @param {(area: object) => string} hrefOf
 * @param {number} letters that fit into an area
 */
function drawingOf(areas, lines, around, hrefOf, letters) {
  const drawing = svg('svg', {
    class: around.width > WIDE ? 'map wide' : 'map',
    viewBox: `${around.left} ${around.top} ${around.width} ${around.height}`,
    width: around.width,
    height: around.height,
    role: 'group',
    'aria-label': `${count(areas.length, 'area')} and ${count(lines.length, 'flow')} between them`,
    'data-testid': 'map',
  });
  drawing.append(arrow());
  for (const line of lines) drawing.append(flowOf(line));
  for (const area of areas) drawing.append(areaOf(area, hrefOf(area), letters));
  return drawing;
}

function frameOf(areas, ways) {
  const xs = areas.flatMap(({ place }) => [place.x - place.width / 2, place.x + place.width / 2]);
  const ys = areas.flatMap(({ place }) => [place.y - place.height / 2, place.y + place.height / 2]);
  for (const { around } of ways) ys.push(around.top, around.bottom);
  const [left, top] = [Math.min(...xs) - RIM, Math.min(...ys) - RIM];
  return { left, top, width: Math.max(...xs) + RIM - left, height: Math.max(...ys) + RIM - top };
}

function arrow() {
  const head = svg('path', { d: 'M0 0 11 6 0 12z', class: 'map-head' });
  return svg('defs', {}, svg('marker', { id: 'map-arrow', markerWidth: 11, markerHeight: 12, refX: 10, refY: 6, orient: 'auto', markerUnits: 'userSpaceOnUse' }, head));
}

function pathOf(way) {
  const steps = [];
  const say = (letter) => (...numbers) => steps.push(`${letter}${numbers.map((one) => one.toFixed(1)).join(' ')}`);
  draw(way, { moveTo: say('M'), lineTo: say('L'), bezierCurveTo: say('C') });
  return steps.join('');
}

/** @param {FlowLine} line */
function flowOf({ path, jobs }) {
  const width = Math.min(6, 1.2 + Math.log2(jobs));
  return svg('path', { d: path, class: 'map-flow', 'stroke-width': width, 'marker-end': 'url(#map-arrow)' }, svg('title', {}, count(jobs, 'job')));
}

function areaOf(area, href, letters) {
  const { place, kind, label, datasets, failed } = area;
  const [left, top] = [place.x - place.width / 2, place.y - place.height / 2];
  const counted = kind === 'dataset' ? 'table' : count(datasets, 'table');
  const trouble = failed > 0 ? ` · ${formatNumber(failed)} failed` : '';
  const lines = linesOf(nameOf(label), letters, (text) => text.length);
  const glyph = platformOf({ uri: area.path[0] ?? '' });
  const parts = [
    svg('title', {}, `${isolated(label)}: ${counted}${trouble}`),
    svg('rect', { x: left, y: top, width: place.width, height: place.height, rx: kind === 'dataset' ? 6 : 10 }),
    glyphOf(kind === 'rest' ? 'table' : glyph, left + 12, place.y - 18),
    ...lines.map((line, number) => svg('text', { x: left + 36, y: place.y + TITLE_FROM[lines.length] + number * LINE, class: 'map-title' }, line)),
    svg('text', { x: left + 36, y: place.y + COUNT_BELOW[lines.length], class: failed > 0 ? 'map-count failed' : 'map-count' }, counted + trouble),
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
