/**
 * Words for values: numbers, times, durations, names that must fit. Pure.
 * The locale is the reader's; the exact value goes into a title beside it.
 */
import { readTime } from './url.js';

/** @type {Map<string|undefined, Intl.NumberFormat>} of each locale: to make one takes longer than a hundred uses */
const numberFormats = new Map();

/**
 * @param {number} value
 * @param {string} [locale] the reader's own when left out
 * @returns {string}
 */
export function formatNumber(value, locale) {
  const format = numberFormats.get(locale) ?? new Intl.NumberFormat(locale);
  numberFormats.set(locale, format);
  return format.format(value);
}

/**
 * @param {string|null|undefined} iso
 * @param {string} [locale]
 * @param {string} [zone] the reader's own when left out
 * @returns {string} an empty string when there is no time
 */
export function formatTime(iso, locale, zone) {
  const date = readTime(iso ?? '');
  if (date === null) return '';
  /** @type {Intl.DateTimeFormatOptions} */
  const options = { dateStyle: 'medium', timeStyle: 'medium', timeZone: zone };
  return new Intl.DateTimeFormat(locale, options).format(date);
}

/**
 * `3309 => 3.3 s`, `190_000 => 3 min 10 s`.
 * @param {number|null|undefined} milliseconds
 * @param {string} [locale]
 * @returns {string} an empty string when unknown
 */
export function formatDuration(milliseconds, locale) {
  if (milliseconds === null || milliseconds === undefined || milliseconds < 0) return '';
  if (milliseconds < 1000) return `${formatNumber(Math.round(milliseconds), locale)} ms`;
  const seconds = milliseconds / 1000;
  if (seconds < 60) {
    return `${new Intl.NumberFormat(locale, { maximumFractionDigits: 1 }).format(seconds)} s`;
  }
  const whole = Math.round(seconds);
  if (whole < 3600) return `${Math.floor(whole / 60)} min ${whole % 60} s`;
  return `${formatNumber(Math.floor(whole / 3600), locale)} h ${Math.floor((whole % 3600) / 60)} min`;
}

/** @type {ReadonlyArray<[number, string]>} */
const SPANS = Object.freeze([[7 * 86_400_000, 'week'], [86_400_000, 'day'], [3_600_000, 'h'], [60_000, 'min'], [1000, 's']]);

/**
 * How often something happens, in one unit: nobody's rhythm is known to the minute.
 * @param {number} milliseconds
 * @returns {string} `1 day` for 23 h 59 min, `1.5 h` for 91 min, `10 min`
 */
export function formatRhythm(milliseconds) {
  const [length, unit] = SPANS.find(([span]) => milliseconds >= 0.95 * span) ?? SPANS[SPANS.length - 1];
  const parts = milliseconds / length;
  const value = parts < 10 ? Math.round(parts * 10) / 10 : Math.round(parts);
  return unit.length > 3 ? count(value, unit) : `${formatNumber(value)} ${unit}`;
}

/**
 * @param {number|null|undefined} bytes
 * @param {string} [locale]
 * @returns {string}
 */
export function formatSize(bytes, locale) {
  if (bytes === null || bytes === undefined) return '';
  const units = ['byte', 'kilobyte', 'megabyte', 'gigabyte', 'terabyte'];
  const step = bytes < 1 ? 0 : Math.min(units.length - 1, Math.floor(Math.log10(bytes) / 3));
  /** @type {Intl.NumberFormatOptions} */
  const options = {
    style: 'unit',
    unit: units[step],
    unitDisplay: step === 0 ? 'long' : 'short',
    maximumFractionDigits: step === 0 ? 0 : 1,
  };
  return new Intl.NumberFormat(locale, options).format(bytes / 1000 ** step);
}

const MONTHS_FROM = 90;
const YEARS_FROM = 730;
const DECADE = 3650;

/**
 * Days in the unit that fits, rounded down: `0.2 => 4 hours`, `8.9 => 8 days`, `400 => 13 months`.
 * @param {number} days
 * @returns {string}
 */
