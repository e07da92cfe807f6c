// Did it ship? The chain from the ticket to the deployment, each link with how it is known: observed in a
// delivery, fetched by a poll, or only claimed in the signal file.

import type { DeployProgress } from '../../api/deploy.ts';
import type { Receipt } from '../../api/workers.ts';
import type { Board, PullRequest, Worker } from '../board-types.ts';
import { ALL_CHECKS, checkSummary } from '../reduce-pull-request.ts';
import { contradictionsIn } from './inconsistencies.ts';
import { nameOf } from './rule.ts';
import { createLookup, type Subject, shortSha } from './subject.ts';
import { evidenceOf } from './why.ts';

/** The newest worker's when several runs have one for the ticket. Undefined when the ticket is unknown. */
export function receipt(board: Board, ticket: string, orchestrator?: string): Receipt | undefined {
  const subject = createLookup(board).ofTicket(ticket, orchestrator);
  if (subject === undefined) return undefined;
  const links = [ticketLink, pullRequestLink, checksLink, mergeLink, deploymentLink].map((link) =>
    link(subject),
  );
  return {
    ticket: subject.ticket,
    orchestrator: subject.worker?.orchestrator ?? null,
    status: subject.worker?.status ?? 'unknown',
    links,
    shipped: isShipped(board, subject, links),
    flagged: flags(subject, links),
  };
}

function isShipped(board: Board, subject: Subject, links: readonly Link[]): boolean | null {
  const { worker, pullRequest } = subject;
  if (isAccepted(subject)) return true;
  const deployed = gradeIn(links, 'deployment');
  if (isProven(gradeIn(links, 'merge')) && (isProven(deployed) || deployed === 'not-required')) return true;
  const isBlind = [...board.feeds.values()].some(({ grade }) => grade === 'blind');
  if (isBlind) return null;
  if (worker !== null) return false;
  // Without a worker it is not known how a merge has to be verified.
  return pullRequest !== null && pullRequest.state !== 'merged' ? false : null;
}

function flags(subject: Subject, links: readonly Link[]): string[] {
  const { worker } = subject;
  if (worker === null) return [];
  const found: string[] = [];
  const deployed = gradeIn(links, 'deployment');
  const isDone = worker.status === 'done';
  if (isAccepted(subject)) {
    const proof = isProven(deployed) ? '' : '; no successful deployment was seen';
    found.push(`A person accepted it as done${proof}.`);
  }
  if (isDone)
    for (const { link, grade } of links)
      if (grade === 'claimed')
        found.push(`It is done, but only the signal file reports its ${linkText[link]}.`);
  const checks = links.find(({ link }) => link === 'checks');
  if (checks?.value?.startsWith('failed') && isProven(gradeIn(links, 'merge')))
    found.push('It was merged with failed checks.');
  const { verification } = worker;
  if (verification?.state === 'failed')
    found.push(`The verification of its merge commit failed: ${verification.summary ?? 'no summary'}`);
  return [...found, ...contradictionsIn(subject)];
}

const linkText: Readonly<Record<LinkName, string>> = {
  ticket: 'ticket',
  'pull-request': 'pull request',
  checks: 'checks',
  merge: 'merge',
  deployment: 'deployment',
};

function isAccepted({ worker }: Subject): boolean {
  return worker?.status === 'done' && worker.deploy?.result === 'accepted';
}

function isProven(grade: Grade): boolean {
  return grade === 'observed' || grade === 'fetched';
}

function gradeIn(links: readonly Link[], name: LinkName): Grade {
  return links.find(({ link }) => link === name)?.grade ?? 'missing';
}

// The links of a receipt.

export type Link = Receipt['links'][number];
export type LinkName = Link['link'];
type Grade = Link['grade'];

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
    const claim = worker?.signal?.pr?.ciStatus ?? null;
    return claim === null ? missing('checks') : claimed('checks', claim, worker?.lastSeq ?? null);
  }
  const { name, at, seq } = newest;
  const grade = name === ALL_CHECKS ? 'fetched' : 'observed';
  return { link: 'checks', value: verdictOn(pullRequest), grade, at, seq };
}

export function mergeLink({ pullRequest, worker }: Subject): Link {
  // The board drops old pull requests before it drops their workers.
  const merge = pullRequest?.merge ?? worker?.merge ?? null;
  if (merge !== null) {
    const { sha, at, seq } = merge;
    return { link: 'merge', value: sha, grade: evidenceOf(pullRequest?.merge?.via ?? 'live'), at, seq };
  }
  const sha = worker?.signal?.pr?.mergeSha ?? null;
  const isClaimed = sha !== null || typeof worker?.signal?.pr?.mergedAt === 'string';
  return isClaimed ? claimed('merge', sha, worker?.lastSeq ?? null) : missing('merge');
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
      value: `${id} of ${shortSha(sha)} to ${environment}`,
      grade: evidenceOf(via),
      at,
      seq,
      ...(environmentUrl !== null && { url: environmentUrl }),
    };
  }
  if (worker !== null && worker.deploy?.result === 'success') return provenBefore(worker, worker.deploy);
  if (worker?.policy.skipDeployVerification === true && worker.deploy === null)
    return { ...missing('deployment'), grade: 'not-required' };
  const claim = worker?.signal?.deploy;
  if (claim?.result !== 'success') return missing('deployment');
  const { deploymentId: id = null } = claim;
  return claimed('deployment', id === null ? null : String(id), worker?.lastSeq ?? null);
}

/** The deployment is no longer on the board, but the lifecycle has seen it. */
function provenBefore(
  { statusSeq: seq }: Worker,
  { provenBy, environment, completedAt: at }: DeployProgress,
): Link {
  const value = provenBy && `${provenBy.deploymentId} of ${shortSha(provenBy.sha)} to ${environment}`;
  return { link: 'deployment', value, grade: 'observed', at, seq };
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
