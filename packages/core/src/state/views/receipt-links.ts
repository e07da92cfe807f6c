// The links of a receipt, one by one.
import type { DeployProgress } from '../../deploy/deploy-worker.ts';
import type { PullRequest } from '../pull-request.ts';
import { ALL_CHECKS, standingOf } from '../pull-request-checks.ts';
import type { Worker } from '../worker.ts';
import { evidenceOf } from './evidence.ts';
import { nameOf } from './rule.ts';
import { type Subject, shortSha } from './subject.ts';

export type Grade = 'observed' | 'fetched' | 'claimed' | 'missing' | 'not-required';
export type LinkName = 'ticket' | 'pull-request' | 'checks' | 'merge' | 'deployment';

export type Link = {
  link: LinkName;
  value: string | null;
  grade: Grade;
  at: string | null;
  seq: number | null;
  url?: string;
};

export function ticketLink({ ticket, tracked, worker }: Subject): Link {
  if (tracked !== null && (tracked.state !== null || tracked.title !== null)) {
    const { lastAt: at, lastSeq: seq, url, via } = tracked;
    return { link: 'ticket', value: ticket, grade: evidenceOf(via), at, seq, ...(url !== null && { url }) };
  }
  return claimed('ticket', ticket, worker?.lastSeq ?? null);
}

export function pullRequestLink(subject: Subject): Link {
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

export function checksLink({ pullRequest, worker }: Subject): Link {
  const newest = pullRequest?.checks.toSorted((a, b) => a.seq - b.seq).at(-1);
  if (pullRequest === null || newest === undefined) {
    const said = worker?.signal?.pr?.ciStatus ?? null;
    return said === null ? missing('checks') : claimed('checks', said, worker?.lastSeq ?? null);
  }
  const { name, at, seq } = newest;
  const grade = name === ALL_CHECKS ? 'fetched' : 'observed';
  return { link: 'checks', value: verdictOn(pullRequest), grade, at, seq };
}

export function mergeLink({ pullRequest, worker }: Subject): Link {
  // The board lets go of old pull requests before it lets go of their worker.
  const merge = pullRequest?.merge ?? worker?.merge ?? null;
  if (merge !== null) {
    const { sha, at, seq } = merge;
    return { link: 'merge', value: sha, grade: evidenceOf(pullRequest?.merge?.via ?? 'live'), at, seq };
  }
  const sha = worker?.signal?.pr?.mergeSha ?? null;
  const isSaid = sha !== null || typeof worker?.signal?.pr?.mergedAt === 'string';
  return isSaid ? claimed('merge', sha, worker?.lastSeq ?? null) : missing('merge');
}

export function deploymentLink(subject: Subject): Link {
  const { worker } = subject;
  const successes = subject.counted.flatMap((deployment) => {
    const success = deployment.states.find(({ state }) => state === 'success');
    return success === undefined ? [] : [{ deployment, success }];
  });
  const proof = worker?.deploy?.provenBy?.deploymentId;
  const found = successes.find(({ deployment }) => deployment.id === proof) ?? successes[0];
  if (found !== undefined) {
    const { id, sha, environment, environmentUrl } = found.deployment;
    const { at, seq, via } = found.success;
    return {
      link: 'deployment',
      value: `${id} of ${shortSha(sha)} in ${environment}`,
      grade: evidenceOf(via),
      at,
      seq,
      ...(environmentUrl !== null && { url: environmentUrl }),
    };
  }
  if (worker !== null && worker.deploy?.result === 'success') return provenBefore(worker, worker.deploy);
  if (worker?.policy.skipDeployVerification === true && worker.deploy === null)
    return { ...missing('deployment'), grade: 'not-required' };
  const said = worker?.signal?.deploy;
  if (said?.result !== 'success') return missing('deployment');
  const { deploymentId: id = null } = said;
  return claimed('deployment', id === null ? null : String(id), worker?.lastSeq ?? null);
}

/** The deployment itself is no longer on the board; the lifecycle saw it. */
function provenBefore(
  { statusSeq: seq }: Worker,
  { provenBy, environment, completedAt: at }: DeployProgress,
): Link {
  const value = provenBy && `${provenBy.deploymentId} of ${shortSha(provenBy.sha)} in ${environment}`;
  return { link: 'deployment', value, grade: 'observed', at, seq };
}

function verdictOn(pullRequest: PullRequest): string {
  const { failed, running } = standingOf(pullRequest);
  if (failed.length > 0) return `failed: ${failed.join(', ')}`;
  return running.length > 0 ? `running: ${running.join(', ')}` : 'passed';
}

function claimed(link: LinkName, value: string | null, seq: number | null): Link {
  return { link, value, grade: 'claimed', at: null, seq };
}

function missing(link: LinkName): Link {
  return { link, value: null, grade: 'missing', at: null, seq: null };
}
