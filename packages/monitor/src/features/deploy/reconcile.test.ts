// Reconciliation with the real client program against the fake code host.
import { join } from 'node:path';
import { runCommand } from '@svc/lib/process';
import { codehostForTest, ghEnvironment, temporaryFolder, testToken } from '@svc/testkit';
import { describe, expect, onTestFinished, test } from 'vitest';
import { pullRequestKey } from '../../kernel/board/keys.ts';
import type { EventDraft, EventLine } from '../../kernel/log/event-line.ts';
import { openEventLog } from '../../kernel/log/event-log.ts';
import { emptyBoard, foldLine } from '../board.ts';
import { createGh } from '../codehost/gh.ts';
import { knownPullRequest } from '../pull-requests/fold-pull-request.ts';
import {
  NEWEST_PER_REPO,
  PULL_REQUESTS_PER_CALL,
  reconcileQueries,
} from '../pull-requests/reconcile-pull-requests.ts';
import { createReconciler, type Watched } from './reconcile.ts';
import { claimUnseen, knownDeploymentStates, unseenClaims } from './watched.ts';

/** A code host, a log, and a reconciler with the log's state. */
async function world({ covered = [] as string[] } = {}) {
  const codehost = await codehostForTest();
  const folder = temporaryFolder();
  let now = Date.now();
  const log = openEventLog({
    eventsFolder: join(folder, 'events'),
    databaseFile: join(folder, 'svc.db'),
    clock: { now: () => now },
    host: { id: 'h', name: 'h' },
    newId: () => crypto.randomUUID(),
  });
  onTestFinished(() => log.close());
  const lines: EventLine[] = [];
  const gh = createGh({ environment: ghEnvironment(codehost, testToken), run: runCommand, now: () => now });
  const watched: Watched & {
    pullRequests: { repo: string; number: number }[];
    repos: string[];
    deploys: Watched['deploys'][number][];
  } = { repos: [], pullRequests: [], deploys: [], claims: [] };
  const board = () => {
    const folded = emptyBoard();
    for (const line of lines) foldLine(folded, line);
    return folded;
  };
  /** Lines that arrive during a request to the code host. */
  const meanwhile: EventDraft[] = [];
  const reconciler = createReconciler({
    gh: {
      ...gh,
      async graphql(query, variables) {
        const answer = await gh.graphql(query, variables);
        for (const draft of meanwhile.splice(0)) lines.push(await log.append(draft));
        return answer;
      },
    },
    watched: () => ({ ...watched, claims: unseenClaims(board()) }),
    claimUnseen: (claim) => claimUnseen(board(), claim),
    async append(draft) {
      const appended = await log.appendOnce(draft);
      if (!appended.duplicate) lines.push(appended.line);
      return appended;
    },
    knownOf(repo, number) {
      const known = board().pullRequests.get(pullRequestKey(repo, number));
      return known && knownPullRequest(known);
    },
    deploymentStates: (repo, id) => knownDeploymentStates(board(), repo, id),
    isCovered: (repo) => covered.includes(repo),
    ticketPrefixes: () => ['ENG'],
    lastSeq: log.lastSeq,
    now: () => now,
  });
  const pass = (milliseconds: number): void => void (now += milliseconds);
  const topics = (): string[] => lines.map(({ event, scope }) => `${event} ${scope.repo}#${scope.pr}`);
  return { codehost, log, lines, topics, watched, pass, meanwhile, ...reconciler };
}

