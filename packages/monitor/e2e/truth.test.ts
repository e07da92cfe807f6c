// Never a false done: what arrives, in any order and from whomever, makes a ticket done only with proof, and what is proved
// becomes done. Every scenario has its own ticket and pull request; they share daemons, as real tickets do.
import { execFileSync } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { JsonObject } from '@svc/testkit';
import { until } from '@svc/testkit';
import { expect, test } from 'vitest';
import { shaOf, since, type TruthWorld, truthWorld } from './truth-world.ts';

const repo = 'acme/web';
// Every deployment would be compared with every merge.
const strict = { skipDeployVerification: false, timeoutSec: 3600, acceptDescendants: false };

/** `number` is that of the ticket and of its pull request; `merge` and `other` are commits that only it has. */
type Given = TruthWorld & { number: number; ticket: string; merged: string; other: string; id: number };
type Scenario = [
  name: string,
  expected: 'done' | 'waits',
  act: (given: Given) => Promise<unknown>,
  /** The worker's file from the start; null: none, or later. */
  worker?: ((given: { number: number }) => JsonObject) | null,
];

/** Each in its own ticket, all in the same daemon; what each came to. */
async function play(world: TruthWorld, scenarios: readonly Scenario[], afterwards = async () => {}) {
  const given = scenarios.map(([, , act, worker], index) => {
    const number = 100 + index;
    const [ticket, merged, other] = [
      `ABC-${number}`,
      shaOf(`merge ${repo}${number}`),
      shaOf(`other ${number}`),
    ];
    world.addIssue(number);
    return { act, worker, given: { ...world, number, ticket, merged, other, id: 5_000 + 10 * index } };
  });
  await world.workers(
    given.flatMap(({ worker, given: one }) =>
      worker === null
        ? []
        : [[one.ticket, { ...fileOf(one.number), ...worker?.(one) }] as [string, JsonObject]],
    ),
  );
  await Promise.all(given.map(({ act, given: one }) => act(one)));
  await world.settled();
  await afterwards();
  await world.settled();
  const verdicts = await Promise.all(given.map(({ given: one }) => world.verdict(one.number)));
  const of = (words: readonly string[]) =>
    Object.fromEntries(scenarios.map(([name], index) => [name, words[index]]));
  return { verdicts: of(verdicts), expected: of(scenarios.map(([, expected]) => expected)) };
}

const fileOf = (number: number): JsonObject => ({
  branch: `b${number}`,
  pr: { number, url: `https://github.com/${repo}/pull/${number}` },
});
const noNumber = () => ({ pr: undefined });

const month = since(-30 * 86_400_000);
const longAgo = { merged_at: month, closed_at: month, updated_at: month, created_at: month };

/** Merged, and then the statuses in this order. */
const merged =
  (...statuses: [state: string, environment?: string, more?: object][]) =>
  async ({ number, merged: sha, id, merge, deployed }: Given) => {
    await merge(repo, number);
    for (const [state, environment, more] of statuses)
      await deployed(repo, id, sha, state, environment, more);
  };
const later = { status: { created_at: since(1_000) } };
const staged: Parameters<typeof merged>[0] = ['success', 'staging'];

const helper =
  (event: string, scope: (given: Given) => object, detail: object, after?: (given: Given) => Promise<void>) =>
  async (given: Given) => {
    await merged()(given);
    const fact = { event, source: 'orchestrator', via: 'local', scope: scope(given), detail };
    expect(await given.report(fact)).toBe(400);
    await after?.(given);
  };
const own = ({ ticket }: Given) => ({ ticket, orchestrator: 'run-1', worker: ticket, repo });

const ofOthers =
  (number: (given: Given) => number, patch: (given: Given) => JsonObject, where = repo) =>
  async (given: Given) => {
    await given.merge(where, number(given), { merge_commit_sha: given.merged, ...patch(given) });
    await given.deployed(where, given.id, given.merged, 'success');
  };
const itsOwn = ({ number }: Given) => number;
const headOf =
  (head: JsonObject) =>
  ({ number }: Given): JsonObject => ({ head: { ref: `b${number}`, sha: shaOf('head'), ...head } });

