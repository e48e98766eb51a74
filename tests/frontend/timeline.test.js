import assert from 'node:assert/strict';
import { test } from 'node:test';
import { lastByPartition, marksOf, timelineOfJob, timelineOfTable, writersOfAny } from '../../frontend/js/runs/timeline.js';

const JOB = { namespace: 'hr', name: 'load' };
const WRITES = [
  { at: '2026-03-03T06:00:00.000Z', state: 'failed', mode: 'overwrite', job: JOB, partitions: ['day=3'] },
  { at: '2026-03-02T06:00:00.000Z', state: 'completed', mode: null, job: JOB, partitions: ['day=2', 'day=3'] },
  { at: '2026-03-01T06:00:00.000Z', state: 'completed', mode: 'append', job: JOB, partitions: ['day=1'] },
];

test('writes and versions of a table are one list, newest first', () => {
  const versions = [
    { first: '2026-03-02T06:00:00.000Z', changes: [{ path: 'pay' }], columns: [] },
    { first: '2026-02-01T06:00:00.000Z', changes: null, columns: [1, 2] },
  ];
  const entries = timelineOfTable(WRITES, versions, ({ path }) => `column ${path} added`);
  assert.deepEqual(
    entries.map(({ at, words, changes }) => [at.slice(5, 10), words, changes]),
    [
      ['03-03', 'overwrite', []],
      ['03-02', 'write', ['column pay added']],
      ['03-01', 'append', []],
      ['02-01', 'version', ['first schema, 2 columns']],
    ],
  );
});

test('a run that has no time is no entry, and one that has not ended stands at its start', () => {
  const runs = [
    { startedAt: null, endedAt: null, state: 'started' },
    { startedAt: '2026-03-01T06:00:00.000Z', endedAt: null, state: 'started' },
  ];
  assert.deepEqual(timelineOfJob(runs, []).map(({ at }) => at), ['2026-03-01T06:00:00.000Z']);
});

test('a plan that began with a run is compared with the one before it', () => {
  const at = '2026-03-02T06:00:00.000Z';
  const versions = [
    { id: 'two', first: at, changes: ['join added'], previous: 'one' },
    { id: 'one', first: '2026-03-01T06:00:00.000Z', changes: null, previous: null },
  ];
  const entries = timelineOfJob([{ startedAt: at, endedAt: at, state: 'completed' }], versions);
  assert.deepEqual(
    entries.map(({ words, plans, changes }) => [words, plans, changes]),
    [['run', [['one', 'two']], ['join added']], ['version', [], ['first plan seen']]],
  );
});

test('entries that would lie over one another are one mark; a single entry stands at the end', () => {
  const at = (second) => ({ at: `2026-03-01T06:00:${second}.000Z`, state: '', words: '', job: null, changes: [], began: false, plans: [] });
  const marks = marksOf([at('59'), at('58'), at('00')], 0.05);
  assert.deepEqual(marks.map(({ place, entries }) => [place, entries.length]), [[1, 2], [0, 1]]);
  assert.deepEqual(marksOf([at('00')]).map(({ place }) => place), [1]);
  assert.deepEqual(marksOf([]), []);
});

test('each partition has its newest completed write and the attempts that failed since', () => {
  assert.deepEqual(
    lastByPartition(WRITES).map(({ partition, write, failed }) => [partition, write?.at.slice(8, 10), failed]),
    [['day=3', '02', 1], ['day=2', '02', 0], ['day=1', '01', 0]],
  );
});

test('an overwrite of the whole table leaves nothing of the writes before it', () => {
  const whole = { at: '2026-03-02T12:00:00.000Z', state: 'completed', mode: 'overwrite', job: JOB, partitions: [] };
  assert.deepEqual(lastByPartition([WRITES[0], whole, WRITES[1]]).map(({ write }) => write), [null]);
});

test('later writes that name no partition may have written any, and are candidates', () => {
  const unnamed = { at: '2026-03-04T06:00:00.000Z', state: 'completed', mode: 'append', job: JOB, partitions: [] };
  const tried = { ...unnamed, state: 'failed' };
  const between = { ...unnamed, at: '2026-03-01T12:00:00.000Z' };
  const known = lastByPartition([tried, unnamed, WRITES[1], between, WRITES[2]]);
  assert.deepEqual(known.map(({ partition, candidates }) => [partition, candidates]), [['day=3', 1], ['day=2', 1], ['day=1', 2]]);
});

test('where no write names its partitions, each down to a whole overwrite may have written any of them', () => {
  const write = (day, mode, state = 'completed') => ({ at: `2026-03-0${day}T06:00:00.000Z`, mode, state, partitions: [] });
  const writes = [write(5, 'append', 'failed'), write(4, 'append'), write(3, 'overwrite-partitions'), write(2, 'overwrite'), write(1, 'append')];
  const { candidates, whole, failed } = writersOfAny(writes);
  assert.deepEqual([candidates.map(({ at }) => at.slice(8, 10)), whole, failed], [['04', '03', '02'], false, 1]);
  assert.equal(writersOfAny(writes.slice(3)).whole, true);
  assert.deepEqual(writersOfAny([]), { candidates: [], whole: false, failed: 0 });
});
