/**
 * The picture to take away: what the tools over the canvas save and copy.
 */
import { canvasTools } from '../controls/controls.js';
import { plain, shorten } from '../data/format.js';
import { depthOf } from '../data/url.js';
import { attempt, savePng, shareMenu } from '../export/share.js';
import { replace } from '../page/dom.js';
import { places } from './places.js';

/**
 * @param {import('./stage.js').Stage} stage
 * @param {() => import('../export/share.js').Shared|null} shared  null: there is no picture
 * @param {(text: string) => void} announce
 */
export function showTools(stage, shared, announce) {
  const save = async () => {
    const found = shared();
    if (found) await attempt(() => savePng(found), announce);
  };
  const { zoom, fit } = stage;
  replace(places.tools, canvasTools({ zoom, fit, save, share: shareMenu(shared, announce) }));
}

/**
 * @param {import('../views.js').Page|null} page
 * @param {import('./stage.js').Stage} stage
 * @param {import('../data/url.js').State} state
 * @param {boolean} keyed  the reader has given an API key
 * @returns {import('../export/share.js').Shared|null}
 */
export function sharedOf(page, stage, state, keyed) {
  const model = stage.drawn();
  if (!page || !model) return null;
  const { reply, asked = '', heading, subtitle } = page;
  const sheet = { model, ...stage.look(), heading: plain(heading), subtitle };
  return { sheet, reply: reply ?? {}, name: fileName(heading), asked, state, depth: depthOf(state), keyed };
}

/** @param {string} heading */
function fileName(heading) {
  const words = shorten(heading, 60).replace(/[^\p{L}\p{N}._-]+/gu, '-');
  return words.replace(/^-+|-+$/g, '') || 'lineage';
}
