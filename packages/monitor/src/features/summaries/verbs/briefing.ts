// svc briefing
import type { CommandUnknownOpts } from '@commander-js/extra-typings';
import type { Answer } from '@svc/client';
import { needDaemon } from '../../../cli/kit/daemon.ts';
import { AnswerIsNo, paint, printJson, printTable, type Terminal } from '../../../cli/kit/terminal.ts';
import { plainText, timeText } from '../../../cli/kit/text.ts';
import { verb } from '../../../cli/kit/verb.ts';
import { printText } from './summarize.ts';

type Briefing = Answer<'GET', '/api/briefing'>;

export function briefingVerb(terminal: Terminal): CommandUnknownOpts {
  return verb('briefing', {
    summary: 'Show a briefing on all runs and a label for each session',
    example: ['svc briefing', 'svc briefing --fresh'],
    route: 'GET /api/briefing; with --fresh POST /api/briefing',
  })
    .option('--fresh', 'write a new one; otherwise the last one is shown')
    .option('--json', 'print JSON')
    .action(async ({ fresh, json }) => {
      const daemon = await needDaemon(terminal);
      const answer = await (fresh ? daemon.post('/api/briefing') : daemon.get('/api/briefing'));
      if (json) printJson(terminal, answer);
      else print(terminal, answer);
      if (answer.briefing === null) throw new AnswerIsNo();
    });
}

function print(terminal: Terminal, { enabled, briefing, suggestedLabels, generatedAt }: Briefing): void {
  if (briefing === null) {
    return terminal.err(
      enabled
        ? 'There is no briefing yet. Write one: svc briefing --fresh'
        : 'The briefing is disabled. To enable it, set svc.ai.enabled, ai.gateway and ai.apiKey: svc config set <key> <value>',
    );
  }
  printText(terminal, briefing);
  printTable(
    terminal,
    suggestedLabels.map(({ ticket, label }) => [`  ${plainText(ticket)}`, plainText(label)]),
  );
  if (generatedAt !== null) terminal.out(paint(terminal, 'dim', timeText(generatedAt, terminal.now())));
}
