/**
 * The controls of a view. Each is made once and follows the state afterwards, so that the keyboard
 * stays where it is while the picture changes.
 */
import { button, element, replace } from '../page/dom.js';
import { matching, nextMatch } from './find.js';
import { formatNumber } from '../data/format.js';
import { closeWhenLeft } from './menu.js';
import { DEPTH_LIMIT, depthOf, fromLocalInput, isSideways, toLocalInput } from '../data/url.js';

const PAUSE = 300;

/**
 * @typedef {object} Control
 * @property {HTMLElement} node
 * @property {(state: import('../data/url.js').State, page: object|null) => void} follow
 */

/** @typedef {(changes: Partial<import('../data/url.js').State>, options?: {replace?: boolean}) => void} Change */

/** @type {Record<string, (change: Change) => Control>} */
const MAKERS = {
  q: filter,
  namespace: namespaces,
  layer: (change) => choice(change, 'layer', 'Layer', (box) => [box.layer?.name]),
  classification: (change) => choice(change, 'classification', 'Class', tagsOf),
  owner,
  unread: unreadToggle,
  unreadColumns: unreadColumnsToggle,
  rowsWritten,
  late: lateToggle,
  direction: directions,
  depth,
  columns: columnsToggle,
  indirect: indirectToggle,
  ends: endsToggle,
  tables: (change) => toggle('tables', 'Tables only', change),
  group: groupToggle,
  flow: flowToggle,
  at: asOf,
  timeline,
  find,
  steps,
  from: (change) => comparedTime(change, 'from', 'From'),
  to: (change) => comparedTime(change, 'to', 'To'),
  state: (change) => segments(change, 'state', 'State of the documents', STATES),
  by: (change) => segments(change, 'by', 'The journal by', SHARED_BY),
  ended: (change) => segments(change, 'ended', 'State of the last run', ENDED),
};

/**
 * @param {HTMLElement} container
 * @param {string[]} names
 * @param {Change} change
 * @returns {(state: import('../data/url.js').State, page: object|null) => void} follow the state
 */
export function createControls(container, names, change) {
  const made = names.map((name) => MAKERS[name](change));
  replace(
    container,
    made.map((control) => control.node),
  );
  return (state, page) => made.forEach((control) => control.follow(state, page));
}

function labelled(words, input, id) {
  return element('div', { class: 'control' }, element('label', { for: id }, words), input);
}

function filter(change) {
  let timer = 0;
  const input = element('input', {
    type: 'search',
    id: 'control-q',
    placeholder: 'name or path',
    autocomplete: 'off',
    'data-testid': 'control-q',
  });
  input.addEventListener('input', () => {
    clearTimeout(timer);
    timer = setTimeout(() => change({ q: input.value.trim(), selected: '', page: 0, after: '' }, { replace: true }), PAUSE);
  });
  return {
    node: labelled('Filter', input, 'control-q'),
    follow(state) {
      input.placeholder = state.view === 'runs' ? 'error, job or id' : 'name or path';
      follow(input, state.q);
    },
  };
}

/** A field in which someone is writing is left alone. */
function follow(input, value) {
  if (document.activeElement !== input || input.value === '') input.value = value;
}

/** One of the values that were seen in the picture; hidden as long as there is none. */
function choice(change, name, words, valuesOf) {
  const known = new Set();
  const id = `control-${name}`;
  const select = element('select', {
    id,
    'data-testid': id,
    onchange: () => change({ [name]: select.value, selected: '', page: 0, after: '' }),
  });
  const node = labelled(words, select, id);
  return {
    node,
    follow(state, page) {
      const values = [...[...(page?.model?.boxes.values() ?? [])].flatMap(valuesOf), ...(page?.items ?? []).flatMap((item) => item[name] ?? item[`${name}s`] ?? [])];
      for (const value of [...values, state[name]]) if (value) known.add(value);
      const options = [...known].sort().map((value) => element('option', { value }, value));
      replace(select, element('option', { value: '' }, 'all'), options);
      select.value = state[name];
      node.hidden = known.size === 0;
    },
  };
}

function tagsOf(box) {
  return [...(box.node.classifications ?? []), ...box.rows.flatMap((row) => row.node.classifications ?? [])];
}

