// The second agent of a verification, through the daemon, with an agent that obeys the text of the ticket: nothing that it
// says counts without evidence, nothing that it writes stays, and the wave ends by the deadline.
import { spawn } from 'node:child_process';
import { createHmac } from 'node:crypto';
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { needPid } from '@svc/lib/pid';
import { temporaryFolder, testTerminal, testTracker, until } from '@svc/testkit';
import { expect, onTestFinished, test } from 'vitest';
import { runCommandLine } from '../src/cli/run.ts';
import { lives, textIn } from '../src/features/agents/testing/scripted-agent.ts';
import { testRepository } from '../src/features/worktrees/testing/repository.ts';
import type { EventLine } from '../src/kernel/log/event-line.ts';
import { startInProcess } from './in-process-daemon.ts';

const program = join(import.meta.dirname, '../../testkit/src/agents/protocol-agent.ts');
const SECRET = 'a secret of this test';

async function world(tickets: readonly { text: string }[], orchestration: object = {}) {
  const tracker = await testTracker('lin_api_e2e');
  const team = tracker.cloud.addTeam({ key: 'ABC' });
  const root = temporaryFolder();
  const repository = testRepository(root);
  const { home, folder, base, write, commit } = repository;
  const environment = {
    ...repository.environment,
    SVC_TRACKER_API_URL: tracker.url,
    SVC_WEBHOOK_SECRET: SECRET,
  };
  const received = join(home, 'received');
  writeFileSync(received, '');
  const checker = { command: process.execPath, args: [program], env: { RECEIVED: received }, mode: 'ask' };
  const none = { backend: [], frontend: [], fullstack: [] };
  const config = {
    projectKey: 'demo',
    project: { ticketPrefix: 'ABC' },
    repository: { org: 'acme', name: 'web' },
    tracker: { teamKey: 'ABC', teamId: team.id },
    monitor: { github: { watchRepos: ['acme/web'] } },
    worktree: { setup: [] },
    orchestration: {
      maxParallel: 30,
      agent: ['/bin/sh', '-c', 'exec sleep 600', '${PROMPT}'],
      agents: { checker },
      verifier: 'checker',
      testCommand: 'echo fine > made-by-tests',
      testRequirements: none,
      ...orchestration,
    },
  };
  commit(folder, '.svc/config.json', JSON.stringify({ svc: config }));
  write(home, '.config/svc/config.json', JSON.stringify({ svc: { projects: [folder] } }));
  mkdirSync(join(home, '.config/svc'), { recursive: true });
  const secrets = { tracker: { apiToken: 'lin_api_e2e', teamKey: 'ABC' } };
  writeFileSync(join(home, '.config/svc/config-demo.json'), JSON.stringify({ svc: secrets }), {
    mode: 0o600,
  });
  const names = tickets.map((_, index) => `ABC-${index + 1}`);
  for (const [index, { text }] of tickets.entries())
    tracker.cloud.addIssue({ teamId: team.id, title: 'Add it', number: index + 1, description: text });
  const start = () => startInProcess({ home, environment });
  let daemon = await start();
  const terminal = () => {
    const one = { ...testTerminal(), home, folder, environment };
    return { ...one, svc: (...words: string[]) => runCommandLine(one, words) };
  };
  const verified = (ticket: string): EventLine | undefined =>
    daemon
      .lines()
      .find(
        ({ event, scope }) =>
          /^orchestrator\.verification\.(?:passed|failed)$/.test(event) && scope.ticket === ticket,
      );

  /** A person merges the pull request of each ticket: one commit with one file. */
  async function merge(): Promise<void> {
    for (const [index, ticket] of names.entries()) {
      const sha = commit(
        folder,
        `src/${ticket}.js`,
        `export const ticket = '${ticket}';\nexport const n = ${index};\n`,
      );
      const body = JSON.stringify({
        action: 'closed',
        pull_request: {
          id: index + 1,
          number: index + 1,
          merged: true,
          merged_at: new Date().toISOString(),
          title: `${ticket}: something`,
          head: { ref: ticket, sha: 'a'.repeat(40) },
          base: { ref: 'main' },
          merge_commit_sha: sha,
          html_url: `https://codehost.example/acme/web/pull/${index + 1}`,
          state: 'closed',
        },
        repository: { full_name: 'acme/web' },
        sender: { login: 'kim', type: 'User' },
      });
      const response = await daemon.post('/api/webhook', body, {
        'Content-Type': 'application/json',
        'X-Codehost-Event': 'pull_request',
        'X-Codehost-Delivery': `delivery-${ticket}`,
        'X-Hub-Signature-256': `sha256=${createHmac('sha256', SECRET).update(body).digest('hex')}`,
      });
      expect(response.body).toMatchObject({ ok: true });
    }
  }

  async function begin(beforeMerge = (): void => undefined): Promise<void> {
    const person = terminal();
    expect(await person.svc('orchestrate', 'start', ...names, '--name', 'run-1'), person.complained()).toBe(
      0,
    );
    for (const ticket of names) await textIn(join(home, `svc/runs/run-1/workers/pids/${ticket}.1.pid`));
    beforeMerge();
    await merge();
  }

  onTestFinished(async () => void (await terminal().svc('orchestrate', 'cancel', 'run-1')));
  return {
    ...repository,
    tracker,
    names,
    begin,
    terminal,
    verified,
    lines: () => daemon.lines(),
    close: () => daemon.close(),
    restart: async () => {
      daemon = await start();
    },
    received: () => readFileSync(received, 'utf8'),
    /** Throw-away worktrees that still exist. */
    left: () => readdirSync(join(base, '.verify')).filter((name) => !name.startsWith('.')),
    file: (ticket: string, ending: string) => {
      const kept = join(home, 'svc/runs/run-1/verification');
      const name = existsSync(kept)
        ? readdirSync(kept).find((one) => one.startsWith(`${ticket}-`) && one.endsWith(ending))
        : undefined;
      return name === undefined ? undefined : join(kept, name);
    },
  };
}

