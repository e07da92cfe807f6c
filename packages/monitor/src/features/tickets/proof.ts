// Did it ship? One verdict for a ticket, with the chain from the ticket to the deployment behind it. The verdict is that of
// the deploy lifecycle, which also writes the signal file and moves the ticket; the links show how each fact is known:
// observed in a delivery, fetched by a poll, or only claimed in the signal file.
import type { Board } from '../../kernel/board/board.ts';
import type { PullRequest } from '../pull-requests/pull-request.ts';
import { ALL_CHECKS, checkSummary } from '../pull-requests/pull-request-verdict.ts';
import type { Receipt } from '../workers/api.ts';
import type { DeployProgress, DeployWorker } from '../workers/deploy-fields.ts';
import { isShipped } from '../workers/status-groups.ts';
import { nameOf, ruleOf, waitOf } from './rule.ts';
import { type Subject, shortSha } from './subject.ts';

export type Proof = {
  /** Null: unknown. */
  shipped: boolean | null;
  /** What it is based on: a verified deployment, a person, or the merge alone where no proof is required. */
  by: 'deployment' | 'person' | 'merge' | null;
  links: Link[];
  /** What is missing, as a sentence; null if nothing is. */
  missing: string | null;
  /** What would change it; null if nothing is known that would. */
  next: string | null;
};

export function proofOf(board: Board, subject: Subject): Proof {
  const { judged } = subject;
  const links = [ticketLink, pullRequestLink, checksLink, mergeLink, deploymentLink].map((link) =>
    link(subject),
  );
  if (judged !== null && isShipped(judged))
    return { shipped: true, by: basisOf(judged), links, missing: null, next: null };
  const { waitsFor: next } = waitOf(subject);
  return {
    shipped: isUnknown(board, subject) ? null : false,
    by: null,
    links,
    missing: ruleOf(subject),
    next,
  };
}

/** What the tracker reports as open has not shipped. */
function isOpen(tracked: Subject['tracked']): boolean {
  const type = tracked?.state?.type;
  return (
    tracked !== null && !tracked.removed && type !== undefined && type !== 'completed' && type !== 'canceled'
  );
}

function basisOf({ merge, deploy }: DeployWorker): NonNullable<Proof['by']> {
  if (merge === null || deploy?.result === 'accepted') return 'person';
  return deploy?.provenBy ? 'deployment' : 'merge';
}

/** Events may be missing, or it cannot be known what a merge needs. */
function isUnknown(board: Board, { worker, judged, pullRequest, tracked }: Subject): boolean {
  if ([...board.feeds.values()].some(({ grade }) => grade === 'blind')) return true;
  const merge = judged?.merge ?? null;
  if (judged !== null && merge !== null && judged.policy.skipDeployVerification === null) return true;
  if (worker !== null) return false;
  // Without a worker nobody asks whether a later deployment contains the merge.
  if (pullRequest === null) return !isOpen(tracked);
  return merge !== null;
}

// The links.

export type Link = Receipt['links'][number];
export type LinkName = Link['link'];

function ticketLink({ ticket, tracked, worker }: Subject): Link {
  if (tracked !== null && (tracked.state !== null || tracked.title !== null)) {
    const { lastAt: at, lastSeq: seq, url, via } = tracked;
    return { link: 'ticket', value: ticket, grade: evidenceOf(via), at, seq, ...(url !== null && { url }) };
  }
  return claimed('ticket', ticket, worker?.lastSeq ?? null);
}

function pullRequestLink(subject: Subject): Link {
  const { pullRequest, worker } = subject;
  if (pullRequest !== null) {
    const { openedAt: at, firstSeq: seq, firstVia, url } = pullRequest;
    return {
      link: 'pull-request',
      value: nameOf(subject),
      grade: evidenceOf(firstVia),
      at,
      seq,
      ...(url !== null && { url }),
    };
  }
  return worker === null || worker.pr === null
    ? missing('pull-request')
    : claimed('pull-request', nameOf(subject), worker.lastSeq);
}

function checksLink({ pullRequest, worker }: Subject): Link {
  const newest = pullRequest?.checks.toSorted((a, b) => a.seq - b.seq).at(-1);
  if (pullRequest === null || newest === undefined) {
    const claim = worker?.signal?.pr?.ciStatus ?? null;
    return claim === null ? missing('checks') : claimed('checks', claim, worker?.lastSeq ?? null);
  }
  const { name, at, seq } = newest;
  const grade = name === ALL_CHECKS ? 'fetched' : 'observed';
  return { link: 'checks', value: verdictOn(pullRequest), grade, at, seq };
}

function mergeLink({ pullRequest, worker, judged }: Subject): Link {
  // The board drops old pull requests before it drops their workers.
  const merge = judged?.merge ?? null;
  if (merge !== null) {
    const { sha, at, seq } = merge;
    return { link: 'merge', value: sha, grade: evidenceOf(pullRequest?.merge?.via ?? 'live'), at, seq };
  }
  const sha = worker?.signal?.pr?.mergeSha ?? null;
  const isClaimed = sha !== null || typeof worker?.signal?.pr?.mergedAt === 'string';
  return isClaimed ? claimed('merge', sha, worker?.lastSeq ?? null) : missing('merge');
}

/** The deployment that the lifecycle counted; or one that came too late for it, which is a fact all the same. */
function deploymentLink({ judged, worker, counted }: Subject): Link {
  const { deploy = null } = judged ?? {};
  const success = counted.find(({ states }) => states.some(({ state }) => state === 'success'));
  const shown = deploy?.provenBy ?? (success && { deploymentId: success.id, sha: success.sha });
  if (shown) return deployedLink(shown, deploy, counted, worker?.statusSeq ?? null);
  if (judged !== null && isShipped(judged) && judged.merge !== null && deploy === null)
    return { ...missing('deployment'), grade: 'not-required' };
  const claim = worker?.signal?.deploy;
  if (claim?.result !== 'success') return missing('deployment');
  const { deploymentId: id = null } = claim;
  return claimed('deployment', id === null ? null : String(id), worker?.lastSeq ?? null);
}

function deployedLink(
  { deploymentId, sha }: NonNullable<DeployProgress['provenBy']>,
  deploy: DeployProgress | null,
  counted: Subject['counted'],
  statusSeq: number | null,
): Link {
  const deployment = counted.find(({ id }) => id === deploymentId);
  const success = deployment?.states.find(({ state }) => state === 'success');
  const url = deployment?.environmentUrl ?? null;
  return {
    link: 'deployment',
    value: `${deploymentId} of ${shortSha(sha)} to ${deployment?.environment ?? deploy?.environment ?? 'unknown'}`,
    // It may be no longer on the board, but the lifecycle has seen it.
    grade: evidenceOf(success?.via ?? 'live'),
    at: success?.at ?? deploy?.completedAt ?? null,
    seq: success?.seq ?? statusSeq,
    ...(url !== null && { url }),
  };
}

function verdictOn(pullRequest: PullRequest): string {
  const { failed, running } = checkSummary(pullRequest);
  if (failed.length > 0) return `failed: ${failed.join(', ')}`;
  return running.length > 0 ? `running: ${running.join(', ')}` : 'passed';
}

function claimed(link: LinkName, value: string | null, seq: number | null): Link {
  return { link, value, grade: 'claimed', at: null, seq };
}

function missing(link: LinkName): Link {
  return { link, value: null, grade: 'missing', at: null, seq: null };
}

/** `via` of a code host or tracker event. */
export function evidenceOf(via: string): 'observed' | 'fetched' {
  return via === 'poll' ? 'fetched' : 'observed';
}
