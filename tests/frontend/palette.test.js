import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { contrast, NAMES, readPalette } from '../../frontend/js/palette.js';

const css = readFileSync(new URL('../../frontend/css/app.css', import.meta.url), 'utf8').replaceAll("'", '"');

/** The custom properties of the first block after a selector. */
function properties(selector) {
  const start = css.indexOf(selector);
  assert.ok(start >= 0, selector);
  const block = css.slice(css.indexOf('{', start) + 1, css.indexOf('}', start));
  return Object.fromEntries(
    [...block.matchAll(/(--[a-z-]+):\s*([^;]+);/g)].map(([, name, value]) => [name, value]),
  );
}

const LIGHT = properties(':root {');
const DARK = properties(':root:not([data-theme="light"])');

const TEXT = [
  ['--ink', '--surface'],
  ['--ink', '--canvas'],
  ['--ink', '--sunken'],
  ['--ink', '--dataset-soft'],
  ['--ink', '--job-soft'],
  ['--ink', '--failed-soft'],
  ['--ink', '--busy-soft'],
  ['--ink', '--accent-soft'],
  ['--muted', '--surface'],
  ['--muted', '--canvas'],
  ['--muted', '--sunken'],
  ['--muted', '--operation-soft'],
  ['--muted', '--dataset-soft'],
  ['--muted', '--job-soft'],
  ['--muted', '--failed-soft'],
  ['--accent', '--surface'],
  ['--accent', '--canvas'],
  ['--accent', '--accent-soft'],
  ['--accent', '--failed-soft'],
  ['--accent', '--busy-soft'],
  ['--accent-ink', '--accent'],
  ['--dataset', '--dataset-soft'],
  ['--job', '--job-soft'],
  ['--direct', '--direct-soft'],
  ['--direct', '--surface'],
  ['--indirect', '--indirect-soft'],
  ['--failed', '--failed-soft'],
  ['--failed', '--surface'],
  ['--ok', '--ok-soft'],
  ['--busy', '--busy-soft'],
  ['--busy', '--surface'],
  ['--canvas', '--failed'],
  ['--canvas', '--accent'], // the tags of a table
];
const SHAPES = [
  ['--dataset', '--canvas'],
  ['--job', '--canvas'],
  ['--operation', '--canvas'],
  ['--direct', '--canvas'],
  ['--indirect', '--canvas'],
  ['--failed', '--canvas'],
  ['--ok', '--canvas'], // what was added
  ['--busy', '--canvas'], // what changed
  ['--feeds', '--canvas'],
  ['--line-strong', '--surface'],
  ['--accent', '--canvas'],
];

for (const [theme, values] of [
  ['light', LIGHT],
  ['dark', DARK],
]) {
  test(`text is legible in ${theme} colours (WCAG AA, 4.5 to 1)`, () => {
    for (const [ink, ground] of TEXT) {
      const found = contrast(values[ink], values[ground]);
      assert.ok(found >= 4.5, `${ink} on ${ground}: ${found.toFixed(2)}`);
    }
  });

  test(`shapes and lines stand out in ${theme} colours (WCAG AA, 3 to 1)`, () => {
    for (const [ink, ground] of SHAPES) {
      const found = contrast(values[ink], values[ground]);
      assert.ok(found >= 3, `${ink} on ${ground}: ${found.toFixed(2)}`);
    }
  });
}

test('the dark colours of the system and of the switch are the same', () => {
  assert.deepEqual(properties(':root[data-theme="dark"]'), DARK);
});

test('every colour of light exists in dark', () => {
  const colours = Object.keys(LIGHT).filter((name) => LIGHT[name].startsWith('#'));
  assert.deepEqual(
    colours.filter((name) => !(name in DARK)),
    [],
  );
});

test('the canvas finds all its colours in the style sheet', () => {
  const palette = readPalette({ getPropertyValue: (name) => ` ${LIGHT[name] ?? ''}` });
  assert.deepEqual(Object.keys(palette), Object.keys(NAMES));
  for (const [name, colour] of Object.entries(palette)) assert.match(colour, /^#[0-9a-f]{6}$/, name);
});

test('contrast is that of the standard', () => {
  assert.equal(contrast('#000000', '#ffffff'), 21);
  assert.equal(contrast('#ffffff', '#ffffff'), 1);
});
