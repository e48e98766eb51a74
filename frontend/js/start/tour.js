/**
 * A tour of the sample in five steps: a card at the lower edge that leads from view to view. It can be
 * left at any step and begun again from the home page.
 */
import { button, element, focusFirst, replace } from '../page/dom.js';
import { write } from '../data/url.js';

const REVENUE = 'dataset:jdbc:redshift://warehouse.example.org/analytics:mart.daily_revenue';
const COLUMN = 'column:jdbc:redshift://warehouse.example.org/analytics:mart.daily_revenue#margin_eur';

/** The steps; `part` is the id of the part of the page that a step describes. */
export const STEPS = Object.freeze([
  {
    title: 'Failed and late jobs',
    words: 'The home page lists late jobs, and the failed runs and writes of the last day. The map below opens area by area, down to tables.',
    href: write({ view: 'home' }),
    part: '',
  },
  {
    title: 'Where a table comes from',
    words: 'The lineage of the daily revenue: jobs between tables, left to right. Choose a box and its whole way lights up.',
    href: write({ view: 'lineage', node: REVENUE, depth: 3, direction: 'upstream' }),
    part: 'stage',
  },
  {
    title: 'Which columns',
    words: 'The same table with columns: every line is a value that flows from one column into another.',
    href: write({ view: 'lineage', node: REVENUE, columns: true }),
    part: 'stage',
  },
  {
    title: 'How one column is made',
    words: 'The margin across all jobs, back to the operational databases, with the step of each job on the way.',
    href: write({ view: 'columns', node: COLUMN, direction: 'upstream' }),
    part: 'stage',
  },
  {
    title: 'Why a run failed',
    words: 'The conversion failed this morning. Its page lists the changes upstream since the last good run.',
    href: write({ view: 'job', node: 'job:sample/conversion' }),
    part: 'panel',
  },
]);

/**
 * @param {HTMLElement} place
 * @param {(href: string) => void} follow
 * @returns {{begin: () => void, end: () => void}}
 */
export function createTour(place, follow) {
  /** @type {MutationObserver|undefined} */
  let waiting;

  function show(number) {
    const { title, words, href, part } = STEPS[number];
    follow(href);
    bring(part);
    place.hidden = false;
    replace(
      place,
      element('h2', {}, `${number + 1} of ${STEPS.length}: ${title}`),
      element('p', {}, words),
      element(
        'div',
        { class: 'actions' },
        number > 0 ? button({ icon: 'left', label: 'Back', onclick: () => show(number - 1) }) : null,
        number + 1 < STEPS.length
          ? button({ icon: 'right', label: 'Next', onclick: () => show(number + 1) }, { 'data-testid': 'tour-next' })
          : null,
        button({ label: number + 1 < STEPS.length ? 'Skip the tour' : 'Done', onclick: end }, { 'data-testid': 'tour-end' }),
      ),
    );
    focusFirst(place, number + 1 < STEPS.length ? '[data-testid="tour-next"]' : '[data-testid="tour-end"]');
  }

  function end() {
    place.hidden = true;
    replace(place);
  }

  /** In one column the described part may lie below the window, or behind the card. */
  function bring(part) {
    waiting?.disconnect();
    waiting = new MutationObserver(scroll);
    waiting.observe(document.body, { attributeFilter: ['data-state'] });

    function scroll() {
      if (document.body.dataset.state !== 'ready') return;
      waiting?.disconnect();
      if (document.documentElement.scrollHeight <= innerHeight) return;
      if (part) document.getElementById(part)?.scrollIntoView();
      else scrollTo(0, 0);
    }
  }

  return { begin: () => show(0), end };
}
