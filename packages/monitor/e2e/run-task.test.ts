// A task without a ticket, through the command line and the API: its ticket is created once, at GitHub, in Linear or only
// here, and then everything is as for any ticket.
import { execFileSync } from 'node:child_process';
import { createHmac } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import {
  codehostForTest,
  ghEnvironment,
  temporaryFolder,
  testTerminal,
  testToken,
  testTracker,
  until,
} from '@svc/testkit';
import { describe, expect, test } from 'vitest';
import { runCommandLine } from '../src/cli/run.ts';
import { testRepository } from '../src/features/worktrees/testing/repository.ts';
import type { EventLine } from '../src/kernel/log/event-line.ts';
import { startInProcess } from './in-process-daemon.ts';
import { initWorld } from './init-world.ts';

const REPO = 'acme/web';
const SECRET = 'c'.repeat(64);
const TOKEN = 'tracker-token';
const TEXT = 'Make the login test pass on slow machines\n\nIt fails on every second build.';
const TITLE = 'Make the login test pass on slow machines';

type Place = 'github' | 'linear' | 'none';

async function world(place: Place) {
  const repository = testRepository(temporaryFolder());
  const { home, folder } = repository;
  const codehost = await codehostForTest();
  codehost.cloud.addRepo(REPO);
  const tracker = await testTracker(TOKEN);
  tracker.cloud.addTeam({ key: 'ABC' });
  const { HOME: _home, PATH: _path, ...gh } = ghEnvironment(codehost, testToken);
  const environment = {
    ...repository.environment,
    ...gh,
    SVC_TRACKER_API_URL: tracker.url,
    SVC_WEBHOOK_SECRET: SECRET,
  };
  const agent = join(home, 'agent.sh');
  writeFileSync(
    agent,
    'printf "%s" "$SVC_TICKET" > "$HOME/saw.$$" && mv "$HOME/saw.$$" "$HOME/agent-saw-$SVC_TICKET"\n',
  );
  const settings = {
    github: { provider: 'github' },
    linear: { teamKey: 'ABC' },
    none: undefined,
  }[place];
  const svcConfig = {
    projectKey: 'demo',
    repository: { org: 'acme', name: 'web' },
    orchestration: { agent: ['/bin/sh', agent, '${PROMPT}'] },
    ...(settings && { tracker: settings }),
  };
  repository.write(folder, '.svc/config.json', JSON.stringify({ svc: svcConfig }));
  const user = { projects: [folder], ...(place === 'linear' && { tracker: { apiToken: TOKEN } }) };
  repository.write(home, '.config/svc/config.json', JSON.stringify({ svc: user }));
  let daemon = await startInProcess({ home, environment });
  const svc = async (...words: string[]) => {
    const [input, given] = words[0] === '<' ? [words[1] ?? '', words.slice(2)] : ['', words];
    const terminal = { ...testTerminal(), home, folder, environment, readInput: async () => input };
    const code = await runCommandLine(terminal, given);
    return { code, out: terminal.printed(), err: terminal.complained() };
  };
  const deliver = async (payload: object) => {
    const body = JSON.stringify(payload);
    const signature = createHmac('sha256', SECRET).update(body).digest('hex');
    const { status } = await daemon.post('/api/webhook', body, {
      'Content-Type': 'application/json',
      'X-Codehost-Event': 'pull_request',
      'X-Codehost-Delivery': crypto.randomUUID(),
      'X-Hub-Signature-256': `sha256=${signature}`,
    });
    expect(status).toBe(200);
  };
  const issues = () => codehost.cloud.repoOf(REPO).issues;
  return {
    ...repository,
    codehost,
    tracker,
    svc,
    deliver,
    issues,
    daemon: () => daemon,
    restart: async () => {
      await daemon.close();
      daemon = await startInProcess({ home, environment });
    },
    eventsOf: (topic: string): EventLine[] => daemon.allLines().filter(({ event }) => event === topic),
    created: () =>
      place === 'github'
        ? issues().map(({ title, body }) => ({ title, text: body }))
        : tracker.cloud.issues.map(({ title, description }) => ({ title, text: description })),
  };
}

