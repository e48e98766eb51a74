import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { formatDays } from '../../frontend/js/data/format.js';
import {
  basis,
  elements,
  inForce,
  jobOf,
  capacities,
  savings,
  shares,
  shareWords,
  summary,
  takers,
} from '../../frontend/js/data/storage.js';

const file = new URL('fixtures/storage.json', import.meta.url);
const reply = () => JSON.parse(readFileSync(file, 'utf8'));

test('days are told in the unit that fits, rounded down', () => {
  assert.equal(formatDays(0.01), 'less than an hour');
  assert.equal(formatDays(0.2), '4 hours');
  assert.equal(formatDays(1.9), '1 day');
  assert.equal(formatDays(8.9), '8 days');
  assert.equal(formatDays(89.9), '89 days');
  assert.equal(formatDays(400), '13 months');
  assert.equal(formatDays(1594), '4 years');
  assert.equal(formatDays(1e9), 'more than 10 years');
});

test('each room shows the date when it is full, the free part and its growth', () => {
  const [disk, heap] = capacities(reply());
  assert.deepEqual(
    [disk.state, disk.verdict, disk.left, disk.rate],
    ['growing', 'Full in 4 years at this rate', '83.4 GB free', 'grows 52.3 MB a day'],
  );
  assert.deepEqual(
    [heap.state, heap.verdict, heap.left, heap.rate],
    ['soon', 'Full in 8 days at this rate', '88,700 elements free', 'grows 10,200 elements a day'],
  );
  assert.deepEqual(
    disk.parts.map(({ name, part }) => [name, part.toFixed(3)]),
    [
      ['journal', '0.014'],
      ['catalogue', '0.006'],
    ],
  );
  assert.equal(heap.parts[0].part.toFixed(2), '0.82');
});

test('the parts of a room never fill more than all of it', () => {
  const found = reply();
  found.full.heap = { room: -5000, days: 0, soon: true };
  const [, heap] = capacities(found);
  assert.equal(heap.verdict, 'Full now');
  assert.equal(heap.parts[0].part, 1);
  assert.equal(heap.left, 'nothing free');
  found.stored.elements = found.full.heap.room = 0;
  assert.equal(capacities(found)[1].parts[0].part, 0);
});

test('a full room is full whether or not it grows, or its size was measured', () => {
  const found = reply();
  found.growth = { documents: null, bytes: null, elements: 0 };
  found.full.disk = { room: 4096, days: 0, soon: true };
  found.full.heap = { room: null, days: 0, soon: true };
  assert.deepEqual(
    capacities(found).map(({ state, verdict }) => [state, verdict]),
    [
      ['soon', 'Full now'],
      ['soon', 'Full now'],
    ],
  );
});

test('unknown, not growing and not measured are three states', () => {
  const found = reply();
  found.full.disk.days = null;
  found.growth.bytes = 0;
  found.growth.elements = found.full.heap.days = null;
  assert.deepEqual(
    capacities(found).map(({ state, verdict, rate }) => [state, verdict, rate]),
    [
      ['still', 'Does not grow at present', ''],
      ['unknown', 'No forecast yet', ''],
    ],
  );
  found.full.disk.room = found.full.heap.room = found.stored.elements = null;
  assert.deepEqual(
    capacities(found).map(({ state, left, parts }) => [state, left, parts]),
    [
      ['unmeasured', '', []],
      ['unmeasured', '', []],
    ],
  );
});

test('the time behind a rate is told, and a short one with a caution', () => {
  const since = (text, growth) => basis({ ...reply(), measuredSince: text, growth });
  const known = { bytes: 5 };
  const unknown = { bytes: null };
  assert.equal(since('2026-02-23T12:41:00.000Z', known), 'At the rate of the last 7 days.');
  assert.equal(
    since('2026-03-02T10:40:00.000Z', known),
    'Measured for 2 hours only: the forecast may still change much, and warns after a day.',
  );
  assert.equal(since('2026-03-02T12:40:58.000Z', unknown), 'Measured for 1 minute: no forecast yet.');
  assert.match(since(null, unknown), /^Not measured yet/);
});

test('the unlisted rest is one row, so that shares add up', () => {
  const found = shares(reply(), 'job');
  assert.equal(found.at(-1).rest, true);
  assert.equal(found.reduce((sum, one) => sum + one.share, 0).toFixed(9), '1.000000000');
  assert.equal(found.at(-1).bytes, Math.round(found.at(-1).share * reply().stored.journal));
  assert.ok(shares(reply(), 'namespace').every((one) => !one.rest));
  assert.deepEqual(shares(reply(), 'nosuch'), []);
});

