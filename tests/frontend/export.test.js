/** Exports hold the whole picture, whatever its names are. */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { toModel } from '../../frontend/js/data/model.js';
import { huesOf } from '../../frontend/js/drawing/box-style.js';
import { NAMES } from '../../frontend/js/drawing/palette.js';
import { legendOf } from '../../frontend/js/drawing/legend.js';
import { toCsv, toCurl, toGremlin } from '../../frontend/js/export/copies.js';
import { layLegend } from '../../frontend/js/export/legend.js';
import { escape } from '../../frontend/js/export/recorder.js';
import { toSvg } from '../../frontend/js/export/sheet.js';

const fixture = (name) => JSON.parse(readFileSync(new URL(`fixtures/${name}.json`, import.meta.url), 'utf8'));
const palette = Object.fromEntries(Object.keys(NAMES).map((name) => [name, '#123456']));
globalThis.Path2D ??= class {};

function svgOf(reply, { by = /** @type {const} */ ('') } = {}) {
  const model = toModel(reply);
  return { model, svg: toSvg({ model, palette, hues: huesOf(model, by), heading: 'daily <revenue>', subtitle: '2 tables' }) };
}

const words = (svg) => [...svg.matchAll(/<text [^>]*>([^<]*)</g)].map(([, text]) => text);

test('the SVG holds every box, every column and every way', () => {
  const { model, svg } = svgOf(fixture('lineage-columns'));
  assert.equal(svg.match(/<g>/g).length, model.boxes.size);
  assert.equal(svg.match(/<path d="M[^"L]+L[^"L]+L[^"LZ]+Z" fill/g).length, model.links.size);
  const written = words(svg);
  for (const row of model.rows.values()) assert.ok(written.includes(row.short), row.short);
});

test('hostile names are text in an SVG', () => {
  const { svg } = svgOf(fixture('hostile'));
  assert.doesNotMatch(svg, /<script|<img|onerror=[^&]*>/i);
  assert.equal(escape('<a b="c">&\u0000'), '&lt;a b=&quot;c&quot;&gt;&amp;\ufffd');
});

test('the CSV has an edge a line, quotes the fields that need it, and holds no formula', () => {
  const lines = toCsv(toModel(fixture('overview'))).trimEnd().split('\r\n');
  assert.equal(lines.length, 1 + fixture('overview').edges.length);
  const nodes = [{ id: 'a', kind: 'dataset', uri: '=1+1,"x"' }, { id: 'b', kind: 'dataset', uri: 's3://b' }];
  const edges = [{ id: 'e', kind: 'feeds', from: 'a', to: 'b' }];
  assert.match(toCsv(toModel({ nodes, edges })), /"'=1\+1,""x""",s3:\/\/b,feeds/);
});

test('a command quotes its address and holds no key; a traversal is bounded', () => {
  assert.equal(toCurl("http://h/graph?q=it's", true), `curl -H "X-API-Key: $HEADWATER_API_KEY" 'http://h/graph?q=it'\\''s'`);
  assert.equal(toGremlin('ds_1', 'upstream', 2), "g.V('ds_1').emit().repeat(__.in('feeds').simplePath()).times(4).dedup().limit(500).elementMap()");
});

const place = { x: 0, y: 0, width: 240, height: 46 };
const GOVERNED = {
  nodes: [
    { id: 'a', kind: 'dataset', label: 'staff', uri: 's3://lake/staff', classifications: ['PII'], ...place },
    { id: 'j', kind: 'job', label: 'load', namespace: 'hr', name: 'load', producer: 'openlineage-spark', lastRun: { state: 'failed' }, ...place, x: 300 },
  ],
  edges: [{ id: 'e', kind: 'feeds', from: 'a', to: 'j', attempted: true }],
};

test('flow that was not seen yet has a line of its own in the legend, where it is drawn', () => {
  const unseen = 'Not seen yet: a next run would bring it';
  const picture = (edge) => svgOf({ ...GOVERNED, edges: [{ ...GOVERNED.edges[0], ...edge, attempted: false }] });
  assert.ok(!words(picture({}).svg).includes(unseen));
  const { model, svg } = picture({ seen: false });
  assert.ok(words(svg).includes(unseen));
  assert.match(toCsv(model), /,not seen yet\r\n$/);
});

test('a saved picture has its heading, the letters of its boxes and a key of all its signs', () => {
  const { model, svg } = svgOf(GOVERNED, { by: 'namespace' });
  const written = words(svg);
  assert.ok(written.includes('daily &lt;revenue&gt;') && written.includes('2 tables'));
  for (const name of ['staff', 'load', 'PII', 'S', 'H']) assert.ok(written.includes(name), name);
  for (const { name, meanings } of legendOf(model, huesOf(model, 'namespace'))) {
    assert.ok(written.includes(name), name);
    for (const { words: meaning } of meanings) assert.ok(written.includes(meaning), meaning);
  }
  assert.ok(['Attempted by a run that failed or was aborted', 'Object store', 'Spark', 'Classes', 'Namespaces'].every((word) => written.includes(word)));
});

test('a job whose last run was aborted has a mark of its own, and is none that failed', () => {
  const job = { id: 'j', kind: 'job', label: 'load', namespace: 'etl', name: 'load' };
  const picture = (state) => svgOf({ nodes: [{ ...job, lastRun: { state } }], edges: [] });
  const mark = 'Last run aborted';
  const { model, svg } = picture('aborted');
  assert.ok(words(svg).includes(mark) && words(svg).includes('last run aborted'));
  assert.equal(model.boxes.get('j').failed, false);
  assert.ok(!words(svg).includes('Last run failed') && !words(picture('failed').svg).includes(mark));
});

test('a key stays within the picture, and no two signs share a place', () => {
  const groups = [{ name: 'Namespaces', meanings: Array.from({ length: 40 }, (_, number) => ({ sign: { kind: 'box', look: 'job' }, words: `namespace ${number}` })) }];
  const { placed, height } = layLegend(groups, 480, (text) => 7 * text.length);
  assert.ok(placed.every(({ x, y, words: word }) => x + 26 + 7 * word.length <= 480 && y < height));
  assert.equal(new Set(placed.map(({ x, y }) => `${x} ${y}`)).size, placed.length);
});
