// Runs the verifying agent over twenty small repositories: ten tickets, each merged once as asked and once with a gap that
// tests do not find. `npm run verifier:fixtures -- --agent claude` uses an agent of this machine with its own login, and
// costs money; `--only 4` takes the first four. `--scripted` uses a small agent that knows the answers: it proves
// everything but the judgement.
import { spawnSync } from 'node:child_process';
import { mkdirSync, readFileSync, rmSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { agentVariables } from '../packages/monitor/src/features/agents/agent-environment.ts';
import { chooseVerifier } from '../packages/monitor/src/features/agents/choice.ts';
import { locateAgent } from '../packages/monitor/src/features/agents/io/check-agent.ts';
import { variableSources } from '../packages/monitor/src/features/agents/io/project-agents.ts';
import { loadConfig } from '../packages/monitor/src/features/configure.ts';
import { ticketFrom } from '../packages/monitor/src/features/tracker/ticket-text.ts';
import { createVerifier } from '../packages/monitor/src/features/verify/io/verifier.ts';
import type { VerifierResult } from '../packages/monitor/src/features/verify/refutation.ts';
import { readMachine } from '../packages/monitor/src/kernel/config/environment.ts';
import {
  describeMachine,
  failUnless,
  scriptFolder,
  secondsSince,
  writeInto,
} from '../packages/testkit/src/script.ts';

type Files = Record<string, string | null>;
type Proof = [file: string, line: string];
/** `after` and then `gap` are written over `before`; null removes a file. A proof is a line that the scripted agent quotes. */
type Ticket = {
  name: string;
  ticket: string;
  before: Files;
  after: Files;
  gap: Files;
  proof: Proof;
  gapProof: Proof;
};
type Fixture = { name: string; text: string; commits: Files[]; expected: 'done' | 'not-done'; proof: Proof };

const { values: options } = parseArgs({
  options: {
    agent: { type: 'string' },
    scripted: { type: 'boolean', default: false },
    only: { type: 'string', default: '20' },
    timeout: { type: 'string', default: '900' },
  },
});
const name = options.scripted ? 'scripted' : options.agent;
if (name === undefined) throw new Error('Name the agent: npm run verifier:fixtures -- --agent claude');

const root = scriptFolder('verifier-fixtures');
const person = { name: 'Kim', email: 'kim@acme.example' };
const gitEnvironment = {
  GIT_AUTHOR_NAME: person.name,
  GIT_AUTHOR_EMAIL: person.email,
  GIT_COMMITTER_NAME: person.name,
  GIT_COMMITTER_EMAIL: person.email,
};
const machine = readMachine(process.env, homedir());
const { usable: config } = await loadConfig(machine, process.env, root);
const scripted = {
  command: process.execPath,
  args: [join(import.meta.dirname, '../packages/testkit/src/agents/protocol-agent.ts')],
  mode: 'ask',
};
const orchestration = {
  ...config.svc.orchestration,
  agents: { ...config.svc.orchestration.agents, scripted },
  verifier: name,
  verifierTimeoutSec: Number(options.timeout),
  testCommand: 'true',
  testRequirements: { backend: [], frontend: [], fullstack: [] },
};
const tickets = JSON.parse(
  readFileSync(join(import.meta.dirname, 'verifier/fixtures.json'), 'utf8'),
) as Ticket[];
const fixtures = tickets.flatMap(
  ({ name: what, ticket: text, before, after, gap, proof, gapProof }): Fixture[] => [
    { name: what, text, commits: [before, after], expected: 'done', proof },
    {
      name: `${what}, gap`,
      text,
      commits: [before, { ...after, ...gap }],
      expected: 'not-done',
      proof: gapProof,
    },
  ],
);

console.log(`${describeMachine()}; agent: ${name}`);
const started = performance.now();
const rows: { fixture: Fixture; found: VerifierResult }[] = [];
for (const [index, fixture] of fixtures.slice(0, Number(options.only)).entries()) {
  const began = performance.now();
  const found = await verify(fixture, `FIX-${index + 1}`);
  rows.push({ fixture, found });
  const mark = found.verdict === fixture.expected ? 'ok   ' : 'WRONG';
  const reason = found.reason === null ? '' : `  ${found.reason}`;
  console.log(
    `${mark}  ${fixture.name.padEnd(26)}  expected ${fixture.expected.padEnd(8)}  found ${found.verdict.padEnd(8)}  ${secondsSince(began)} s${reason}`,
  );
}
const count = (expected: string, verdict: string): number =>
  rows.filter(({ fixture, found }) => fixture.expected === expected && found.verdict === verdict).length;
const total = (expected: string): number =>
  rows.filter(({ fixture }) => fixture.expected === expected).length;
console.log(
  `gaps found ${count('not-done', 'not-done')} of ${total('not-done')}, taken as done ${count('not-done', 'done')}; honest ones taken as done ${count('done', 'done')} of ${total('done')}, refuted ${count('done', 'not-done')}; others unclear or unknown (${secondsSince(started)} s)`,
);
failUnless(rows.length > 0 && rows.every(({ fixture, found }) => found.verdict === fixture.expected));

async function verify(fixture: Fixture, ticket: string): Promise<VerifierResult> {
  const folder = join(root, ticket);
  mkdirSync(folder);
  git(folder, 'init', '-q', '-b', 'main');
  for (const files of fixture.commits) {
    for (const [path, text] of Object.entries(files))
      if (text === null) rmSync(join(folder, path));
      else writeInto(folder, path, text);
    git(folder, 'add', '--all');
    git(folder, 'commit', '-q', '-m', 'Change');
  }
  const verifier = createVerifier({
    config: { ...config, svc: { ...config.svc, orchestration } },
    environment: process.env,
    runsDir: join(root, 'runs'),
    signals: { update: () => Promise.resolve({ ok: false, why: 'missing' }) },
    append: () => Promise.resolve(),
    agent: {
      choose: (agent) => chooseVerifier(orchestration, agent, (one) => locateAgent(one, variables())),
      environment: variables,
      readTicket: () =>
        Promise.resolve(
          ticketFrom(ticket, {
            title: ticket,
            url: null,
            state: null,
            author: null,
            body: textOf(fixture),
            labels: [],
            links: [],
            comments: [],
            commentCount: 0,
          }),
        ),
    },
    now: () => new Date(),
  });
  const mergeSha = git(folder, 'rev-parse', 'HEAD');
  const worktreeBase = join(root, 'worktrees');
  const verified = await verifier.verify({
    orchestrator: 'fixtures',
    ticket,
    repoFolder: folder,
    mergeSha,
    worktreeBase,
  });
  if (!verified.ok) throw new Error(verified.reason);
  const { verifier: result } = verified.result;
  if (result === undefined) throw new Error('the agent was not asked');
  return result;
}

/** The scripted agent does what the text of a ticket says. */
function textOf({ text, commits, expected, proof: [file, quote] }: Fixture): string {
  if (!options.scripted) return text;
  const lines = Object.assign({}, ...commits)[file].split('\n') as string[];
  const line = lines.findIndex((one) => one.trim() === quote) + 1;
  const claims = [
    { claim: text.slice(0, 100), holds: expected === 'done', evidence: [{ file, line, quote }] },
  ];
  const steps = [['say', JSON.stringify({ verdict: expected, claims })], ['end']];
  return `${text}\n\ndo ${JSON.stringify(steps)}`;
}

function variables(): Readonly<Record<string, string>> {
  return agentVariables(variableSources(config, process.env, {})).environment;
}

function git(folder: string, ...args: string[]): string {
  const { status, stdout, stderr } = spawnSync('git', ['-C', folder, ...args], {
    env: { ...process.env, ...gitEnvironment },
    encoding: 'utf8',
  });
  if (status !== 0) throw new Error(stderr);
  return stdout.trim();
}