describe('pull requests', () => {
  test('a merge that no delivery reported is logged once, however often it is found', async () => {
    const { codehost, run, watched, topics, lines } = await world({ covered: ['acme/web'] });
    codehost.cloud.addRepo('acme/web');
    codehost.cloud.addPullRequest('acme/web', { number: 42, branch: 'eng-42-login' });
    watched.repos.push('acme/web');
    watched.pullRequests.push({ repo: 'ACME/web', number: 42 });
    expect(await run()).toMatchObject({ checked: 1, found: 1, logged: 1, problems: [] });
    const mergeSha = codehost.cloud.mergePullRequest('acme/web', 42);
    await run();
    await run();
    expect(topics()).toEqual(['codehost.pr.opened acme/web#42', 'codehost.pr.merged acme/web#42']);
    expect(lines[1]).toMatchObject({
      source: 'codehost.poll',
      via: 'poll',
      scope: { ticket: 'ENG-42', mergeSha },
      deliveryId: `poll:acme/web#42:merged:${mergeSha}`,
    });
  });

  test('the log itself refuses a second line, even if the known state was lost', async () => {
    const { codehost, run, watched, lines, topics } = await world();
    codehost.cloud.addRepo('acme/web');
    codehost.cloud.addPullRequest('acme/web', { number: 1 });
    watched.pullRequests.push({ repo: 'acme/web', number: 1 });
    await run();
    lines.splice(0);
    expect(await run()).toMatchObject({ found: 1, logged: 0 });
    expect(topics()).toEqual([]);
  });

  const claims = (branch: string): EventDraft => {
    const worker = { orchestrator: 'run-1', ticket: 'ENG-9' };
    const at = new Date().toISOString();
    const signal = { ...worker, workerName: 'w', status: 'pr-created', startedAt: at, updatedAt: at };
    return {
      event: 'orchestrator.worker.status_changed',
      source: 'orchestrator',
      via: 'local',
      scope: worker,
      detail: { to: 'pr-created', signal: { ...signal, repo: 'acme/web', branch } },
    };
  };

  test('a claimed pull request is looked for, also where webhooks report; none is reported once', async () => {
    const { codehost, log, lines, run, watched, topics } = await world({ covered: ['acme/web'] });
    codehost.cloud.addRepo('acme/web');
    watched.repos.push('acme/web');
    await run();
    codehost.cloud.addPullRequest('acme/web', { number: 7, branch: 'other' });
    lines.push(await log.append(claims('eng-9-login')));
    await run();
    await run();
    expect(topics().filter((topic) => topic.startsWith('monitor.'))).toHaveLength(1);
    expect(lines.at(-1)).toMatchObject({
      event: 'monitor.claim.unseen',
      source: 'monitor',
      scope: { orchestrator: 'run-1', ticket: 'ENG-9' },
      detail: { status: 'pr-created' },
    });
    codehost.cloud.addPullRequest('acme/web', { number: 8, branch: 'eng-9-login' });
    await run();
    expect(topics()).toContain('codehost.pr.opened acme/web#8');
  });

  test('a claimed pull request that the poll finds is no problem; nor is a poll that fails', async () => {
    const { codehost, log, lines, run, watched, topics } = await world({ covered: ['acme/web'] });
    codehost.cloud.addRepo('acme/web');
    watched.repos.push('acme/web', 'acme/gone');
    await run();
    codehost.cloud.addPullRequest('acme/web', { number: 8, branch: 'eng-9-login' });
    lines.push(await log.append(claims('eng-9-login')));
    await run();
    expect(topics()).toContain('codehost.pr.opened acme/web#8');
    expect(topics().filter((topic) => topic.startsWith('monitor.'))).toEqual([]);
  });

  test('in a repository without webhooks the newest are found, but not old history', async () => {
    const { codehost, run, watched, topics } = await world();
    codehost.cloud.addRepo('acme/web');
    const longAgo = Date.now() - 30 * 24 * 3_600_000;
    codehost.cloud.addPullRequest('acme/web', {
      number: 1,
      state: 'MERGED',
      mergeSha: 'b'.repeat(40),
      updatedAt: longAgo,
      closedAt: longAgo,
    });
    codehost.cloud.addPullRequest('acme/web', { number: 2, reviewDecision: 'APPROVED', checks: 'FAILURE' });
    codehost.cloud.addPullRequest('acme/web', { number: 3, state: 'CLOSED', closedAt: Date.now() });
    watched.repos.push('acme/web');
    await run();
    expect(new Set(topics())).toEqual(
      new Set([
        'codehost.pr.opened acme/web#2',
        'codehost.pr_review.submitted acme/web#2',
        'codehost.check_suite.completed acme/web#2',
        'codehost.pr.refreshed acme/web#2',
        'codehost.pr.closed acme/web#3',
      ]),
    );
    expect(codehost.calls()).toEqual(['POST /api/graphql']);
    codehost.cloud.changePullRequest('acme/web', 2, { headSha: 'd'.repeat(40), checks: null, isDraft: true });
    await run();
    expect(topics().slice(5)).toEqual([
      'codehost.pr.synchronize acme/web#2',
      'codehost.pr.converted_to_draft acme/web#2',
    ]);
    await run();
    expect(topics()).toHaveLength(7);
  });

  test('at most one call per 50 pull requests, over any number of repositories', async () => {
    const { codehost, run, watched } = await world({
      covered: Array.from({ length: 10 }, (_, n) => `acme/r${n}`),
    });
    for (let n = 0; n < 10; n += 1) {
      codehost.cloud.addRepo(`acme/r${n}`);
      watched.repos.push(`acme/r${n}`);
    }
    // The first round checks everything: no delivery has reported what was open before.
    await run();
    codehost.forgetCalls();
    for (let n = 0; n < 101; n += 1) {
      const repo = `acme/r${n % 10}`;
      codehost.cloud.addPullRequest(repo, { number: n + 1 });
      watched.pullRequests.push({ repo, number: n + 1 });
    }
    expect(await run()).toMatchObject({ checked: 101, logged: 101, problems: [] });
    expect(codehost.calls()).toHaveLength(3);
  });

  test('what was open before the first round is found, with webhooks too', async () => {
    const { codehost, run, watched, topics } = await world({ covered: ['acme/web'] });
    codehost.cloud.addRepo('acme/web');
    codehost.cloud.addPullRequest('acme/web', { number: 7 });
    watched.repos.push('acme/web');
    await run();
    expect(topics()).toEqual(['codehost.pr.opened acme/web#7']);
    codehost.forgetCalls();
    await run();
    expect(codehost.calls()).toEqual([]);
  });

  test('an answer that is older than what was logged meanwhile changes nothing', async () => {
    const { codehost, run, watched, topics, meanwhile } = await world({ covered: ['acme/web'] });
    codehost.cloud.addRepo('acme/web');
    codehost.cloud.addPullRequest('acme/web', { number: 7 });
    watched.repos.push('acme/web');
    watched.pullRequests.push({ repo: 'acme/web', number: 7 });
    await run();
    meanwhile.push({
      event: 'codehost.pr.closed',
      source: 'codehost.webhook',
      via: 'live',
      scope: { repo: 'acme/web', pr: 7 },
      detail: { state: 'closed', merged: false },
    });
    await run();
    expect(topics()).toEqual(['codehost.pr.opened acme/web#7', 'codehost.pr.closed acme/web#7']);
  });

  test('a repository that is gone does not hide the others', async () => {
    const { codehost, run, watched, topics } = await world();
    codehost.cloud.addRepo('acme/web');
    codehost.cloud.addPullRequest('acme/web', { number: 1 });
    watched.repos.push('acme/gone', 'acme/web', 'acme/..');
    watched.pullRequests.push({ repo: 'acme/web', number: 99 }, { repo: 'acme/web', number: -1 });
    expect(await run()).toMatchObject({
      logged: 1,
      problems: [{ repo: 'acme/gone', problem: { kind: 'repo-gone' } }],
    });
    expect(topics()).toEqual(['codehost.pr.opened acme/web#1']);
  });

  test.each<[string, Parameters<Awaited<ReturnType<typeof codehostForTest>>['failNext']>[0], string]>([
    ['500', { kind: 'server-error', status: 500 }, 'unavailable'],
    ['401', { kind: 'unauthorised' }, 'logged-out'],
    ['rate limit', { kind: 'rate-limited', retryAfter: 30 }, 'rate-limited'],
    ['not JSON', { kind: 'body', text: 'oh' }, 'malformed'],
    ['another shape', { kind: 'body', text: '{"data":{"r0":{"nameWithOwner":7}}}' }, 'malformed'],
  ])('%s: a problem, nothing logged, found the next time', async (_name, fault, kind) => {
    const { codehost, run, watched, topics, pass } = await world();
    codehost.cloud.addRepo('acme/web');
    codehost.cloud.addPullRequest('acme/web', { number: 1 });
    watched.repos.push('acme/web');
    codehost.failNext(fault);
    expect(await run()).toMatchObject({ logged: 0, problems: [{ repo: 'acme/web', problem: { kind } }] });
    pass(60_000);
    expect(await run()).toMatchObject({ logged: 1, problems: [] });
    expect(topics()).toHaveLength(1);
  });

  test('two runs at once are one', async () => {
    const { codehost, run, watched } = await world();
    codehost.cloud.addRepo('acme/web');
    watched.repos.push('acme/web');
    await Promise.all([run(), run(), run()]);
    expect(codehost.calls()).toHaveLength(1);
  });

  test('nothing to watch costs nothing', async () => {
    const { codehost, run } = await world();
    expect(await run()).toEqual({ checked: 0, found: 0, logged: 0, problems: [] });
    expect(codehost.calls()).toEqual([]);
  });
});

