/**
 * Names that lead to their pages: a job, a table, a plan.
 */
import { anchor, data, element, icon } from '../page/dom.js';
import { plain, shorten } from '../data/format.js';
import { jobReference, link } from '../data/url.js';

const LONGEST_REFERENCE = 2000;

/** Names of jobs that a reply mentions by id alone; a name belongs to its id for ever. */
const jobNames = new Map();

/**
 * @param {import('../data/url.js').State} state
 * @param {{namespace: string, name: string}|null} job
 * @returns {HTMLElement|string}
 */
export function jobLink(state, job) {
  return job
    ? anchor(link(state, { view: 'job', node: jobReference(job) }), data(shorten(plain(job.name), 120)))
    : '–';
}

/**
 * A job beside others, some of which may have its name.
 * @param {import('../data/url.js').State} state
 * @param {{namespace: string, name: string}} job
 * @param {(job: {namespace: string, name: string}) => string} placeOf what tells it apart (`tellApart`)
 * @returns {import('../page/dom.js').Child}
 */
export function placedJobLink(state, job, placeOf) {
  const place = placeOf(job);
  return [jobLink(state, job), place && element('span', { class: 'muted' }, ' in ', data(shorten(place, 120)))];
}

/**
 * @param {import('../data/url.js').State} state
 * @param {{id: string, label?: string, uri?: string}|null} dataset
 * @returns {HTMLElement|string}
 */
export function datasetLink(state, dataset) {
  if (!dataset) return '–';
  const words = shorten(plain(dataset.label || dataset.uri || dataset.id), 120);
  const made = anchor(link(state, { view: 'lineage', node: dataset.id, columns: true }), data(words));
  if (dataset.uri) made.title = shorten(plain(dataset.uri), 300);
  return made;
}

/**
 * @param {import('../data/url.js').State} state
 * @param {string|null|undefined} id
 * @param {string} words
 * @returns {HTMLElement|string}
 */
export function planLink(state, id, words) {
  return id ? anchor(link(state, { view: 'plan', plan: id }), data(shorten(plain(words), 120))) : '–';
}

/**
 * The link to the table of everything downstream.
 * @param {import('../data/url.js').State} state
 * @param {string} node a reference or an id
 * @returns {HTMLElement}
 */
export function impactLink(state, node) {
  return anchor(link(state, { view: 'impact', node }), icon('right'), 'Impact');
}

/**
 * The words that a column view asks with: the URI where it is enough, else the id.
 * @param {{id: string, uri?: string, scope?: string}} dataset
 * @returns {string}
 */
export function datasetReference({ id, uri, scope }) {
  return uri && scope === '' && uri.length <= LONGEST_REFERENCE ? uri : id;
}

/**
 * A job that may not be in the picture: its id stands until its name has come.
 * @param {import('../items/details.js').Context} context
 * @param {import('../data/model.js').Model} model
 * @param {string} id
 * @returns {HTMLElement|string}
 */
export function jobById({ state, api }, model, id) {
  const box = model.boxes.get(id);
  if (box) return jobLink(state, box.node);
  const made = anchor(link(state, { view: 'job', node: id }), data(shorten(id, 18)));
  if (!jobNames.has(id)) jobNames.set(id, api.get(`/graph/jobs/${encodeURIComponent(id)}`));
  jobNames.get(id).then((result) => {
    if (result.ok) made.replaceChildren(data(shorten(plain(result.data.name), 120)));
    else jobNames.delete(id);
  });
  return made;
}
