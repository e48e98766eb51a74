/** The map of a narrow window: areas below each other, flows as arcs at their left. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { arcBetween, placesInColumn } from '../../frontend/js/estate/column.js';

const area = (id, x, y) => ({ id, place: { x, y, width: 210, height: 64 } });

test('areas stand in the order of the flow, none over another', () => {
  const places = placesInColumn([area('mart', 375, 40), area('raw', 105, 200), area('landing', 105, 40)]);
  assert.deepEqual([...places.keys()], ['landing', 'raw', 'mart']);
  const tops = [...places.values()].map(({ y, height }) => [y - height / 2, y + height / 2]);
  for (const [number, [top]] of tops.entries()) assert.ok(number === 0 || top > tops[number - 1][1]);
});

test('an arc stays left of the areas and within the window, however far it leads', () => {
  const places = [...placesInColumn(Array.from({ length: 60 }, (_, number) => area(`a${number}`, number, 0))).values()];
  for (const [from, to] of [[0, 1], [0, 59], [59, 0]]) {
    const { path, left } = arcBetween(places[from], places[to]);
    assert.ok(left < 0 && left > -60, `${left}`);
    assert.match(path, /^M0 [\d.]+C-/);
  }
});

test('links that leave an area and links that arrive at it do not share an end', () => {
  const [first, second, third] = placesInColumn([area('a', 1, 0), area('b', 2, 0), area('c', 3, 0)]).values();
  assert.notEqual(arcBetween(first, second).path.split(' ').at(-1), arcBetween(second, third).path.split(' ')[1].split('C')[0]);
});
