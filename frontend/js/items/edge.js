/**
 * The panel's description of an edge: its ends, how, its jobs and plans.
 */
import { shorten } from '../data/format.js';
import { nodeOf } from '../data/model.js';
import { data, element } from '../page/dom.js';
import { columnLink, howChip } from './column.js';
import { declaredOf } from '../panel/declared.js';
import { datasetLink, jobById, jobLink, planLink } from '../panel/links.js';
import { expression, facts, modeChip, more, MOST_LISTED, section, separated } from '../panel/panel.js';

export function describeLink(context, model, item) {
  const { state } = context;
  const { edge } = item;
  const column = edge.kind !== 'feeds';
  const ends = [item.from, item.to].map((id) => nodeOf(model, id));
  const endLink = (end) => (column ? columnLink(state, model, end.id) : boxLink(state, end));
  return {
    kind: column ? (edge.kind === 'INDIRECT' ? 'Indirect dependency' : 'Column dependency') : 'Flow',
    tone: edge.kind === 'INDIRECT' ? 'indirect' : column ? 'direct' : 'plain',
    title: ends.map(({ label }) => shorten(label, 60)),
    detail: '',
    body: [
      facts([
        ['From', endLink(ends[0])],
        ['To', endLink(ends[1])],
        ['How', column && howChip(edge)],
        ['Joined', edge.joined && 'by the schemas of the catalogue: the text of the query leaves the column open'],
        ['Masked', edge.masking && 'by every plan behind this step'],
        ['Origin', edge.origin === 'declared' && 'declared by a person: no run tells of it'],
        ['Flow', edge.seen === false && 'not seen yet: a next run would bring it'],
        ['Attempted', edge.attempted && 'the last run failed or was aborted: nothing flowed here'],
        ['Mode', edge.modes?.length > 0 && edge.modes.map(modeChip)],
        [
          'Jobs',
          edge.jobs?.length > 0 &&
            separated(edge.jobs.slice(0, MOST_LISTED), (id) => jobById(context, model, id)),
        ],
      ]),
      edge.origin === 'declared' && declaredOf(context, declaredEnd(model, item)),
      edge.expression && section('Expression', expression(edge.expression)),
      edge.plans?.length > 0 &&
        section(
          'Plans',
          element(
            'ul',
            { class: 'lines' },
            edge.plans.slice(0, MOST_LISTED).map((id) => element('li', {}, planLink(state, id, id))),
          ),
          more(edge.plans.length),
        ),
    ],
  };
}

/** The table at an edge that is written, or read where the other end is a job. */
function declaredEnd(model, { from, to }) {
  const ends = [to, from].map((id) => model.boxes.get(model.rows.get(id)?.box ?? id));
  return (ends.find((box) => box.kind === 'dataset') ?? ends[0]).id;
}

function boxLink(state, box) {
  if (box.kind === 'job') return jobLink(state, box.node);
  return box.kind === 'dataset' ? datasetLink(state, box.node) : data(box.label);
}
