// svc worker output

import type { CommandUnknownOpts } from '@commander-js/extra-typings';
import type { Answer } from '@svc/client';
import type { OutputLine } from '@svc/core';
import { pause } from '@svc/lib/timeout';
import { Failure } from '../../errors.ts';
import type { DaemonClient } from '../daemon-client.ts';
import { needDaemon } from '../session.ts';
import { AnswerIsNo, paint, printJson, type Terminal } from '../terminal.ts';
import { plainText } from '../text.ts';
import { verb, verbGroup } from '../verb.ts';

type WorkerOutput = Answer<'GET', '/api/workers/{ticket}/output'>;

const LOOK_EVERY_MS = 1_000;
const ROUTE = '/api/workers/{ticket}/output';

export function workerVerbs(terminal: Terminal): CommandUnknownOpts {
  return verbGroup(
    'worker',
    { summary: 'One worker: what its agent says', example: 'svc worker output ABC-12 --follow' },
    [outputVerb(terminal)],
  );
}

function outputVerb(terminal: Terminal): CommandUnknownOpts {
  return verb('output', {
    summary:
      'Show what the agent of a ticket said last, and the end of its standard error; exit 1 when there is none',
    example: ['svc worker output ABC-12', 'svc worker output ABC-12 --follow --limit 20'],
    route: 'GET /api/workers/:ticket/output',
  })
    .argument('<ticket>')
    .option('--orchestrator <run>', 'the worker of this run; default: the newest')
    .option('--limit <number>', 'at most so many lines, the newest', '50')
    .option('--follow', 'go on as more is written')
    .option('--json', 'print JSON')
    .action(async (ticket, { orchestrator, limit, follow, json }) => {
      if (follow && json) throw new Failure('usage', '--follow and --json: one of them.');
      const daemon = await needDaemon(terminal);
      const first = await daemon.get(ROUTE, { params: { ticket }, query: { orchestrator, limit } });
      if (json) return printJson(terminal, first);
      print(terminal, first.lines);
      printErrors(terminal, first.errors);
      if (follow) return followOn(terminal, daemon, first);
      if (first.exists) return;
      terminal.err(`There is no output of ${plainText(first.ticket)} in ${plainText(first.orchestrator)}.`);
      throw new AnswerIsNo();
    });
}

async function followOn(terminal: Terminal, daemon: DaemonClient, first: WorkerOutput): Promise<void> {
  let { to, errors } = first;
  const { ticket, orchestrator } = first;
  while (!terminal.interrupted.aborted) {
    const query = { orchestrator, after: to, limit: 1_000 };
    const part = await daemon.get(ROUTE, { params: { ticket }, query });
    if (part.restarted) terminal.err('The output begins anew.');
    print(terminal, part.lines);
    if (part.errors !== errors) printErrors(terminal, part.errors);
    ({ errors } = part);
    const isMore = part.to > to && part.to < part.size;
    to = part.to;
    if (!isMore) await pause(LOOK_EVERY_MS, terminal.interrupted);
  }
}

function printErrors(terminal: Terminal, errors: string): void {
  if (errors === '') return;
  terminal.out(paint(terminal, 'red', 'Its standard error ends with:'));
  for (const line of errors.split('\n')) terminal.out(`  ${plainText(line)}`);
}

function print(terminal: Terminal, lines: readonly OutputLine[]): void {
  for (const { kind, text, ok, cut } of lines) {
    if (kind === 'other') continue;
    const words = `${text.split('\n').map(plainText).join('\n')}${cut ? ' …' : ''}`;
    if (kind === 'tool') terminal.out(paint(terminal, 'dim', `uses ${words}`));
    else if (kind === 'session') terminal.out(paint(terminal, 'dim', `begins: ${words}`));
    else if (kind === 'result')
      terminal.out(
        paint(terminal, ok === true ? 'green' : 'red', `${ok === true ? 'ended' : 'failed'}: ${words}`),
      );
    else terminal.out(words);
  }
}
