// Entities of the board as a log would have produced them, for tests that query a board. Each is complete: a test only
// sets the values that it is about.

import type { AttentionItem } from 'svc-monitor/src/features/attention/entity.ts';
import { emptyBoard, packBoard, unpackBoard } from 'svc-monitor/src/features/board.ts';
import type { Deployment } from 'svc-monitor/src/features/deploy/deployment.ts';
import type { PullRequest } from 'svc-monitor/src/features/pull-requests/pull-request.ts';
import type { Ticket } from 'svc-monitor/src/features/tracker/ticket.ts';
import type { DeployProgress } from 'svc-monitor/src/features/workers/deploy-fields.ts';
import { defaultDeployPolicy } from 'svc-monitor/src/features/workers/deploy-fields.ts';
import { noReactions } from 'svc-monitor/src/features/workers/reaction-causes.ts';
import type { Worker } from 'svc-monitor/src/features/workers/worker.ts';
import type { Board } from 'svc-monitor/src/kernel/board/board.ts';
import { type PackedBoard } from 'svc-monitor/src/kernel/board/board-rules.ts';

export const sampleMergeSha = 'a'.repeat(40);
/** A time on the sample's day, by its hour and minute. */
export const sampleTime = (time: string): string => `2026-01-02T${time}:00.000Z`;

export const verifiedPolicy = { ...defaultDeployPolicy, skipDeployVerification: false };

export function sampleBoard(given: Partial<PackedBoard> = {}): Board {
  return unpackBoard({ ...packBoard(emptyBoard()), seq: 100, at: sampleTime('12:00'), ...given });
}

export function sampleWorker(given: Partial<Worker> = {}): Worker {
  const { orchestrator = 'run-1', ticket = 'ENG-1' } = given;
  return {
    key: `${orchestrator}/${ticket}`,
    orchestrator,
    ticket,
    name: `worker-${ticket}`,
    status: 'implementing',
    statusSince: sampleTime('09:00'),
    statusSeq: 10,
    phase: null,
    claim: null,
    agent: null,
    policy: verifiedPolicy,
    merge: null,
    deploy: null,
    repo: 'acme/web',
    branch: 'eng-1-login',
    wave: 1,
    pr: null,
    signal: null,
    hash: null,
    process: { state: 'alive', since: sampleTime('09:00'), seq: 10 },
    corrupt: null,
    removed: false,
    verification: null,
    retriedAt: null,
    reactions: noReactions,
    recall: null,
    given: null,
    recalls: 0,
    spent: { attempts: [], days: [] },
    waited: { since: null, ms: 0, days: [] },
    raised: [],
    unseenSeq: null,
    first: { repo: null, startedAt: null },
    refuted: [],
    proofsAsked: [],
    lastSeq: 10,
    lastAt: sampleTime('09:00'),
    ...given,
  };
}

/** A worker whose pull request acme/web#12 was merged at 11:00. */
export function mergedWorker(given: Partial<Worker> = {}, deploy: Partial<DeployProgress> = {}): Worker {
  return sampleWorker({
    status: 'merged',
    statusSince: sampleTime('11:00'),
    statusSeq: 40,
    pr: { number: 12, url: null },
    merge: { sha: sampleMergeSha, at: sampleTime('11:00'), seq: 40 },
    deploy: {
      environment: 'production',
      deploymentId: null,
      attempts: [],
      startedAt: null,
      deadline: sampleTime('11:30'),
      completedAt: null,
      result: null,
      containedIn: [],
      provenBy: null,
      ...deploy,
    },
    lastSeq: 40,
    lastAt: sampleTime('11:00'),
    ...given,
  });
}

export function samplePullRequest(given: Partial<PullRequest> = {}): PullRequest {
  return {
    repo: 'acme/web',
    number: 12,
    title: 'Log in with a key',
    url: 'https://codehost.example/acme/web/pull/12',
    author: 'kim',
    branch: 'eng-1-login',
    headRepo: 'acme/web',
    base: 'main',
    ticket: 'ENG-1',
    state: 'open',
    draft: false,
    mergeable: true,
    mergeableState: 'clean',
    headSha: 'c'.repeat(40),
    checks: [{ name: 'build', suiteId: 7, conclusion: 'success', at: sampleTime('10:30'), seq: 30 }],
    reviews: [],
    reviewDecision: null,
    verdict: null,
    threads: [],
    unresolvedThreads: [],
    previewSources: [],
    previews: [],
    openedAt: sampleTime('10:00'),
    merge: null,
    closedAt: null,
    reportedAt: null,
    judgedAt: null,
    asOf: 30,
    askedSeq: null,
    firstSeq: 20,
    firstVia: 'live',
    via: 'live',
    lastSeq: 30,
    lastAt: sampleTime('10:30'),
    ...given,
  };
}

export function mergedPullRequest(given: Partial<PullRequest> = {}): PullRequest {
  return samplePullRequest({
    state: 'merged',
    merge: { sha: sampleMergeSha, at: sampleTime('11:00'), seq: 40, via: 'live' },
    closedAt: sampleTime('11:00'),
    lastSeq: 40,
    lastAt: sampleTime('11:00'),
    ...given,
  });
}

type SampleState = Omit<Deployment['states'][number], 'environment'> & { environment?: string };

/** Its states are of its own environment, unless they name another. */
export function sampleDeployment(
  given: Omit<Partial<Deployment>, 'states'> & { states: readonly SampleState[] },
): Deployment {
  const last = given.states.at(-1);
  const { environment = 'production' } = given;
  return {
    repo: 'acme/web',
    id: 41,
    sha: sampleMergeSha,
    ref: 'main',
    task: 'deploy',
    environment,
    production: true,
    state: last?.state ?? 'created',
    stateAt: last?.at ?? sampleTime('11:10'),
    environmentUrl: 'https://app.example',
    logUrl: null,
    description: null,
    lastSeq: last?.seq ?? 50,
    lastAt: last?.at ?? sampleTime('11:10'),
    ...given,
    states: given.states.map((state) => ({ environment, ...state })),
  };
}

export function sampleTicket(given: Partial<Ticket> = {}): Ticket {
  return {
    ticket: 'ENG-1',
    title: 'Log in with a key',
    url: 'https://tracker.example/ENG-1',
    state: { id: 's1', name: 'In Progress', type: 'started' },
    assignee: null,
    priority: null,
    labels: [],
    phase: null,
    removed: false,
    reportedAt: null,
    via: 'live',
    lastSeq: 5,
    lastAt: sampleTime('08:00'),
    ...given,
  };
}

export function sampleAttention(given: Partial<AttentionItem> = {}): AttentionItem {
  const { orchestrator = 'run-1', ticket = 'ENG-1', feed = null, reason = 'deploy-timeout' } = given;
  return {
    id: `${orchestrator ?? '-'}/${ticket ?? feed ?? '-'}/${reason}`,
    orchestrator,
    ticket,
    feed,
    session: null,
    reason,
    message: 'Nothing has succeeded in production',
    remedy: `svc deploy retry ${ticket ?? ''}`.trim(),
    severity: 'high',
    openedAt: sampleTime('11:30'),
    openedSeq: 60,
    evidence: [60],
    times: 1,
    acknowledged: null,
    snoozedUntil: null,
    handedOver: null,
    reportedBy: 'svc',
    ...given,
  };
}
