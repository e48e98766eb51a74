/**
 * Runs as bars, oldest first: how long each took, and how it ended. Each bar leads to its run.
 */
import { anchor, element } from '../page/dom.js';
import { formatDuration, formatTime } from '../data/format.js';
import { heights } from './measures.js';

/**
 * @typedef {object} Bar
 * @property {string} href
 * @property {string} state
 * @property {string|null} at
 * @property {number|null} milliseconds  null: unknown
 */

/**
 * @param {Bar[]} bars newest first
 * @returns {HTMLElement|null} one run is no row of bars
 */
export function runBars(bars) {
  if (bars.length < 2) return null;
  const tall = heights(bars.map(({ milliseconds }) => milliseconds));
  const made = bars.map((bar, number) => {
    const words = [bar.state, formatDuration(bar.milliseconds) || 'duration unknown', formatTime(bar.at)];
    const link = anchor(bar.href, element('span', { class: 'bar-fill', style: `height: ${Math.round(tall[number] * 100)}%` }));
    link.className = `bar-run ${bar.state}`;
    link.title = words.join(', ');
    link.setAttribute('aria-label', words.join(', '));
    return element('li', {}, link);
  });
  return element(
    'ul',
    { class: 'bars', 'aria-label': 'Runs, oldest first: height is duration', 'data-testid': 'run-bars' },
    made.reverse(),
  );
}