type Step = [kind: string, value?: unknown];
const doing = (...steps: Step[]): string => `Please add it.\n\ndo ${JSON.stringify(steps)}`;
const answer = (verdict: string, ...claims: object[]) => JSON.stringify({ verdict, claims });
const claim = (holds: boolean, ...evidence: object[]) => ({ claim: 'It is exported.', holds, evidence });
const at = (ticket: string) => ({
  file: `src/${ticket}.js`,
  line: 1,
  quote: `export const ticket = '${ticket}';`,
});
const done = (ticket: string) => answer('done', claim(true, at(ticket)));
const ask = (id: string, kind: string, paths: string[], more: object = {}): Step => [
  'line',
  {
    id,
    method: 'session/request_permission',
    params: {
      sessionId: 'session-1',
      toolCall: {
        toolCallId: id,
        title: id,
        kind,
        status: 'pending',
        locations: paths.map((path) => ({ path })),
        ...more,
      },
      options: [
        { optionId: 'always', name: 'Always', kind: 'allow_always' },
        { optionId: 'yes', name: 'Allow', kind: 'allow_once' },
        { optionId: 'no', name: 'Reject', kind: 'reject_once' },
      ],
    },
  },
];

const asking: Step[] = [
  ask('edits', 'edit', ['src/x.js']),
  ask('runs', 'execute', [], { rawInput: { command: 'touch made' } }),
  ask('fetches', 'fetch', []),
  ask('reads-outside', 'read', ['/etc/passwd']),
  ask('reads', 'read', ['src/x.js']),
  ['answers', 5],
];