/** The pull request of a branch, opened or merged. */
const pullRequest = (ticket: string, merged: boolean) => ({
  action: merged ? 'closed' : 'opened',
  number: 7,
  pull_request: {
    number: 7,
    title: `${ticket} Wait longer`,
    html_url: `https://code.example/${REPO}/pull/7`,
    state: merged ? 'closed' : 'open',
    draft: false,
    merged,
    ...(merged && { merged_at: new Date().toISOString(), merge_commit_sha: 'b'.repeat(40) }),
    updated_at: new Date().toISOString(),
    head: { ref: ticket, sha: 'a'.repeat(40), repo: { full_name: REPO } },
    base: { ref: 'main', repo: { full_name: REPO } },
  },
  repository: { full_name: REPO },
  sender: { login: 'kim', type: 'User' },
});

describe.each([
  ['github', 'GH-1'],
  ['linear', 'ABC-1'],
  ['none', 'T-1'],
] as const)('with the tracker %s', (place, ticket) => {
  test('one ticket, a worktree, an agent, a pull request, a receipt', async () => {
    const { svc, home, created, branches, deliver, eventsOf, restart } = await world(place);
    const started = await svc('<', TEXT, 'run', '-');
    expect(started.code, started.err).toBe(0);
    expect(started.out).toContain(`Created ${ticket}`);
    expect(started.out).toContain(TITLE);
    if (place !== 'none')
      expect(created()).toEqual([
        {
          title: TITLE,
          text: expect.stringMatching(/^It fails on every second build\.\n\nsvc-key: [0-9a-f-]{36}$/),
        },
      ]);
    await until(() => existsSync(join(home, `agent-saw-${ticket}`)));
    expect(branches()).toContain(ticket);
    expect((await svc('board', '--json')).out).toContain(TITLE);

    await restart();
    expect(eventsOf('workflow.task.started')).toHaveLength(1);
    expect(eventsOf('orchestrator.run.started')).toHaveLength(1);
    await deliver(pullRequest(ticket, false));
    await until(async () => (await svc('why', ticket)).out.includes('#7'));
    await deliver(pullRequest(ticket, true));
    await until(async () => (await svc('receipt', ticket)).code === 0);
    expect((await svc('receipt', ticket)).out).toContain(`${ticket} shipped`);
    if (place !== 'none') expect(created()).toHaveLength(1);
  });

  test('two at once are two tickets and two runs', async () => {
    const { svc, eventsOf } = await world(place);
    const both = await Promise.all([svc('run', 'First task'), svc('run', 'Second task')]);
    expect(
      both.map(({ code }) => code),
      both.map(({ err }) => err).join(),
    ).toEqual([0, 0]);
    const tickets = eventsOf('workflow.task.filed').map(({ scope }) => scope.ticket);
    expect(new Set(tickets).size).toBe(2);
    expect(new Set(eventsOf('orchestrator.run.started').map(({ scope }) => scope.orchestrator)).size).toBe(2);
  });
});

test('names its project by its repository', async () => {
  const { svc, eventsOf } = await world('none');
  const unknown = await svc('run', '--repo', 'acme/other', TITLE);
  expect(unknown).toMatchObject({
    code: 1,
    err: expect.stringContaining('No project that the daemon serves has the repository acme/other'),
  });
  const started = await svc('run', '--repo', 'ACME/Web', TITLE);
  expect(started.code, started.err).toBe(0);
  expect(eventsOf('orchestrator.run.started')).toHaveLength(1);
});

