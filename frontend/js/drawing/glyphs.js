/**
 * Small drawings of platforms and producers: made by us, one line weight, on a square of
 * 16 pixels. The URI of a table names its platform, the server's reply on a job its producer.
 */

/**
 * @typedef {object} Glyph
 * @property {string} name   its name for readers
 * @property {string} lines  stroked
 * @property {string} [fills] filled
 * @property {string} [letters] two letters inside
 */

const CYLINDER = 'M2.5 4c0-1.4 2.5-2.2 5.5-2.2S13.5 2.6 13.5 4v8c0 1.4-2.5 2.2-5.5 2.2S2.5 13.4 2.5 12zM2.5 4c0 1.4 2.5 2.2 5.5 2.2S13.5 5.4 13.5 4';

/** @type {Readonly<Record<string, Glyph>>} */
export const GLYPHS = Object.freeze({
  bucket: { name: 'Object store', lines: 'M2.5 4.2 4 13.4c1 .9 7 .9 8 0l1.5-9.2M2.5 4.2C3.5 5.7 12.5 5.7 13.5 4.2 12.5 2.7 3.5 2.7 2.5 4.200z' },
  hdfs: { name: 'HDFS', lines: 'M2 6.500h5.500v5.500H2zM8.5 6.500H14v5.500H8.500zM5.2 1.500h5.600v5H5.200z' },
  file: { name: 'Files', lines: 'M4 1.800h5l3.2 3.200v9.200H4zM9 1.800V5h3.2' },
  kafka: {
    name: 'Kafka topic',
    lines: 'M6 3.600v8.800M7.5 7 11 5M7.5 9 11 11',
    fills: 'M6 .9a1.9 1.9 0 1 0 .01 0zM6 6.100a1.9 1.9 0 1 0 .01 0zM6 11.300a1.9 1.9 0 1 0 .01 0zM12 3a1.7 1.7 0 1 0 .01 0zM12 9.600a1.7 1.7 0 1 0 .01 0z',
  },
  delta: { name: 'Delta table', lines: 'M8 2 14.2 13.600H1.800zM8 7l2.7 4.9' },
  iceberg: { name: 'Iceberg table', lines: 'M1.5 9.500h13M3.5 9.5 6 3.500l2 2.200L10 2.500l2.7 7M4.5 9.5 8 14.500l3.8-5' },
  hive: { name: 'Catalog table', lines: 'M8 1.6 13.6 4.800v6.400L8 14.4 2.4 11.200V4.800zM8 5.200l2.5 1.400v2.900L8 10.9 5.5 9.500V6.600z' },
  redshift: { name: 'Redshift', lines: 'M3 4.2 8 1.800l5 2.400v7.600L8 14.2 3 11.800zM6.2 5.400v5.400M9.8 5.400v5.4' },
  snowflake: { name: 'Snowflake', lines: 'M8 1.500v13M2.4 4.750l11.2 6.500M13.6 4.750l-11.2 6.500M6.3 2.8 8 4.400l1.7-1.600M6.3 13.2 8 11.600l1.7 1.6' },
  bigquery: { name: 'BigQuery', lines: 'M7 2.500a4.5 4.5 0 1 0 .01 0zM10.3 10.3 14 14M5 7.500v1M7 5.500v3M9 6.500v2' },
  postgresql: { name: 'PostgreSQL', lines: CYLINDER, letters: 'Pg' },
  mysql: { name: 'MySQL', lines: CYLINDER, letters: 'My' },
  oracle: { name: 'Oracle', lines: CYLINDER, letters: 'Or' },
  sqlserver: { name: 'SQL Server', lines: CYLINDER, letters: 'MS' },
  sqlite: { name: 'SQLite', lines: CYLINDER, letters: 'Li' },
  jdbc: { name: 'Database', lines: `${CYLINDER}M2.5 8c0 1.4 2.5 2.2 5.5 2.200s5.5-.8 5.5-2.2` },
  table: { name: 'Table', lines: 'M2 2.800h12v10.400H2zM2 6.200h12M6.5 6.200v7' },
  job: { name: 'Other producer', lines: '', fills: 'M4 2.500v11l9-5.500z' },
  spark: { name: 'Spark', lines: '', fills: 'M8.5.8 10 5.500l4.8-.4-4 3 1.9 4.700L8.5 10.2 4 13.600l1.5-5L1.2 5.800l5 .1z' },
  airflow: { name: 'Airflow', lines: 'M8 8C5.5 6.5 5 4 6.5 1.8 9.5 2.5 9.5 5.5 8 8zM8 8c1.5-2.5 4-3 6.2-1.500C13.5 9.5 10.5 9.5 8 8zM8 8c2.5 1.5 3 4 1.5 6.200C6.5 13.5 6.5 10.5 8 8zM8 8c-1.5 2.5-4 3-6.2 1.500C2.5 6.5 5.5 6.5 8 8z' },
  dbt: { name: 'dbt', lines: 'M2.2 2.2 6 6.5 2.2 13.8 8 9.800l5.8 4L10 6.500l3.8-4.300L8 4.700z' },
  declared: { name: 'Declared', lines: 'M3 13.200l.6-3L10.8 3l2.3 2.3-7.2 7.200zM9 4.800l2.3 2.3' },
  reader: { name: 'Dashboard or query', lines: 'M1.5 13.800h13M3.5 13.800V8.500M8 13.800V3.500M12.5 13.800V6.5' },
});