const scenarios: Scenario[] = [
  ['a success of the merge commit', 'done', merged(['success'])],
  [
    'a success before the merge',
    'done',
    async (given) => {
      await given.deployed(repo, given.id, given.merged, 'success');
      await given.merge(repo, given.number);
    },
  ],
  ['a success in Production', 'done', merged(['success', 'Production'])],
  ['a success in staging', 'waits', merged(staged)],
  ['a success in production-eu', 'waits', merged(['success', 'production-eu'])],
  ['a success of rollback', 'waits', merged(['success', 'production', { deployment: { task: 'rollback' } }])],
  [
    'a success of migrations',
    'waits',
    merged(['success', 'production', { deployment: { task: 'deploy:migrations' } }]),
  ],
  ...[
    'inactive',
    'queued',
    'waiting',
    'pending',
    'in_progress',
    'failure',
    'error',
    'SUCCESS',
    'success ',
    'active',
  ].map((state): Scenario => [`only ${JSON.stringify(state)}`, 'waits', merged([state])]),
  [
    'a success in staging, then under way in production',
    'waits',
    merged(staged, ['in_progress', 'production', later]),
  ],
  [
    'the same, and the worker is seen afterwards',
    'waits',
    async (given) => {
      await merged(staged, ['in_progress', 'production', later])(given);
      await given.workers([[given.ticket, fileOf(given.number)]]);
    },
    null,
  ],
  [
    'a success in preview, then inactive in production',
    'waits',
    merged(['success', 'preview'], ['inactive', 'production', later]),
  ],
  [
    'staging and production under ids beyond 2^53',
    'waits',
    async (given) => {
      await given.merge(repo, given.number);
      await given.deployed(repo, 9_007_199_254_740_993n.toString(), given.merged, 'success', 'staging');
      await given.deployed(repo, 9_007_199_254_740_992, given.merged, 'in_progress');
    },
  ],
  [
    'an id that is a text',
    'waits',
    async (given) => {
      await given.merge(repo, given.number);
      await given.deployed(repo, '55', given.merged, 'success');
    },
  ],
  [
    'three failures, then a success',
    'waits',
    async (given) => {
      await given.merge(repo, given.number);
      for (const add of [0, 1, 2]) await given.deployed(repo, given.id + add, given.merged, 'failure');
      await given.deployed(repo, given.id + 3, given.merged, 'success');
    },
  ],
  [
    'closed without a merge, and a success of its test merge',
    'waits',
    ofOthers(itsOwn, () => ({ merged: false, merged_at: null })),
  ],
  ['the same number in another repository', 'waits', ofOthers(itsOwn, () => ({}), 'acme/other')],
  [
    'a success of the same commit in another repository',
    'waits',
    async (given) => {
      await given.merge(repo, given.number);
      await given.deployed('acme/other', given.id, given.merged, 'success');
    },
  ],
  ['the branch of a fork', 'waits', ofOthers(itsOwn, headOf({ repo: { full_name: 'evil/web' } })), noNumber],
  ['the branch of a fork that was deleted', 'waits', ofOthers(itsOwn, headOf({ repo: null })), noNumber],
  [
    'the same, labelled',
    'waits',
    ofOthers(itsOwn, (given) =>
      headOf({ repo: null, label: `evil:b${given.number}`, user: { login: 'evil' } })(given),
    ),
    noNumber,
  ],
  [
    'its file names the pull request of another ticket',
    'waits',
    ofOthers(itsOwn, ({ number }) => ({
      title: 'ABC-1 other work',
      head: { ref: 'ABC-1-other', sha: shaOf(`other head ${number}`), repo: { full_name: repo } },
    })),
    ({ number }) => ({ branch: `ABC-${number}-mine` }),
  ],
  ['its file names one that was merged a month before', 'waits', ofOthers(itsOwn, () => longAgo)],
  ['its branch had one that was merged a month before', 'waits', ofOthers(itsOwn, () => longAgo), noNumber],
  [
    'a short commit id',
    'waits',
    async (given) => {
      await given.merge(repo, given.number);
      await given.deployed(repo, given.id, given.merged.slice(0, 7), 'success');
    },
  ],
  [
    'no merge commit, and a success of the head',
    'waits',
    async (given) => {
      await given.merge(repo, given.number, { merge_commit_sha: null });
      await given.deployed(repo, given.id, shaOf(`head ${given.number}`), 'success');
    },
  ],
  [
    'the merge commit is learned later',
    'done',
    async (given) => {
      await given.merge(repo, given.number, { merge_commit_sha: null });
      await given.deployed(repo, given.id, given.merged, 'success');
      await given.pull(repo, given.number, {}, 'labeled');
    },
  ],
  [
    'its file claims to be done after the merge',
    'waits',
    async (given) => {
      await given.merge(repo, given.number);
      await until(() => given.signal(given.ticket)['status'] === 'merged');
      await given.workers([[given.ticket, { ...given.signal(given.ticket), status: 'done' }]]);
    },
  ],
  [
    'its file claims a deployment',
    'waits',
    merged(),
    () => ({ deploy: { result: 'success', deploymentId: 7 } }),
  ],
  [
    'its file names a repository without a policy after the merge',
    'waits',
    async (given) => {
      await given.merge(repo, given.number);
      await until(() => given.signal(given.ticket)['status'] === 'merged');
      await given.workers([[given.ticket, { ...given.signal(given.ticket), repo: 'acme/free' }]]);
    },
  ],
  ['its file names no repository', 'waits', merged(), () => ({ repo: undefined })],
  [
    'its file names it in capitals',
    'waits',
    async ({ merge, number }) => merge('Acme/WEB', number),
    () => ({ repo: 'ACME/Web' }),
  ],
  ['its file names it by URL', 'waits', merged(), () => ({ repo: 'https://github.com/acme/web.git' })],
  [
    'merged in a year',
    'waits',
    async (given) => {
      await given.merge(repo, given.number, { merged_at: since(365 * 86_400_000) });
      const { deploy } = await until(async () => {
        const worker = await given.workerOf(given.ticket);
        return worker?.deploy ? worker : undefined;
      });
      expect(Date.parse(deploy?.deadline ?? '')).toBeLessThan(Date.now() + 2 * 3_600_000);
    },
  ],
  [
    'times that are none',
    'done',
    async (given) => {
      await given.merge(repo, given.number, { merged_at: 'not a time', closed_at: 'x', updated_at: 'y' });
      await given.deployed(repo, given.id, given.merged, 'success', 'production', {
        status: { created_at: 'z' },
      });
    },
  ],
  ['canceled, merged and deployed', 'waits', merged(['success']), () => ({ status: 'canceled' })],
  [
    'a review that is labelled a merge',
    'waits',
    ({ pull, number }) =>
      pull(repo, number, { merged: undefined, merged_at: null, state: 'open' }, 'submitted'),
  ],
  [
    'no worker, and a success',
    'done',
    ofOthers(itsOwn, ({ ticket, number }) => ({
      title: `${ticket} by hand`,
      head: { ref: `${ticket}-x`, sha: shaOf(`hand ${number}`), repo: { full_name: repo } },
    })),
    null,
  ],
  [
    'a helper reports the deployment',
    'waits',
    helper(
      'codehost.deployment_status.success',
      ({ merged: sha, id }) => ({ repo, sha, environment: 'production', deploymentId: id }),
      { state: 'success' },
    ),
  ],
  [
    'a helper applies a configuration',
    'waits',
    helper('monitor.config.applied', () => ({}), {
      project: '/p',
      served: true,
      deploy: {},
      others: 'default',
    }),
  ],
  [
    'a helper relaxes the policy',
    'waits',
    helper('orchestrator.deploy.policy_relaxed', () => ({ repo }), { by: 'x' }),
  ],
  ['a helper accepts it', 'waits', helper('orchestrator.deploy.accepted', own, { by: 'x' })],
  [
    'a helper reports that the deploy succeeded',
    'waits',
    helper('orchestrator.deploy.succeeded', own, { state: 'success' }),
  ],
  ['a helper reports that it timed out', 'waits', helper('orchestrator.deploy.timed_out', own, {})],
];

