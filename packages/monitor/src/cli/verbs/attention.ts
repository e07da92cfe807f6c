// svc attention [list] | ack | snooze | hand-over | resolve
import type { CommandUnknownOpts } from '@commander-js/extra-typings';
import type { Answer } from '@svc/client';
import { needDaemon, speaker } from '../session.ts';
import { paint, printJson, printTable, type Terminal } from '../terminal.ts';
import { ageText, plainText, timeText } from '../text.ts';
import { verb } from '../verb.ts';

type AttentionAnswer = Answer<'POST', '/api/attention/ack'>;
type AttentionView = Answer<'GET', '/api/attention'>;
type AttentionEntry = AttentionView['open'][number];

const ROUTE = 'GET /api/attention';

export function attentionVerbs(terminal: Terminal): CommandUnknownOpts {
  return verb('attention', {
    summary: 'What needs you, most urgent first, and the command that mends it',
    example: ['svc attention', 'svc attention snooze run-1/ABC-12/deploy-timeout --for 2h'],
    route: ROUTE,
  })
    .option('--json', 'print JSON')
    .action(({ json }) => list(terminal, json === true))
    .addCommand(listVerb(terminal))
    .addCommand(actionVerb(terminal, 'ack', 'You have seen it; it stays until its cause is gone'))
    .addCommand(snoozeVerb(terminal))
    .addCommand(handOverVerb(terminal))
    .addCommand(actionVerb(terminal, 'resolve', 'Take it off the list; it comes back when its cause does'));
}

function listVerb(terminal: Terminal): CommandUnknownOpts {
  return verb('list', {
    summary: 'The same as svc attention',
    example: 'svc attention list --json',
    route: ROUTE,
  })
    .option('--json', 'print JSON')
    .action(({ json }) => list(terminal, json === true));
}

function actionVerb(terminal: Terminal, action: 'ack' | 'resolve', summary: string): CommandUnknownOpts {
  return verb(action, {
    summary,
    example: `svc attention ${action} run-1/ABC-12/deploy-timeout`,
    route: `POST /api/attention/${action}`,
  })
    .argument('<id>')
    .option('--json', 'print JSON')
    .action(async (id, { json }) => {
      const daemon = await needDaemon(terminal);
      const answer = await daemon.post(`/api/attention/${action}`, { body: { id, ...speaker(terminal) } });
      print(
        terminal,
        json,
        id,
        answer,
        (item) => `acknowledged by ${plainText(item.acknowledged?.by ?? 'nobody')}`,
      );
    });
}

function snoozeVerb(terminal: Terminal): CommandUnknownOpts {
  return verb('snooze', {
    summary: 'Put it off for a while',
    example: 'svc attention snooze run-1/ABC-12/deploy-timeout --for 2h',
    route: 'POST /api/attention/snooze',
  })
    .argument('<id>')
    .requiredOption('--for <duration>', 'how long, at most 30d')
    .option('--json', 'print JSON')
    .action(async (id, { for: duration, json }) => {
      const daemon = await needDaemon(terminal);
      const body = { id, for: duration, ...speaker(terminal) };
      const answer = await daemon.post('/api/attention/snooze', { body });
      print(
        terminal,
        json,
        id,
        answer,
        (item) => `put off until ${timeText(item.snoozedUntil, terminal.now())}`,
      );
    });
}

function handOverVerb(terminal: Terminal): CommandUnknownOpts {
  return verb('hand-over', {
    summary: 'Give it to somebody; it says so until its cause is gone',
    example: 'svc attention hand-over run-1/ABC-12/deploy-timeout --to kim --note "it is your deploy"',
    route: 'POST /api/attention/hand-over',
  })
    .argument('<id>')
    .requiredOption('--to <name>', 'who has it from now on')
    .option('--note <text>', 'what they should know')
    .option('--json', 'print JSON')
    .action(async (id, { to, note, json }) => {
      const daemon = await needDaemon(terminal);
      const body = { id, to, note, ...speaker(terminal) };
      const answer = await daemon.post('/api/attention/hand-over', { body });
      print(
        terminal,
        json,
        id,
        answer,
        (item) => `handed over to ${plainText(item.handedOver?.to ?? 'nobody')}`,
      );
    });
}

function print(
  terminal: Terminal,
  json: true | undefined,
  id: string,
  answer: AttentionAnswer,
  words: (item: NonNullable<AttentionAnswer['item']>) => string,
): void {
  if (json) return printJson(terminal, answer);
  const { item } = answer;
  terminal.out(`${plainText(id)} is ${item === null ? 'resolved' : words(item)}.`);
}

async function list(terminal: Terminal, json: boolean): Promise<void> {
  const view = await (await needDaemon(terminal)).get('/api/attention');
  if (json) return printJson(terminal, view);
  printAttention(terminal, view);
}

export function printAttention(terminal: Terminal, view: AttentionView): void {
  if (view.open.length === 0) terminal.out('Nothing needs you.');
  printItems(terminal, view.open);
  if (view.snoozed.length === 0) return;
  terminal.out('Put off:');
  printItems(terminal, view.snoozed);
}

/** Each with its message and its remedy below, so that long messages do not tear the columns apart. */
function printItems(terminal: Terminal, items: readonly AttentionEntry[]): void {
  const heads: string[] = [];
  printTable(
    { ...terminal, out: (line) => void heads.push(line) },
    items.map((item) => [
      item.severity,
      plainText(item.id),
      ageText(item.openedAt, terminal.now()),
      standing(terminal, item),
    ]),
  );
  items.forEach(({ severity, message, remedy }, index) => {
    terminal.out(paint(terminal, severity === 'high' ? 'red' : 'yellow', heads[index] ?? ''));
    terminal.out(`  ${plainText(message)}`);
    if (remedy !== null) terminal.out(`  ${plainText(remedy)}`);
  });
}

function standing(terminal: Terminal, item: AttentionEntry): string {
  const { acknowledged, snoozedUntil, handedOver, times } = item;
  const words = times > 1 ? [`${times} times`] : [];
  if (acknowledged !== null) words.push(`seen by ${plainText(acknowledged.by)}`);
  if (item.reportedBy === 'helper') words.push('reported by a helper');
  if (handedOver !== null)
    words.push(`handed over to ${plainText(handedOver.to)} by ${plainText(handedOver.by)}`);
  if (snoozedUntil !== null) words.push(`put off until ${timeText(snoozedUntil, terminal.now())}`);
  return words.join(', ');
}