const SCHEMES = Object.freeze({
  s3: 'bucket', gs: 'bucket', abfs: 'bucket', abfss: 'bucket', wasbs: 'bucket', oss: 'bucket',
  hdfs: 'hdfs', webhdfs: 'hdfs', viewfs: 'hdfs', file: 'file', dbfs: 'file',
  kafka: 'kafka', hive: 'hive', glue: 'hive', arn: 'hive', catalog: 'hive',
  bigquery: 'bigquery', snowflake: 'snowflake', redshift: 'redshift', delta: 'delta', iceberg: 'iceberg',
});

/** @type {ReadonlyArray<[string, RegExp]>} the server itself is the producer of declarations */
const PRODUCERS = Object.freeze([
  ['declared', /^headwater$/],
  ['spark', /spark|^spline\b|^headwater-listener\b/],
  ['airflow', /airflow/],
  ['dbt', /\bdbt\b/],
  ['reader', /dashboard|report|query|validat|superset|great_expectations/],
]);

/**
 * `jdbc:redshift://warehouse/analytics:mart.x` => redshift; a URI without a rule is a table.
 * @param {{uri?: string, type?: string, format?: string}} node
 * @returns {string} a name in GLYPHS
 */
export function platformOf({ uri = '', type = '', format = '' }) {
  if (Object.hasOwn(GLYPHS, format.toLowerCase())) return format.toLowerCase();
  const [, scheme = ''] = /^([a-z][a-z0-9+-]*):/i.exec(uri) ?? [];
  if (scheme.toLowerCase() === 'jdbc') {
    const [, vendor = ''] = /^jdbc:([a-z]+)/i.exec(uri) ?? [];
    const known = { postgres: 'postgresql', mariadb: 'mysql', microsoft: 'sqlserver' }[vendor.toLowerCase()] ?? vendor.toLowerCase();
    return Object.hasOwn(GLYPHS, known) ? known : 'jdbc';
  }
  if (Object.hasOwn(SCHEMES, scheme.toLowerCase())) return SCHEMES[scheme.toLowerCase()];
  return { topic: 'kafka', jdbc: 'jdbc', file: 'file', name: 'hive' }[type] ?? 'table';
}

/**
 * `…/OpenLineage/tree/1.53.0/integration/spark` and `spline 2.2.0` => spark.
 * @param {{producer?: string|null}} node of a job
 * @returns {string} a name in GLYPHS
 */
export function producerOf({ producer }) {
  const words = (producer ?? '').toLowerCase();
  return PRODUCERS.find(([, pattern]) => pattern.test(words))?.[0] ?? 'job';
}

/** @type {WeakMap<Path2D, string>} */
const texts = new WeakMap();

function pathFrom(text) {
  const path = new Path2D(text);
  texts.set(path, text);
  return path;
}

/**
 * @param {Path2D} path of a glyph
 * @returns {string} as SVG has it: a path cannot be read back
 */
export function textOf(path) {
  return texts.get(path) ?? '';
}

/** @type {Map<string, {lines: Path2D, fills: Path2D|null}>} */
const paths = new Map();

function pathsOf(name) {
  const known = paths.get(name);
  if (known) return known;
  const { lines, fills } = GLYPHS[name] ?? GLYPHS.table;
  const made = { lines: pathFrom(lines), fills: fills ? pathFrom(fills) : null };
  paths.set(name, made);
  return made;
}

/**
 * @param {CanvasRenderingContext2D} context
 * @param {string} name
 * @param {{x: number, y: number, size: number, colour: string}} place left edge and middle
 */
export function paintGlyph(context, name, { x, y, size, colour }) {
  const { lines, fills } = pathsOf(name);
  const { letters } = GLYPHS[name] ?? GLYPHS.table;
  context.save();
  context.translate(x, y - size / 2);
  context.scale(size / 16, size / 16);
  context.strokeStyle = context.fillStyle = colour;
  context.lineWidth = 1.3;
  context.lineJoin = 'round';
  context.stroke(lines);
  if (fills) context.fill(fills);
  if (letters) {
    context.font = '700 6.5px system-ui, sans-serif';
    context.textAlign = 'center';
    context.fillText(letters, 8, 10.2);
  }
  context.restore();
}
