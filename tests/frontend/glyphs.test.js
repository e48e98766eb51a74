/** Which glyph a table and a job have: told by their addresses and producers. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { GLYPHS, platformOf, producerOf } from '../../frontend/js/drawing/glyphs.js';

const OPENLINEAGE = 'https://github.com/OpenLineage/OpenLineage/tree/1.53.0';

for (const [producer, glyph] of [
  [`${OPENLINEAGE}/integration/spark`, 'spark'],
  ['spline 2.2.0', 'spark'],
  ['headwater-listener 0.2.0', 'spark'],
  ['https://github.com/apache/airflow/tree/providers-openlineage/2.20.3', 'airflow'],
  [`${OPENLINEAGE}/integration/dbt`, 'dbt'],
  ['headwater', 'declared'],
  ['https://example.org/superset', 'reader'],
  [`${OPENLINEAGE}/client/python`, 'job'],
  ['https://example.org/own-runner', 'job'],
  ['', 'job'],
  [null, 'job'],
])
  test(`the producer ${producer} has the glyph ${glyph}`, () => {
    assert.equal(producerOf({ producer }), glyph);
    assert.ok(Object.hasOwn(GLYPHS, glyph));
  });

for (const [uri, glyph] of [
  ['s3://lake/orders', 'bucket'],
  ['jdbc:postgresql://db.example.org/shop:public.orders', 'postgresql'],
  ['jdbc:unheard:of', 'jdbc'],
  ['kafka:web.clicks', 'kafka'],
  ['constructor:x', 'table'],
])
  test(`the platform of ${uri} has the glyph ${glyph}`, () => assert.equal(platformOf({ uri }), glyph));