const scenes: [what: string, steps: (ticket: string) => Step[], verdict: string, reason: string][] = [
  ['shows that it is done', (ticket) => [['say', done(ticket)], ['end']], 'done', ''],
  [
    'refutes it',
    (ticket) => [['say', answer('not-done', claim(false, at(ticket)))], ['end']],
    'not-done',
    '',
  ],
  ['cannot tell', () => [['say', answer('unclear')], ['end']], 'unclear', ''],
  [
    'claims success without evidence',
    () => [['say', answer('done', claim(true))], ['end']],
    'unknown',
    'a claim has no evidence',
  ],
  [
    'names a file that does not exist',
    () => [['say', answer('done', claim(true, { file: 'src/none.js', line: 1, quote: 'x' }))], ['end']],
    'unknown',
    'no readable file',
  ],
  [
    'quotes what is not there',
    (ticket) => [
      ['say', answer('done', claim(true, { ...at(ticket), quote: 'export const all = true;' }))],
      ['end'],
    ],
    'unknown',
    'is not what it quotes',
  ],
  [
    'writes',
    (ticket) => [['run', 'chmod -R u+w . && echo x > src/made.js'], ['say', done(ticket)], ['end']],
    'unknown',
    'it changed the worktree',
  ],
  [
    'writes and commits',
    (ticket) => [
      ['run', 'chmod -R u+w . && echo x >> README.md && git commit -qam x'],
      ['say', done(ticket)],
      ['end'],
    ],
    'unknown',
    'it changed the worktree',
  ],
  [
    'removes everything',
    (ticket) => [['run', 'rm -rf "$PWD"'], ['say', done(ticket)], ['end']],
    'unknown',
    'it changed',
  ],
  ['asks for permissions', (ticket) => [...asking, ['say', done(ticket)], ['end']], 'done', ''],
  ['answers with words', () => [['say', 'It is done!'], ['end']], 'unknown', 'not one JSON object'],
  [
    'answers twice in one message',
    (ticket) => [['say', `${done(ticket)}\n${answer('not-done')}`], ['end']],
    'unknown',
    'not one JSON object',
  ],
  [
    'answers again after its turn',
    (ticket) => [
      ['say', answer('not-done', claim(false, at(ticket)))],
      ['end'],
      ['say', done(ticket)],
      ['end'],
    ],
    'not-done',
    '',
  ],
  [
    'changes its permission mode',
    (ticket) => [
      [
        'line',
        {
          method: 'session/update',
          params: { update: { sessionUpdate: 'current_mode_update', currentModeId: 'auto' } },
        },
      ],
      ['say', done(ticket)],
      ['end'],
    ],
    'unknown',
    'it left the permission mode ask',
  ],
  ['fails', () => [['error']], 'unknown', 'it failed'],
  ['ends', () => [['exit', 3]], 'unknown', 'exit code 3'],
  ['floods', () => [['flood', 64 * 1024 * 1024]], 'unknown', 'it wrote more than'],
];

test('no verdict without evidence, and nothing is written', async () => {
  const given = await world(
    scenes.map(([, steps], index) => ({ text: doing(...steps(`ABC-${index + 1}`)) })),
    { verifierTimeoutSec: 600 },
  );
  const { names, begin, verified, terminal, folder, git, received, left, home } = given;
  await begin();
  for (const [index, ticket] of names.entries()) {
    const [what, , verdict, reason] = scenes[index] ?? ['', [], '', ''];
    const line = await until(() => verified(ticket));
    expect({ what, ...(line.detail['verifier'] as object) }).toEqual({
      what,
      agent: 'checker',
      verdict,
      ...(reason !== '' && { reason: expect.stringContaining(reason) }),
    });
    expect(line.event, what).toBe(`orchestrator.verification.${verdict === 'done' ? 'passed' : 'failed'}`);
  }
  // Only a read inside of the worktree was allowed.
  const answers = received()
    .split('\n')
    .filter((line) => line.startsWith('answer '));
  expect(answers.map((line) => `${line.split(' ')[1]} ${/"optionId":"(\w+)"/.exec(line)?.[1]}`)).toEqual([
    'edits no',
    'runs no',
    'fetches no',
    'reads-outside no',
    'reads yes',
  ]);
  await until(() => left().length === 0);
  expect(git(folder, 'status', '--porcelain')).toBe('');
  expect(git(folder, 'log', '-1', '--format=%s')).toContain(names.at(-1));

  // The same result everywhere.
  const refuted = names[1] ?? '';
  const why = terminal();
  expect(await why.svc('why', refuted)).toBe(0);
  expect(why.printed()).toContain('checker found it not done');
  const receipt = terminal();
  await receipt.svc('receipt', refuted);
  expect(receipt.printed()).toContain('The verification of its merge commit failed');
  const result = JSON.parse(readFileSync(given.file(refuted, '.json') ?? '', 'utf8'));
  expect(result).toMatchObject({
    passed: false,
    findings: [{ kind: 'ticket-not-done', why: 'It is exported.', path: `src/${refuted}.js`, line: 1 }],
    verifier: { agent: 'checker', verdict: 'not-done' },
  });
  // A ticket is filed for a failure; then it no longer holds the wave.
  await until(() => given.lines().some(({ event }) => event === 'orchestrator.wave.completed'));
  expect(existsSync(join(home, 'made'))).toBe(false);
});

