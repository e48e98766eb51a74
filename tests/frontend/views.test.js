// The table of the views against their modules.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { overview } from '../../frontend/js/views/overview.js';
import { parse } from '../../frontend/js/data/url.js';
import { VIEWS } from '../../frontend/js/views.js';

test('the module of every entry has a view that can be loaded and has controls', async () => {
  for (const [name, entry] of Object.entries(VIEWS)) {
    const view = await entry.module();
    assert.equal(typeof view?.load, 'function', name);
    assert.ok(Array.isArray(view.controls), name);
  }
});

test('an outage behind an empty graph is an outage, not a server that has received nothing', async () => {
  const nothing = { nodes: [], edges: [], totals: { jobs: 0, datasets: 0, failed: 0 }, failures: [], asOf: null };
  const outage = { ok: false, stale: false, error: { status: 503, message: 'no answer', errors: {}, retryAfter: 3 } };
  const api = { get: async (path) => (path === '/journal' ? outage : { ok: true, data: nothing }) };
  const state = { ...parse('?view=overview'), view: 'overview' };
  assert.equal(await overview.load({ state, api, room: { width: 800, height: 600 } }), outage);
});