test('the same key is the same task, also at the same time', async () => {
  const { svc, issues, eventsOf } = await world('github');
  const again = ['run', '--key', 'nightly-1', TITLE];
  const answers = await Promise.all([svc(...again), svc(...again)]);
  expect(
    answers.map(({ code }) => code),
    answers.map(({ err }) => err).join(),
  ).toEqual([0, 0]);
  expect((await svc(...again)).out).toContain('Created GH-1');
  expect(issues()).toHaveLength(1);
  expect(eventsOf('orchestrator.run.started')).toHaveLength(1);
});

test('a local ticket has a title, phases and a text, and no tracker is asked about it', async () => {
  const { svc, tracker, codehost, issues } = await world('github');
  const before = codehost.calls().length;
  expect((await svc('<', TEXT, 'run', '-', '--local')).out).toContain('Created T-1');
  const why = await svc('why', 'T-1');
  expect(why.out).toContain('kept by svc alone');
  const moved = await svc('ticket', 'phase', 'inReview', 'T-1');
  expect(moved.out).toContain('T-1 was moved from Todo to In Review.');
  expect((await svc('board', '--json')).out).toContain('"local": true');
  const [, run = ''] = /Started (\S+)\./.exec((await svc('run', '--local', 'Another')).out) ?? [];
  await svc('orchestrate', 'cancel', run);
  expect((await svc('ticket', 'list')).out).toMatch(/T-2 +Todo +nobody +Another/);
  expect(tracker.requests()).toEqual([]);
  expect(issues()).toEqual([]);
  // Whether gh can be used is asked before a start; nothing is asked about the tickets.
  const asked = codehost.calls().slice(before);
  expect(asked.filter((line) => /issues\/|labels|graphql/.test(line) && line.includes('T-'))).toEqual([]);
});

test.each([
  ['newlines and quotes', 'Fix "it"\n\n`rm -rf /` and $(id)\n', 'Fix "it"'],
  ['control characters', 'Fix\u0007 it\u202e\nnow\u0000', 'Fix[U+0007] it[U+202E]'],
  ['backticks', '`id`; $(touch /tmp/x) && echo', '`id`; $(touch /tmp/x) && echo'],
  ['an option', '--help me', '--help me'],
])('hostile text is only text: %s', async (_, text, title) => {
  const { svc, eventsOf, home } = await world('none');
  const answer = await svc('run', '--local', '--', text);
  expect(answer.code, answer.err).toBe(0);
  expect(eventsOf('workflow.task.requested')[0]?.detail['title']).toBe(title);
  await until(() => existsSync(join(home, 'agent-saw-T-1')));
  expect(readFileSync(join(home, 'agent-saw-T-1'), 'utf8')).toBe('T-1');
});

test('a text that is too long, or empty, is refused, and nothing is created', async () => {
  const { svc, issues, daemon, folder, eventsOf } = await world('github');
  const long = await svc('<', 'x'.repeat(1_048_576), 'run', '-');
  expect(long.code).toBe(2);
  expect(long.err).toContain('has 1048576 characters; at most 20000 are allowed');
  expect((await svc('run', ' \n ')).err).toContain('The task has no text.');
  const { status, body } = await daemon().post('/api/tasks', JSON.stringify({ project: folder, text: '' }), {
    'Content-Type': 'application/json',
  });
  expect([status, body['error']]).toEqual([400, 'The task has no text.']);
  expect(issues()).toEqual([]);
  expect(eventsOf('workflow.task.requested')).toEqual([]);
});

test('everything that is missing is listed at once, before anything is created', async () => {
  const { svc, codehost, issues, eventsOf, write, home, folder } = await world('github');
  codehost.removeToken(testToken);
  write(home, '.config/svc/config.json', JSON.stringify({ svc: { projects: [folder] } }));
  const words = ['--base', 'no-such-branch', '--agent', 'gemini', 'Do it'];
  const checked = await svc('run', '--check', ...words);
  expect(checked.code).toBe(1);
  const listed = ['no-such-branch', 'The agent gemini is not installed', 'gh auth login'];
  for (const what of listed) expect(checked.out).toContain(what);
  const refused = await svc('run', ...words);
  expect(refused.code).toBe(6);
  for (const what of listed) expect(refused.err).toContain(what);
  expect(issues()).toEqual([]);
  expect(eventsOf('workflow.task.requested')).toEqual([]);
});