describe('deploys', () => {
  const sha = 'b'.repeat(40);
  const awaited = (acceptDescendants: boolean) => ({
    repo: 'acme/web',
    sha,
    environment: 'production',
    mergedAt: new Date(Date.now() - 600_000).toISOString(),
    acceptDescendants,
  });

  test('what deliveries would have reported about a merged commit, in order, each once', async () => {
    const { codehost, run, watched, lines } = await world();
    codehost.cloud.addRepo('acme/web');
    watched.deploys.push(awaited(false));
    const deployment = codehost.cloud.addDeployment('acme/web', { sha });
    codehost.cloud.addDeployment('acme/web', { sha: 'c'.repeat(40) });
    codehost.cloud.addDeploymentStatus(deployment, 'in_progress');
    await run();
    expect(lines.map(({ event }) => event)).toEqual([
      'codehost.deployment.created',
      'codehost.deployment_status.in_progress',
    ]);
    codehost.forgetCalls();
    await run();
    expect(codehost.calls()).toEqual(['GET /api/v3/repos/acme/web/deployments?per_page=100']);
    codehost.cloud.addDeploymentStatus(deployment, 'success');
    deployment.updatedAt += 5_000;
    await run();
    expect(lines.at(-1)).toMatchObject({
      event: 'codehost.deployment_status.success',
      via: 'poll',
      scope: { repo: 'acme/web', sha, environment: 'production', deploymentId: deployment.id },
    });
    expect(lines).toHaveLength(3);
  });

  test('if a later commit counts, the newest of the environment are logged too, in one request', async () => {
    const { codehost, run, watched, lines } = await world();
    codehost.cloud.addRepo('acme/web');
    watched.deploys.push(awaited(true), { ...awaited(true), sha: 'd'.repeat(40) });
    codehost.cloud.addDeployment('acme/web', { sha: 'e'.repeat(40), environment: 'staging' });
    codehost.cloud.addDeployment('acme/web', { sha });
    for (const other of ['1', '2', '3', '4'])
      codehost.cloud.addDeployment('acme/web', { sha: other.repeat(40) });
    await run();
    expect(codehost.calls()[0]).toBe('GET /api/v3/repos/acme/web/deployments?per_page=100');
    expect(codehost.calls().filter((call) => call.includes('/deployments?'))).toHaveLength(1);
    const logged = lines.map(({ scope }) => `${scope.environment} ${scope.sha?.[0]}`);
    expect(logged).toEqual(['production b', 'production 2', 'production 3', 'production 4']);
  });

  test.each([
    ['the commit itself', sha, false],
    ['a later commit', 'e'.repeat(40), true],
  ])('a promotion that still has its first environment is found: of %s', async (_, deployed, later) => {
    const { codehost, run, watched, lines } = await world();
    codehost.cloud.addRepo('acme/web');
    watched.deploys.push(awaited(later));
    const deployment = codehost.cloud.addDeployment('acme/web', { sha: deployed, environment: 'staging' });
    codehost.cloud.addDeploymentStatus(deployment, 'success');
    deployment.updatedAt += 5_000;
    await run();
    codehost.forgetCalls();
    await run();
    // Nothing has changed since.
    expect(codehost.calls()).toHaveLength(1);
    deployment.statuses.push({
      id: 99,
      state: 'success',
      environment: 'production',
      description: '',
      createdAt: deployment.updatedAt + 5_000,
    });
    deployment.updatedAt += 5_000;
    await run();
    const logged = lines.map(({ event, scope }) => `${event.split('.').at(-1)} ${scope.environment}`);
    expect(logged).toEqual(['created staging', 'success staging', 'success production']);
  });

  test('what one answer does not reach back to is asked for by environment and by commit', async () => {
    const { codehost, run, watched, lines } = await world();
    codehost.cloud.addRepo('acme/web');
    watched.deploys.push(awaited(true), { ...awaited(false), sha: 'd'.repeat(40) });
    codehost.cloud.addDeployment('acme/web', { sha });
    codehost.cloud.addDeployment('acme/web', { sha: 'd'.repeat(40), environment: 'staging' });
    for (let count = 0; count < 100; count += 1)
      codehost.cloud.addDeployment('acme/web', { sha: 'f'.repeat(40), environment: `preview-${count}` });
    await run();
    expect(codehost.calls().filter((call) => call.includes('/deployments?'))).toEqual([
      'GET /api/v3/repos/acme/web/deployments?per_page=100',
      'GET /api/v3/repos/acme/web/deployments?environment=production&per_page=100',
      `GET /api/v3/repos/acme/web/deployments?sha=${'d'.repeat(40)}&per_page=100`,
    ]);
    expect(lines.map(({ scope }) => scope.sha?.[0])).toEqual(['b', 'd']);
  });

  test('a deployment from before the merge is not looked at', async () => {
    const { codehost, run, watched, lines } = await world();
    codehost.cloud.addRepo('acme/web');
    watched.deploys.push(awaited(true));
    const early = codehost.cloud.addDeployment('acme/web', { sha: '1'.repeat(40) });
    early.createdAt = Date.now() - 3_600_000;
    codehost.cloud.addDeployment('acme/web', { sha: '2'.repeat(40) });
    await run();
    expect(lines.map(({ scope }) => scope.sha?.[0])).toEqual(['2']);
  });

  test('statuses that could not be read are read the next time', async () => {
    const { codehost, run, watched, lines } = await world();
    codehost.cloud.addRepo('acme/web');
    watched.deploys.push(awaited(false), { ...awaited(false), sha: '../x' });
    codehost.cloud.addDeployment('acme/web', { sha });
    codehost.failNext({ kind: 'server-error', status: 500 }, { on: 'statuses' });
    expect(await run()).toMatchObject({ logged: 0, problems: [{ problem: { kind: 'unavailable' } }] });
    expect(await run()).toMatchObject({ logged: 1, problems: [] });
    expect(lines).toHaveLength(1);
  });
});