test('whatever is delivered, claimed or reported', async () => {
  const world = await truthWorld({ '.svc/config.json': '' });
  world.write('.svc/config.json', world.base({ deploy: { [repo]: strict } }));
  await applied(world, repo, 3600);
  const { verdicts, expected } = await play(world, scenarios, async () => {
    // What is judged again after a change of the policy, and after a restart, comes to the same.
    world.write('.svc/config.json', world.base({ deploy: { [repo]: { ...strict, timeoutSec: 3700 } } }));
    await applied(world, repo, 3700);
    await world.settled();
    await world.restart();
  });
  expect(verdicts).toEqual(expected);
});

/** The policy that the board uses. */
const applied = (world: TruthWorld, name: string, timeoutSec: number) =>
  until(async () => {
    const { policies } = (await world.daemon().get('/api/deploy/policy')).body as {
      policies: { repo: string; timeoutSec: number }[];
    };
    return policies.some((one) => one.repo === name && one.timeoutSec === timeoutSec);
  });

// What contains a merge, by git in the worker's worktree.

/** Commits around a merge, each with its file. */
function commitsIn(folder: string) {
  mkdirSync(folder, { recursive: true });
  const gitEnvironment = { PATH: process.env['PATH'] ?? '', HOME: folder, GIT_CONFIG_NOSYSTEM: '1' };
  const git = (...args: string[]): string =>
    execFileSync('git', ['-C', folder, '-c', 'user.name=x', '-c', 'user.email=x@x', ...args], {
      env: gitEnvironment,
      encoding: 'utf8',
      stdio: ['ignore', 'pipe', 'ignore'],
    }).trim();
  const head = (): string => git('rev-parse', 'HEAD');
  const commit = (name: string): string => {
    writeFileSync(join(folder, name), name);
    git('add', name);
    git('commit', '-qm', name);
    return head();
  };
  const on = (branch: string, start: string): void => void git('checkout', '-qb', branch, start);
  git('init', '-qb', 'main');
  const before = commit('before');
  const merge = commit('feature');
  const after = commit('after');
  git('revert', '--no-edit', merge);
  const reverted = head();
  on('picked', before);
  commit('picked');
  git('cherry-pick', merge);
  const picked = head();
  on('discarded', before);
  commit('discarded');
  git('merge', '-qs', 'ours', '-m', 'discard', merge);
  return { git, before, merge, after, reverted, picked, discarded: head() };
}

