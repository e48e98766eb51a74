/**
 * A declaration as the form holds it, as the server takes it, and where its errors belong. Pure.
 */

/**
 * @typedef {{id: string, uri: string}} Picked  a table; id '' where no document names it yet
 * @typedef {{source: string, from: string, to: string}} Mapping  `source` is a reference
 * @typedef {object} Draft
 * @property {Picked|null} target
 * @property {Picked[]} sources
 * @property {Mapping[]} columns
 * @property {string} job @property {string} note @property {string} since
 */

/** @returns {Draft} */
export function emptyDraft() {
  return { target: null, sources: [], columns: [], job: '', note: '', since: '' };
}

/**
 * The reference for the server: an id where there is one, for it is exact.
 * @param {Picked} picked
 * @returns {string}
 */
export function referenceOf(picked) {
  return picked.id || picked.uri;
}

/**
 * @param {Draft & {target: Picked}} draft whole: `missing` has found nothing
 * @returns {object} one of the `declarations` of POST /declarations
 */
export function toBody(draft) {
  const columns = draft.columns
    .filter((one) => one.from.trim() || one.to.trim())
    .map((one) => ({
      source: one.source || referenceOf(draft.sources[0]),
      from: one.from.trim(),
      to: one.to.trim(),
    }));
  const texts = { job: draft.job.trim(), since: draft.since.trim() };
  const given = Object.entries(texts).filter(([, text]) => text);
  return {
    target: referenceOf(draft.target),
    sources: draft.sources.map(referenceOf),
    columns,
    note: draft.note.trim(),
    ...Object.fromEntries(given),
  };
}

/**
 * The missing parts of a draft: field => words.
 * @param {Draft} draft
 * @returns {Record<string, string>}
 */
export function missing(draft) {
  /** @type {Record<string, string>} */
  const found = {};
  if (!draft.target) found.target = 'Choose the table that is written.';
  if (draft.sources.length === 0) found.sources = 'Choose at least one table that it comes from.';
  return found;
}

/**
 * The server's errors by the field of the form they belong to.
 * `{"declarations[0].sources[1]": ["a URI"]}` => `{sources: 'expected a URI'}`.
 * @param {Record<string, unknown>} errors
 * @returns {Record<string, string>}
 */
export function fieldErrors(errors) {
  /** @type {Record<string, string>} */
  const found = {};
  for (const [path, said] of Object.entries(errors)) {
    const inner = path.replace(/^declarations\[0\]\.?/, '');
    const field = /^[a-zA-Z]+/.exec(inner)?.[0];
    if (!field || inner === path) continue;
    const place = /^columns\[(\d+)\](?:\.(\w+))?/.exec(inner);
    const where = place ? `line ${Number(place[1]) + 1}${place[2] ? `, ${place[2]}` : ''}: ` : '';
    const words = `${where}expected ${[said].flat().join(' and ')}`;
    found[field] = found[field] ? `${found[field]}; ${words}` : words;
  }
  return found;
}
