/**
 * The elements of index.html that the shell fills, found once.
 */
import { byId } from '../page/dom.js';

const at = (id) => byId(id, HTMLElement);

export const places = Object.freeze({
  skip: at('skip'),
  skipDetails: at('skip-details'),
  more: at('more'),
  search: byId('search', HTMLInputElement),
  results: at('results'),
  journal: byId('journal', HTMLAnchorElement),
  help: at('help'),
  theme: byId('theme', HTMLButtonElement),
  kind: at('kind'),
  heading: at('heading'),
  subtitle: at('subtitle'),
  controls: at('controls'),
  form: at('form'),
  refresh: at('refresh'),
  notes: at('notes'),
  work: at('work'),
  stage: at('stage'),
  tools: at('tools'),
  footnote: at('footnote'),
  canvas: at('canvas'),
  list: at('list'),
  strip: at('strip'),
  legend: at('legend'),
  minimap: byId('minimap', HTMLCanvasElement),
  tooltip: at('tooltip'),
  complaint: at('complaint'),
  notice: at('notice'),
  divider: at('divider'),
  below: at('below'),
  panel: at('panel'),
  document: at('document'),
  shortcuts: byId('shortcuts', HTMLDialogElement),
  tour: at('tour'),
  announcer: at('announcer'),
});