function namespaces(change) {
  const known = new Set();
  const select = element('select', {
    id: 'control-namespace',
    'data-testid': 'control-namespace',
    onchange: () => change({ namespace: select.value, selected: '', page: 0, after: '' }),
  });
  return {
    node: labelled('Namespace', select, 'control-namespace'),
    follow(state, page) {
      for (const box of page?.model?.boxes.values() ?? [])
        if (box.kind === 'job') known.add(box.node.namespace);
      for (const { namespace } of page?.items ?? []) if (namespace) known.add(namespace);
      if (state.namespace) known.add(state.namespace);
      const options = [...known].sort().map((name) => element('option', { value: name }, name));
      replace(select, element('option', { value: '' }, 'all'), options);
      select.value = state.namespace;
    },
  };
}

/** @type {ReadonlyArray<[import('../data/url.js').State['direction'], import('../page/dom.js').Mark, string]>} */
const WAYS = Object.freeze([
  ['upstream', 'left', 'Upstream'],
  ['both', 'both', 'Both'],
  ['downstream', 'right', 'Downstream'],
]);

function directions(change) {
  const buttons = new Map(
    WAYS.map(([way, mark, words]) => [
      way,
      button(
        { icon: mark, label: words, onclick: () => change({ direction: way }) },
        { 'data-testid': `direction-${way}` },
      ),
    ]),
  );
  return {
    node: element('div', { class: 'segments directions', role: 'group', 'aria-label': 'Direction' }, [
      ...buttons.values(),
    ]),
    follow: (state) =>
      buttons.forEach((one, way) => one.setAttribute('aria-pressed', String(way === state.direction))),
  };
}

function depth(change) {
  let now = 1;
  const less = button(
    {
      icon: 'minus',
      label: 'One step less',
      quiet: true,
      onclick: () => change({ depth: Math.max(0, now - 1) }),
    },
    { 'data-testid': 'depth-less' },
  );
  const more = button(
    {
      icon: 'plus',
      label: 'One step more',
      quiet: true,
      onclick: () => change({ depth: Math.min(DEPTH_LIMIT, now + 1) }),
    },
    { 'data-testid': 'depth-more' },
  );
  const shown = element('output', { class: 'depth', 'data-testid': 'depth' });
  return {
    node: element(
      'div',
      { class: 'control', role: 'group', 'aria-label': 'Depth' },
      element('span', { class: 'label' }, 'Depth'),
      element('div', { class: 'stepper' }, less, shown, more),
    ),
    follow(state) {
      now = depthOf(state);
      shown.textContent = String(now);
      less.disabled = now <= 0;
      more.disabled = now >= DEPTH_LIMIT;
    },
  };
}

/** @returns {Control} */
function toggle(field, words, change) {
  const box = element('input', {
    type: 'checkbox',
    id: `control-${field}`,
    'data-testid': `control-${field}`,
    onchange: () => change({ [field]: box.checked }),
  });
  return {
    node: element('label', { class: 'control check', for: `control-${field}` }, box, words),
    follow: (state) => {
      box.checked = state[field];
    },
  };
}

/** The whole name of an owner; the panel of a table links to it. */
function owner(change) {
  const input = element('input', {
    type: 'search',
    id: 'control-owner',
    placeholder: 'whole name',
    autocomplete: 'off',
    'data-testid': 'control-owner',
    onchange: () => change({ owner: input.value.trim(), page: 0, after: '' }),
  });
  return { node: labelled('Owner', input, 'control-owner'), follow: (state) => follow(input, state.owner) };
}

function unreadToggle(change) {
  return toggle('unread', 'Never read', (changes) => change({ ...changes, page: 0, after: '' }));
}

function unreadColumnsToggle(change) {
  return toggle('unreadColumns', 'Unread columns', (changes) => change({ ...changes, page: 0, after: '' }));
}

/** Bounds of the rows of a table's last write: two numbers, either may be left out. */
function rowsWritten(change) {
  const [least, most] = ['minRows', 'maxRows'].map((field) => {
    const input = element('input', {
      type: 'number',
      id: `control-${field}`,
      min: 0,
      max: 999_999_999_999_999,
      step: 1,
      'data-testid': `control-${field}`,
      onchange: () => input.checkValidity() && change({ [field]: input.value, page: 0, after: '' }),
    });
    return input;
  });
  return {
    node: element('div', { class: 'control pair' }, labelled('Rows from', least, 'control-minRows'), labelled('to', most, 'control-maxRows')),
    follow(state) {
      follow(least, state.minRows);
      follow(most, state.maxRows);
    },
  };
}

function lateToggle(change) {
  return toggle('late', 'Late', (changes) => change({ ...changes, page: 0, after: '' }));
}

