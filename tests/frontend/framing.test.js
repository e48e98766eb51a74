/** The first view of a picture: all of it where that can be read, else a close-up of the requested node. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { isLegible, openingOf, towards, wholeOf } from '../../frontend/js/drawing/framing.js';
import { LEGIBLE } from '../../frontend/js/drawing/shapes.js';

const WINDOW = { width: 924, height: 560 };
const wide = (width) => ({ left: 100, top: -200, right: 100 + width, bottom: 200 });

/** The area that a frame shows. */
function seen({ scale, position }, { width, height } = WINDOW) {
  return {
    left: position.x - width / (2 * scale),
    right: position.x + width / (2 * scale),
    top: position.y - height / (2 * scale),
    bottom: position.y + height / (2 * scale),
  };
}

test('letters of titles and of columns are 11 pixels high where a picture opens whole', () => {
  assert.ok(Math.abs(LEGIBLE.titles - 11 / 15) < 1e-9);
  assert.ok(Math.abs(LEGIBLE.rows - 11 / 14) < 1e-9);
});

test('a picture that can be read whole opens whole, wherever the asked node stands', () => {
  const around = wide(1_140);
  const frame = openingOf(around, WINDOW, LEGIBLE.titles, { x: 100, y: 0 });
  assert.deepEqual(frame, wholeOf(around, WINDOW));
  const { left, right } = seen(frame);
  assert.ok(left < around.left && right > around.right);
  assert.ok(frame.scale >= LEGIBLE.titles);
});

test('a picture whose letters would be too small opens with the asked node in the middle', () => {
  const around = wide(4_000);
  assert.equal(isLegible(around, WINDOW, LEGIBLE.titles), false);
  const frame = openingOf(around, WINDOW, LEGIBLE.titles, { x: 2_000, y: 0 });
  assert.equal(frame.position.x, 2_000);
  assert.ok(frame.scale >= 0.7);
});

test('a close-up does not show the empty room beyond an edge', () => {
  const around = wide(4_000);
  for (const x of [around.left, around.right]) {
    const { left, right } = seen(openingOf(around, WINDOW, LEGIBLE.titles, { x, y: 0 }));
    assert.ok(left >= around.left - 41 && right <= around.right + 41, `${left} to ${right}`);
    assert.ok(left <= x && x <= right);
  }
});

test('without a node a close-up begins where the flow begins', () => {
  const { left } = seen(openingOf(wide(4_000), WINDOW, LEGIBLE.titles, undefined));
  assert.ok(left < 100 && left > 59);
});

test('a close-up shows as much as letters of 11 pixels allow, also where the other side has room', () => {
  assert.equal(openingOf(wide(4_000), WINDOW, LEGIBLE.titles, { x: 2_000, y: 0 }).scale, 0.75);
  assert.equal(openingOf(wide(4_000), WINDOW, LEGIBLE.rows, { x: 2_000, y: 0 }).scale, LEGIBLE.rows);
});

test('a close-up moves a little so that fewer boxes are cut, and keeps the asked node in view', () => {
  const box = (left, width) => ({ left, right: left + width, top: -20, bottom: 20 });
  const asked = { x: 2_000, y: 0 };
  const boxes = [box(1_900, 200), box(2_450, 200), box(200, 150), box(350, 150), box(3_000, 100)];
  const view = seen(openingOf(wide(4_000), WINDOW, LEGIBLE.titles, asked, boxes));
  assert.ok(Math.abs(view.right - 6 / 0.75 - 2_650) < 1e-6, 'its right edge');
  assert.ok(view.left < 1_900);
});

test('a close-up that stands at an edge for the asked node does not leave it for other boxes', () => {
  const box = (left, width) => ({ left, right: left + width, top: -20, bottom: 20 });
  const boxes = [box(3_900, 200), box(2_830, 100), box(2_820, 100)];
  const view = seen(openingOf(wide(4_000), WINDOW, LEGIBLE.titles, { x: 4_000, y: 0 }, boxes));
  assert.ok(view.right >= 4_100, `${view.left} to ${view.right}`);
});

test('columns are read at a nearer zoom than titles', () => {
  const around = wide(1_140);
  assert.equal(isLegible(around, WINDOW, LEGIBLE.titles), true);
  assert.equal(isLegible(around, WINDOW, LEGIBLE.rows), false);
});

test('what was opened comes into view without moving farther, or smaller, than it must', () => {
  const now = { scale: 1, position: { x: 0, y: 0 } };
  const part = (left, width) => ({ left, right: left + width, top: -20, bottom: 20 });
  assert.equal(towards(part(-100, 200), WINDOW, now), null, 'it is in view');
  const beside = towards(part(300, 300), WINDOW, now);
  assert.deepEqual([beside.scale, beside.position.y], [1, 0]);
  assert.equal(seen(beside).right, 600 + 28, 'as far as its edge');
  const large = towards(part(0, 2_000), WINDOW, now);
  assert.ok(large.scale < 1 && seen(large).left <= 0 && seen(large).right >= 2_000);
});