export function formatDays(days) {
  if (days < 1 / 24) return 'less than an hour';
  if (days < 1) return count(Math.floor(days * 24), 'hour');
  if (days < MONTHS_FROM) return count(Math.floor(days), 'day');
  if (days < YEARS_FROM) return count(Math.floor(days / 30.4), 'month');
  return days > DECADE ? 'more than 10 years' : count(Math.floor(days / 365), 'year');
}

/**
 * `count(1, 'table') => 1 table`, `count(3, 'table') => 3 tables`.
 * @param {number} number
 * @param {string} noun
 * @param {string} [plural]
 * @returns {string}
 */
export function count(number, noun, plural = `${noun}s`) {
  return `${formatNumber(number)} ${number === 1 ? noun : plural}`;
}

/**
 * What tells jobs of one name apart: of their namespaces the shortest part that differs; '' where the name is enough.
 * `airflow://eu/shop`, `airflow://us/shop` => `eu`, `us`
 * @param {Array<{namespace: string, name: string}|null|undefined>} jobs all that are listed together
 * @returns {(job: {namespace: string, name: string}) => string}
 */
export function tellApart(jobs) {
  const spaces = new Map();
  for (const job of jobs) if (job) spaces.set(job.name, (spaces.get(job.name) ?? new Set()).add(job.namespace));
  const parts = new Map([...spaces].map(([name, some]) => [name, differing([...some])]));
  return ({ name, namespace }) => parts.get(name)?.get(namespace) ?? '';
}

/** By text what is left without the parts that all begin with and end with; empty for a single text. */
function differing(texts) {
  if (texts.length < 2) return new Map();
  const split = texts.map((text) => text.split(/[/:.@]+/));
  const shortest = Math.min(...split.map(({ length }) => length));
  const same = (at) => split.every((parts) => parts.at(at) === split[0].at(at));
  let [first, last] = [0, 0];
  while (first < shortest && same(first)) first += 1;
  while (last < shortest - first && same(-1 - last)) last += 1;
  return new Map(texts.map((text, at) => [text, split[at].slice(first, split[at].length - last).join('/') || text]));
}

/** Control characters, marks that turn the direction of writing, and characters without a width. */
const UNSEEN = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u00ad\u061c\u200b\u200e\u200f\u202a-\u202e\u2060-\u2069\ufeff]/g;
const SEEN = /[^\s\p{Default_Ignorable_Code_Point}\u2800]/u;

/**
 * Text from outside, made safe to stand in a line of ours: an invisible character is shown as a
 * replacement mark, so that a name cannot rearrange its neighbours or look like another one. Of a text in
 * which nothing can be seen the characters are named: `blank (U+0020)`.
 * @param {unknown} value
 * @returns {string}
 */
export function plain(value) {
  const text = value === null || value === undefined ? '' : String(value);
  if (text === '' || SEEN.test(text)) return text.replace(UNSEEN, '\ufffd');
  const characters = [...text].map((one) => `U+${(one.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, '0')}`);
  return `blank (${shorten(characters.join(' '), 20)})`;
}

/**
 * A name inside a text of ours that has no markup: its direction of writing stays its own.
 * @param {string} name
 * @returns {string}
 */
export function isolated(name) {
  return `\u2068${plain(name)}\u2069`;
}

/**
 * The store that a table lies in: `s3://lake`, `jdbc:postgresql://shop-db`, `kafka`.
 * @param {string} uri
 * @returns {string} an empty string where there is none
 */
export function storeOf(uri) {
  const [, store] = /^((?:jdbc:)?[a-z][a-z0-9+.-]*:\/\/[^/:]+)/i.exec(uri) ?? [];
  return store ?? /^[^/:]+/.exec(uri)?.[0] ?? '';
}

