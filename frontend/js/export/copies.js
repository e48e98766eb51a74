/**
 * The exports as text: the edges as CSV, the question as a command of curl, the walk as
 * Gremlin. Pure.
 */

/**
 * The edges of a picture: RFC 4180, and nothing that a spreadsheet would run.
 * @param {import('../data/model.js').Model} model
 * @returns {string}
 */
export function toCsv(model) {
  const name = (id) => {
    const row = model.rows.get(id);
    const box = model.boxes.get(row ? row.box : id);
    const place = box?.node.uri ?? (box?.node.namespace ? `${box.node.namespace}/${box.node.name}` : (box?.label ?? ''));
    return row ? `${place}#${row.label}` : place;
  };
  const lines = [...model.links.values()].map(({ from, to, kind, edge }) =>
    [name(from), name(to), kind, edge.how ?? '', edge.expression ?? '', noteOf(edge)].map(cell).join(','),
  );
  return ['from,to,kind,how,expression,note', ...lines, ''].join('\r\n');
}

function noteOf({ attempted, seen }) {
  if (attempted) return 'attempted';
  return seen === false ? 'not seen yet' : '';
}

function cell(value) {
  const text = /^[=+\-@\t\r]/.test(value) ? `'${value}` : value;
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}

/**
 * @param {string} address of the question, with its query
 * @param {boolean} keyed  whether the reader has a key, which is not put into the text
 * @returns {string}
 */
export function toCurl(address, keyed) {
  const key = keyed ? ' -H "X-API-Key: $HEADWATER_API_KEY"' : '';
  return `curl${key} '${address.replaceAll("'", "'\\''")}'`;
}

/**
 * The coarse walk around a node, for a notebook: plans between tables, at any time.
 * @param {string} id     opaque, of a table or a job
 * @param {'both'|'upstream'|'downstream'} direction
 * @param {number} depth
 * @returns {string}
 */
export function toGremlin(id, direction, depth) {
  const start = id.startsWith('job_') ? `g.V('${id}').out('has')` : `g.V('${id}')`;
  const step = { upstream: "in('feeds')", downstream: "out('feeds')", both: "both('feeds')" }[direction];
  return `${start}.emit().repeat(__.${step}.simplePath()).times(${2 * Math.max(1, depth)}).dedup().limit(500).elementMap()`;
}
