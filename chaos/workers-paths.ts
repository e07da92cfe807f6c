// Every row of the tables of states and transitions, and of the deploy rules of the design, as paths of workers with
// their final states. Those are written by hand: none is computed by the code under test.
import type { WorkerStatus } from '@svc/contract/signal-file';
import type { DeploymentRow } from '../packages/testkit/src/codehost/cloud.ts';
import type { Actor } from './workers-actor.ts';
import { repos, type TeamKey, teams } from './workers-world.ts';

export type Ending = {
  status: WorkerStatus;
  /** The status in the signal file, if it differs; null if it cannot be read. */
  file?: WorkerStatus | null;
  /** How the deploy ended; null while it runs, or if there was none. */
  result: 'success' | 'accepted' | 'budget-exhausted' | 'timeout' | null;
  attempts: number;
  /** Open reasons. */
  attention: readonly string[];
  ticket: 'done' | 'untouched';
};

export type Path = { name: string; repo: string; play: (worker: Actor) => Promise<void>; ends: Ending };

const shipped = { status: 'done', result: 'success', attempts: 0, attention: [], ticket: 'done' } as const;
const merelyMerged = { ...shipped, result: null } as const;
const stays = (status: WorkerStatus): Ending => ({
  status,
  result: null,
  attempts: 0,
  attention: [],
  ticket: 'untouched',
});
const needs = (status: WorkerStatus, reason: string, more: Partial<Ending> = {}): Ending => ({
  ...stays(status),
  attention: [reason],
  ...more,
});

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

async function ships(worker: Actor, deployment: DeploymentRow): Promise<void> {
  await worker.reaches('deploying');
  await worker.turns(deployment, 'success');
  await worker.reaches('done');
}

function path(name: string, repo: string, ends: Ending, play: Path['play']): Path {
  return { name, repo, ends, play };
}