/**
 * What keeps a table: the server names what its URI alone says, and a file in a store is kept there: `S3`, `file`, `JDBC`.
 * @param {string} type
 * @param {string} [uri]
 * @returns {string}
 */
export function keptIn(type, uri = '') {
  const [, jdbc, scheme = ''] = /^(jdbc:)?([a-z][a-z0-9+-]*):/i.exec(uri) ?? [];
  if (type === 'file') return STORES[scheme] ?? type;
  return type === 'jdbc' && jdbc && scheme ? scheme : type;
}

const STORES = Object.freeze({ s3: 'S3', gs: 'GCS', abfss: 'ADLS', abfs: 'ADLS', wasbs: 'Azure Blob', hdfs: 'HDFS', dbfs: 'DBFS' });

/**
 * Cut to a number of characters, the end replaced by an ellipsis.
 * @param {string} text
 * @param {number} length
 * @returns {string}
 */
export function shorten(text, length) {
  const characters = Array.from(text.slice(0, 2 * length + 2));
  if (characters.length <= length) return text;
  return `${characters.slice(0, Math.max(0, length - 1)).join('')}…`;
}

/**
 * The longest form of a text that a measure lets through: whole, or cut with an ellipsis. A URI
 * keeps its end, which tells more than its start.
 * @param {string} text
 * @param {number} width
 * @param {(text: string) => number} measure
 * @param {'start'|'middle'|'end'} [cut] where the ellipsis goes
 * @returns {string}
 */
export function fit(text, width, measure, cut = 'end') {
  const most = 400;
  const sample = text.length > most ? sampled(text, most, cut) : text;
  if (sample === text && measure(text) <= width) return text;
  const characters = Array.from(sample);
  let [least, greatest] = [0, characters.length];
  while (least < greatest) {
    const middle = Math.ceil((least + greatest) / 2);
    if (measure(clip(characters, middle, cut)) <= width) least = middle;
    else greatest = middle - 1;
  }
  return clip(characters, least, cut);
}

function sampled(text, most, cut) {
  if (cut === 'middle') return text.slice(0, most / 2) + text.slice(-most / 2);
  return cut === 'end' ? text.slice(0, most) : text.slice(-most);
}

function clip(characters, kept, cut) {
  if (cut === 'middle') {
    const end = Math.floor(kept / 2);
    return `${characters.slice(0, kept - end).join('').trimEnd()}…${end === 0 ? '' : characters.slice(-end).join('').trimStart()}`;
  }
  if (cut === 'end') return `${characters.slice(0, kept).join('').trimEnd()}…`;
  return `…${kept === 0 ? '' : characters.slice(-kept).join('').trimStart()}`;
}

/** Where a name is broken: `daily_` + `revenue`, `Daily` + `Revenue`; the server makes boxes by the same rule (picture/layout.py). */
const PARTS = /[^\s_.:/-]*?(?:[\s_.:/-]+|(?<=[a-z0-9])(?=[A-Z])|$)/gu;

/**
 * The lines of a name in its box: whole, or its beginning and its end.
 * @param {string} text
 * @param {number} room   width of a line
 * @param {(text: string) => number} measure
 * @param {number} [most]
 * @returns {string[]}
 */
export function linesOf(text, room, measure, most = 2) {
  if (measure(text) <= room) return [text];
  if (most < 2) return [fit(text, room, measure, 'middle')];
  return atParts(text, room, measure) ?? anywhere(text, room, measure);
}

/** The break that leaves both lines shortest; null where none lets both fit. */
function atParts(text, room, measure) {
  let best = null;
  for (const end of endsOf(text.slice(0, 400))) {
    const lines = [text.slice(0, end).trimEnd(), text.slice(end)];
    const widest = Math.max(...lines.map(measure));
    if (widest <= room && widest < (best?.widest ?? Infinity)) best = { lines, widest };
  }
  return best?.lines ?? null;
}

function endsOf(text) {
  const ends = [];
  for (const match of text.matchAll(PARTS)) ends.push(match.index + match[0].length);
  return ends.filter((end) => end > 0 && end < text.length);
}

