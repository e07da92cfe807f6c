// The log lines of one worker, from its ticket to production.
import type { EventFields } from '../packages/monitor/src/kernel/log/event-line.ts';
import type { Random } from '../packages/testkit/src/random.ts';
import {
  checks,
  deployment,
  hexOf,
  pullRequest,
  pullRequestUrl,
  push,
  review,
  reviewOf,
  type Subject,
  tracker,
  type World,
} from './state-delivery-lines.ts';

export function* workerLines(subject: Subject, random: Random, world: World): Generator<EventFields> {
  const worker = createWorkerLines(subject, world);
  yield tracker('created', subject, 'Todo');
  yield worker.line('dispatched', 'dispatched', { command: `work on ${subject.ticket}` });
  yield tracker('state_changed', subject, 'In Progress');
  for (const status of ['researching', 'planning', 'implementing'] as const)
    yield* worker.work(status, random);
  let sha = hexOf(random, 40);
  yield push(subject, subject.branch, sha);
  yield pullRequest('opened', subject, sha, { draft: random.chance(0.3) });
  worker.open(sha);
  yield* worker.work('pr-created', random);
  yield tracker('state_changed', subject, 'In Review');
  const pushes = 6 + random.below(18);
  for (let round = 0; round < pushes; round += 1) {
    yield* checks(subject, sha, random);
    if (subject.hasPreviews) yield* deployment(subject, world, sha, 'Preview', 'success');
    if (random.chance(0.4)) yield* review(subject, sha, random);
    yield* worker.work('validating', random);
    sha = hexOf(random, 40);
    yield push(subject, subject.branch, sha);
    yield pullRequest('synchronize', subject, sha, {
      mergeableState: random.pick(['clean', 'blocked', 'unstable']),
    });
    if (random.chance(0.3)) yield tracker('updated', subject, 'In Review');
  }
  yield* checks(subject, sha, random);
  yield reviewOf(subject, sha, 'approved');
  if (random.chance(0.04)) {
    yield pullRequest('closed', subject, sha, { state: 'closed' });
    yield worker.line('status_changed', 'failed', { to: 'failed' });
    return;
  }
  yield worker.line('status_changed', 'merging', { to: 'merging' });
  const mergeSha = hexOf(random, 40);
  const mergedAt = new Date(world.now()).toISOString();
  yield pullRequest('merged', subject, sha, { state: 'closed', merged: true, mergedAt }, mergeSha);
  yield push(subject, 'main', mergeSha);
  yield* checks(subject, mergeSha, random, 'main');
  yield* deployment(subject, world, mergeSha, 'staging', 'success');
  if (random.chance(0.15)) yield* deployment(subject, world, mergeSha, 'production', 'failure');
  yield* deployment(subject, world, mergeSha, 'production', random.chance(0.97) ? 'success' : 'error');
  yield tracker('state_changed', subject, 'Done');
}

/** The signal file grows as the worker proceeds; each line has its current content. */
function createWorkerLines(subject: Subject, { now }: World) {
  const startedAt = new Date(now()).toISOString();
  let status = 'dispatched';
  let writes = 0;
  let pr: object | null = null;
  const phaseTimestamps: Record<string, string> = {};

  function line(kind: string, next: string, detail: object): EventFields {
    const updatedAt = new Date(now()).toISOString();
    writes += 1;
    if (next !== status) phaseTimestamps[next] = updatedAt;
    const from = status;
    status = next;
    const signal = {
      ticket: subject.ticket,
      orchestrator: subject.orchestrator,
      workerName: `worker-${subject.ticket.toLowerCase()}`,
      status,
      phase: status,
      startedAt,
      updatedAt,
      repo: subject.repo,
      branch: subject.branch,
      wave: 1,
      worktreePath: `/home/mira/worktrees/${subject.ticket}`,
      pid: 40_000 + writes,
      pr,
      cost: { usd: writes / 100, inputTokens: writes * 2_311, outputTokens: writes * 407 },
      phaseTimestamps: { ...phaseTimestamps },
    };
    return {
      event: `orchestrator.worker.${kind}`,
      source: 'orchestrator',
      via: 'local',
      scope: {
        repo: subject.repo,
        ticket: subject.ticket,
        orchestrator: subject.orchestrator,
        worker: signal.workerName,
        branch: subject.branch,
      },
      detail: {
        ...(kind === 'status_changed' && { from }),
        ...detail,
        signal,
        hash: `${subject.ticket}-${writes}`,
      },
    };
  }

  return {
    line,
    open(sha: string) {
      pr = { number: subject.pr, url: pullRequestUrl(subject), state: 'open', headSha: sha };
    },
    *work(next: string, random: Random): Generator<EventFields> {
      if (next !== status) yield line('status_changed', next, { to: next });
      for (let left = 1 + random.below(2); left > 0; left -= 1) {
        yield line('updated', next, { changed: ['cost', 'updatedAt'] });
      }
    },
  };
}
