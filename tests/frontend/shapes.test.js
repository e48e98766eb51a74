/** The marks on a box besides its colours. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { toModel } from '../../frontend/js/data/model.js';
import { huesOf } from '../../frontend/js/drawing/box-style.js';
import { NAMES } from '../../frontend/js/drawing/palette.js';
import { handlesOf, LEGIBLE, paint } from '../../frontend/js/drawing/shapes.js';

globalThis.Path2D ??= class {};
const palette = Object.fromEntries(Object.keys(NAMES).map((name) => [name, `colour of ${name}`]));

/** A canvas that notes the words it is given, and measures half of their size a letter. */
function recorder() {
  const words = [];
  const own = {
    font: '',
    fillText: (text, x, y) => words.push({ text, x, y, size: sizeOf(own.font) }),
    measureText: (text) => ({ width: [...text].length * sizeOf(own.font) * 0.5 }),
  };
  const context = new Proxy(own, { get: (target, name) => target[name] ?? (() => {}), set: (target, name, value) => ((target[name] = value), true) });
  return { context, words };
}

function sizeOf(font) {
  return Number(/([\d.]+)px/.exec(font)?.[1] ?? 0);
}

function painted(nodes, by, scale = 1) {
  const model = toModel({ nodes });
  const { context, words } = recorder();
  const look = { palette, hues: huesOf(model, by), lit: null, faded: 1, selected: '', focus: '', scale, linked: { left: new Set(), right: new Set() } };
  for (const box of model.boxes.values()) paint(context, box, look);
  return words;
}

const place = { x: 0, y: 0, width: 240, height: 46 };
const table = { id: 'a', kind: 'dataset', label: 'staff', uri: 's3://lake/staff', classifications: ['PII', 'finance'], ...place };
const job = { id: 'j', kind: 'job', label: 'load', namespace: 'hr', name: 'load', ...place };

test('the letter of the layer that tints a box stands on it, and its classes by their names', () => {
  const words = painted([table, job], 'namespace').map(({ text }) => text);
  for (const expected of ['S', 'PII', 'finance', 'H']) assert.ok(words.includes(expected), `${expected} of ${words}`);
});

test('a class that tints is named, and has no letter beside its name', () => {
  const words = painted([table], 'class').map(({ text }) => text);
  assert.ok(words.includes('PII'));
  assert.ok(!words.includes('P'));
});

test('marks beside each other do not overlap, and stay within their box', () => {
  const many = { ...table, classifications: ['PII', 'finance', 'personnel-records', 'retention-seven-years'] };
  for (const scale of [0.45, 1]) {
    const marks = painted([many], 'namespace', scale).filter(({ y }) => Math.abs(y + 23) < 2);
    assert.ok(marks.length >= 3);
    for (const [number, { text, x, size }] of marks.entries()) {
      const end = x + [...text].length * size * 0.5;
      assert.ok(end <= (marks[number + 1]?.x ?? 120), `${text} ends at ${end}`);
    }
  }
});

test('letters have one size in the drawing, so that they and their boxes are scaled together', () => {
  const column = { id: 'c', kind: 'column', label: 'mail', dataset: 's3://lake/staff', datasetId: 'a' };
  for (const scale of [0.4, LEGIBLE.titles, 1, 2]) {
    const words = painted([table, column], '', scale);
    assert.deepEqual(['staff', 'mail'].map((name) => words.find(({ text }) => text === name)?.size), [15, 14]);
  }
});

test('a name that is wider than its box stands whole on two lines, and what is known of it below where there is room', () => {
  const long = { ...table, classifications: [], label: 'staff_of_all_branches', uri: 's3://lake/x', width: 150, height: 63 };
  assert.deepEqual(painted([long], '').map(({ text }) => text).slice(0, 3), ['staff_of_', 'all_branches', 's3://lake/x']);
  assert.deepEqual(painted([{ ...long, height: 46 }], '').map(({ text }) => text).slice(0, 2), ['staff_of_', 'all_branches']);
  assert.ok(!painted([{ ...long, height: 46 }], '').some(({ text }) => text === 's3://lake/x'));
});

test('the class of a column is its letter', () => {
  const column = { id: 'c', kind: 'column', label: 'mail', dataset: 's3://lake/staff', datasetId: 'a', classifications: ['PII'] };
  assert.ok(painted([table, column], 'namespace').filter(({ text }) => text === 'P').length === 1);
});

test('handles cover no name: they lie beside their box and stay in the gap, at every zoom and in both directions', () => {
  const more = { upstream: 3, downstream: 120 };
  const [box] = toModel({ nodes: [{ ...table, more }] }).boxes.values();
  for (const scale of [0.45, 0.69, 1, 1.2])
    for (const flow of /** @type {const} */ (['', 'down'])) {
      const handles = handlesOf(box, scale, flow);
      assert.deepEqual(handles.map(({ text }) => text), ['+3', '+120']);
      for (const { x, y, width, height, size } of handles) {
        const [from, long, half] = flow === 'down' ? [Math.abs(y), height, box.height / 2] : [Math.abs(x), width, box.width / 2];
        const within = half - (from - long / 2);
        assert.ok(within > 0 && within <= 7 * size + 1e-9, `${within} of ${long} within the box`);
        if (flow === 'down') assert.ok(x - width / 2 >= box.x - box.width / 2 - 1e-9, 'it does not reach the box to its left');
      }
    }
});

