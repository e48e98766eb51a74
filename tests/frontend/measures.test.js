import assert from 'node:assert/strict';
import { test } from 'node:test';
import { heights, measuresOf, rhythmOf, usualBand } from '../../frontend/js/runs/measures.js';

test('rows and bytes have one name, whatever the producer calls them, and the rest stays apart', () => {
  const { read, write, rest } = measuresOf({
    read: { filesSize: 981, numFiles: 2, numOutputRows: 77 },
    write: { numOutputBytes: 0, numOutputRows: 36, numParts: 3 },
  });
  assert.deepEqual([read, write], [{ rows: 77, bytes: 981 }, { rows: 36, bytes: 0 }]);
  assert.deepEqual(rest, [['read numFiles', 2], ['write numParts', 3]]);
});

test('a size that was not measured is unknown, not nothing', () => {
  assert.deepEqual(measuresOf(null).write, { rows: null, bytes: null });
});

test('the greatest bar fills the height, and one of unknown length still shows', () => {
  assert.deepEqual(heights([10, null, 5]), [1, 0.06, 0.5]);
  assert.deepEqual(heights([null, 0]), [0.06, 0.06]);
});

test('usual is around the median of at least three known values', () => {
  assert.deepEqual(usualBand([8, null, 1000, 12, 4]), { low: 2, usual: 8, high: 32 });
  assert.equal(usualBand([8, null, 12]), null);
});

test('the rhythm of a job is the median time between its runs', () => {
  const runs = ['2026-01-09', '2026-01-06', '2026-01-05', '2026-01-04'].map((day) => ({
    startedAt: `${day}T06:00:00.000Z`,
    endedAt: `${day}T07:00:00.000Z`,
    executions: 1,
  }));
  assert.deepEqual(rhythmOf(runs), { milliseconds: 86_400_000, count: 4, of: 'run' });
  assert.equal(rhythmOf(runs.slice(0, 2)), null);
  assert.equal(rhythmOf([]), null);
});

test('the rhythm of a stream is that of the writes of its run', () => {
  const run = { startedAt: '2026-01-05T06:00:00.000Z', endedAt: '2026-01-05T06:10:00.000Z', executions: 11 };
  assert.deepEqual(rhythmOf([run]), { milliseconds: 60_000, count: 11, of: 'write' });
});
