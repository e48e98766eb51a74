/**
 * What a picture needs: stage, details, selection, keyboard and tools, made with the first one. Home, lists and
 * documents do without, and without vis-network: half of the page's modules.
 */
import { createDetails } from './details.js';
import { createKeyboard } from './keyboard.js';
import { createSelection } from './selection.js';
import { sharedOf, showTools } from './sharing.js';
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
