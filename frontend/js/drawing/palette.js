/**
 * The colours of the canvas, read from the style sheet, so that page and picture are of one piece
 * and follow light and dark together.
 */

/**
 * @typedef {object} Palette
 * @property {string} canvas @property {string} surface @property {string} ink @property {string} muted
 * @property {string} line @property {string} accent
 * @property {string} dataset @property {string} datasetSoft
 * @property {string} job @property {string} jobSoft
 * @property {string} operation @property {string} operationSoft
 * @property {string} feeds @property {string} direct @property {string} indirect
 * @property {string} failed @property {string} failedSoft @property {string} ok @property {string} busy
 * @property {string} hueA @property {string} hueB @property {string} hueC @property {string} hueD
 * @property {string} hueE @property {string} hueF @property {string} hueG @property {string} hueH
 */

/** Name in the palette => custom property of css/palette.css. */
export const NAMES = Object.freeze({
  canvas: '--canvas',
  surface: '--surface',
  ink: '--ink',
  muted: '--muted',
  line: '--line',
  accent: '--accent',
  dataset: '--dataset',
  datasetSoft: '--dataset-soft',
  job: '--job',
  jobSoft: '--job-soft',
  operation: '--operation',
  operationSoft: '--operation-soft',
  feeds: '--feeds',
  direct: '--direct',
  indirect: '--indirect',
  failed: '--failed',
  failedSoft: '--failed-soft',
  ok: '--ok',
  busy: '--busy',
  hueA: '--hue-a',
  hueB: '--hue-b',
  hueC: '--hue-c',
  hueD: '--hue-d',
  hueE: '--hue-e',
  hueF: '--hue-f',
  hueG: '--hue-g',
  hueH: '--hue-h',
});

/** Names of the colours that stand for classes and namespaces; the first ones differ most. */
export const HUES = Object.freeze(Object.keys(NAMES).filter((name) => name.startsWith('hue')));

/**
 * @param {{getPropertyValue: (name: string) => string}} style the computed style of the document
 * @param {boolean} dark which of the two values of a colour
 * @returns {Palette}
 */
export function readPalette(style, dark) {
  const entries = Object.entries(NAMES).map(([name, property]) => [
    name,
    pick(style.getPropertyValue(property), dark),
  ]);
  return Object.fromEntries(entries);
}

/**
 * `light-dark(#f5f7f9, #10161d)` => one of the two.
 * @param {string} text of a custom property
 * @param {boolean} dark
 * @returns {string}
 */
export function pick(text, dark) {
  const pair = /^light-dark\((#[0-9a-f]{6}),\s*(#[0-9a-f]{6})\)$/.exec(text.trim());
  return pair ? pair[dark ? 2 : 1] : text.trim();
}
