/**
 * An empty server: how to send the first lineage from where the reader works, with this server's own
 * address, and a sample to look at without sending anything.
 */
import { button, data, element } from '../page/dom.js';
import { copyButton } from '../panel/panel.js';
import { loadSample } from './sample.js';

/**
 * The lines to copy for each way of sending.
 * @param {string} origin of this server
 * @param {string} time   for an event by hand
 * @returns {Array<{name: string, words: string, text: string}>}
 */
export function snippets(origin, time) {
  return [
    {
      name: 'PySpark, without a jar',
      words: 'Spark 3.5 and 4: the folder spark_agent_config beside the job, and one line in it.',
      text: `from spark_agent_config.listener import observe\n\nobserve(spark, url="${origin}")`,
    },
    {
      name: 'The Spline agent',
      words: 'Spark 2.2 to 3.5, Scala and SQL too: a jar, no change of the job.',
      text: [
        'spark-submit \\',
        '  --packages za.co.absa.spline.agent.spark:spark-3.5-spline-agent-bundle_2.12:2.2.0 \\',
        '  --conf spark.sql.queryExecutionListeners=za.co.absa.spline.harvester.listener.SplineQueryExecutionListener \\',
        '  --conf spark.spline.lineageDispatcher=http \\',
        `  --conf spark.spline.lineageDispatcher.http.producer.url=${origin}/producer \\`,
        '  job.py',
      ].join('\n'),
    },
    {
      name: 'OpenLineage for Spark',
      words: 'The OpenLineage listener with its HTTP transport.',
      text: [
        'spark-submit \\',
        '  --packages io.openlineage:openlineage-spark_2.12:1.53.0 \\',
        '  --conf spark.extraListeners=io.openlineage.spark.agent.OpenLineageSparkListener \\',
        '  --conf spark.openlineage.transport.type=http \\',
        `  --conf spark.openlineage.transport.url=${origin} \\`,
        '  --conf spark.openlineage.transport.endpoint=/api/v1/lineage \\',
        '  job.py',
      ].join('\n'),
    },
    {
      name: 'Airflow',
      words: 'The OpenLineage provider; scheduler, workers and triggerer each need this.',
      text: `export AIRFLOW__OPENLINEAGE__TRANSPORT='{"type": "http", "url": "${origin}", "endpoint": "api/v1/lineage"}'`,
    },
    {
      name: 'dbt',
      words: 'openlineage-dbt beside dbt; dbt-ol runs dbt and reports its run.',
      text: `OPENLINEAGE_URL=${origin} OPENLINEAGE_NAMESPACE=dbt dbt-ol run`,
    },
    {
      name: 'Anything else',
      words: 'One event of OpenLineage by hand. The answer 201 says that it is stored.',
      text: `curl -i -X POST ${origin}/api/v1/lineage -H 'Content-Type: application/json' -d '{\n  "eventType": "COMPLETE", "eventTime": "${time}",\n  "producer": "https://example.org/by-hand",\n  "schemaURL": "https://openlineage.io/spec/2-0-2/OpenLineage.json#/$defs/RunEvent",\n  "run": {"runId": "0197e2a0-0000-7000-8000-000000000001"},\n  "job": {"namespace": "default", "name": "first_job"},\n  "inputs": [{"namespace": "s3://lake", "name": "raw/orders"}],\n  "outputs": [{"namespace": "s3://lake", "name": "curated/orders"}]\n}'`,
    },
  ];
}

/**
 * @param {import('../items/details.js').Context} context
 * @returns {HTMLElement}
 */
export function firstVisit(context) {
  return element(
    'div',
    { class: 'document first', 'data-testid': 'first-visit' },
    element(
      'section',
      { class: 'card' },
      element('h2', {}, 'Look around with a sample'),
      element('p', {}, 'Six days of a web shop: 15 jobs, 20 tables, a failed run, a late job, a failed check. Half of it are plans of real Spark jobs. It lives in a namespace of its own, sample, and goes away at a press.'),
      sampleButton(context),
    ),
    element('h2', {}, 'Or send lineage of your own'),
    element(
      'div',
      { class: 'snippets' },
      snippets(location.origin, new Date().toISOString()).map(({ name, words, text }) =>
        element(
          'section',
          { class: 'card snippet' },
          element('h3', {}, name, copyButton(text, `Copy the settings for ${name}`, context.announce)),
          element('p', { class: 'muted' }, words),
          element('pre', { class: 'mono' }, data(text)),
        ),
      ),
    ),
    element('p', { class: 'muted' }, 'This page shows the first documents as soon as they arrive.'),
  );
}

function sampleButton({ api, reload, announce }) {
  const said = element('p', { class: 'muted', role: 'status' });
  async function load() {
    press.disabled = true;
    said.textContent = 'Loading the sample…';
    const result = await loadSample(api);
    said.textContent = !result.ok && !result.stale ? result.error.message : 'The sample is here.';
    announce(said.textContent);
    press.disabled = false;
    if (result.ok) reload();
  }
  const press = button({ icon: 'plus', label: 'Load sample', onclick: load }, { 'data-testid': 'load-sample' });
  return element('div', {}, press, said);
}
