import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { test } from 'node:test';
import { NAMES, pick, readPalette } from '../../frontend/js/drawing/palette.js';

const css = readFileSync(new URL('../../frontend/css/palette.css', import.meta.url), 'utf8');
const said = Object.fromEntries([...css.matchAll(/(--[a-z-]+):\s*([^;]+);/g)].map(([, name, value]) => [name, value]));
const colours = Object.keys(said).filter((name) => said[name].startsWith('light-dark(#'));
const valued = (dark) => Object.fromEntries(colours.map((name) => [name, pick(said[name], dark)]));

const LIGHT = valued(false);
const DARK = valued(true);

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
  ...[...'abcdefgh'].map((letter) => ['--canvas', `--hue-${letter}`]), // the classes of a table
];
const SHAPES = [
  ['--dataset', '--canvas'],
  ['--job', '--canvas'],
  ['--operation', '--canvas'],
  ['--direct', '--canvas'],
  ['--indirect', '--canvas'],
  ['--failed', '--canvas'],
  ['--ok', '--canvas'], // added parts
  ['--busy', '--canvas'], // changed parts
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

test('names are legible on the tint of every hue', () => {
  for (const values of [LIGHT, DARK])
    for (const letter of 'abcdefgh')
      for (const ink of ['--ink', '--muted']) {
        const ground = mixed(values[`--hue-${letter}`], values['--surface'], 0x2b / 0xff);
        assert.ok(contrast(values[ink], ground) >= 4.5, `${ink} on the tint of ${letter}: ${contrast(values[ink], ground)}`);
      }
});

function mixed(above, below, share) {
  const part = (colour, at) => parseInt(colour.slice(at, at + 2), 16);
  const both = [1, 3, 5].map((at) => Math.round(part(above, at) * share + part(below, at) * (1 - share)));
  return `#${both.map((value) => value.toString(16).padStart(2, '0')).join('')}`;
}

test('every colour has two values that can be told apart, and stands in the palette alone', () => {
  assert.ok(colours.length > 25);
  for (const name of colours) assert.notEqual(LIGHT[name], DARK[name], name);
  const others = readdirSync(new URL('../../frontend/css/', import.meta.url)).filter((one) => one !== 'palette.css');
  for (const name of others) {
    const text = readFileSync(new URL(`../../frontend/css/${name}`, import.meta.url), 'utf8');
    assert.doesNotMatch(text, /#[0-9a-f]{3,8}\b|\brgb\(|prefers-color-scheme/, name);
  }
});

test('the canvas finds all its colours in the style sheet, for light and for dark', () => {
  for (const [dark, values] of [
    [false, LIGHT],
    [true, DARK],
  ]) {
    const palette = readPalette({ getPropertyValue: (name) => ` ${said[name] ?? ''}` }, dark);
    assert.deepEqual(Object.keys(palette), Object.keys(NAMES));
    for (const [name, colour] of Object.entries(palette)) assert.equal(colour, values[NAMES[name]], name);
  }
});

test('contrast is that of the standard', () => {
  assert.equal(contrast('#000000', '#ffffff'), 21);
  assert.equal(contrast('#ffffff', '#ffffff'), 1);
});

/**
 * Contrast of two colours after WCAG 2, 1 to 21.
 * @param {string} one `#rrggbb`
 * @param {string} other `#rrggbb`
 * @returns {number}
 */
function contrast(one, other) {
  const [light, dark] = [luminance(one), luminance(other)].sort((a, b) => b - a);
  return (light + 0.05) / (dark + 0.05);
}

function luminance(colour) {
  const parts = [1, 3, 5].map((start) => parseInt(colour.slice(start, start + 2), 16) / 255);
  const [red, green, blue] = parts.map((part) =>
    part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4,
  );
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
}
