import assert from 'node:assert/strict';
import { test } from 'node:test';
import { place } from '../../frontend/js/layout.js';

const box = (id) => ({ id, width: 100, height: 40 });
const boxes = (text) => Array.from(text, box);
const links = (...pairs) => pairs.map(([from, to]) => ({ from, to }));

test('data flows from left to right', () => {
  const at = place(boxes('abcd'), links('ab', 'bc', 'ad', 'dc'));
  assert.ok(at.get('a').x < at.get('b').x);
  assert.equal(at.get('b').x, at.get('d').x);
  assert.ok(at.get('b').x < at.get('c').x);
});

test('cycles and loops end, and every box gets a place', () => {
  const at = place(boxes('abc'), links('ab', 'bc', 'ca', 'aa'));
  assert.equal(at.size, 3);
  for (const { x, y } of at.values()) assert.ok(Number.isFinite(x) && Number.isFinite(y));
});

test('edges to unknown boxes are ignored', () => {
  assert.equal(place(boxes('a'), links('ab', 'ba')).size, 1);
});

test('two chains do not cross', () => {
  const at = place(boxes('abxy'), links('ay', 'bx'));
  assert.equal(at.get('a').y < at.get('b').y, at.get('y').y < at.get('x').y);
});

test('equal input gives equal places', () => {
  const once = place(boxes('abcdef'), links('ab', 'ac', 'bd', 'cd', 'de', 'cf'));
  const again = place(boxes('abcdef'), links('ab', 'ac', 'bd', 'cd', 'de', 'cf'));
  assert.deepEqual([...once], [...again]);
});

test('a chain of five thousand does not exhaust the stack', () => {
  const many = Array.from({ length: 5000 }, (_, number) => box(`n${number}`));
  const chain = many.slice(1).map((_, number) => ({ from: `n${number}`, to: `n${number + 1}` }));
  assert.equal(place(many, chain).size, 5000);
});
