/** The watch over the server, with a clock of the test and a page that is only asked for its state. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createWatch } from '../../frontend/js/shell/watch.js';

globalThis.HTMLInputElement = class {};
globalThis.HTMLTextAreaElement = class {};
globalThis.document = { hidden: false, body: { dataset: { state: 'ready' } }, activeElement: null, getSelection: () => null };

/**
 * An open page of this view. `look` is one look at a journal with these counts; it tells how often the page was loaded.
 * `shown` gets the pending documents that the header has; `whenLoaded` are the counts once the first page is loaded.
 */
async function open(context, first, view = 'job', shown = [], whenLoaded = first) {
  let counts = first;
  let tick = assert.fail;
  context.mock.method(globalThis, 'setInterval', (call) => (tick = call));
  const watch = createWatch({
    navigation: { state: () => ({ view }) },
    api: { get: async () => ({ ok: true, data: counts }) },
    screen: { page: () => ({}) },
    loading: { load: loaded, fail: assert.fail },
    showDocuments: (summary) => shown.push(summary?.pending),
  });
  let loads = 0;
  async function loaded() {
    loads += 1;
    await watch.showReceived();
  }
  counts = whenLoaded;
  await watch.showReceived();
  watch.start();
  return async function look(now) {
    counts = now;
    await tick();
    return loads;
  };
}

const at = (projected, pending, more = {}) => ({ projected, pending, waiting: 0, failed: 0, ...more });

test('a page is loaded at the next look once documents are in the graph and none is pending', async (context) => {
  const look = await open(context, at(10, 0));
  assert.equal(await look(at(10, 3)), 0);
  assert.equal(await look(at(13, 0)), 1);
  assert.equal(await look(at(13, 0)), 1);
});

test('documents that come while the first page is loaded are news', async (context) => {
  const look = await open(context, at(10, 1), 'job', [], at(11, 0));
  assert.equal(await look(at(11, 0)), 1);
  assert.equal(await look(at(11, 0)), 1);
});

test('where documents are pending all the time a page is loaded at every fourth look', async (context) => {
  const look = await open(context, at(10, 5));
  const loads = [];
  for (let position = 11; position < 23; position += 1) loads.push(await look(at(position, 5)));
  assert.deepEqual(loads, [0, 0, 0, 1, 1, 1, 1, 2, 2, 2, 2, 3]);
});

test('the last of them is on the page at once', async (context) => {
  const look = await open(context, at(10, 5));
  const loads = [];
  for (const counts of [at(11, 4), at(11, 4), at(12, 3), at(13, 2), at(14, 1), at(15, 0)]) loads.push(await look(counts));
  assert.deepEqual(loads, [0, 0, 0, 1, 1, 2]);
});

test('pending documents of which none is projected load nothing', async (context) => {
  const look = await open(context, at(10, 5));
  for (let pending = 5; pending < 15; pending += 1) assert.equal(await look(at(10, pending)), 0);
  assert.equal(await look(at(11, 14)), 1);
});

test('documents that fail or wait are news, too', async (context) => {
  const look = await open(context, at(10, 0));
  assert.equal(await look(at(10, 0, { failed: 1 })), 1);
  assert.equal(await look(at(10, 0, { failed: 1, waiting: 1 })), 2);
});

test('a page that shows no arrivals is left alone', async (context) => {
  const look = await open(context, at(10, 0), 'impact');
  for (let position = 11; position < 20; position += 1) assert.equal(await look(at(position, 1)), 0);
});

test('the header has the numbers of each look, whatever the page shows', async (context) => {
  const shown = [];
  const look = await open(context, at(10, 2), 'impact', shown);
  await look(at(11, 1));
  await look(at(12, 0));
  assert.deepEqual(shown, [2, 1, 0]);
});

test('what the reader writes is kept until the reader has done', async (context) => {
  const look = await open(context, at(10, 0));
  document.activeElement = new HTMLInputElement();
  context.after(() => (document.activeElement = null));
  assert.equal(await look(at(11, 0)), 0);
  document.activeElement = null;
  assert.equal(await look(at(11, 0)), 1);
});
