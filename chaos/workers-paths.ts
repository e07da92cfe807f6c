// Every row of the tables of states and transitions, and of the deploy rules of the design, as paths that workers
// take, with how each ends. The endings are written down by hand: none is computed by the code under test.
import type { WorkerStatus } from '../packages/core/src/runs/signal-file.ts';
import type { Actor } from './workers-actor.ts';
import { repos } from './workers-world.ts';

export type Ending = {
  status: WorkerStatus;
  /** What the signal file says, where that is another; null when it cannot be read. */
  file?: WorkerStatus | null;
  /** How the deploy ended; null while it goes on, or where there was none. */
  result: 'success' | 'accepted' | 'budget-exhausted' | 'timeout' | null;
  attempts: number;
  /** Open reasons. */
  attention: readonly string[];
  ticket: 'done' | 'untouched';
};

export type Path = { name: string; repo: string; play: (worker: Actor) => Promise<void>; ends: Ending };

const untouched = { result: null, attempts: 0, attention: [], ticket: 'untouched' } as const;
const shipped = { status: 'done', result: 'success', attempts: 0, attention: [], ticket: 'done' } as const;
const merelyMerged = { ...shipped, result: null } as const;

async function isOpen(worker: Actor): Promise<void> {
  await worker.says('implementing');
  await worker.opens();
  await worker.says('pr-created');
  await worker.reaches('pr-created');
}

async function isMerged(worker: Actor): Promise<void> {
  await isOpen(worker);
  await worker.merges();
  await worker.reaches('merged', 'stalled');
}

async function failsThreeTimes(worker: Actor): Promise<void> {
  await isMerged(worker);
  for (const [index, state] of ['failure', 'error', 'failure'].entries()) {
    await worker.turns(await worker.deploys(), state);
    await worker.counts(index + 1);
  }
  await worker.needsAPerson('deploy-budget-exhausted');
}

