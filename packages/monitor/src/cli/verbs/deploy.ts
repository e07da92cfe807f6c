// svc deploy retry | svc deploy accept
import type { CommandUnknownOpts } from '@commander-js/extra-typings';
import { needDaemon, speaker } from '../session.ts';
import { printJson, type Terminal } from '../terminal.ts';
import { verb, verbGroup } from '../verb.ts';
import { printWhy } from './why.ts';

export function deployVerbs(terminal: Terminal): CommandUnknownOpts {
  return verbGroup(
    'deploy',
    {
      summary: 'Your word on a deploy that came to its end without success',
      example: ['svc deploy retry ABC-12', 'svc deploy accept ABC-12 --note "checked by hand"'],
    },
    [
      decisionVerb(terminal, 'retry', 'Wait for a deployment again, with a new budget and a new deadline'),
      decisionVerb(terminal, 'accept', 'Call it done without proof; its receipt says so'),
    ],
  );
}

function decisionVerb(terminal: Terminal, action: 'retry' | 'accept', summary: string): CommandUnknownOpts {
  return verb(action, {
    summary,
    example: `svc deploy ${action} ABC-12`,
    route: 'POST /api/workers/:ticket/deploy',
  })
    .argument('<ticket>')
    .option('--note <text>', 'why, for those who read the log')
    .option('--orchestrator <run>', 'the worker of this run; default: the newest')
    .option('--json', 'print JSON')
    .action(async (ticket, { json, note, orchestrator }) => {
      const daemon = await needDaemon(terminal);
      const answer = await daemon.post('/api/workers/{ticket}/deploy', {
        params: { ticket },
        body: { action, ...speaker(terminal), note, orchestrator },
      });
      if (json) return printJson(terminal, answer);
      printWhy(terminal, answer.why);
    });
}
