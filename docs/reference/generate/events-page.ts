// docs/reference/events.md: every topic of the event log with the fields of its detail, from the schemas in core.

import { isHelperTopic } from '../../../packages/monitor/src/features/helper-topics.ts';
import { jsonSchemaOf } from '../../../packages/monitor/src/features/json-schemas.ts';
import { topics } from '../../../packages/monitor/src/features/topics.ts';
import { EventLine, EventScope } from '../../../packages/monitor/src/kernel/log/event-line.ts';
import type { Topic } from '../../../packages/monitor/src/kernel/log/topics.ts';
import { code, codes, type JsonSchema, page, table, typeWords, words } from './markdown.ts';

type Schema = Parameters<typeof jsonSchemaOf>[0];
type Fields = { name: string; type: string; required: boolean; description: string }[];

export function eventsPage(): string {
  const byFamily = Map.groupBy(topics.names, (topic) => familyOf(topic));
  const sections = families.flatMap((family) => {
    const own = byFamily.get(family);
    if (own === undefined) throw new Error(`no topic starts with ${family.prefix}`);
    return [familySection(family.prefix.replace(/\.$/, ''), family.about, family.by, own)];
  });
  return page('Events', intro(), [...sections]);
}

function intro(): string[] {
  const line = fieldsOf(EventLine).filter(({ name }) => name !== 'detail');
  return [
    `The event log is \`~/svc/events/YYYY-MM.jsonl\`: one JSON object per line, written only by the daemon. These are all ${topics.names.length} topics. A filter for a topic that is not listed is rejected. The same as JSON Schema: \`schemas/event-line.json\`.`,
    "```sh\nsvc events list --event 'codehost.pr.*' --since 1d\nsvc events wait-for --event codehost.pr.merged --pr 42\n```",
    '## Common fields',
    table(
      ['Field', 'Type', 'Always', 'What it is'],
      line.map(({ name, type, required, description }) => [
        code(name),
        type,
        required ? 'yes' : '',
        description || lineWords[name] || '',
      ]),
    ),
    `\`scope\` is the subject of the event. Every event has the known values of: ${codes(Object.keys(EventScope.shape))}.`,
    'A detail may also have `cut`: the paths of its fields that were cut to fit into a line of 64 KiB. Fields written by a newer version are kept.',
  ];
}

const lineWords: Record<string, string> = {
  seq: 'The position in the log, one more than that of the previous event: the cursor of every reader',
  id: 'Unique',
  schemaVersion: 'The version of the format',
  event: 'The topic, one of those on this page',
  source: 'Who reported it',
  via: 'How it reached the daemon',
  deliveryId: 'The sender’s id of the delivery; a second delivery with the same id is ignored',
  occurredAt: 'When it happened, according to the sender',
  relay: 'The relay’s position of the delivery; the daemon resumes a channel at its newest position',
  host: 'The machine',
  scope: 'The subject of the event',
  actor: 'Who caused it at the code host or the tracker',
};

function familySection(title: string, about: string, by: string, own: readonly Topic[]): string {
  const bySchema = Map.groupBy(own, (topic) => topics.schemaOf(topic) as Schema);
  const helpers = helperWords(own);
  const details = [...bySchema].map(([schema, names]) => {
    const fields = fieldsOf(schema).filter(({ name }) => name !== 'cut');
    const head = codes(names);
    if (fields.length === 0) return `${head}: no own fields.`;
    const rows = fields.map(({ name, type, required, description }) => [
      code(name),
      type,
      required ? 'yes' : '',
      description,
    ]);
    return `${head}\n\n${table(['Detail', 'Type', 'Always', 'What it is'], rows)}`;
  });
  return [`## ${title}`, `${about}. Written by ${by}.${helpers}`, ...details].join('\n\n');
}

/** Which of them `svc events append` accepts. */
function helperWords(own: readonly Topic[]): string {
  const refused = own.filter((topic) => !isHelperTopic(topic));
  if (refused.length === own.length) return ' A script cannot report them.';
  const except = refused.length === 0 ? '' : `, except ${codes(refused)}`;
  return ` A script may report them too${except}: \`svc events append\`.`;
}

function fieldsOf(schema: Schema): Fields {
  const root = jsonSchemaOf(schema) as JsonSchema;
  return Object.entries(root.properties ?? {}).map(([name, field]) => ({
    name,
    type: typeWords(field, root),
    required: root.required?.includes(name) === true,
    description: words(field.description ?? ''),
  }));
}

// What the schemas of the event log do not contain: the subject of a family of topics, and who writes its events. A
// topic without a family fails the generator.

type Family = { prefix: string; about: string; by: string };

const delivered = 'the receiver, from a delivery';
const deliveredOrFound = 'the receiver, from a delivery; reconciliation, if a delivery was missed';
const run = 'the orchestrator in the daemon';
const person = 'the daemon, for a person’s action';