test('a ticket that the tracker does not have gets no run', async () => {
  const { svc, codehost } = await world('github');
  codehost.cloud.addIssue(REPO, { title: 'first' });
  const refused = await svc('orchestrate', 'start', 'GH-99');
  expect([refused.code, refused.err]).toEqual([
    6,
    expect.stringContaining('The issue tracker has no ticket GH-99'),
  ]);
  const started = await svc('orchestrate', 'start', 'GH-1');
  expect(started.code, started.err).toBe(0);
});

test('a run that is refused after its ticket was created needs a person', async () => {
  const { svc, codehost, issues, folder, daemon } = await world('github');
  codehost.failNext({ kind: 'slow', ms: 1_000 }, { on: /POST .*issues/ });
  const asked = svc('run', TITLE);
  await until(() => issues().length === 1);
  renameSync(folder, `${folder}-moved`);
  expect((await asked).code).not.toBe(0);
  const { open } = (await daemon().get('/api/attention')).body as { open: object[] };
  expect(open).toMatchObject([{ reason: 'task-refused', ticket: 'GH-1' }]);
  // The daemon may have noticed meanwhile that it cannot read the project.
  expect((await daemon().get('/api/board')).body['needsYou']).toBeGreaterThan(0);
});

test('an answer that is lost creates no second ticket', async () => {
  const { svc, codehost, issues } = await world('github');
  codehost.failNext({ kind: 'cut', when: 'before' }, { on: /POST .*issues/ });
  const answer = await svc('run', TITLE);
  expect(answer.code, answer.err).toBe(0);
  expect(answer.out).toContain('Created GH-1');
  expect(issues()).toHaveLength(1);
});

test('the daemon is killed between the ticket and the run: the next one finds the ticket and starts the run', async () => {
  const { codehost, folder, svc, here } = await initWorld();
  const git = ['commit', '--quiet', '--allow-empty', '-m', 'Start'];
  execFileSync('git', ['-C', folder, 'checkout', '--quiet', '-b', 'main']);
  execFileSync('git', ['-C', folder, '-c', 'user.name=Kim', '-c', 'user.email=kim@acme.example', ...git]);
  mkdirSync(join(folder, '.svc'), { recursive: true });
  const svcConfig = {
    projectKey: 'demo',
    repository: { org: 'acme', name: 'web' },
    tracker: { provider: 'github' },
    orchestration: { agent: ['/bin/sh', '-c', 'true', '${PROMPT}'] },
  };
  writeFileSync(join(folder, '.svc/config.json'), JSON.stringify({ svc: svcConfig }));
  expect(await svc(['monitor', 'start'])).toMatchObject({ code: 0 });
  const { pid } = JSON.parse((await here('monitor', 'status', '--json')).out) as { pid: number };
  codehost.failNext({ kind: 'slow', ms: 600_000 }, { on: /POST .*issues/ });
  const asked = svc(['run', '--key', 'k-1', TITLE]);
  const issues = () => codehost.cloud.repoOf(REPO).issues;
  await until(() => issues().length === 1);
  process.kill(pid, 'SIGKILL');
  const lost = await asked;
  // On a slow machine it has said before that it takes longer than usual.
  if (lost.code === 0) expect(lost.out).toContain('but not started yet');
  else expect(lost.err).toContain('--key k-1');
  codehost.restore();
  expect(await svc(['monitor', 'start'])).toMatchObject({ code: 0 });
  const again = await svc(['run', '--key', 'k-1', TITLE]);
  expect(again.code, again.err).toBe(0);
  expect(again.out).toContain('Created GH-1');
  expect(issues()).toHaveLength(1);
  const runs = JSON.parse((await here('orchestrate', 'status', '--json')).out) as object[];
  expect(runs).toHaveLength(1);
});
