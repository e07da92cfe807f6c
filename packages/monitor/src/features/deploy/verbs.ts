// svc deploy retry | svc deploy accept | svc deploy policy
import type { CommandUnknownOpts } from '@commander-js/extra-typings';
import type { Answer } from '@svc/client';
import { needDaemon, requestedBy } from '../../cli/kit/daemon.ts';
import { commandMachine, onMachineOption } from '../../cli/kit/on-machine.ts';
import { printJson, printTable, type Terminal } from '../../cli/kit/terminal.ts';
import { plainText } from '../../cli/kit/text.ts';
import { verb, verbGroup } from '../../cli/kit/verb.ts';
import { printWhy } from '../why/verbs.ts';
import { readWorkerWords } from '../workers/verbs/worker-words.ts';

type Given = { json?: true; note?: string; orchestrator?: string; machine?: string };

export function deployVerbs(terminal: Terminal): CommandUnknownOpts {
  return verbGroup(
    'deploy',
    {
      summary: 'Retry or accept a failed deploy, show what needs proof',
      example: ['svc deploy retry ABC-12', 'svc deploy accept ABC-12 --note "checked by hand"'],
    },
    [
      decisionVerb(terminal, 'retry', 'Wait for a deployment again, with a new deadline'),
      decisionVerb(terminal, 'accept', 'Accept it as done without proof; the receipt shows that'),
      policyVerb(terminal),
    ],
  );
}

type Policy = Answer<'GET', '/api/deploy/policy'>['policies'][number];

function policyVerb(terminal: Terminal): CommandUnknownOpts {
  return verb('policy', {
    summary: 'Show which repositories need proof, and why',
    details:
      'A project requires it with svc.deploy.<owner/repo>.skipDeployVerification set to false. It stays required until the file of the same project sets it to true, or a person relaxes it.',
    example: ['svc deploy policy', 'svc deploy policy acme/web', 'svc deploy policy relax acme/web'],
    route: 'GET /api/deploy/policy',
  })
    .argument('[repo]', 'only this repository, as owner/repo')
    .option('--json', 'print JSON')
    .action(async (repo, { json }) => {
      const daemon = await needDaemon(terminal);
      const answer = await daemon.get('/api/deploy/policy', { query: { repo } });
      if (json) return printJson(terminal, answer);
      if (answer.policies.length === 0)
        return terminal.out('No project names a repository in svc.deploy, so every merge is done at once.');
      printPolicies(terminal, answer.policies);
    })
    .addCommand(relaxVerb(terminal));
}

function relaxVerb(terminal: Terminal): CommandUnknownOpts {
  return verb('relax', {
    summary: 'Stop requiring proof for a repository',
    details:
      'For a repository whose project no longer states it. It holds for later merges. While the file of a served project requires proof, change that file.',
    example: 'svc deploy policy relax acme/web --note "moved to another team"',
    route: 'POST /api/deploy/policy/relax',
  })
    .argument('<repo>', 'owner/repo')
    .option('--note <text>', 'reason, kept in the log')
    .option('--json', 'print JSON')
    .action(async (repo, { note, json }) => {
      const daemon = await needDaemon(terminal);
      const body = { repo, ...requestedBy(terminal), note };
      const answer = await daemon.post('/api/deploy/policy/relax', { body });
      if (json) return printJson(terminal, answer);
      printPolicies(terminal, [answer.policy]);
    });
}

const verificationText = { required: 'proof required', skipped: 'no proof required', unknown: 'unknown' };

function printPolicies(terminal: Terminal, policies: readonly Policy[]): void {
  printTable(
    terminal,
    policies.map(({ repo, verification, environment, since, why }) => [
      plainText(repo),
      verificationText[verification],
      verification === 'required' ? plainText(environment) : '',
      since === null ? '' : `since ${since}`,
      plainText(why),
    ]),
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
    .option('--orchestrator <run>', 'agent of this run (default: the newest)');
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
      printWhy(terminal, answer.why, (await readWorkerWords(daemon))(answer.why));
    });
}
