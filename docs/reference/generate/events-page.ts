// docs/reference/events.md: every topic of the event log with the fields of its detail, from the schemas in core.
import {
  detailSchemaFor,
  EventLine,
  EventScope,
  isHelperTopic,
  jsonSchemaOf,
  type Topic,
  topics,
} from '@svc/core';
import { families, familyOf } from './event-words.ts';
import { type JsonSchema, typeWords } from './json-schema.ts';
import { code, codes, page, table, words } from './markdown.ts';

type Schema = Parameters<typeof jsonSchemaOf>[0];
type Fields = { name: string; type: string; required: boolean; description: string }[];

export function eventsPage(): string {
  const byFamily = Map.groupBy(topics, (topic) => familyOf(topic));
  const sections = families.flatMap((family) => {
    const own = byFamily.get(family);
    if (own === undefined) throw new Error(`no topic begins with ${family.prefix}`);
    return [familySection(family.prefix.replace(/\.$/, ''), family.about, family.by, own)];
  });
  return page('Events', intro(), [...sections]);
}

function intro(): string[] {
  const line = fieldsOf(EventLine).filter(({ name }) => name !== 'detail');
  return [
    `The event log is \`~/svc/events/YYYY-MM.jsonl\`: one JSON object per line, written by the daemon alone. These are all ${topics.length} topics. A filter on a topic that is not here is refused. The same as JSON Schema: \`schemas/event-line.json\`.`,
    "```sh\nsvc events list --event 'codehost.pr.*' --since 1d\nsvc events wait-for --event codehost.pr.merged --pr 42\n```",
    '## The line',
    table(
      ['Field', 'Type', 'Always', 'What it is'],
      line.map(({ name, type, required, description }) => [
        code(name),
        type,
        required ? 'yes' : '',
        description || lineWords[name] || '',
      ]),
    ),
    `\`scope\` says what the line is about. Every line carries what is known of: ${codes(Object.keys(EventScope.shape))}.`,
    'A detail may also have `cut`: the paths of its fields that were cut to fit a line of 64 KiB. Fields that a newer version wrote are kept.',
  ];
}

const lineWords: Record<string, string> = {
  seq: 'The position in the log, one more than the line before: the cursor of every reader',
  id: 'Unique',
  schemaVersion: 'The form of the line',
  event: 'The topic, one of this page',
  source: 'Who told it',
  via: 'How it reached the daemon',
  deliveryId: 'As the sender named the delivery; a second one of the same id becomes no line',
  occurredAt: 'When it happened, as the sender says',
  relay: 'The relay’s position of the delivery; the newest of a channel is where the daemon goes on',
  host: 'The machine',
  scope: 'What it is about',
  actor: 'Who caused it at the code host or the tracker',
};

function familySection(title: string, about: string, by: string, own: readonly Topic[]): string {
  const bySchema = Map.groupBy(own, (topic) => detailSchemaFor(topic) as Schema);
  const helpers = helperWords(own);
  const details = [...bySchema].map(([schema, names]) => {
    const fields = fieldsOf(schema).filter(({ name }) => name !== 'cut');
    const head = codes(names);
    if (fields.length === 0) return `${head}: no fields of its own.`;
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

/** Which of them `svc events append` takes. */
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