function columnsToggle(change) {
  return toggle('columns', 'Columns', change);
}

function indirectToggle(change) {
  return toggle('indirect', 'Indirect', change);
}

function groupToggle(change) {
  const { node, follow } = toggle('group', 'Lanes', ({ group }) =>
    change({ group: group ? 'layer' : '' }),
  );
  return { node, follow: (state, page) => follow({ ...state, group: state.group === 'layer' }, page) };
}

/** Where edges run from side to side (url.js) it is left to right, for any choice. */
function flowToggle(change) {
  const box = element('input', {
    type: 'checkbox',
    id: 'control-flow',
    'data-testid': 'control-flow',
    onchange: () => change({ flow: box.checked ? 'down' : 'right' }),
  });
  const node = element('label', { class: 'control check', for: 'control-flow' }, box, 'Top down');
  return {
    node,
    follow(state, page) {
      box.disabled = isSideways(state);
      box.checked = !box.disabled && (state.flow || page?.model?.flow) === 'down';
      node.title = box.disabled ? 'Columns and lanes are drawn from left to right' : '';
    },
  };
}

/** Of a plan also the steps that only give a name. */
function steps(change) {
  const box = element('input', {
    type: 'checkbox',
    id: 'control-steps',
    'data-testid': 'control-steps',
    onchange: () => change({ steps: box.checked ? 'all' : '', selected: '' }),
  });
  return {
    node: element('label', { class: 'control check', for: 'control-steps' }, box, 'Every step'),
    follow: (state) => {
      box.checked = state.steps === 'all';
    },
  };
}

function endsToggle(change) {
  return toggle('ends', 'Ends only', change);
}

/** "Now" until a time is wanted; then a date and time, and the way back. */
function asOf(change) {
  const input = element('input', {
    type: 'datetime-local',
    id: 'control-at',
    'aria-label': 'As of',
    'data-testid': 'control-at',
    onchange: () => change({ at: fromLocalInput(input.value) }),
  });
  const open = button(
    { icon: 'clock', label: 'Now', onclick: () => reveal() },
    { 'data-testid': 'control-at-open', 'aria-label': 'As of now; choose another time' },
  );
  const clear = button(
    { icon: 'close', label: 'Back to now', quiet: true, onclick: leave },
    { 'data-testid': 'control-now' },
  );
  input.addEventListener('blur', () => settle(input.value));

  function reveal() {
    settle('chosen');
    input.focus();
    try {
      input.showPicker();
    } catch {
      /* the picker is a nicety: the field can be typed into */
    }
  }

  function leave() {
    settle('');
    change({ at: '' });
  }

  function settle(value) {
    open.hidden = value !== '';
    input.hidden = clear.hidden = value === '';
  }

  return {
    node: element(
      'div',
      { class: 'control' },
      element('span', { class: 'label', 'aria-hidden': 'true' }, 'As of'),
      open,
      input,
      clear,
    ),
    follow(state) {
      input.value = toLocalInput(state.at);
      settle(document.activeElement === input ? 'chosen' : input.value);
    },
  };
}

/**
 * The times that exist, beside the field for any time: opened, it asks for them.
 * @returns {Control}
 */
function timeline() {
  const place = element('div', { class: 'menu-list timeline-list', 'data-testid': 'timeline-list' });
  let draw = null;
  const menu = element(
    'details',
    { class: 'timeline-menu', 'data-testid': 'timeline-menu', ontoggle: fill },
    element('summary', { class: 'button', title: 'Runs, writes and versions that exist' }, 'History'),
    place,
  );
  closeWhenLeft(menu);

  function fill() {
    if (menu.hasAttribute('open') && draw) replace(place, draw());
  }

  return {
    node: menu,
    follow(state, page) {
      draw = page?.timeline ?? null;
      menu.hidden = draw === null;
      fill();
    },
  };
}

/**
 * Words looked for inside the picture: other items fade; Enter goes to the next.
 * @returns {Control}
 */