const families: readonly Family[] = [
  { prefix: 'codehost.pr.', about: 'A pull request', by: deliveredOrFound },
  { prefix: 'codehost.pr_review.', about: 'A review of a pull request', by: deliveredOrFound },
  { prefix: 'codehost.pr_review_thread.', about: 'A review thread', by: delivered },
  { prefix: 'codehost.pr_review_comment.', about: 'A comment on a line of a pull request', by: delivered },
  { prefix: 'codehost.check_suite.', about: 'A check suite of a commit', by: deliveredOrFound },
  { prefix: 'codehost.status.', about: 'A status of a commit', by: deliveredOrFound },
  { prefix: 'codehost.push', about: 'A push', by: delivered },
  { prefix: 'codehost.issue_comment.', about: 'A comment on a pull request or an issue', by: delivered },
  { prefix: 'codehost.deployment.', about: 'A deployment', by: deliveredOrFound },
  { prefix: 'codehost.deployment_status.', about: 'A state of a deployment', by: deliveredOrFound },
  {
    prefix: 'codehost.other',
    about: 'An accepted delivery of another type: stored without interpretation',
    by: delivered,
  },
  { prefix: 'tracker.issue.', about: 'A ticket', by: deliveredOrFound },
  { prefix: 'tracker.comment.', about: 'A comment on a ticket', by: delivered },
  { prefix: 'tracker.cycle.', about: 'A cycle of the team', by: delivered },
  { prefix: 'tracker.reaction.', about: 'A reaction', by: delivered },
  { prefix: 'tracker.issue_label.', about: 'A label', by: delivered },
  { prefix: 'tracker.project.', about: 'A project of the tracker', by: delivered },
  {
    prefix: 'tracker.other',
    about: 'An accepted delivery of another type: stored without interpretation',
    by: delivered,
  },
  {
    prefix: 'agent.',
    about: 'What an agent does: its session, turns, tools, requests and messages',
    by: 'the daemon, from what the agent reports through its protocol',
  },
  {
    prefix: 'session.',
    about: 'The state of an agent that a person started',
    by: 'the daemon, from the hooks in the settings of the agent (`svc hooks install`) and its process',
  },
  { prefix: 'orchestrator.run.', about: 'A run: many tickets in parallel', by: `${run}; ${person}` },
  { prefix: 'orchestrator.wave.', about: 'A wave of a run', by: run },
  {
    prefix: 'orchestrator.worker.',
    about: 'A worker',
    by: 'the daemon, from the worker’s signal file and its process; the orchestrator for `recalled`; a person for `retried`',
  },
  {
    prefix: 'orchestrator.deploy.',
    about: 'The deploy of a merge',
    by: 'the daemon, by the deploy rules; a person for `retried` and `accepted`',
  },
  {
    prefix: 'orchestrator.ticket.',
    about: 'What an agent has of the text of its ticket, and what changed since',
    by: 'the daemon',
  },
  { prefix: 'orchestrator.verification.', about: 'The verification of a merged commit', by: run },
  {
    prefix: 'workflow.ticket.',
    about: 'The phase of a ticket, its state in the tracker, and runs that the tracker asked for',
    by: '`svc ticket phase` for `phase_changed`; the daemon for the others',
  },
  {
    prefix: 'workflow.task.',
    about: 'A task that a person described, until its run is started',
    by: 'the daemon',
  },
  { prefix: 'workflow.rule.', about: 'A rule of the configuration', by: 'the daemon' },
  { prefix: 'comms.attention', about: 'What needs a person', by: `the daemon; ${person} on an item` },
  { prefix: 'monitor.feed.', about: 'A change of a feed’s grade', by: 'the daemon' },
  { prefix: 'monitor.daemon.', about: 'The daemon itself', by: 'the daemon' },
  {
    prefix: 'monitor.claim.',
    about: 'A pull request that a worker claims, and that a poll of the code host did not find',
    by: 'the daemon',
  },
  {
    prefix: 'monitor.config.',
    about: 'The effective configuration of a project',
    by: 'the daemon',
  },
  { prefix: 'feedback.', about: 'Findings', by: '`svc add-finding`, `svc findings drain`' },
  {
    prefix: 'team.',
    about: 'What other machines of the team work on, and who is in it',
    by: 'the daemon, from signed records (`svc team`)',
  },
  { prefix: 'archive.', about: 'The archive', by: '`svc archive`' },
  { prefix: 'monitor.retention.', about: 'Old data that the retention policy removed', by: 'the daemon' },
];

/** The most specific family of a topic. */
export function familyOf(topic: string): Family {
  const [found] = families
    .filter(({ prefix }) => topic.startsWith(prefix))
    .toSorted((one, other) => other.prefix.length - one.prefix.length);
  if (found === undefined)
    throw new Error(`no family in docs/reference/generate/events-page.ts covers ${topic}`);
  return found;
}
