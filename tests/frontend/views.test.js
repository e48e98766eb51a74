// The table of the views against their modules.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { VIEWS } from '../../frontend/js/views.js';

test('the module of every entry has a view that can be loaded and has controls', async () => {
  for (const [name, entry] of Object.entries(VIEWS)) {
    const view = await entry.module();
    assert.equal(typeof view?.load, 'function', name);
    assert.ok(Array.isArray(view.controls), name);
  }
});
