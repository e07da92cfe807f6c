// svc deploy retry | svc deploy accept
import type { CommandUnknownOpts } from '@commander-js/extra-typings';
import { needDaemon, requestedBy } from '../session.ts';
import { printJson, type Terminal } from '../terminal.ts';
import { verb, verbGroup } from '../verb.ts';
import { commandMachine, onMachineOption } from './team.ts';
import { printWhy } from './why.ts';

type Given = { json?: true; note?: string; orchestrator?: string; machine?: string };

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
  const isRetry = action === 'retry';
  const made = verb(action, {
    summary,
    example: isRetry
      ? ['svc deploy retry ABC-12', 'svc deploy retry ABC-12 --machine kim-laptop']
      : 'svc deploy accept ABC-12',
    route: `POST /api/workers/:ticket/deploy${isRetry ? ', POST /api/team/commands' : ''}`,
  })
    .argument('<ticket>')
    .option('--note <text>', 'reason, kept in the log')
    .option('--orchestrator <run>', 'worker of this run (default: the newest)');
  return (isRetry ? made.option(...onMachineOption) : made)
    .option('--json', 'print JSON')
    .action(async (ticket, { json, note, orchestrator, machine }: Given) => {
      if (machine !== undefined)
        return commandMachine(
          terminal,
          machine,
          { verb: 'retry-deploy', ticket, note, orchestrator },
          { json },
        );
      const daemon = await needDaemon(terminal);
      const answer = await daemon.post('/api/workers/{ticket}/deploy', {
        params: { ticket },
        body: { action, ...requestedBy(terminal), note, orchestrator },
      });
      if (json) return printJson(terminal, answer);
      printWhy(terminal, answer.why);
    });
}
