/**
 * The definition of a column in words, and the neighbours that a limit left out: parts of the panel.
 */
import { anchor, data, element, icon } from '../page/dom.js';
import { formatNumber } from '../data/format.js';
import { jobLink } from './links.js';
import { DIRECTIONS } from '../data/walk.js';
import { section, separated } from './panel.js';
import { link } from '../data/url.js';

const MOST = 5000;
const MOST_LISTED = 5;

/**
 * @param {import('../data/url.js').State} state
 * @param {{sentence: string|null, definitions: object[], gaps: object[]}} column a reply of /graph/columns/{id}
 * @returns {HTMLElement}
 */
export function definition(state, { sentence, definitions, gaps }) {
  const jobs = new Map(definitions.map(({ job }) => [job.id, job]));
  return section(
    'Definition',
    element(
      'p',
      { 'data-testid': 'definition', class: sentence ? '' : 'muted' },
      sentence ? data(`${sentence}.`) : 'No job is known to compute it.',
    ),
    jobs.size > 0 &&
      element(
        'p',
        { class: 'muted' },
        'By ',
        separated([...jobs.values()], (job) => jobLink(state, job), MOST_LISTED),
      ),
    gaps.length > 0 &&
      element(
        'p',
        { class: 'note', 'data-testid': 'definition-gaps' },
        icon('warning'),
        ' There may be more to it: ',
        data([...new Set(gaps.map((gap) => gap.code))].slice(0, MOST_LISTED).join(', ')),
      ),
  );
}

/**
 * @param {import('../data/url.js').State} state
 * @param {{id: string, more?: {upstream: number, downstream: number}}} node
 * @returns {HTMLElement|null} nothing was left out beside it
 */
export function leftOut(state, { id, more }) {
  if (!more) return null;
  const ways = DIRECTIONS.filter((direction) => more[direction] > 0);
  return section(
    'Not drawn here',
    element(
      'ul',
      { class: 'lines', 'data-testid': 'left-out' },
      ways.map((direction) =>
        element(
          'li',
          {},
          anchor(
            link(state, { view: 'lineage', node: id, direction, depth: 1, limit: MOST }),
            `${formatNumber(more[direction])} more ${direction}`,
          ),
        ),
      ),
    ),
  );
}
