/**
 * A rule that reads a run facet as passed or failed: the content of the form and of the request. Pure.
 */

const LITERAL = /^(?:true|false|-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?|".*")$/;

/**
 * The values of a text area, one a line; true, false and numbers are those, a text that looks like
 * one stands in quotes. `ok\n1\n"1"` => `['ok', 1, '1']`.
 * @param {string} text
 * @returns {Array<string|number|boolean>}
 */
export function readValues(text) {
  const lines = text.split('\n').map((line) => line.trim());
  return lines.filter(Boolean).map((line) => (LITERAL.test(line) ? literal(line) : line));
}

function literal(line) {
  try {
    return JSON.parse(line);
  } catch {
    return line;
  }
}

/**
 * The same back as text.
 * @param {Array<string|number|boolean>} values
 * @returns {string}
 */
export function writeValues(values) {
  const line = (value) => (typeof value !== 'string' || LITERAL.test(value) ? JSON.stringify(value) : value);
  return values.map(line).join('\n');
}

/**
 * The missing parts of a rule: field => words.
 * @param {{name: string, facet: string, path: string, passes: Array}} rule
 * @returns {Record<string, string>}
 */
export function lacking({ name, facet, path, passes }) {
  /** @type {Record<string, string>} */
  const found = {};
  if (!name) found.name = 'Give the rule a name.';
  if (!facet) found.facet = 'Name the run facet, as the client sends it.';
  if (!path) found.path = 'Say where in the facet the result stands.';
  if (passes.length === 0) found.passes = 'Name at least one value that means passed.';
  return found;
}

/**
 * The server's errors by field of the form.
 * @param {Record<string, unknown>} errors `{"passes": ["a list"]}`
 * @returns {Record<string, string>}
 */
export function fieldWords(errors) {
  const known = Object.entries(errors).filter(([name]) => ['name', 'facet', 'path', 'passes', 'note'].includes(name));
  return Object.fromEntries(known.map(([name, said]) => [name, `Expected ${[said].flat().join(' and ')}.`]));
}

/**
 * How many tables would be marked otherwise, in a sentence.
 * @param {{total: number, datasets: number, cut?: boolean}} preview
 * @returns {string}
 */
export function previewWords({ total, datasets, cut }) {
  const looked = cut ? `the first ${datasets}` : `${datasets}`;
  return `${total} of ${looked} ${datasets === 1 ? 'table' : 'tables'} would be marked otherwise.`;
}
