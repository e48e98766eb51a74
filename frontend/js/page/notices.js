/**
 * The stage without a picture: loading, empty, unknown, error, rebuilding.
 */
import { anchor, button, data, element, icon } from './dom.js';
import { count } from '../data/format.js';
import { write } from '../data/url.js';

/**
 * @param {{name: string, icon: import('./dom.js').Mark|'wait', heading: string}} parts
 * @param {...import('./dom.js').Child} children
 * @returns {HTMLElement}
 */
function notice({ name, icon: mark, heading }, ...children) {
  return element(
    'div',
    { class: `notice ${name}`, 'data-testid': `notice-${name}`, role: name === 'error' ? 'alert' : null },
    element(
      'div',
      { class: 'notice-mark' },
      mark === 'wait' ? element('span', { class: 'spinner', 'aria-hidden': 'true' }) : icon(mark),
    ),
    element('h2', {}, heading),
    ...children,
  );
}

/** @returns {HTMLElement} */
export function loadingNotice() {
  return notice({ name: 'loading', icon: 'wait', heading: 'Loading…' });
}

/**
 * Nothing was ever received: how to send the first lineage.
 * @returns {HTMLElement}
 */
export function firstNotice() {
  const commands = [
    ['Try it with the example pipeline', 'make demo'],
    ['Point a Spark job of your own at this server', 'headwater config spark'],
  ];
  return notice(
    { name: 'empty', icon: 'inbox', heading: 'Nothing received yet' },
    element('p', {}, 'Lineage appears here as soon as a job reports its first run.'),
    element(
      'dl',
      { class: 'commands' },
      commands.map(([words, command]) => [
        element('dt', {}, words),
        element('dd', {}, element('code', {}, command)),
      ]),
    ),
  );
}

/**
 * An answer without nodes, for another reason than an empty server.
 * @param {string} heading
 * @param {string} words
 * @param {{href: string, words: string}} [way] a link that leads on
 * @returns {HTMLElement}
 */
export function emptyNotice(heading, words, way) {
  return notice(
    { name: 'empty', icon: 'inbox', heading },
    element('p', {}, words),
    way ? element('p', {}, anchor(way.href, way.words)) : null,
  );
}

/**
 * The server wants an API key. The field has no name, so no form could ever put it into an address.
 * @param {import('../data/api.js').Failure} error
 * @param {{refused: boolean, submit: (key: string) => void}} ways refused: one was sent and is not known
 * @returns {HTMLElement}
 */
export function apiKeyNotice(error, { refused, submit }) {
  const field = element('input', {
    id: 'key',
    type: 'password',
    autocomplete: 'off',
    spellcheck: 'false',
    required: true,
    'aria-describedby': 'key-message',
    'data-testid': 'key',
  });
  function send(event) {
    event.preventDefault();
    if (field.value.trim()) submit(field.value);
  }
  return notice(
    { name: 'key', icon: 'key', heading: refused ? 'This key was refused' : 'An API key is needed' },
    element('p', { id: 'key-message', role: refused ? 'alert' : null }, data(error.message)),
    element(
      'form',
      { class: 'key-form', method: 'post', onsubmit: send },
      element('label', { for: 'key' }, 'API key'),
      field,
      element('button', { type: 'submit', class: 'button', 'data-testid': 'key-send' }, 'Use this key'),
    ),
    element(
      'p',
      { class: 'muted' },
      'It stays in this tab until you close it. headwater keys create makes one.',
    ),
  );
}

const HEADINGS = Object.freeze({
  0: 'No answer',
  400: 'The server did not understand the question',
  404: 'Not found',
  403: 'Not allowed',
  429: 'Too many requests',
});

/** A link that names no node cannot be asked again. */
const BROKEN_LINK = Object.freeze([400, 404]);

/**
 * @param {import('../data/api.js').Failure} error
 * @param {{retry: () => void, hrefOf: (parameter: string, id: string) => string, changeKey: () => void}} ways
 * @returns {HTMLElement}
 */
export function errorNotice(error, { retry, hrefOf, changeKey }) {
  const heading = HEADINGS[error.status] ?? 'Something went wrong';
  return notice(
    { name: 'error', icon: 'warning', heading },
    element('p', { 'data-testid': 'error-message' }, data(error.message)),
    reasons(error, hrefOf),
    error.status > 0 ? element('p', { class: 'muted' }, `Status ${error.status}`) : null,
    error.status === 429 ? element('p', { class: 'muted' }, againIn(error)) : null,
    error.status === 0 ? element('p', { class: 'muted' }, 'The page comes back by itself once it answers.') : null,
    button({ icon: 'refresh', label: 'Try again', onclick: retry }, { 'data-testid': 'retry' }),
    error.status === 403
      ? button({ icon: 'key', label: 'Use another key', onclick: changeKey }, { 'data-testid': 'change-key' })
      : null,
    BROKEN_LINK.includes(error.status) && !Object.values(error.errors).flat().some(isId)
      ? element('p', {}, anchor(write({ view: 'overview' }), 'Go to the overview'))
      : null,
  );
}

/** @param {unknown} said */
function isId(said) {
  return /^[a-z]+_[0-9a-f]{32}$/.test(String(said));
}

function againIn(error) {
  return `The page asks again by itself in ${count(Math.round(error.retryAfter), 'second')}.`;
}

/**
 * The server's errors for parameters that its message does not repeat; ids become links (a name that fits
 * several tables).
 */
function reasons({ errors, message }, hrefOf) {
  const lines = Object.entries(errors)
    .flatMap(([name, said]) => [said].flat().map((one) => [name, String(one)]))
    .filter(([name, said]) => !(message.includes(name) && message.includes(said)));
  if (lines.length === 0) return null;
  return element(
    'ul',
    { class: 'reasons' },
    lines.map(([name, said]) => {
      return element(
        'li',
        {},
        isId(said)
          ? anchor(hrefOf(name, said), data(said, 'mono'))
          : [element('strong', {}, data(name)), ': ', data(said)],
      );
    }),
  );
}

/**
 * The server is there but its graph is not: the page asks again by itself.
 * @param {import('../data/api.js').Failure} error
 * @param {{pending?: number, retry: () => void}} ways
 * @returns {HTMLElement}
 */
export function rebuildingNotice(error, { pending = 0, retry }) {
  return notice(
    { name: 'rebuilding', icon: 'wait', heading: 'The graph is being rebuilt' },
    element('p', {}, data(error.message)),
    pending > 0 ? element('p', {}, `${count(pending, 'document')} still to go.`) : null,
    element('p', { class: 'muted' }, `Asking again every ${count(Math.round(error.retryAfter), 'second')}.`),
    button({ icon: 'refresh', label: 'Ask now', onclick: retry }, { 'data-testid': 'retry' }),
  );
}