/** The first ones are the most important: a smaller run uses only those. */
export const paths: readonly Path[] = [
  path('merged, and the proof is skipped', repos.skips, merelyMerged, async (worker) => {
    await isOpen(worker);
    await worker.merges();
    await worker.reaches('done');
  }),
  path('merged in a repository that no configuration names', repos.unknown, merelyMerged, async (worker) => {
    await worker.says('pr-created', { named: false });
    await worker.opens();
    await worker.merges();
    await worker.reaches('done');
  }),
  path('created, then success', repos.verified, shipped, async (worker) => {
    await isMerged(worker);
    await ships(worker, await worker.deploys());
  }),
  path(
    'failure, then a new deployment succeeds',
    repos.verified,
    { ...shipped, attempts: 1 },
    async (worker) => {
      await isMerged(worker);
      const first = await worker.deploys();
      await worker.reaches('deploying');
      await worker.turns(first, 'failure');
      await worker.reaches('deploy-failed');
      await ships(worker, await worker.deploys());
    },
  ),
  path(
    'three failures: a later success is ignored',
    repos.verified,
    needs('deploy-failed', 'deploy-budget-exhausted', { result: 'budget-exhausted', attempts: 3 }),
    async (worker) => {
      await failsThreeTimes(worker);
      await worker.turns(await worker.deploys(), 'success');
    },
  ),
  path('the timeout in deploying, then a late success', repos.slow, shipped, async (worker) => {
    await isMerged(worker);
    const deployment = await worker.deploys();
    await worker.reaches('stalled');
    await worker.turns(deployment, 'success');
    await worker.reaches('done');
  }),
  path('a later commit that git proves to contain the merge', repos.verified, shipped, async (worker) => {
    await isMerged(worker);
    await ships(worker, await worker.deploys({ sha: worker.laterCommit('the merge') }));
  }),
  path(
    'done is claimed without a merge',
    repos.verified,
    needs('pr-created', 'done-unproven', { file: 'done' }),
    async (worker) => {
      await isOpen(worker);
      await worker.says('done');
      await worker.needsAPerson('done-unproven');
    },
  ),
  path('closed without a merge, reopened, merged', repos.skips, merelyMerged, async (worker) => {
    await isOpen(worker);
    await worker.closes();
    await worker.needsAPerson('pr-closed');
    await worker.reopens();
    await worker.needsNoOne();
    await worker.merges();
    await worker.reaches('done');
  }),
  path('the process dies', repos.skips, needs('implementing', 'worker-dead'), async (worker) => {
    await worker.says('implementing', worker.livesAs());
    await worker.reaches('implementing');
    await worker.dies();
    await worker.needsAPerson('worker-dead');
  }),
  path('merged while its file cannot be read, which is fixed', repos.skips, merelyMerged, async (worker) => {
    await isOpen(worker);
    await worker.breaksItsFile();
    await worker.needsAPerson('signal-corrupt');
    await worker.merges();
    await worker.reaches('done');
    await worker.says('pr-created');
    await worker.needsNoOne();
  }),
  path('reported in the wrong order, and twice', repos.verified, shipped, async (worker) => {
    await isOpen(worker);
    await worker.mergesAndShipsBackwards();
    await worker.reaches('done');
  }),
  path('pending, then success', repos.verified, shipped, async (worker) => {
    await isMerged(worker);
    const deployment = await worker.deploys({ silent: true });
    await worker.turns(deployment, 'pending');
    await ships(worker, deployment);
  }),
  path('success seen in merged', repos.verified, shipped, async (worker) => {
    await isMerged(worker);
    await worker.turns(await worker.deploys({ silent: true }), 'success');
    await worker.reaches('done');
  }),
  path(
    'error, without another deployment',
    repos.verified,
    needs('deploy-failed', 'deploy-failed', { result: null, attempts: 1 }),
    async (worker) => {
      await isMerged(worker);
      const deployment = await worker.deploys();
      await worker.reaches('deploying');
      await worker.turns(deployment, 'error');
      await worker.needsAPerson('deploy-failed');
      // The same failure, reported again, is not another attempt.
      await worker.turns(deployment, 'failure');
    },
  ),
  path('three failures, a person retries, in_progress, success', repos.verified, shipped, async (worker) => {
    await failsThreeTimes(worker);
    await worker.decides('retry', 'merged');
    const deployment = await worker.deploys({ silent: true });
    await worker.turns(deployment, 'in_progress');
    await ships(worker, deployment);
  }),
  path(
    'three failures, a person accepts',
    repos.verified,
    { ...shipped, result: 'accepted', attempts: 3 },
    async (worker) => {
      await failsThreeTimes(worker);
      await worker.decides('accept', 'done');
    },
  ),
  path(
    'the timeout in merged',
    repos.slow,
    needs('stalled', 'deploy-timeout', { result: 'timeout', attempts: 0 }),
    async (worker) => {
      await isMerged(worker);
      await worker.needsAPerson('deploy-timeout');
    },
  ),
  path('the timeout in deploy-failed, a person retries, success', repos.slow, shipped, async (worker) => {
    await isMerged(worker);
    await worker.turns(await worker.deploys(), 'failure');
    // On a slow machine the deadline may pass first: then a person extends it.
    while (!(await worker.countsInTime())) {
      await worker.decides('retry', 'merged');
      await worker.turns(await worker.deploys(), 'failure');
    }
    await worker.reaches('stalled');
    await worker.decides('retry', 'merged');
    await worker.turns(await worker.deploys(), 'success');
    await worker.reaches('done');
  }),
  path('the timeout, a person accepts', repos.slow, { ...shipped, result: 'accepted' }, async (worker) => {
    await isMerged(worker);
    await worker.reaches('stalled');
    await worker.decides('accept', 'done');
  }),
  path('a deployment to staging is ignored', repos.verified, stays('merged'), async (worker) => {
    await isMerged(worker);
    await worker.turns(await worker.deploys({ environment: 'staging' }), 'success');
  }),
  path('a commit without the merge is ignored', repos.verified, stays('merged'), async (worker) => {
    await isMerged(worker);
    await worker.turns(await worker.deploys({ sha: worker.laterCommit('the root') }), 'success');
  }),
  path(
    'a later commit that the code host proves to contain the merge',
    repos.compared,
    shipped,
    async (worker) => {
      await worker.says('pr-created', { worktreePath: null });
      await worker.opens();
      await worker.merges();
      await worker.reaches('merged');
      await worker.turns(await worker.deploys({ sha: worker.laterCommit('the merge') }), 'success');
      await worker.reaches('done');
    },
  ),
  path('a later commit where only the merge itself counts', repos.strict, stays('merged'), async (worker) => {
    await isMerged(worker);
    await worker.turns(
      await worker.deploys({ sha: worker.laterCommit('the merge'), environment: 'live' }),
      'success',
    );
    // In this repository that is the environment that does not gate.
    await worker.turns(await worker.deploys({ environment: 'production' }), 'success');
  }),
  path('inactive is ignored', repos.verified, stays('deploying'), async (worker) => {
    await isMerged(worker);
    const deployment = await worker.deploys();
    await worker.reaches('deploying');
    await worker.turns(deployment, 'inactive');
  }),
  path(
    'done is claimed without a merge, a person accepts',
    repos.verified,
    { ...shipped, result: 'accepted' },
    async (worker) => {
      await isOpen(worker);
      await worker.says('done');
      await worker.needsAPerson('done-unproven');
      await worker.decides('accept', 'done');
    },
  ),
  path('closed without a merge', repos.verified, needs('pr-created', 'pr-closed'), async (worker) => {
    await isOpen(worker);
    await worker.closes();
    await worker.needsAPerson('pr-closed');
  }),
  path('the process dies, another takes over, merged', repos.skips, merelyMerged, async (worker) => {
    await worker.says('implementing', worker.livesAs());
    await worker.opens();
    await worker.dies();
    await worker.needsAPerson('worker-dead');
    const another = worker.livesAs();
    await worker.says('implementing', another);
    await worker.needsNoOne();
    await worker.says('pr-created', another);
    await worker.merges();
    await worker.reaches('done');
  }),
  path('canceled, and its pull request is merged', repos.verified, stays('canceled'), async (worker) => {
    await isOpen(worker);
    await worker.says('canceled');
    await worker.reaches('canceled');
    await worker.merges();
  }),
  path(
    'its file cannot be read',
    repos.verified,
    needs('pr-created', 'signal-corrupt', { file: null }),
    async (worker) => {
      await isOpen(worker);
      await worker.breaksItsFile();
      await worker.needsAPerson('signal-corrupt');
    },
  ),
];