type Commits = Omit<ReturnType<typeof commitsIn>, 'git'>;

const containments: [
  name: string,
  expected: 'done' | 'waits',
  deployed: keyof Commits,
  folder: 'git' | 'forged',
][] = [
  ['a later commit', 'done', 'after', 'git'],
  ['the commit before', 'waits', 'before', 'git'],
  ['one that reverts it', 'waits', 'reverted', 'git'],
  ['a merge that discards it', 'waits', 'discarded', 'git'],
  ['a cherry-pick on another branch', 'waits', 'picked', 'git'],
  ['the commit before, which grafts and replacements put after it', 'waits', 'before', 'forged'],
];

test('what is deployed instead of the merge commit, and which run and environment count', async () => {
  const world = await truthWorld({});
  const commits = commitsIn(join(world.home, 'git'));
  const forged = commitsIn(join(world.home, 'forged'));
  forged.git('replace', forged.before, forged.after);
  world.write('forged/.git/info/grafts', `${forged.before} ${forged.merge}\n`);

  const repos = containments.map((_, index) => `acme/git-${index}`);
  const policies = (environment: string) => ({
    ...Object.fromEntries([...repos, 'acme/runs'].map((name) => [name, { skipDeployVerification: false }])),
    'acme/corrected': { skipDeployVerification: false, productionEnvironment: environment },
    'acme/live': { skipDeployVerification: false, productionEnvironment: 'live' },
  });
  world.write('.svc/config.json', world.base({ deploy: policies('prod') }));
  await applied(world, 'acme/live', 1800);

  const all = containments.map(([, , , folder], index) => {
    const [number, name, of] = [200 + index, repos[index] ?? '', folder === 'git' ? commits : forged];
    world.addIssue(number);
    const worker: [string, JsonObject] = [
      `ABC-${number}`,
      { repo: name, branch: `b${number}`, pr: { number }, worktreePath: join(world.home, folder) },
    ];
    return { number, name, of, worker };
  });
  for (const number of [300, 301, 302, 303, 304]) world.addIssue(number);
  await world.workers([
    ...all.map(({ worker }) => worker),
    ['ABC-300', { repo: 'acme/runs', branch: 'b300', pr: { number: 300 } }],
    ['ABC-303', { repo: 'acme/corrected', branch: 'b303', pr: { number: 303 } }],
    ['ABC-304', { repo: 'acme/runs', branch: 'b304', pr: { number: 304 } }],
  ]);
  const overclaimed = async (): Promise<void> => {
    await world.merge('acme/runs', 304);
    const scope = { repo: 'acme/runs', mergeSha: shaOf('merge acme/runs304'), sha: shaOf('unrelated') };
    const event = 'orchestrator.deploy.descendant_checked';
    const detail = { contains: true, by: 'git' };
    expect(await world.report({ event, source: 'orchestrator', via: 'local', scope, detail })).toBe(400);
    await world.deployed('acme/runs', 304, shaOf('unrelated'), 'success');
  };
  await Promise.all([
    ...all.map(async ({ number, name, of }, index) => {
      await world.merge(name, number, { merge_commit_sha: of.merge });
      await world.deployed(name, 10, of[containments[index]?.[2] ?? 'before'], 'success');
    }),
    ...['acme/runs', 'acme/corrected'].map((name, index) => world.merge(name, 300 + 3 * index)),
    // A helper may not say what contains a merge.
    overclaimed(),
    ...[301, 302].map((number) => world.merge('acme/live', number, { title: `ABC-${number} by hand` })),
  ]);
  await world.deployed('acme/runs', 300, shaOf('merge acme/runs300'), 'success');
  await world.deployed('acme/live', 301, shaOf('merge acme/live301'), 'success', 'live');
  await world.deployed('acme/live', 302, shaOf('merge acme/live302'), 'success', 'production');
  await until(async () => (await world.verdict(200)) === 'done');
  await world.settled();

  const verdicts = await Promise.all(all.map(({ number }) => world.verdict(number)));
  expect(Object.fromEntries(containments.map(([name], index) => [name, verdicts[index]]))).toEqual(
    Object.fromEntries(containments.map(([name, expected]) => [name, expected])),
  );
  expect(await world.verdict(304)).toBe('waits');
  // Without a worker the environment of the repository's policy counts.
  expect([await world.verdict(301), await world.verdict(302)]).toEqual(['done', 'waits']);
  expect((await world.svc('receipt', 'ABC-301')).code).toBe(0);
  expect((await world.svc('receipt', 'ABC-302')).code).toBe(1);

  // The environment is corrected after the merge.
  world.write('.svc/config.json', world.base({ deploy: policies('production') }));
  await until(async () => (await world.workerOf('ABC-303'))?.deploy?.environment === 'production');
  expect(await world.verdict(303)).toBe('waits');
  await world.deployed('acme/corrected', 303, shaOf('merge acme/corrected303'), 'success');
  await until(async () => (await world.verdict(303)) === 'done');

  // A newer run speaks for the ticket, whatever the file of the older one does.
  expect(await world.verdict(300)).toBe('done');
  await world.workers([
    ['ABC-300', { repo: 'acme/runs', status: 'implementing', startedAt: since(0) }, 'run-2'],
  ]);
  await world.workers([['ABC-300', { ...world.signal('ABC-300'), note: 'touched' }]]);
  await world.settled();
  expect(await world.svc('receipt', 'ABC-300', '--json')).toMatchObject({ code: 1 });
  const { out } = await world.svc('receipt', 'ABC-300', '--json');
  expect(JSON.parse(out)).toMatchObject({
    orchestrator: 'run-2',
    shipped: false,
    missing: expect.stringMatching(/./),
    next: expect.stringMatching(/./),
  });
});
