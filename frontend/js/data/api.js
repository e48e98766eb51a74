/**
 * One wrapper around fetch. Errors are values; a newer question on the same channel aborts the older.
 */
import { apiKeyHeader } from './api-key.js';

const WAIT_DEFAULT = 3;
const WAIT_LONGEST = 30;

/**
 * @typedef {object} Failure
 * @property {number} status       0 when no answer came
 * @property {string} message
 * @property {Record<string, unknown>} errors  the server's message for each parameter
 * @property {number} retryAfter   seconds to wait before asking again
 * @property {unknown} [cause]     the browser's error when no answer came
 */

/** @typedef {{ok: true, data: any} | {ok: false, stale: false, error: Failure}} Answer */

/** @typedef {Answer | {ok: false, stale: true}} Result  stale: the same channel was asked again */

/**
 * @param {typeof fetch} [send] fetch, or a stand-in
 * @param {() => string} [key] the reader's API key; empty: none is sent
 * @returns {{get: (path: string, query?: Record<string, unknown>, channel?: string) => Promise<Result>,
 *   text: (path: string, query?: Record<string, unknown>) => Promise<Answer>,
 *   post: (path: string, body: unknown) => Promise<Answer>,
 *   put: (path: string, body: unknown) => Promise<Answer>,
 *   remove: (path: string, query?: Record<string, unknown>) => Promise<Answer>, abort: (channel: string) => void}}
 */
export function createApi(send = (...given) => fetch(...given), key = () => '') {
  /** @type {Map<string, AbortController>} */
  const running = new Map();

  function begin(channel) {
    running.get(channel)?.abort();
    const controller = new AbortController();
    running.set(channel, controller);
    return controller;
  }

  /** @returns {Promise<Result>} */
  async function get(path, query = {}, channel = '') {
    const { signal } = channel ? begin(channel) : new AbortController();
    const answer = await ask(send, address(path, query), { signal, headers: apiKeyHeader(key()) });
    return !answer.ok && answer.error.status === 0 && signal.aborted ? { ok: false, stale: true } : answer;
  }

  async function text(path, query = {}) {
    const headers = { Accept: '*/*', ...apiKeyHeader(key()) };
    return ask(send, address(path, query), { headers }, (reply) => reply.text());
  }

  async function post(path, body) {
    const headers = { 'Content-Type': 'application/json', ...apiKeyHeader(key()) };
    return ask(send, path, { method: 'POST', headers, body: JSON.stringify(body) });
  }

  async function put(path, body) {
    const headers = { 'Content-Type': 'application/json', ...apiKeyHeader(key()) };
    return ask(send, path, { method: 'PUT', headers, body: JSON.stringify(body) });
  }

  async function remove(path, query = {}) {
    return ask(send, address(path, query), { method: 'DELETE', headers: apiKeyHeader(key()) });
  }

  return {
    get,
    text,
    post,
    put,
    remove,
    abort: (channel) => running.get(channel)?.abort(),
  };
}

/**
 * Several questions on one channel: all are aborted together when the channel is asked again.
 * @param {ReturnType<typeof createApi>} api
 * @param {Array<[string, Record<string, unknown>]>} questions
 * @param {string} channel
 * @returns {Promise<Result[]>}
 */
export function getAll(api, questions, channel) {
  return Promise.all(questions.map(([path, query], place) => api.get(path, query, `${channel}/${place}`)));
}

/**
 * A path with its query, without empty parameters.
 * @param {string} path
 * @param {Record<string, unknown>} query
 * @returns {string}
 */
export function address(path, query) {
  const given = Object.entries(query).filter(
    ([, value]) => value !== '' && value !== null && value !== undefined,
  );
  const written = new URLSearchParams(given.map(([name, value]) => [name, String(value)])).toString();
  return written ? `${path}?${written}` : path;
}

const BODILESS = new Set([201, 204]);

/** @returns {Promise<Answer>} */
async function ask(send, target, options, read = readBody) {
  try {
    const reply = await send(target, {
      ...options,
      headers: { Accept: 'application/json', ...options.headers },
    });
    const body = await (reply.ok ? read : readBody)(reply);
    if (reply.ok && body !== undefined) return { ok: true, data: body };
    return { ok: false, stale: false, error: describe(reply, body) };
  } catch (problem) {
    return unreachable(problem);
  }
}

/**
 * No answer came, or a part of the page itself did not.
 * @param {unknown} [cause] the browser's error
 * @returns {{ok: false, stale: false, error: Failure}}
 */
export function unreachable(cause) {
  const message = 'The server did not answer. It may be stopped, or the network may be down.';
  return { ok: false, stale: false, error: { status: 0, message, errors: {}, retryAfter: WAIT_DEFAULT, cause } };
}

/** The answer to events of a plan has no body: 201 => null. */
async function readBody(reply) {
  const text = await reply.text();
  if (text === '' && BODILESS.has(reply.status)) return null;
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function describe(reply, body) {
  const said = typeof body?.message === 'string' ? body.message : '';
  const garbled = reply.ok ? 'The server sent something that is not JSON.' : '';
  return {
    status: reply.status,
    message: said || garbled || `The server answered ${reply.status} ${reply.statusText}`.trim(),
    errors: body?.errors && typeof body.errors === 'object' ? body.errors : {},
    retryAfter: readWait(reply.headers.get('Retry-After')),
  };
}

function readWait(text) {
  const seconds = Number(text);
  if (!text || !Number.isFinite(seconds) || seconds < 0) return WAIT_DEFAULT;
  return Math.min(WAIT_LONGEST, Math.max(1, seconds));
}