// What `svc ticket phase` does to tickets, for each phase and each skill, and their final states. One team has cached
// state ids and one disabled phase; in the other the states are found by name.

type PhaseRow = {
  team: TeamKey;
  /** The phases that are set, one after the other. */
  phases: readonly string[];
  ends: string;
  /** The last answer, if it is immediate. */
  outcome: 'moved' | 'already' | 'skipped' | 'held';
};

export const phaseRows: readonly PhaseRow[] = [
  ...rowsOf('ABC', ['research', 'research-codebase', 'inProgress', 'implement-plan'], teams.ABC.work),
  ...rowsOf('ABC', ['inReview', 'create-pr', 'describe-pr'], teams.ABC.review),
  // Nothing shows of which repository it is, and some of the project's require a proof.
  ...rowsOf('ABC', ['done', 'merge-pr'], teams.ABC.begin, 'held'),
  ...rowsOf('ABC', ['canceled'], teams.ABC.canceled),
  ...rowsOf('XYZ', ['create-plan', 'planning'], teams.XYZ.work),
  ...rowsOf('XYZ', ['describe-pr'], teams.XYZ.review),
  ...rowsOf('XYZ', ['merge-pr'], teams.XYZ.done),
  // Null in the map skips.
  { team: 'ABC', phases: ['planning'], ends: teams.ABC.begin, outcome: 'skipped' },
  { team: 'ABC', phases: ['inReview', 'create-plan'], ends: teams.ABC.review, outcome: 'skipped' },
  // Already in that state.
  { team: 'ABC', phases: ['research', 'implement-plan'], ends: teams.ABC.work, outcome: 'already' },
  { team: 'XYZ', phases: ['create-pr', 'describe-pr'], ends: teams.XYZ.review, outcome: 'already' },
];

function rowsOf(
  team: TeamKey,
  phases: readonly string[],
  ends: string,
  outcome: PhaseRow['outcome'] = 'moved',
): PhaseRow[] {
  return phases.map((phase) => ({ team, phases: [phase], ends, outcome }));
}
