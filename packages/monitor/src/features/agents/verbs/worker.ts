// svc worker output
import type { CommandUnknownOpts } from '@commander-js/extra-typings';
import type { Answer } from '@svc/client';
import { pause } from '@svc/lib/timeout';
import { needDaemon } from '../../../cli/kit/daemon.ts';
import type { DaemonClient } from '../../../cli/kit/daemon-client.ts';
import { AnswerIsNo, paint, printJson, type Terminal } from '../../../cli/kit/terminal.ts';
import { plainText } from '../../../cli/kit/text.ts';
import { verb, verbGroup } from '../../../cli/kit/verb.ts';
import { Failure } from '../../../kernel/failure.ts';
import type { OutputLine } from '../agent-output.ts';

type WorkerOutput = Answer<'GET', '/api/workers/{ticket}/output'>;

const POLL_MS = 1_000;
const ROUTE = '/api/workers/{ticket}/output';

export function workerVerbs(terminal: Terminal): CommandUnknownOpts {
  return verbGroup(
    'worker',
    { summary: 'Show the output of an agent', example: 'svc worker output ABC-12 --follow' },
    [outputVerb(terminal)],
  );
}

function outputVerb(terminal: Terminal): CommandUnknownOpts {
  return verb('output', {
    summary: 'Show the latest output of a ticket’s agent',
    details: 'Also shows the end of its standard error. Exit code 1 when there is no output.',
    example: ['svc worker output ABC-12', 'svc worker output ABC-12 --follow --limit 20'],
    route: 'GET /api/workers/:ticket/output',
  })
    .argument('<ticket>')
    .option('--orchestrator <run>', 'agent of this run (default: the newest)')
    .option('--limit <number>', 'show only the newest <number> lines', '50')
    .option('--follow', 'keep printing new output')
    .option('--json', 'print JSON')
    .action(async (ticket, { orchestrator, limit, follow, json }) => {
      if (follow && json) throw new Failure('usage', '--follow and --json cannot be used together.');
      const daemon = await needDaemon(terminal);
      const first = await daemon.get(ROUTE, { params: { ticket }, query: { orchestrator, limit } });
      if (json) return printJson(terminal, first);
      print(terminal, first.lines);
      printErrors(terminal, first.errors);
      if (follow) return followOutput(terminal, daemon, first);
      if (first.exists) return;
      terminal.err(
        `No output of ${plainText(first.ticket)} in ${plainText(first.orchestrator)} yet. Check its state: svc why ${plainText(first.ticket)}`,
      );
      throw new AnswerIsNo();
    });
}

async function followOutput(terminal: Terminal, daemon: DaemonClient, first: WorkerOutput): Promise<void> {
  let { to, errors } = first;
  const { ticket, orchestrator } = first;
  while (!terminal.interrupted.aborted) {
    const query = { orchestrator, after: to, limit: 1_000 };
    const part = await daemon.get(ROUTE, { params: { ticket }, query });
    if (part.restarted) terminal.err('The output was restarted.');
    print(terminal, part.lines);
    if (part.errors !== errors) printErrors(terminal, part.errors);
    ({ errors } = part);
    const isMore = part.to > to && part.to < part.size;
    to = part.to;
    if (!isMore) await pause(POLL_MS, terminal.interrupted);
  }
}

function printErrors(terminal: Terminal, errors: string): void {
  if (errors === '') return;
  terminal.out(paint(terminal, 'red', 'End of standard error:'));
  for (const line of errors.split('\n')) terminal.out(`  ${plainText(line)}`);
}

function print(terminal: Terminal, lines: readonly OutputLine[]): void {
  for (const { kind, text, ok, cut } of lines) {
    if (kind === 'other') continue;
    const shown = `${text.split('\n').map(plainText).join('\n')}${cut ? ' …' : ''}`;
    if (kind === 'tool') terminal.out(paint(terminal, 'dim', `uses ${shown}`));
    else if (kind === 'session') terminal.out(paint(terminal, 'dim', `started: ${shown}`));
    else if (kind === 'result')
      terminal.out(
        paint(terminal, ok === true ? 'green' : 'red', `${ok === true ? 'ended' : 'failed'}: ${shown}`),
      );
    else terminal.out(shown);
  }
}
