// Which kind of value an argument or option takes. Most show it by the name of their placeholder; the others are listed
// here, and a test checks that each of them exists.
import type { DescribedValue, DescribedVerb } from '../describe-program.ts';

/** Known when svc is built. */
export const staticKinds = ['topic', 'config-key', 'layer', 'document-type', 'phase', 'agent'] as const;
/** Known only to the running daemon. */
export const daemonKinds = ['ticket', 'run', 'archived-run', 'attention-item'] as const;

export type StaticKind = (typeof staticKinds)[number];
export type DaemonKind = (typeof daemonKinds)[number];
export type ValueKind = StaticKind | DaemonKind | 'file';

const byPlaceholder: Readonly<Record<string, ValueKind>> = {
  ticket: 'ticket',
  tickets: 'ticket',
  run: 'run',
  topic: 'topic',
  layer: 'layer',
  phase: 'phase',
  file: 'file',
  path: 'file',
  folder: 'file',
};

/** `<verb> <argument or option>` */
export const byPosition: Readonly<Record<string, ValueKind>> = {
  'agents check name': 'agent',
  'archive restore orchId': 'archived-run',
  'archive show orchId': 'archived-run',
  'archive sweep orchId': 'run',
  'archive verify orchId': 'archived-run',
  'attention ack id': 'attention-item',
  'attention hand-over id': 'attention-item',
  'attention resolve id': 'attention-item',
  'attention snooze id': 'attention-item',
  'config explain key': 'config-key',
  'config set key': 'config-key',
  'config unset key': 'config-key',
  'context add type': 'document-type',
  'context recent type': 'document-type',
  'context set-orchestration name': 'run',
  'context set-ticket id': 'ticket',
  'context ticket id': 'ticket',
  'events append --orchestrator': 'run',
  'events append --ticket': 'ticket',
  'events counts --event': 'topic',
  'events counts --ticket': 'ticket',
  'events list --event': 'topic',
  'events list --ticket': 'ticket',
  'events tail --event': 'topic',
  'events tail --ticket': 'ticket',
  'events topics glob': 'topic',
  'events wait-for --event': 'topic',
  'events wait-for --ticket': 'ticket',
  'orchestrate start --agent': 'agent',
};

/** `name` is the argument's own, or the option's with its dashes. */
export function kindAt(verb: DescribedVerb, name: string, value: DescribedValue): ValueKind | undefined {
  return byPosition[[...verb.path, name].join(' ')] ?? byPlaceholder[value.name];
}

// Names come from outside, and a shell inserts what is offered into its command line. Only characters that no shell
// interprets are offered: no quote, space, dollar, colon or control character. The scripts use the same alphabet.
export const PLAIN_LETTERS = 'A-Za-z0-9._/+%,-';

const plain = new RegExp(`^[${PLAIN_LETTERS}]{1,200}$`);

export function isPlainValue(text: string): boolean {
  return plain.test(text);
}