/** As much as one line holds, then the rest, or its end. */
function anywhere(text, room, measure) {
  const first = fit(text, room, measure).slice(0, -1);
  return [first, fit(text.slice(first.length), room, measure, 'start')];
}

const HOW = Object.freeze({
  IDENTITY: 'copied',
  TRANSFORMATION: 'computed',
  AGGREGATION: 'aggregated',
  WINDOW: 'window',
  CONDITIONAL: 'condition',
  FILTER: 'filter',
  JOIN: 'join',
  GROUP_BY: 'grouping',
  SORT: 'sorting',
});

/**
 * A plain word for the way in which one column depends on another.
 * @param {string} how
 * @returns {string}
 */
export function howWord(how) {
  return HOW[how] ?? plain(how).toLowerCase().replaceAll('_', ' ');
}

const PARTIAL = Object.freeze({
  nodes: 'more nodes belong to this answer than were asked for',
  edges: 'more edges belong to this answer than one reply may hold',
  time: 'the walk ran out of time',
  hub: 'a node with very many neighbours was not followed',
  locations: 'of a folder or pattern with very many files some were not followed',
  rebuilding: 'the graph is still catching up with the journal',
  full: 'the graph is full, and new jobs, tables and columns wait for room',
  starts: 'more tables begin like this than are followed',
  bytes: 'the reply grew to its greatest size',
  inputs: 'the run reads more tables than are followed',
  runs: 'not every job upstream was looked at',
  causes: 'there is more than is listed',
});

/**
 * The sentence that tells why an answer is not whole.
 * @param {{reason: string, limit: number|null}} partial
 * @returns {string}
 */
export function partialSentence(partial) {
  const why = PARTIAL[partial.reason] ?? plain(partial.reason);
  const limit = partial.limit ? ` (limit ${formatNumber(partial.limit)})` : '';
  return `This picture is not complete: ${why}${limit}.`;
}

/**
 * The influences on a column, in words: `{ FILTER: 10, WINDOW: 6 }` =>
 * `16 influences (10 filter, 6 window)`.
 * @param {Record<string, number>|null|undefined} indirect columns that decide, by how they do
 * @returns {string} an empty string where none does
 */
export function influenceWords(indirect) {
  const counts = Object.entries(indirect ?? {}).sort(([, one], [, other]) => other - one);
  const total = counts.reduce((sum, [, number]) => sum + number, 0);
  if (total === 0) return '';
  const parts = counts.map(([how, number]) => `${formatNumber(number)} ${howWord(how)}`);
  return `${count(total, 'influence')} (${parts.join(', ')})`;
}

/**
 * The words of a search that nothing holds: `Without “foo” and “bar”, which nothing holds.`
 * @param {string[]|undefined} words
 * @returns {string} an empty string where there is none
 */
export function asideWords(words = []) {
  const quoted = words.map((word) => `“${shorten(plain(word), 40)}”`);
  if (quoted.length === 0) return '';
  return `Without ${quoted.join(' and ')}, which nothing holds.`;
}

/** What a match is called where it is more than a word of its own. */
const MATCHES = Object.freeze({ id: 'by', path: 'holds', comment: 'comment', note: 'note' });

/**
 * What a result says of itself; that of a run has its state and time: `failed, 2026-03-02T06:10:01.220Z`.
 * @param {{kind?: string, detail?: string}} item
 * @returns {string}
 */
export function detailWords({ kind, detail = '' }) {
  return kind === 'run' ? detail.split(', ').map((part) => formatTime(part) || part).join(', ') : detail;
}

/**
 * By what a search found something, where that is not its name: `owner: team:sales`.
 * @param {{what: string, text: string} | null | undefined} matched
 * @returns {string}
 */
export function matchedWords(matched) {
  return matched ? `${MATCHES[matched.what] ?? matched.what}: ${shorten(plain(matched.text), 160)}` : '';
}
