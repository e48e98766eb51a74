import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  asideWords,
  count,
  fit,
  formatDuration,
  formatNumber,
  formatRhythm,
  formatSize,
  formatTime,
  howWord,
  influenceWords,
  partialSentence,
  isolated,
  plain,
  storeOf,
  shorten,
  keptIn,
  tellApart,
} from '../../frontend/js/data/format.js';

const letters = (text) => Array.from(text).length;

test('numbers and times follow the locale', () => {
  assert.equal(formatNumber(1234567, 'en-GB'), '1,234,567');
  assert.equal(formatNumber(1234567, 'de-DE'), '1.234.567');
  assert.match(formatTime('2026-03-02T05:31:40.072Z', 'en-GB', 'UTC'), /2 Mar 2026, 05:31:40/);
  assert.equal(formatTime(null), '');
  assert.equal(formatTime('yesterday'), '');
});

test('durations are told in the unit that fits', () => {
  assert.equal(formatDuration(87, 'en'), '87 ms');
  assert.equal(formatDuration(3309, 'en'), '3.3 s');
  assert.equal(formatDuration(190_000, 'en'), '3 min 10 s');
  assert.equal(formatDuration(3_599_900, 'en'), '1 h 0 min');
  assert.equal(formatDuration(7_260_000, 'en'), '2 h 1 min');
  assert.equal(formatDuration(null), '');
  assert.equal(formatDuration(-1), '');
});

test('sizes are told in the unit that fits', () => {
  assert.equal(formatSize(612, 'en'), '612 bytes');
  assert.equal(formatSize(18_233, 'en'), '18.2 kB');
  assert.equal(formatSize(0, 'en'), '0 bytes');
  assert.equal(formatSize(null), '');
});

test('one is not many', () => {
  assert.equal(count(1, 'table'), '1 table');
  assert.equal(count(0, 'table'), '0 tables');
});

test('marks that turn the direction of writing and control characters are shown, letters are kept', () => {
  assert.equal(plain('invoice\u202efdp.exe'), 'invoice\ufffdfdp.exe');
  assert.equal(plain('a\u0000b\u001b[31m'), 'a\ufffdb\ufffd[31m');
  assert.equal(plain('Straße 東京 👩‍🔬'), 'Straße 東京 👩‍🔬');
  assert.equal(plain(null), '');
  assert.equal(plain('zero\u200bwidth\ufeffname\u061c'), 'zero\ufffdwidth\ufffdname\ufffd');
  assert.equal(plain('می\u200cخواهم'), 'می\u200cخواهم');
});

test('a name in which nothing can be seen is told by its characters', () => {
  assert.equal(plain(' '), 'blank (U+0020)');
  assert.equal(plain('\u3164\u200b'), 'blank (U+3164 U+200B)');
  assert.equal(plain('\u2800'.repeat(9)), 'blank (U+2800 U+2800 U+280…)');
  assert.equal(plain(''), '');
});

test('a name within a text of ours keeps its direction to itself', () => {
  assert.equal(isolated('تقرير'), '\u2068تقرير\u2069');
  assert.equal(isolated('a\u2069b'), '\u2068a\ufffdb\u2069');
});

test('the store of a table is told by its URI', () => {
  assert.equal(storeOf('s3://lake/raw/orders'), 's3://lake');
  assert.equal(storeOf('jdbc:postgresql://shop-db:5433/shop:public.orders'), 'jdbc:postgresql://shop-db');
  assert.equal(storeOf('kafka:web.clicks'), 'kafka');
  assert.equal(storeOf(''), '');
});

test('shortening counts characters, not halves of them', () => {
  assert.equal(shorten('employees', 20), 'employees');
  assert.equal(shorten('employees', 4), 'emp…');
  assert.equal(shorten('😀😀😀😀', 3), '😀😀…');
});

test('a fitted text is the longest that its measure lets through', () => {
  assert.equal(fit('employees', 9, letters), 'employees');
  assert.equal(fit('employees', 5, letters), 'empl…');
  assert.equal(fit('s3://lake/curated/employees', 12, letters, 'start'), '…d/employees'.slice(-12));
  assert.equal(fit('x'.repeat(2000), 10, letters), `${'x'.repeat(9)}…`);
});

test('a name that is too long loses its middle, for its two ends tell it from others', () => {
  assert.equal(fit('employees', 20, letters, 'middle'), 'employees');
  assert.equal(fit('department_payroll_by_site', 12, letters, 'middle'), 'depart…_site');
  assert.equal(fit('x'.repeat(2000), 6, letters, 'middle'), 'xxx…xx');
});

test('ways of depending and reasons of partial answers have words', () => {
  assert.equal(howWord('GROUP_BY'), 'grouping');
  assert.equal(howWord('SOMETHING_NEW'), 'something new');
  assert.equal(
    partialSentence({ reason: 'nodes', limit: 500 }),
    'This picture is not complete: more nodes belong to this answer than were asked for (limit 500).',
  );
  assert.match(partialSentence({ reason: 'rebuilding', limit: null }), /catching up/);
});

test('influences on a column are counted, the most frequent first', () => {
  assert.equal(influenceWords({ WINDOW: 6, FILTER: 10 }), '16 influences (10 filter, 6 window)');
  assert.equal(influenceWords({ GROUP_BY: 1 }), `1 influence (1 ${howWord('GROUP_BY')})`);
  assert.equal(influenceWords({}), '');
  assert.equal(influenceWords(null), '');
});

test('jobs of one name are told apart by the shortest part of their namespaces that differs, and others are not', () => {
  const job = (namespace, name = 'load') => ({ namespace, name });
  const place = tellApart([job('a'), job('b'), job('a', 'sum'), null]);
  assert.deepEqual([place(job('a')), place(job('b')), place(job('a', 'sum'))], ['a', 'b', '']);
  const spaces = ['airflow://eu.shop.org/daily', 'airflow://us.shop.org/daily', 'airflow://us.shop.org/daily/night'];
  const told = tellApart(spaces.slice(0, 2).map((one) => job(one)));
  assert.deepEqual(spaces.slice(0, 2).map((one) => told(job(one))), ['eu', 'us']);
  const begun = tellApart(spaces.slice(1).map((one) => job(one)));
  assert.deepEqual(spaces.slice(1).map((one) => begun(job(one))), [spaces[1], 'night']);
});

test('words that were set aside are named', () => {
  assert.equal(asideWords(['foo', 'bar']), 'Without “foo” and “bar”, which nothing holds.');
  assert.equal(asideWords([]), '');
  assert.equal(asideWords(undefined), '');
});

test('a table is kept in the store that its address names, and not in a file of a store', () => {
  assert.equal(keptIn('file', 's3://lake/orders'), 'S3');
  assert.equal(keptIn('file', 'file:/data/orders'), 'file');
  assert.equal(keptIn('jdbc', 'jdbc:postgresql://h:5432/shop:public.orders'), 'postgresql');
  assert.equal(keptIn('kafka', 'kafka:clicks'), 'kafka');
});

test('a rhythm has one unit: a day is a day where runs come a minute early', () => {
  const [minute, hour] = [60_000, 3_600_000];
  const told = [24 * hour - minute, 7 * 24 * hour, 91 * minute, 10 * minute, 30_000].map(formatRhythm);
  assert.deepEqual(told, ['1 day', '1 week', '1.5 h', '10 min', '30 s']);
});