test('a small share is not rounded to nothing', () => {
  assert.equal(shareWords(0.41, 'en'), '41%');
  assert.equal(shareWords(0.076, 'en'), '7.6%');
  assert.equal(shareWords(0.0004, 'en'), '< 0.1%');
  assert.equal(shareWords(0, 'en'), '0%');
});

test('a job is split at the first slash, and its namespace decoded; a malformed one is left as it is', () => {
  assert.deepEqual(jobOf('hr%2Feu/load/2'), { namespace: 'hr/eu', name: 'load/2' });
  assert.deepEqual(jobOf('%zz/load'), { namespace: '%zz', name: 'load' });
  assert.deepEqual(jobOf('load'), { namespace: '', name: 'load' });
});

test('savings of the disk come first, the largest first, with the days that they give', () => {
  const found = savings(reply());
  assert.deepEqual(
    found.map(({ setting, saves, lasts }) => [setting, saves, lasts]),
    [
      ['HEADWATER_KEEP=days=30', 'up to 1.1 GB of the disk', 'up to 21 days'],
      ['HEADWATER_KEEP=runs=100', 'up to 902.3 MB of the disk', 'up to 17 days'],
      ['HEADWATER_KEEP=days=90', 'up to 702.5 MB of the disk', 'up to 13 days'],
      ['HEADWATER_KEEP=days=400', 'nothing today', ''],
      ['HEADWATER_GRAPH_RUNS=newest:3', 'about 218,000 elements (218.4 MB of the heap)', 'about 21 days'],
      ['HEADWATER_GRAPH_RUNS=none', 'about 251,000 elements (251 MB of the heap)', 'about 24 days'],
    ],
  );
  assert.deepEqual(
    found.filter((one) => one.inForce).map(({ setting }) => setting),
    ['HEADWATER_KEEP=days=400'],
  );
});

test('without a rate a saving says no days, and without an engine no bytes', () => {
  const found = reply();
  found.growth = { documents: null, bytes: null, elements: 0 };
  found.runs.saved['HEADWATER_GRAPH_RUNS=none'].bytes = null;
  assert.ok(savings(found).every(({ lasts }) => lasts === ''));
  assert.equal(savings(found).at(-1).saves, 'about 251,000 elements of the graph');
});

test('the room is taken by journal, catalogue and, where there is an engine, its graph', () => {
  assert.deepEqual(
    takers(reply()).map(({ name, size }) => [name, size]),
    [
      ['Journal', '1.2 GB'],
      ['Catalogue', '486.2 MB'],
      ['Graph', '402.3 MB'],
      ['Runs in the graph', '251 MB'],
    ],
  );
  assert.match(takers(reply())[3].said, /^of it about 251,000 elements/);
  const found = reply();
  found.stored.log = 4_100_000;
  assert.deepEqual(
    takers(found)
      .slice(2, 3)
      .map(({ name, size }) => [name, size]),
    [['Write-ahead logs', '4.1 MB']],
  );
  found.stored.log = 0;
  found.stored.elements = 0; // counted before the first run came
  assert.match(takers(found)[3].said, /^about 251,000 elements/);
  found.stored.elements = found.stored.heap = null;
  found.runs.elements = 0;
  assert.equal(takers(found).length, 2);
});

test('the settings in force are lines of an environment, an empty one too', () => {
  assert.deepEqual(inForce(reply()), ['HEADWATER_KEEP=days=400', 'HEADWATER_GRAPH_RUNS=all']);
  assert.equal(inForce({ ...reply(), keep: null })[0], 'HEADWATER_KEEP=');
});

test('elements are counted to the last one only where they are few', () => {
  assert.equal(elements(1), '1 element');
  assert.equal(elements(999.4), '999 elements');
  assert.equal(elements(402_345), '402,000 elements');
});

test('the line under the heading has the size, and the documents a day where they are known', () => {
  assert.equal(summary(reply()), '1.7 GB on disk · 12,841 documents a day');
  assert.equal(summary({ ...reply(), growth: { documents: null } }), '1.7 GB on disk');
});

test('the size under the heading is that of every part that the table below names as on disk', () => {
  const found = reply();
  found.stored = { ...found.stored, journal: 100_000, catalogue: 900_000, log: 7_000_000 };
  assert.match(summary(found), /^8 MB on disk/);
});
