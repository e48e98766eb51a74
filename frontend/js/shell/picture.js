/**
 * What a picture needs: stage, details, selection, keyboard and the tools over the canvas, which save and copy it;
 * made with the first one. Home, lists and documents do without, and without vis-network: half of the page's modules.
 */
import { canvasTools } from '../controls/controls.js';
import { plain, shorten } from '../data/format.js';
import { depthOf } from '../data/url.js';
import { attempt, savePng, shareMenu } from '../export/share.js';
import { replace } from '../page/dom.js';
import { createDetails } from './details.js';
import { createKeyboard } from './keyboard.js';
import { places } from './places.js';
import { createSelection } from './selection.js';
import { createStage } from './stage.js';

/** @typedef {ReturnType<typeof createPicture>} Picture */

/** @typedef {{made: () => Picture|null, open: () => Promise<Picture>}} Pictures  one, once made; open fails where its modules do not come */

/**
 * @typedef {object} Parts
 * @property {import('./navigation.js').Navigation} navigation
 * @property {() => import('../views.js').Page|null} page  that is shown
 * @property {() => boolean} keyed  the reader has given an API key
 * @property {(text: string) => void} announce
 */

/** @param {Parts} parts */
export function createPicture({ navigation, page, keyed, announce }) {
  const stage = createStage(navigation, {
    onClick: (id) => selection.click(id),
    onOpen: (id) => selection.open(id),
    onHandle: (side) => {
      selection.toggleSide(side);
      stage.focus();
    },
    onSelect: (id) => selection.select(id),
    onDetails: (id) => selection.openDetails(id),
    announce,
  });
  const details = createDetails(navigation, stage, {
    onClose: () => {
      selection.select('');
      stage.focus();
    },
    onOpenFan: (box, all) => selection.openFan(box, all),
  });
  const selection = createSelection({
    navigation,
    stage,
    page,
    focusDetails: details.focus,
    onSelect: (id) => keyboard.stand(id),
    announce,
  });
  const keyboard = createKeyboard(navigation, stage, selection, announce);
  showTools(stage, () => sharedOf(page(), stage, navigation.state(), keyed()), announce);
  return { stage, details, stand: keyboard.stand };
}

/**
 * @param {import('./stage.js').Stage} stage
 * @param {() => import('../export/share.js').Shared|null} shared  null: there is no picture
 * @param {(text: string) => void} announce
 */
function showTools(stage, shared, announce) {
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
function sharedOf(page, stage, state, keyed) {
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