test('an agent that never answers, or asks forever, ends by the deadline, and so does the wave', async () => {
  const { begin, names, verified, lines, left, file } = await world(
    [{ text: doing(['note', 'silent']) }, { text: doing(['asks']) }, { text: doing(['run', 'sleep 600']) }],
    { verifierTimeoutSec: 3 },
  );
  await begin();
  for (const ticket of names) {
    const line = await until(() => verified(ticket));
    expect(line).toMatchObject({
      event: 'orchestrator.verification.failed',
      detail: { verifier: { verdict: 'unknown', reason: 'it did not answer within 3 s' } },
    });
    const pid = needPid(await textIn(file(ticket, '.pid') ?? ''));
    await until(() => !lives(pid));
  }
  await until(() => lines().some(({ event }) => event === 'orchestrator.wave.completed'));
  await until(() => left().length === 0);
});

test('after a restart it is asked again, and the agent that a killed daemon left is ended', async () => {
  const { begin, names, verified, lines, close, restart, file, tracker, left } = await world(
    [{ text: doing(['note', 'silent']) }],
    { verifierTimeoutSec: 600 },
  );
  const [ticket = ''] = names;
  await begin();
  const first = needPid(await textIn((await until(() => file(ticket, '.pid'))) ?? ''));
  await close();
  expect(lives(first)).toBe(false);
  expect(verified(ticket)).toBeUndefined();
  // As if the daemon had been killed: its agent is still there.
  const pidFile = file(ticket, '.pid') ?? '';
  const leftover = spawn('/bin/sh', ['-c', 'echo $$ > "$1"; exec sleep 600', 'sh', pidFile], {
    detached: true,
    stdio: 'ignore',
    cwd: dirname(pidFile),
  });
  onTestFinished(() => void leftover.kill('SIGKILL'));
  await until(() => readFileSync(pidFile, 'utf8') === `${leftover.pid}\n`);
  tracker.cloud.issueOf(ticket).description = doing(['say', done(ticket)], ['end']);
  await restart();
  expect(await until(() => verified(ticket))).toMatchObject({ detail: { verifier: { verdict: 'done' } } });
  await until(() => leftover.signalCode !== null);
  expect(lines().filter(({ event }) => event === 'orchestrator.verification.started')).toHaveLength(1);
  await until(() => left().length === 0);
});

test('without the text of the ticket, or without the agent, it is unknown, with the fix', async () => {
  const { begin, names, verified, tracker } = await world([{ text: 'x' }], {});
  const [ticket = ''] = names;
  await begin(() => void (tracker.cloud.issues.length = 0));
  expect(await until(() => verified(ticket))).toMatchObject({
    event: 'orchestrator.verification.failed',
    detail: {
      verifier: {
        verdict: 'unknown',
        reason: expect.stringContaining('The issue tracker has no ticket ABC-1'),
      },
    },
  });
});

test('a run is refused when its verifier cannot be used', async () => {
  const { terminal } = await world([], { verifier: 'nobody' });
  const person = terminal();
  expect(await person.svc('orchestrate', 'start', 'ABC-1')).not.toBe(0);
  expect(person.complained()).toContain('There is no agent "nobody"');
});
