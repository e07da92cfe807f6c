// svc deploy retry | svc deploy accept
import type { CommandUnknownOpts } from '@commander-js/extra-typings';
import { needDaemon, requestedBy } from '../session.ts';
import { printJson, type Terminal } from '../terminal.ts';
import { verb, verbGroup } from '../verb.ts';
import { printWhy } from './why.ts';

export function deployVerbs(terminal: Terminal): CommandUnknownOpts {
  return verbGroup(
    'deploy',
    {
      summary: 'Retry or accept a failed deploy',
      example: ['svc deploy retry ABC-12', 'svc deploy accept ABC-12 --note "checked by hand"'],
    },
    [
      decisionVerb(terminal, 'retry', 'Wait for a deployment again, with a new deadline'),
      decisionVerb(terminal, 'accept', 'Accept it as done without proof; the receipt shows that'),
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
    .option('--note <text>', 'reason, kept in the log')
    .option('--orchestrator <run>', 'worker of this run (default: the newest)')
    .option('--json', 'print JSON')
    .action(async (ticket, { json, note, orchestrator }) => {
      const daemon = await needDaemon(terminal);
      const answer = await daemon.post('/api/workers/{ticket}/deploy', {
        params: { ticket },
        body: { action, ...requestedBy(terminal), note, orchestrator },
      });
      if (json) return printJson(terminal, answer);
      printWhy(terminal, answer.why);
    });
}