test('the meter: calls made, and calls that polling everything would have made', async () => {
  const { codehost, run, watched, meter, pass } = await world();
  codehost.cloud.addRepo('acme/web');
  watched.repos.push('acme/web');
  for (let number = 1; number <= 3; number += 1) {
    codehost.cloud.addPullRequest('acme/web', { number });
    watched.pullRequests.push({ repo: 'acme/web', number });
  }
  pass(600_000);
  await run();
  pass(600_000);
  await run();
  expect(meter()).toEqual({ made: 2, avoided: 40 * (3 * 7 + 1) - 2 });
});

describe('reconcileQueries', () => {
  const numbers = (count: number): number[] => Array.from({ length: count }, (_, n) => n + 1);

  test.each([
    ['nothing', [], []],
    ['50 of one', [{ repo: 'a/b', numbers: numbers(50), newest: false }], [1]],
    ['51 of one', [{ repo: 'a/b', numbers: numbers(51), newest: false }], [1, 1]],
    ['the same twice', [{ repo: 'a/b', numbers: [1, 1, 1], newest: false }], [1]],
    [
      'the newest of two',
      [
        { repo: 'a/b', numbers: [], newest: true },
        { repo: 'a/c', numbers: [], newest: true },
      ],
      [2],
    ],
    [
      'the newest of three',
      ['b', 'c', 'd'].map((name) => ({ repo: `a/${name}`, numbers: [], newest: true })),
      [2, 1],
    ],
    ['newest and more of one', [{ repo: 'a/b', numbers: numbers(20), newest: true }], [2]],
  ])('%s', (_name, requests, repositoriesPerCall) => {
    const queries = reconcileQueries(requests);
    expect(queries.map((query) => query.requests.length)).toEqual(repositoriesPerCall);
    for (const query of queries) {
      const size = query.requests.reduce(
        (sum, wish) => sum + wish.numbers.length + (wish.newest ? NEWEST_PER_REPO : 0),
        0,
      );
      expect(size).toBeLessThanOrEqual(PULL_REQUESTS_PER_CALL);
    }
  });
});
