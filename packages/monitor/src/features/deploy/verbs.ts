// svc deploy retry | svc deploy accept | svc deploy policy
import type { CommandUnknownOpts } from '@commander-js/extra-typings';
import type { Answer } from '@svc/client';
import type { DaemonClient } from '../../cli/kit/daemon-client.ts';
import { ofTicket, ofWorker, routeVerb } from '../../cli/kit/route-verb.ts';
import { printTable, type Terminal } from '../../cli/kit/terminal.ts';
import { plainText } from '../../cli/kit/text.ts';
import { verbGroup } from '../../cli/kit/verb.ts';
import type { Why } from '../workers/api.ts';
import { readWorkerWords } from '../workers/verbs/worker-words.ts';

type PrintWhy = (terminal: Terminal, answer: Why, words: string) => void;

export function deployVerbs(terminal: Terminal, printWhy: PrintWhy): CommandUnknownOpts {
  const print: PrintAnswer = async (_terminal, { why }, _given, daemon) =>
    printWhy(terminal, why, (await readWorkerWords(daemon))(why));
  return verbGroup(
    'deploy',
    {
      summary: 'Retry or accept a failed deploy, show what needs proof',
      example: ['svc deploy retry ABC-12', 'svc deploy accept ABC-12 --note "checked by hand"'],
    },
    [
      retryVerb(print)(terminal),
      acceptVerb(print)(terminal),
      policiesVerb(terminal).addCommand(relaxVerb(terminal)),
    ],
  );
}

type Policy = Answer<'GET', '/api/deploy/policy'>['policies'][number];

const policiesVerb = routeVerb('policy', 'GET /api/deploy/policy', {
  summary: 'Show which repositories need proof, and why',
  details:
    'A project requires it with svc.deploy.<owner/repo>.skipDeployVerification set to false. It stays required until the file of the same project sets it to true, or a person relaxes it.',
  example: ['svc deploy policy', 'svc deploy policy acme/web', 'svc deploy policy relax acme/web'],
  fields: { repo: ['[repo]', 'only this repository, as owner/repo'] },
  print: (terminal, { policies }) => {
    if (policies.length === 0)
      terminal.out('No project names a repository in svc.deploy, so every merge is done at once.');
    printPolicies(terminal, policies);
  },
});

const relaxVerb = routeVerb('relax', 'POST /api/deploy/policy/relax', {
  summary: 'Stop requiring proof for a repository',
  details:
    'For a repository whose project no longer states it. It holds for later merges. While the file of a served project requires proof, change that file.',
  example: 'svc deploy policy relax acme/web --note "moved to another team"',
  fields: { repo: ['<repo>', 'owner/repo'], note: ['--note <text>', 'reason, kept in the log'] },
  acts: true,
  print: (terminal, { policy }) => printPolicies(terminal, [policy]),
});

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

const ofDecision = {
  ...ofTicket,
  note: ['--note <text>', 'reason, kept in the log'],
  orchestrator: ofWorker.orchestrator,
} as const;
const decision = {
  fields: ofDecision,
  acts: true,
} as const;
type PrintAnswer = (
  terminal: Terminal,
  answer: { why: Why },
  given: unknown,
  daemon: DaemonClient,
) => Promise<void>;

const retryVerb = (print: PrintAnswer) =>
  routeVerb('retry', 'POST /api/workers/{ticket}/deploy', {
    ...decision,
    print,
    summary: 'Wait for a deployment again, with a new deadline',
    example: ['svc deploy retry ABC-12', 'svc deploy retry ABC-12 --machine kim-laptop'],
    also: { action: 'retry' },
    remote: ({ ticket, note, orchestrator }) => ({ verb: 'retry-deploy', ticket, note, orchestrator }),
  });

const acceptVerb = (print: PrintAnswer) =>
  routeVerb('accept', 'POST /api/workers/{ticket}/deploy', {
    ...decision,
    print,
    summary: 'Accept it as done without proof; the receipt shows that',
    example: 'svc deploy accept ABC-12',
    also: { action: 'accept' },
  });
