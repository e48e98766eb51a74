/** What is taken away: the whole picture, whatever its names are. */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { toModel } from '../../frontend/js/data/model.js';
import { NAMES } from '../../frontend/js/drawing/palette.js';
import { toCsv, toCurl, toGremlin } from '../../frontend/js/export/copies.js';
import { escape, toSvg } from '../../frontend/js/export/svg.js';

const fixture = (name) => JSON.parse(readFileSync(new URL(`fixtures/${name}.json`, import.meta.url), 'utf8'));
const palette = Object.fromEntries(Object.keys(NAMES).map((name) => [name, '#123456']));

test('the SVG holds every box, every column and every way', () => {
  const model = toModel(fixture('lineage-columns'));
  const svg = toSvg(model, palette);
  assert.equal(svg.match(/<g>/g).length, model.boxes.size);
  assert.equal(svg.match(/stroke-width="[\d.]+"(?: stroke-dasharray="[^"]+")?\/>\n<path d="M[\d. -]+l/g).length, model.links.size);
  assert.equal(svg.match(/font-size="12"/g).length, model.rows.size);
});

test('hostile names are text in an SVG', () => {
  const svg = toSvg(toModel(fixture('hostile')), palette);
  assert.doesNotMatch(svg, /<script|<img|onerror=[^&]*>/i);
  assert.equal(escape('<a b="c">&\u0000'), '&lt;a b=&quot;c&quot;&gt;&amp;\ufffd');
});

test('the CSV has an edge a line, quotes what needs it, and holds no formula', () => {
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
