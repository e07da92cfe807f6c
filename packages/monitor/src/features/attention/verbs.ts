// svc attention [list] | ack | snooze | hand-over | resolve | undo
import type { CommandUnknownOpts } from '@commander-js/extra-typings';
import type { Answer } from '@svc/client';
import { needDaemon } from '../../cli/kit/daemon.ts';
import { getTeamBoard, machineOption, printMachine, teamOption } from '../../cli/kit/on-machine.ts';
import { routeVerb } from '../../cli/kit/route-verb.ts';
import { paint, printJson, printTable, type Terminal } from '../../cli/kit/terminal.ts';
import { ageText, plainText, timeText } from '../../cli/kit/text.ts';
import { verb } from '../../cli/kit/verb.ts';
import { remedyOnMachine } from '../../kernel/check/remedy-command.ts';
import { attentionView } from './attention-view.ts';

type AttentionAnswer = Answer<'POST', '/api/attention/ack'>;
type AttentionView = Answer<'GET', '/api/attention'>;
type AttentionEntry = AttentionView['open'][number];

const ROUTE = 'GET /api/attention';
const ofItem = { id: ['<id>'] } as const;

function isNow(describe: (item: NonNullable<AttentionAnswer['item']>, now: Date) => string) {
  return (terminal: Terminal, { item }: AttentionAnswer, { id }: { id: string }): void =>
    terminal.out(`${plainText(id)} is ${item === null ? 'resolved' : describe(item, terminal.now())}.`);
}

export function attentionVerbs(terminal: Terminal): CommandUnknownOpts {
  return verb('attention', {
    summary: 'List what needs you, and act on it',
    details: 'Shows the most urgent items first, each with the command that fixes it.',
    example: [
      'svc attention',
      'svc attention --team',
      'svc attention snooze run-1/ABC-12/deploy-timeout --for 2h',
    ],
    route: `${ROUTE}, GET /api/team/board`,
  })
    .option(...teamOption)
    .option(...machineOption)
    .option('--json', 'print JSON')
    .action(({ json, team, machine }) =>
      team || machine !== undefined
        ? listTeam(terminal, machine, json === true)
        : list(terminal, json === true),
    )
    .addCommand(listVerb(terminal))
    .addCommand(ackVerb(terminal))
    .addCommand(snoozeVerb(terminal))
    .addCommand(handOverVerb(terminal))
    .addCommand(resolveVerb(terminal))
    .addCommand(undoVerb(terminal));
}

const listVerb = routeVerb('list', ROUTE, {
  summary: 'List what needs you, as svc attention does',
  example: 'svc attention list --json',
  print: printAttention,
});

const ackVerb = routeVerb('ack', 'POST /api/attention/ack', {
  summary: 'Acknowledge an item; it stays until its cause is gone',
  example: [
    'svc attention ack run-1/ABC-12/deploy-timeout',
    'svc attention ack run-1/ABC-12/deploy-timeout --machine kim-laptop',
  ],
  fields: ofItem,
  acts: true,
  remote: ({ id }) => ({ verb: 'acknowledge', item: id }),
  print: isNow(({ acknowledged }) => `acknowledged by ${plainText(acknowledged?.by ?? 'unknown')}`),
});

const resolveVerb = routeVerb('resolve', 'POST /api/attention/resolve', {
  summary: 'Resolve an item; it returns when its cause does',
  details:
    'While svc sees that the cause exists (an agent waits, a deploy failed, a feed is blind), it is refused with exit code 1: fix the cause, or snooze the item.',
  example: 'svc attention resolve run-1/ABC-12/deploy-timeout',
  fields: ofItem,
  acts: true,
  print: isNow(() => 'resolved'),
});

const undone = {
  acknowledge: 'acknowledgement',
  snooze: 'snooze',
  'hand-over': 'hand-over',
  resolve: 'resolution',
} as const;

const undoVerb = routeVerb('undo', 'POST /api/attention/undo', {
  summary: 'Undo what was last done with an item',
  details: 'Undoes one acknowledgement, snooze, hand-over or resolution: the last one.',
  example: 'svc attention undo run-1/ABC-12/rule-slow-checks',
  fields: ofItem,
  acts: true,
  print: (terminal, { action }, { id }) =>
    terminal.out(`The ${undone[action]} of ${plainText(id)} is undone.`),
});

