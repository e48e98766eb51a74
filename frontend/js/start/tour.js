/**
 * A tour of the sample: a card leads from view to view, with light on the part that it speaks of. It stands beside that
 * part; in a narrow window it has the lower edge for itself, and the page scrolls above it (`--tour` is its height with
 * the room around it). It can be left at any step and begun again from the home page.
 */
import { button, data, element, focusFirst, replace } from '../page/dom.js';
import { copyButton } from '../panel/panel.js';
import { parse, write } from '../data/url.js';
import { snippets } from './first-visit.js';

const REVENUE = 'dataset:jdbc:redshift://warehouse.example.org/analytics:mart.daily_revenue';
const COLUMN = 'column:jdbc:redshift://warehouse.example.org/analytics:mart.daily_revenue#margin_eur';

/** The steps; `part` selects what a step speaks of: the rest of the page is dim. */
export const STEPS = Object.freeze([
  {
    title: 'Failed and late jobs',
    words: 'The home page lists failed runs by their error, late jobs and failed checks. The map below opens area by area, down to tables.',
    href: write({ view: 'home' }),
    part: '.summaries',
  },
  {
    title: 'Where a table comes from',
    words: 'The lineage of the daily revenue: tables and the jobs between them, along the arrows. Choose a box and its whole way lights up.',
    href: write({ view: 'lineage', node: REVENUE, depth: 3, direction: 'upstream' }),
    part: '#stage',
  },
  {
    title: 'Which columns',
    words: 'The same table with columns: every line is a value that flows from one column into another.',
    href: write({ view: 'lineage', node: REVENUE, columns: true }),
    part: '#stage',
  },
  {
    title: 'How one column is made',
    words: 'The margin across all jobs, back to the operational databases. The table has the expression of each job on the way.',
    href: write({ view: 'columns', node: COLUMN, direction: 'upstream' }),
    part: '.left',
  },
  {
    title: 'Why a run failed',
    words: 'The conversion failed this morning. Its page lists the changes upstream since the last good run.',
    href: write({ view: 'job', node: 'job:sample/conversion' }),
    part: '#panel',
  },
  {
    title: 'What changed in a job',
    words: 'A new version of the plan that sessionise runs: “Compare with before” shows both side by side.',
    href: write({ view: 'job', node: 'job:sample/sessionise' }),
    part: '#below',
  },
  {
    title: 'Who wrote a partition',
    words: 'The orders arrive day by day: each write names its partition, its run and its rows.',
    href: write({ view: 'lineage', node: 'dataset:s3://shop-lake/raw/orders', tab: 'history' }),
    part: '#panel',
  },
  {
    title: 'Send your own',
    words: 'One line in a PySpark job reports its lineage here. The first page of an empty server has the settings of every other tool, and so has the documentation.',
    href: write({ view: 'home' }),
    part: '',
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
  let lit = '';
  const light = element('div', { class: 'tour-light', 'aria-hidden': 'true', 'data-testid': 'tour-light', hidden: true });
  place.before(light);
  const again = () => requestAnimationFrame(shine);
  const heights = new ResizeObserver(([{ target }]) => {
    const { top } = target.getBoundingClientRect();
    document.documentElement.style.setProperty('--tour', `${innerHeight - top}px`);
    again();
  });

  function show(number) {
    const { title, words, href, part } = STEPS[number];
    const here = write(parse(location.search)) === href;
    follow(href);
    lit = part;
    light.hidden = true;
    bring(part, here);
    place.hidden = false;
    place.dataset.part = part;
    heights.observe(place);
    for (const kind of ['resize', 'scroll']) addEventListener(kind, again, { capture: true });
    replace(
      place,
      element('h2', {}, `${number + 1} of ${STEPS.length}: ${title}`),
      element('p', {}, words),
      number + 1 === STEPS.length && ownLine(),
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
    waiting?.disconnect();
    heights.disconnect();
    for (const kind of ['resize', 'scroll']) removeEventListener(kind, again, { capture: true });
    const scrolled = document.body.scrollTop || scrollY;
    light.hidden = true;
    place.hidden = true;
    replace(place);
    scrollTo(0, scrolled);
  }

  /** Around what the step speaks of, as far as the window shows it; the shadow is the rest. */
  function shine() {
    const around = subjectOf(lit)?.getBoundingClientRect();
    light.hidden = place.hidden || !around || around.width === 0;
    if (!around || light.hidden) return;
    const [left, top] = [Math.max(0, around.left), Math.max(0, around.top)];
    const { bottom } = document.body.getBoundingClientRect();
    Object.assign(light.style, {
      left: `${left}px`,
      top: `${top}px`,
      width: `${Math.max(0, Math.min(innerWidth, around.right) - left)}px`,
      height: `${Math.max(0, Math.min(bottom, around.bottom) - top)}px`,
    });
  }

  /** The described part may lie below the window, or above it; a view that is open changes no state. */
  function bring(part, here) {
    waiting?.disconnect();
    waiting = new MutationObserver(scroll);
    waiting.observe(document.body, { attributeFilter: ['data-state'] });
    if (here) requestAnimationFrame(scroll);

    function scroll() {
      if (document.body.dataset.state !== 'ready') return;
      waiting?.disconnect();
      (subjectOf(part) ?? document.querySelector('.bar'))?.scrollIntoView();
      again();
    }
  }

  return { begin: () => show(0), end };
}

/** In one column the left side has no box of its own: its picture stands for it. */
function subjectOf(part) {
  const subject = part ? document.querySelector(part) : null;
  return subject?.getClientRects().length === 0 ? subject.firstElementChild : subject;
}

function ownLine() {
  const [{ name, text }] = snippets(location.origin, new Date().toISOString());
  return element('div', { class: 'tour-own' }, element('pre', { class: 'mono' }, data(text)), copyButton(text, `Copy the lines for ${name}`));
}
