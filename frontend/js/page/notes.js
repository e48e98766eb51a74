/**
 * The notes around a picture: banners that qualify it, and the line that dates it.
 */
import { anchor, button, data, element, icon, time } from './dom.js';
import { count, formatNumber, influenceWords, partialSentence, shorten } from '../data/format.js';
import { change, write } from '../data/url.js';
import { VIEWS } from '../views.js';

const LARGER = 4;
const LIMIT_DEFAULT = 500;

/**
 * @param {import('../views.js').Page} page
 * @param {import('../data/url.js').State} state
 * @param {{timed: boolean, go: import('../controls/controls.js').Change}} view  timed: it can be seen at another time
 * @returns {Array}
 */
export function banners({ reply, notes = [], model, empty }, state, { timed, go }) {
  return [
    state.unknown && unknownBanner(state.unknown),
    ...notes,
    reply?.partial && partialBanner(reply.partial, state.view, go),
    // a picture has these two below, where they move nothing
    reply?.folded && !(model && !empty) && foldedNote(state, 'banner'),
    timed && state.at && !(model && !empty) && timeNote(state.at, go, 'banner'),
  ];
}

function partialBanner(partial, view, go) {
  const asked = partial.limit ?? LIMIT_DEFAULT;
  const raised = Math.min(VIEWS[view].mostNodes ?? 0, asked * LARGER);
  const more = () =>
    button(
      { label: `Show up to ${formatNumber(raised)}`, onclick: () => go({ limit: raised }) },
      { class: 'link' },
    );
  return element(
    'p',
    { class: 'banner warning', role: 'note', 'data-testid': 'partial' },
    icon('warning'),
    element('span', {}, partialSentence(partial)),
    partial.reason === 'nodes' && raised > asked && more(),
  );
}

/** An old or mistyped link: what it leads to is not what it names. */
function unknownBanner(name) {
  return element(
    'p',
    { class: 'banner warning', role: 'note', 'data-testid': 'unknown-view' },
    icon('warning'),
    element('span', {}, 'There is no page ', data(shorten(name, 60), 'mono'), '. This is the home page.'),
  );
}

/** @param {import('../data/url.js').State} state */
function foldedNote(state, className) {
  return element(
    className === 'banner' ? 'p' : 'span',
    { class: className, 'data-testid': 'folded' },
    element('span', {}, 'Repeated runs are drawn as one. '),
    state.node && anchor(write(change(state, { tab: 'history' })), 'Each run'),
  );
}

function timeNote(at, go, className) {
  return element(
    className === 'banner' ? 'p' : 'span',
    { class: className, 'data-testid': 'as-of-note' },
    element('span', {}, 'As it was at ', time(at, data(at)), '.'),
    button({ label: 'Back to now', onclick: () => go({ at: '' }) }, { class: 'link' }),
  );
}

/**
 * The server does not answer, and the page shows its last replies.
 * @param {Date} since
 * @param {() => unknown} again
 * @returns {HTMLElement}
 */
export function outageBanner(since, again) {
  return element(
    'p',
    { class: 'banner warning', 'data-testid': 'away' },
    icon('warning'),
    element('span', {}, 'The server has not answered since ', time(since.toISOString()), '. The page shows its last answer and tries again by itself.'),
    button({ label: 'Try now', onclick: again }, { class: 'link' }),
  );
}

/**
 * A part of the picture did not come.
 * @param {string} words
 * @returns {HTMLElement}
 */
export function refusalBanner(words) {
  return element('p', { class: 'banner warning', role: 'status', 'data-testid': 'refused' }, icon('warning'), element('span', {}, words));
}

/**
 * The newest event that was considered, and that nothing lies beyond the last step.
 * @param {{asOf?: string|null, folded?: boolean, depth?: {asked: number, reached: number}, partial?: object|null,
 *   notSeen?: {tables: number, jobs: number}, nodes?: any[], edges?: any[]}|null} reply
 * @param {import('../data/url.js').State} state
 * @param {{timed: boolean, go: import('../controls/controls.js').Change}} view
 * @returns {Array} empty when there is nothing to say
 */
export function footnote(reply, state, { timed, go }) {
  const { asOf, depth, partial, notSeen } = reply ?? {};
  const tried = reply?.edges?.some((edge) => edge.attempted) ?? false;
  const coming = notSeen !== undefined && notSeen.tables + notSeen.jobs > 0;
  const ended = depth && depth.reached > 0 && depth.reached < depth.asked && !partial && !tried && !coming;
  return [
    timed && state.at && timeNote(state.at, go, 'as-of'),
    reply?.folded && foldedNote(state, ''),
    asOf && element('span', {}, 'Newest event: ', time(asOf)),
    ended && element('span', {}, `${flowWord(reply?.nodes ?? [], reply?.edges ?? [])} beyond ${count(depth.reached, 'step')}`),
  ].filter(Boolean);
}

/** The word for the flow that ends there: `Nothing`, or `No value` where influences on columns are not drawn. */
function flowWord(nodes, edges) {
  const decided = nodes.some((node) => influenceWords(node.indirect) !== '');
  return decided && !edges.some((edge) => edge.kind === 'INDIRECT') ? 'No value' : 'Nothing';
}
