/**
 * Runs and writes as bars, oldest first: how long each took, how it ended, how much it wrote.
 */
import { anchor, element } from '../page/dom.js';
import { formatDuration, formatNumber, formatSize, formatTime } from '../data/format.js';
import { heights, usualBand } from './measures.js';

/** The newest write is compared with so many before it, as on the home page. */
const COMPARED = 7;

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

/**
 * A measure of each write, with the band of the usual behind the bars.
 * @param {string} noun `rows`
 * @param {Array<{href: string, at: string, value: number|null}>} writes newest first
 * @returns {HTMLElement|null} fewer than two known values are no chart
 */
export function volumeBars(noun, writes) {
  const values = writes.map(({ value }) => value);
  const known = values.filter((value) => value !== null);
  if (known.length < 2) return null;
  const tall = heights(values);
  const band = usualBand(values.slice(1, 1 + COMPARED));
  const most = Math.max(...known);
  const spell = (value) => (noun === 'bytes' ? formatSize(value) : `${formatNumber(value)} ${noun}`);
  const made = writes.map(({ href, at, value }, number) => {
    const odd = band && value !== null && (value < band.low || value > band.high);
    const amount = value === null ? `${noun} unknown` : `${spell(value)}${odd ? ', unusual' : ''}`;
    const words = `${amount}, ${formatTime(at)}`;
    const way = anchor(href, element('span', { class: 'bar-fill', style: `height: ${Math.round(tall[number] * 100)}%` }));
    way.className = `bar-run ${odd ? 'unusual' : ''}`;
    way.title = words;
    way.setAttribute('aria-label', words);
    return element('li', {}, way);
  });
  const share = (value) => Math.round(100 * Math.min(1, most > 0 ? value / most : 0));
  const style = band ? `--low: ${share(band.low)}%; --high: ${share(band.high)}%` : '';
  return element(
    'figure',
    { class: 'volume', 'data-testid': `volume-${noun}` },
    element('ul', { class: `bars ${band ? 'banded' : ''}`, style, 'aria-label': `Writes, oldest first: height is ${noun}` }, made.reverse()),
    element('figcaption', { class: 'small muted' }, `Last ${spell(known[0])}`, band && `, usually ${noun === 'bytes' ? formatSize(band.usual) : formatNumber(band.usual)} (the band: a quarter of it to four times it)`),
  );
}
