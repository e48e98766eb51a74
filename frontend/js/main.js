/**
 * The wiring: the query string is the state; a state is a view; a view loads a page; a page is drawn.
 * The modules of `shell` own the state and act; this one makes them and ties them together.
 */
import { closeWhenLeft } from './controls/menu.js';
import { createSearch } from './controls/search.js';
import { createApi } from './data/api.js';
import { createApiKey, sessionStore } from './data/api-key.js';
import { link, write } from './data/url.js';
import { createThemeSwitch, showDocuments } from './page/header.js';
import { catchShortcuts, createShortcuts } from './page/shortcuts.js';
import { createFrame } from './shell/frame.js';
import { createLoading } from './shell/loading.js';
import { catchLinks, createNavigation } from './shell/navigation.js';
import { places } from './shell/places.js';
import { createScreen } from './shell/screen.js';
import { createWatch } from './shell/watch.js';

const key = createApiKey(sessionStore());
const api = createApi(undefined, key.get);
const navigation = createNavigation((from) => void loading.arrive(from));
const { state, go, follow } = navigation;
const frame = createFrame(go);
const { announce } = frame;
/** @type {import('./shell/picture.js').Picture|null} */
let made = null;
/** @type {import('./shell/picture.js').Pictures} */
const picture = {
  made: () => made,
  open: async () => {
    const { createPicture } = await import('./shell/picture.js');
    made ??= createPicture({ navigation, page: screen.page, keyed: () => key.get() !== '', announce });
    return made;
  },
};
const screen = createScreen({ navigation, frame, picture });
const tour = { begin: async () => (await import('./start/tour.js')).createTour(places.tour, follow).begin() };
const loading = createLoading({ navigation, api, key, frame, picture, screen, tour, onLoaded: () => watch.showReceived() });
const watch = createWatch({ navigation, api, screen, loading, showDocuments: (summary) => showDocuments(places.journal, summary) });

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
  const stage = made?.stage;
  if (stage?.drawn()) stage.focus();
  else places.work.focus();
}

function skipToDetails(event) {
  event.preventDefault();
  made?.details.focus();
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
createThemeSwitch(places.theme, () => {
  made?.stage.recolour();
  screen.repaint();
});
loading.load();
watch.start();