function find(change) {
  let timer = 0;
  /** @type {string[]} */
  let found = [];
  let selected = '';
  const told = element('output', { class: 'muted small', 'data-testid': 'found' });
  const input = element('input', {
    type: 'search',
    id: 'control-find',
    placeholder: 'Find…',
    autocomplete: 'off',
    maxlength: 200,
    'data-testid': 'control-find',
    oninput: () => {
      clearTimeout(timer);
      timer = setTimeout(ask, PAUSE);
    },
    onkeydown: (event) => {
      if (event.key !== 'Enter') return;
      event.preventDefault();
      clearTimeout(timer);
      ask();
      const next = nextMatch(found, selected);
      if (next) change({ selected: next }, { replace: true });
    },
  });
  const ask = () => change({ find: input.value.trim() }, { replace: true });
  return {
    node: element('div', { class: 'control' }, element('label', { for: 'control-find', class: 'visually-hidden' }, 'Find in the picture'), input, told),
    follow(state, page) {
      follow(input, state.find);
      found = page?.model ? matching(page.model, state.find) : [];
      selected = state.selected;
      const place = found.indexOf(selected) + 1;
      told.textContent = state.find ? `${place ? `${formatNumber(place)} of ` : ''}${formatNumber(found.length)}` : '';
    },
  };
}

/** One of the two times of a comparison. */
function comparedTime(change, name, words) {
  const input = element('input', {
    type: 'datetime-local',
    step: 1,
    id: `control-${name}`,
    'data-testid': `control-${name}`,
    onchange: () => change({ [name]: fromLocalInput(input.value), selected: '' }),
  });
  const node = labelled(words, input, `control-${name}`);
  return {
    node,
    follow(state) {
      node.hidden = Boolean(state.fromExecution || state.fromRun);
      follow(input, toLocalInput(state[name]));
    },
  };
}

const STATES = Object.freeze([
  ['all', 'Reports'],
  ['failed', 'Failed'],
  ['waiting', 'Waiting'],
  ['pending', 'Pending'],
  ['projected', 'In the graph'],
  ['commands', 'Commands'],
]);

const ENDED = Object.freeze([
  ['', 'All'],
  ['failed', 'Failed'],
  ['aborted', 'Aborted'],
  ['completed', 'Completed'],
  ['running', 'Running'],
]);

const SHARED_BY = Object.freeze([
  ['job', 'By job'],
  ['namespace', 'Namespace'],
  ['producer', 'Producer'],
  ['kind', 'Kind'],
]);

/** Buttons of which one is pressed: the value of a field of the state. */
function segments(change, field, label, choices) {
  const buttons = new Map(
    choices.map(([value, words]) => [
      value,
      button({ label: words, onclick: () => change({ [field]: value, page: 0, after: '' }) }, { 'data-testid': `${field}-${value || 'all'}` }),
    ]),
  );
  return {
    node: element('div', { class: 'segments', role: 'group', 'aria-label': label }, [...buttons.values()]),
    follow: (state) =>
      buttons.forEach((one, value) => one.setAttribute('aria-pressed', String(value === state[field]))),
  };
}

/**
 * Graph or list: two buttons of which one is pressed.
 * @param {Change} change
 * @returns {Control}
 */
export function formSwitch(change) {
  const graph = button(
    { icon: 'graph', label: 'Graph', onclick: () => change({ as: 'graph' }, { replace: true }) },
    { 'data-testid': 'as-graph' },
  );
  const list = button(
    { icon: 'list', label: 'List', onclick: () => change({ as: 'list' }, { replace: true }) },
    { 'data-testid': 'as-list' },
  );
  return {
    node: element('div', { class: 'segments', role: 'group', 'aria-label': 'Shown as' }, graph, list),
    follow(state) {
      graph.setAttribute('aria-pressed', String(state.as === 'graph'));
      list.setAttribute('aria-pressed', String(state.as === 'list'));
    },
  };
}

/**
 * Zoom, fit and picture buttons over the canvas.
 * @param {{zoom: (factor: number) => void, fit: () => void, save: () => void, share: HTMLElement}} canvas
 * @returns {HTMLElement}
 */
export function canvasTools(canvas) {
  return element(
    'div',
    { class: 'canvas-tools', role: 'group', 'aria-label': 'Canvas' },
    button(
      { icon: 'plus', label: 'Zoom in', quiet: true, onclick: () => canvas.zoom(1.25) },
      { 'data-testid': 'zoom-in' },
    ),
    button(
      { icon: 'minus', label: 'Zoom out', quiet: true, onclick: () => canvas.zoom(0.8) },
      { 'data-testid': 'zoom-out' },
    ),
    button(
      { icon: 'fit', label: 'Show everything', quiet: true, onclick: canvas.fit },
      { 'data-testid': 'fit' },
    ),
    button(
      { icon: 'image', label: 'Save as PNG', quiet: true, onclick: canvas.save },
      { 'data-testid': 'save-image' },
    ),
    canvas.share,
  );
}