const snoozeVerb = routeVerb('snooze', 'POST /api/attention/snooze', {
  summary: 'Snooze an item',
  example: 'svc attention snooze run-1/ABC-12/deploy-timeout --for 2h',
  fields: { ...ofItem, for: ['--for <duration>', 'how long, at most 30d'] },
  required: ['for'],
  acts: true,
  print: isNow(({ snoozedUntil }, now) => `snoozed until ${timeText(snoozedUntil, now)}`),
});

const handOverVerb = routeVerb('hand-over', 'POST /api/attention/hand-over', {
  summary: 'Hand an item over to a colleague',
  details: 'A member of your team finds it in svc attention on each of their machines.',
  example: [
    'svc attention hand-over run-1/ABC-12/deploy-timeout --to kim',
    'svc attention hand-over run-1/ABC-12/stuck --to alex --machine kim-laptop',
  ],
  fields: {
    ...ofItem,
    to: ['--to <name>', 'who is responsible from now on'],
    note: ['--note <text>', 'what they should know'],
  },
  required: ['to'],
  acts: true,
  remote: ({ id, to, note }) => ({ verb: 'hand-over', item: id, to, note }),
  print: isNow(({ handedOver }) => `handed over to ${plainText(handedOver?.to ?? 'unknown')}`),
});

async function list(terminal: Terminal, json: boolean): Promise<void> {
  const view = await (await needDaemon(terminal)).get('/api/attention');
  if (json) return printJson(terminal, view);
  printAttention(terminal, view);
}

async function listTeam(terminal: Terminal, machine: string | undefined, json: boolean): Promise<void> {
  const view = await getTeamBoard(terminal, { machine });
  if (json) return printJson(terminal, view);
  for (const shown of view.machines) {
    printMachine(terminal, shown);
    const now = terminal.now().getTime();
    const { self, machine: name, person, presence } = shown;
    const own = { attention: new Map(self ? shown.attention.map((item) => [item.key, item]) : []) };
    const others = self ? [] : shown.attention.map((item) => ({ ...item, machine: name, person }));
    const items = attentionView(own, now, others);
    if (presence !== 'here' && others.length === 0)
      terminal.out('Unknown whether something needs you there.');
    else printAttention(terminal, items);
  }
}

export function printAttention(terminal: Terminal, view: AttentionView): void {
  if (view.open.length === 0) terminal.out('Nothing needs you.');
  printItems(terminal, view.open);
  if (view.snoozed.length === 0) return;
  terminal.out('Snoozed:');
  printItems(terminal, view.snoozed);
}

/** Message and remedy are below the columns, so long messages do not break them. */
function printItems(terminal: Terminal, items: readonly AttentionEntry[]): void {
  const heads: string[] = [];
  printTable(
    { ...terminal, out: (line) => void heads.push(line) },
    items.map((item) => [
      item.severity,
      plainText(item.id),
      ageText(item.openedAt, terminal.now()),
      stateOf(terminal, item),
    ]),
  );
  items.forEach(({ severity, message, remedy, machine }, index) => {
    terminal.out(paint(terminal, severity === 'high' ? 'red' : 'yellow', heads[index] ?? ''));
    terminal.out(`  ${plainText(message)}`);
    if (remedy === null) return;
    terminal.out(`  ${plainText(machine === undefined ? remedy : suggestedBy(machine, remedy))}`);
  });
}

function suggestedBy(machine: string, remedy: string): string {
  const { text, there } = remedyOnMachine(remedy, machine);
  return `${machine} suggests, not checked here${there ? ', to run on that machine' : ''}: ${text}`;
}

function stateOf(terminal: Terminal, item: AttentionEntry): string {
  const { acknowledged, snoozedUntil, handedOver, times, machine, person = 'unknown' } = item;
  const parts = machine === undefined ? [] : [`on ${plainText(`${machine} (${person})`)}`];
  if (times > 1) parts.push(`${times} times`);
  if (acknowledged !== null) parts.push(`acknowledged by ${plainText(acknowledged.by)}`);
  if (item.reportedBy === 'helper') parts.push('reported by a helper');
  if (handedOver !== null)
    parts.push(
      `handed over to ${plainText(handedOver.to)} by ${plainText(handedOver.by)}`,
      ...(handedOver.pending === true && machine === undefined ? ['who does not have it yet'] : []),
    );
  if (snoozedUntil !== null) parts.push(`snoozed until ${timeText(snoozedUntil, terminal.now())}`);
  return parts.join(', ');
}