/** The first ones are the most important: a smaller run takes them. */
export const paths: readonly Path[] = [
  {
    name: 'merged, and the proof is skipped',
    repo: repos.skips,
    async play(worker) {
      await isOpen(worker);
      await worker.merges();
      await worker.reaches('done');
    },
    ends: merelyMerged,
  },
  {
    name: 'merged in a repository that no configuration names',
    repo: repos.unknown,
    async play(worker) {
      await worker.says('pr-created', { named: false });
      await worker.opens();
      await worker.merges();
      await worker.reaches('done');
    },
    ends: merelyMerged,
  },
  {
    name: 'created, then success',
    repo: repos.verified,
    async play(worker) {
      await isMerged(worker);
      const deployment = await worker.deploys();
      await worker.reaches('deploying');
      await worker.turns(deployment, 'success');
      await worker.reaches('done');
    },
    ends: shipped,
  },
  {
    name: 'failure, then a new deployment succeeds',
    repo: repos.verified,
    async play(worker) {
      await isMerged(worker);
      const first = await worker.deploys();
      await worker.reaches('deploying');
      await worker.turns(first, 'failure');
      await worker.reaches('deploy-failed');
      const second = await worker.deploys();
      await worker.reaches('deploying');
      await worker.turns(second, 'success');
      await worker.reaches('done');
    },
    ends: { ...shipped, attempts: 1 },
  },
  {
    name: 'three failures: a later success is ignored',
    repo: repos.verified,
    async play(worker) {
      await failsThreeTimes(worker);
      await worker.turns(await worker.deploys(), 'success');
    },
    ends: {
      status: 'deploy-failed',
      result: 'budget-exhausted',
      attempts: 3,
      attention: ['deploy-budget-exhausted'],
      ticket: 'untouched',
    },
  },
  {
    name: 'the timeout in deploying, then a late success',
    repo: repos.slow,
    async play(worker) {
      await isMerged(worker);
      const deployment = await worker.deploys();
      await worker.reaches('stalled');
      await worker.turns(deployment, 'success');
      await worker.reaches('done');
    },
    ends: shipped,
  },
  {
    name: 'a later commit that git proves to contain the merge',
    repo: repos.verified,
    async play(worker) {
      await isMerged(worker);
      const deployment = await worker.deploys({ sha: worker.laterCommit('the merge') });
      await worker.reaches('deploying');
      await worker.turns(deployment, 'success');
      await worker.reaches('done');
    },
    ends: shipped,
  },
  {
    name: 'done is claimed without a merge',
    repo: repos.verified,
    async play(worker) {
      await isOpen(worker);
      await worker.says('done');
      await worker.needsAPerson('done-unproven');
    },
    ends: { ...untouched, status: 'pr-created', file: 'done', attention: ['done-unproven'] },
  },
  {
    name: 'closed without a merge, reopened, merged',
    repo: repos.skips,
    async play(worker) {
      await isOpen(worker);
      await worker.closes();
      await worker.needsAPerson('pr-closed');
      await worker.reopens();
      await worker.needsNobody();
      await worker.merges();
      await worker.reaches('done');
    },
    ends: merelyMerged,
  },
  {
    name: 'the process dies',
    repo: repos.skips,
    async play(worker) {
      await worker.says('implementing', worker.livesAs());
      await worker.reaches('implementing');
      await worker.dies();
      await worker.needsAPerson('worker-dead');
    },
    ends: { ...untouched, status: 'implementing', attention: ['worker-dead'] },
  },
  {
    name: 'merged while its file cannot be read, which is mended',
    repo: repos.skips,
    async play(worker) {
      await isOpen(worker);
      await worker.breaksItsFile();
      await worker.needsAPerson('signal-corrupt');
      await worker.merges();
      await worker.reaches('done');
      await worker.says('pr-created');
      await worker.needsNobody();
    },
    ends: merelyMerged,
  },
  {
    name: 'told in the wrong order, and twice',
    repo: repos.verified,
    async play(worker) {
      await isOpen(worker);
      await worker.mergesAndShipsBackwards();
      await worker.reaches('done');
    },
    ends: shipped,
  },
  {
    name: 'pending, then success',
    repo: repos.verified,
    async play(worker) {
      await isMerged(worker);
      const deployment = await worker.deploys({ silent: true });
      await worker.turns(deployment, 'pending');
      await worker.reaches('deploying');
      await worker.turns(deployment, 'success');
      await worker.reaches('done');
    },
    ends: shipped,
  },
  {
    name: 'success seen in merged',
    repo: repos.verified,
    async play(worker) {
      await isMerged(worker);
      await worker.turns(await worker.deploys({ silent: true }), 'success');
      await worker.reaches('done');
    },
    ends: shipped,
  },
  {
    name: 'error, and nobody deploys again',
    repo: repos.verified,
    async play(worker) {
      await isMerged(worker);
      const deployment = await worker.deploys();
      await worker.reaches('deploying');
      await worker.turns(deployment, 'error');
      await worker.needsAPerson('deploy-failed');
      // The same failure, told once more, is no other attempt.
      await worker.turns(deployment, 'failure');
    },
    ends: {
      status: 'deploy-failed',
      result: null,
      attempts: 1,
      attention: ['deploy-failed'],
      ticket: 'untouched',
    },
  },
  {
    name: 'three failures, a person says retry, in_progress, success',
    repo: repos.verified,
    async play(worker) {
      await failsThreeTimes(worker);
      await worker.hears('retry', 'merged');
      const deployment = await worker.deploys({ silent: true });
      await worker.turns(deployment, 'in_progress');
      await worker.reaches('deploying');
      await worker.turns(deployment, 'success');
      await worker.reaches('done');
    },
    ends: shipped,
  },
  {
    name: 'three failures, a person accepts',
    repo: repos.verified,
    async play(worker) {
      await failsThreeTimes(worker);
      await worker.hears('accept', 'done');
    },
    ends: { ...shipped, result: 'accepted', attempts: 3 },
  },
  {
    name: 'the timeout in merged',
    repo: repos.slow,
    async play(worker) {
      await isMerged(worker);
      await worker.needsAPerson('deploy-timeout');
    },
    ends: {
      status: 'stalled',
      result: 'timeout',
      attempts: 0,
      attention: ['deploy-timeout'],
      ticket: 'untouched',
    },
  },
  {
    name: 'the timeout in deploy-failed, a person says retry, success',
    repo: repos.slow,
    async play(worker) {
      await isMerged(worker);
      await worker.turns(await worker.deploys(), 'failure');
      // On a slow machine the deadline may be first: then a person gives it another.
      while (!(await worker.countsInTime())) {
        await worker.hears('retry', 'merged');
        await worker.turns(await worker.deploys(), 'failure');
      }
      await worker.reaches('stalled');
      await worker.hears('retry', 'merged');
      await worker.turns(await worker.deploys(), 'success');
      await worker.reaches('done');
    },
    ends: shipped,
  },
  {
    name: 'the timeout, a person accepts',
    repo: repos.slow,
    async play(worker) {
      await isMerged(worker);
      await worker.reaches('stalled');
      await worker.hears('accept', 'done');
    },
    ends: { ...shipped, result: 'accepted' },
  },
  {
    name: 'a deployment to staging is ignored',
    repo: repos.verified,
    async play(worker) {
      await isMerged(worker);
      await worker.turns(await worker.deploys({ environment: 'staging' }), 'success');
    },
    ends: { ...untouched, status: 'merged' },
  },
  {
    name: 'a commit without the merge is ignored',
    repo: repos.verified,
    async play(worker) {
      await isMerged(worker);
      await worker.turns(await worker.deploys({ sha: worker.laterCommit('the root') }), 'success');
    },
    ends: { ...untouched, status: 'merged' },
  },
  {
    name: 'a later commit that the code host proves to contain the merge',
    repo: repos.compared,
    async play(worker) {
      await worker.says('pr-created', { worktreePath: null });
      await worker.opens();
      await worker.merges();
      await worker.reaches('merged');
      await worker.turns(await worker.deploys({ sha: worker.laterCommit('the merge') }), 'success');
      await worker.reaches('done');
    },
    ends: shipped,
  },
  {
    name: 'a later commit where only the merge itself counts',
    repo: repos.strict,
    async play(worker) {
      await isMerged(worker);
      await worker.turns(
        await worker.deploys({ sha: worker.laterCommit('the merge'), environment: 'live' }),
        'success',
      );
      // Here this is the name of the environment that does not gate.
      await worker.turns(await worker.deploys({ environment: 'production' }), 'success');
    },
    ends: { ...untouched, status: 'merged' },
  },
  {
    name: 'inactive is ignored',
    repo: repos.verified,
    async play(worker) {
      await isMerged(worker);
      const deployment = await worker.deploys();
      await worker.reaches('deploying');
      await worker.turns(deployment, 'inactive');
    },
    ends: { ...untouched, status: 'deploying' },
  },
  {
    name: 'done is claimed without a merge, a person accepts',
    repo: repos.verified,
    async play(worker) {
      await isOpen(worker);
      await worker.says('done');
      await worker.needsAPerson('done-unproven');
      await worker.hears('accept', 'done');
    },
    ends: { ...shipped, result: 'accepted' },
  },
  {
    name: 'closed without a merge',
    repo: repos.verified,
    async play(worker) {
      await isOpen(worker);
      await worker.closes();
      await worker.needsAPerson('pr-closed');
    },
    ends: { ...untouched, status: 'pr-created', attention: ['pr-closed'] },
  },
  {
    name: 'the process dies, another takes over, merged',
    repo: repos.skips,
    async play(worker) {
      await worker.says('implementing', worker.livesAs());
      await worker.opens();
      await worker.dies();
      await worker.needsAPerson('worker-dead');
      const another = worker.livesAs();
      await worker.says('implementing', another);
      await worker.needsNobody();
      await worker.says('pr-created', another);
      await worker.merges();
      await worker.reaches('done');
    },
    ends: merelyMerged,
  },
  {
    name: 'canceled, and its pull request is merged',
    repo: repos.verified,
    async play(worker) {
      await isOpen(worker);
      await worker.says('canceled');
      await worker.reaches('canceled');
      await worker.merges();
    },
    ends: { ...untouched, status: 'canceled' },
  },
  {
    name: 'its file cannot be read',
    repo: repos.verified,
    async play(worker) {
      await isOpen(worker);
      await worker.breaksItsFile();
      await worker.needsAPerson('signal-corrupt');
    },
    ends: { ...untouched, status: 'pr-created', file: null, attention: ['signal-corrupt'] },
  },
];
