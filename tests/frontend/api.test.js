import assert from 'node:assert/strict';
import { test } from 'node:test';
import { address, createApi } from '../../frontend/js/data/api.js';

const reply = (status, body, headers = {}) => ({
  ok: status < 400,
  status,
  statusText: '',
  text: async () => (typeof body === 'string' ? body : JSON.stringify(body)),
  headers: { get: (name) => headers[name] ?? null },
});

test('empty values are left out of the query, others are escaped', () => {
  assert.equal(
    address('/graph/lineage', {
      node: 'dataset:s3://a b&c',
      at: '',
      limit: null,
      columns: undefined,
      depth: 0,
    }),
    '/graph/lineage?node=dataset%3As3%3A%2F%2Fa+b%26c&depth=0',
  );
  assert.equal(address('/journal', {}), '/journal');
});

test('an answer is data', async () => {
  const api = createApi(async () => reply(200, { nodes: [] }));
  assert.deepEqual(await api.get('/x'), { ok: true, data: { nodes: [] } });
});

test('an error is a value with status, message and reasons', async () => {
  const body = {
    code: 400,
    status: 'Bad Request',
    message: 'depth: expected an integer',
    errors: { depth: ['an integer'] },
  };
  const result = await createApi(async () => reply(400, body)).get('/x');
  assert.equal(result.ok, false);
  assert.deepEqual(
    [result.error.status, result.error.message, result.error.errors],
    [400, 'depth: expected an integer', { depth: ['an integer'] }],
  );
});

test('an answer that is not JSON is an error, whatever its status', async () => {
  const broken = await createApi(async () => reply(200, '<html>')).get('/x');
  assert.match(broken.error.message, /not JSON/);
  const gateway = await createApi(async () => reply(502, '<html>')).get('/x');
  assert.match(gateway.error.message, /502/);
});

test('documents that were taken need no body in the answer', async () => {
  assert.deepEqual(await createApi(async () => reply(201, '')).post('/x', []), { ok: true, data: null });
  assert.equal((await createApi(async () => reply(200, '')).get('/x')).ok, false);
});

test('no answer at all is status 0', async () => {
  const api = createApi(async () => {
    throw new TypeError('fetch failed');
  });
  assert.equal((await api.get('/x')).error.status, 0);
});

test('the wait after a 503 is that of the server, within reason', async () => {
  const wait = async (value) =>
    (await createApi(async () => reply(503, {}, { 'Retry-After': value })).get('/x')).error.retryAfter;
  assert.deepEqual(
    [await wait('7'), await wait('0'), await wait('99999'), await wait('soon'), await wait(null)],
    [7, 1, 30, 3, 3],
  );
});

test('a newer question on a channel makes the older one stale; other channels go on', async () => {
  const pending = [];
  const send = (path, { signal }) =>
    new Promise((resolve, reject) => {
      pending.push({ path, resolve });
      signal.addEventListener('abort', () => reject(new Error('aborted')));
    });
  const api = createApi(send);
  const [older, newer, other] = [
    api.get('/1', {}, 'search'),
    api.get('/2', {}, 'search'),
    api.get('/3', {}, 'panel'),
  ];
  for (const { resolve, path } of pending) resolve(reply(200, { path }));
  assert.deepEqual(await older, { ok: false, stale: true });
  assert.deepEqual((await newer).data, { path: '/2' });
  assert.deepEqual((await other).data, { path: '/3' });
});

test('a command is sent as JSON', async () => {
  let sent;
  const api = createApi(async (path, options) => {
    sent = { path, ...options };
    return reply(202, { reopened: 3 });
  });
  assert.equal((await api.post('/journal/replay', { state: 'failed' })).data.reopened, 3);
  assert.deepEqual(
    [sent.path, sent.method, sent.body, sent.headers['Content-Type']],
    ['/journal/replay', 'POST', '{"state":"failed"}', 'application/json'],
  );
});

test('a key goes along as a header, on questions and commands alike', async () => {
  const sent = [];
  const api = createApi(
    async (target, options) => {
      sent.push([target, options.headers]);
      return reply(200, {});
    },
    () => 'hw_1',
  );
  await api.get('/x', { q: 'a' });
  await api.post('/y', {});
  assert.deepEqual(
    sent.map(([target, headers]) => [target, headers['X-API-Key']]),
    [
      ['/x?q=a', 'hw_1'],
      ['/y', 'hw_1'],
    ],
  );
});

test('without a key there is no header', async () => {
  let headers;
  const api = createApi(async (_, options) => {
    headers = options.headers;
    return reply(200, {});
  });
  await api.get('/x');
  assert.equal('X-API-Key' in headers, false);
});
