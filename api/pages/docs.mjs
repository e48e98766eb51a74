// The page over /openapi.json: every operation, its parameters, bodies and answers.
// Everything is set as text; nothing from the document becomes HTML.

const METHODS = ['get', 'head', 'post', 'put', 'delete'];

function element(tag, content = [], attributes = {}) {
  const node = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) node.setAttribute(name, value);
  node.append(...[content].flat());
  return node;
}

/** {"$ref": "#/components/schemas/Plan"} => the schema that it points to. */
export function resolve(spec, value) {
  let current = value;
  for (let steps = 0; current?.$ref && steps < 16; steps += 1) {
    current = current.$ref.slice(2).split('/')
      .reduce((at, key) => at?.[key.replaceAll('~1', '/').replaceAll('~0', '~')], spec);
  }
  return current ?? {};
}

/** The type of a schema in a few words: "integer, 0 to 50", "dataset or job", "list of Plan". */
export function typeWords(spec, schema) {
  const name = schema?.$ref?.split('/').pop();
  if (name) return name;
  const known = schema ?? {};
  if (known.enum) return known.enum.filter((item) => item !== null).join(' or ');
  if (known.type === 'array') return `list of ${typeWords(spec, known.items)}`;
  const bounds = known.minimum !== undefined ? `, ${known.minimum} to ${known.maximum}` : '';
  return `${known.type ?? 'any'}${known.format ? ` (${known.format})` : ''}${bounds}`;
}

/** Every operation of the document: {tag, method, path, operation, parameters}. */
export function operations(spec) {
  return Object.entries(spec.paths ?? {}).flatMap(([path, item]) => METHODS
    .filter((method) => item[method])
    .map((method) => ({
      tag: item[method].tags?.[0] ?? 'other',
      method: method.toUpperCase(),
      path,
      operation: item[method],
      parameters: [...(item.parameters ?? []), ...(item[method].parameters ?? [])]
        .map((parameter) => resolve(spec, parameter)),
    })));
}

function table(caption, heads, rows) {
  return element('table', [
    element('caption', caption),
    element('thead', element('tr', heads.map((head) => element('th', head, { scope: 'col' })))),
    element('tbody', rows.map((row) => element('tr', row.map((cell, index) => (
      element(index ? 'td' : 'th', cell, index ? {} : { scope: 'row' })))))),
  ]);
}

function parameterRow(spec, parameter) {
  const { name, required, schema = {} } = parameter;
  const initial = schema.default === undefined || schema.default === null ? '' : String(schema.default);
  return [
    element('code', name), parameter.in, typeWords(spec, schema),
    required ? 'required' : initial, schema.description ?? parameter.description ?? '',
  ];
}

function contentWords(spec, content = {}) {
  return Object.entries(content)
    .map(([type, { schema }]) => `${type}: ${typeWords(spec, schema)}`).join('; ');
}

function describe(spec, { method, path, operation, parameters }) {
  const parts = [];
  if (operation.description) parts.push(element('p', operation.description));
  if (parameters.length) {
    parts.push(table('Parameters', ['name', 'in', 'type', 'default', 'meaning'],
      parameters.map((parameter) => parameterRow(spec, parameter))));
  }
  if (operation.requestBody) {
    const { content } = resolve(spec, operation.requestBody);
    parts.push(element('p', `Body: ${contentWords(spec, content)}`));
  }
  parts.push(table('Answers', ['status', 'meaning', 'body'],
    Object.entries(operation.responses ?? {}).map(([status, response]) => {
      const known = resolve(spec, response);
      return [status, known.description ?? '', contentWords(spec, known.content)];
    })));
  return element('details', [
    element('summary', [
      element('span', method, { class: 'method' }), ' ', element('code', path), ' ',
      element('span', operation.summary ?? '', { class: 'said' }),
    ]),
    ...parts,
  ]);
}

function schemasSection(spec) {
  const schemas = Object.entries(spec.components?.schemas ?? {});
  return element('section', [
    element('h2', 'Shapes'),
    ...schemas.map(([name, schema]) => element('details', [
      element('summary', element('code', name)),
      element('pre', JSON.stringify(schema, null, 2)),
    ])),
  ]);
}

function show(spec, wanted) {
  const found = operations(spec).filter(({ method, path, operation }) => (
    `${method} ${path} ${operation.summary ?? ''}`.toLowerCase().includes(wanted)));
  const tags = [...new Set(found.map(({ tag }) => tag))];
  const sections = tags.map((tag) => element('section', [
    element('h2', tag),
    ...found.filter((one) => one.tag === tag).map((one) => describe(spec, one)),
  ]));
  document.getElementById('operations').replaceChildren(...sections, schemasSection(spec));
  document.getElementById('count').textContent = `${found.length} operations`;
}

async function start() {
  const filter = document.getElementById('filter');
  const main = document.getElementById('operations');
  try {
    const response = await fetch('/openapi.json');
    if (!response.ok) throw new Error(`openapi.json: ${response.status}`);
    const spec = await response.json();
    document.getElementById('description').textContent = spec.info.description ?? '';
    filter.addEventListener('input', () => show(spec, filter.value.trim().toLowerCase()));
    show(spec, '');
  } catch (error) {
    main.replaceChildren(element('p', `The description could not be read (${error.message}).`, { role: 'alert' }));
  }
}

if (typeof document !== 'undefined') start();
