/**
 * Words looked for inside a picture. Pure.
 */

/** @typedef {import('../data/model.js').Model} Model */

/**
 * Boxes and rows that have every word in their names, paths or expressions, in reading order.
 * @param {Model} model
 * @param {string} text
 * @returns {string[]} ids
 */
export function matching(model, text) {
  const words = text.toLowerCase().split(/\s+/).filter(Boolean);
  if (words.length === 0) return [];
  const fits = (id) => {
    const said = spoken(model.boxes.get(id) ?? model.rows.get(id));
    return words.every((word) => said.includes(word));
  };
  return model.order.filter(fits);
}

function spoken(item) {
  if (!item) return '';
  const { node, label, detail = '' } = item;
  const inside = item.kind === 'operation' ? ofOperation(node) : [node.uri, node.namespace, node.name];
  return [label, detail, ...inside].filter(Boolean).join('\n').toLowerCase();
}

function ofOperation({ name, properties, schema, datasets, folded }) {
  return [
    name,
    ...(folded ?? []),
    ...(properties ?? []).map(({ text }) => text),
    ...(schema ?? []).flatMap((column) => [column.name, column.expression]),
    ...(datasets ?? []).map(({ uri }) => uri),
  ];
}

/**
 * The match after the selected one, going round.
 * @param {string[]} found
 * @param {string} selected
 * @returns {string} empty: none
 */
export function nextMatch(found, selected) {
  return found[(found.indexOf(selected) + 1) % found.length] ?? '';
}
