/**
 * The panel's description of the selected item: a module for each kind of it.
 */
import { describeColumn } from './column.js';
import { describeLink } from './edge.js';
import { describeJob } from './job.js';
import { describeDataset } from './table.js';

/**
 * @typedef {object} Context
 * @property {import('../data/url.js').State} state
 * @property {ReturnType<import('../data/api.js').createApi>} api
 * @property {{width: number, height: number}} room  for a picture, in pixels
 * @property {() => Promise<void>} reload   ask everything again
 * @property {(text: string) => void} announce  to screen readers
 * @property {() => void} repaint           a new classification shows at once
 * @property {import('../controls/controls.js').Change} go
 * @property {{begin: () => void}} tour  of the sample
 */

/**
 * @param {Context} context
 * @param {import('../data/model.js').Model} model
 * @param {import('../data/model.js').Item} item
 * @returns {import('../panel/panel.js').Description}
 */
export function describe(context, model, item) {
  if ('edge' in item) return describeLink(context, model, item);
  if (item.kind === 'column') return describeColumn(context, model, item);
  return item.kind === 'job' ? describeJob(context, item.node) : describeDataset(context, item.node);
}
