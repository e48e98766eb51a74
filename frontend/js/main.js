/**
 * The wiring: the query string is the state; a state is a view; a view loads a page; a page is drawn.
 * The modules of `shell` own the state and act; this one makes them and ties them together.
 */
import { closeWhenLeft } from './controls/menu.js';
import { createSearch } from './controls/search.js';
import { createApi } from './data/api.js';
import { createApiKey, sessionStore } from './data/api-key.js';
import { link, write } from './data/url.js';
import { createThemeSwitch } from './page/header.js';
import { createShortcuts } from './page/shortcuts.js';
import { createDetails } from './shell/details.js';
import { createFrame } from './shell/frame.js';
import { catchShortcuts, createKeyboard } from './shell/keyboard.js';
import { createLoading } from './shell/loading.js';
import { catchLinks, createNavigation } from './shell/navigation.js';
import { places } from './shell/places.js';
import { createScreen } from './shell/screen.js';
import { createSelection } from './shell/selection.js';
import { sharedOf, showTools } from './shell/sharing.js';
import { createStage } from './shell/stage.js';
import { createWatch } from './shell/watch.js';

const key = createApiKey(sessionStore());
const api = createApi(undefined, key.get);
const navigation = createNavigation((from) => void loading.arrive(from));
const { state, go, follow } = navigation;
const frame = createFrame(go);
const { announce } = frame;
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
const screen = createScreen({ navigation, frame, stage, details, onDraw: () => keyboard.stand('') });
const selection = createSelection({
  navigation,
  stage,
  page: screen.page,
  focusDetails: details.focus,
  onSelect: (id) => keyboard.stand(id),
  announce,
});
const keyboard = createKeyboard(navigation, stage, selection, announce);
const tour = { begin: async () => (await import('./start/tour.js')).createTour(places.tour, follow).begin() };
const loading = createLoading({ navigation, api, key, frame, stage, screen, tour, onLoaded: () => watch.showReceived() });
const watch = createWatch({ navigation, api, screen, loading });

/* The parts of the header */

const search = createSearch({ input: places.search, results: places.results }, api, {
  hrefOf: resultHref,
  allOf: (q) => write({ view: 'search', q }),
  open: (href) => {
    follow(href);
    focusHeading();
  },
  announce,
});
const showShortcuts = createShortcuts(places.shortcuts);

function resultHref(item) {
  const node = item.node ?? item.id;
  if (item.kind === 'job') return link(state(), { view: 'job', node });
  if (item.kind === 'run') return link(state(), { view: 'run', run: item.id });
  if (item.kind === 'column') return link(state(), { view: 'columns', node });
  return link(state(), { view: 'lineage', node });
}

function focusHeading() {
  places.heading.focus({ preventScroll: true });
}

function focusSearch() {
  places.search.focus();
  search.focus();
}

function skipToContent(event) {
  event.preventDefault();
  if (stage.drawn()) stage.focus();
  else places.work.focus();
}

function skipToDetails(event) {
  event.preventDefault();
  details.focus();
}

closeWhenLeft(places.more);
catchLinks((href, from) => {
  follow(href);
  if (places.panel.contains(from) || places.below.contains(from)) focusHeading();
});
catchShortcuts({ search: focusSearch, help: showShortcuts });
places.help.addEventListener('click', showShortcuts);
places.skip.addEventListener('click', skipToContent);
places.skipDetails.addEventListener('click', skipToDetails);
places.refresh.addEventListener('click', () => loading.load());
showTools(stage, () => sharedOf(screen.page(), stage, state(), key.get() !== ''), announce);
createThemeSwitch(places.theme, () => {
  stage.recolour();
  screen.repaint();
});
loading.load();
watch.start();
