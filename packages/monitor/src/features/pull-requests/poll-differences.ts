// What a reconciliation found that is not in the log yet, as events with `via: poll`. The delivery id is made from the
// finding, so finding it again adds no second line.

import { z } from 'zod';
import type { EventDraft } from '../../kernel/log/event-line.ts';
import { topicsIn } from '../../kernel/log/topic-family.ts';
import type { Topic } from '../../kernel/log/topics.ts';
import { mapCodehost } from '../codehost/map-codehost.ts';
import { deploymentStates } from '../codehost/topics.ts';

/** The topics that polling can find. All others come only with deliveries. */
export const polledCodehostTopics: ReadonlySet<Topic> = new Set([
  ...topicsIn('codehost.pr', [
    'opened',
    'closed',
    'merged',
    'reopened',
    'synchronize',
    'converted_to_draft',
    'ready_for_review',
    'refreshed',
  ]),
  'codehost.pr_review.submitted',
  'codehost.check_suite.completed',
  'codehost.deployment.created',
  ...topicsIn('codehost.deployment_status', deploymentStates),
]);

export type PolledContext = {
  /** `owner/name` as the code host spells it. */
  repo: string;
  ticketPrefixes?: readonly string[] | undefined;
  /**
   * Whether deliveries cover the repository. If so, reviews and checks are compared only if the log's own view of them
   * is given: a poll sees their combined result, deliveries report them one by one.
   */
  covered: boolean;
};

/** An unknown pull request that ended longer ago than this is history, not news. */
const NEWS_MS = 3_600_000;

export function isHistory(
  polled: PolledPullRequest,
  known: KnownPullRequest | undefined,
  now: number,
): boolean {
  const ended = Date.parse(polled.closedAt ?? '');
  return known === undefined && polled.state !== 'OPEN' && !(now - ended < NEWS_MS);
}

type Finding = { type: string; action: string; id: string; more?: Record<string, unknown> };

/** `known` is undefined for a pull request that is not in the log. */
export function pollDifferences(
  polled: PolledPullRequest,
  known: KnownPullRequest | undefined,
  context: PolledContext,
): EventDraft[] {
  const pull_request = asDelivered(polled);
  const repository = { full_name: context.repo };
  return findings(polled, known, context).flatMap(({ type, action, id, more }) => {
    const payload = { action, number: polled.number, pull_request, repository, ...more };
    const deliveryId = `poll:${context.repo}#${polled.number}:${id}`;
    const { ticketPrefixes } = context;
    const mapping = mapCodehost(type, payload, { deliveryId, via: 'poll', ticketPrefixes });
    return mapping.ok ? [{ ...mapping.draft, source: 'codehost.poll' as const }] : [];
  });
}

function findings(
  polled: PolledPullRequest,
  known: KnownPullRequest | undefined,
  { covered }: PolledContext,
): Finding[] {
  const head = polled.headRefOid;
  // The same change may happen again: the state before it distinguishes the occasions.
  const after = known?.asOf === undefined ? '' : `:after-${known.asOf}`;
  if (polled.state === 'MERGED') return mergeFindings(polled, known);
  if (known?.state === 'merged') return [];
  if (polled.state === 'CLOSED')
    return known?.state === 'closed'
      ? []
      : ofPullRequest('closed', `closed:${head}:${polled.closedAt ?? ''}`);

  const found: Finding[] = [];
  if (known === undefined) found.push(...ofPullRequest('opened', `opened:${polled.createdAt}`));
  if (known?.state === 'closed') found.push(...ofPullRequest('reopened', `reopened:${head}${after}`));
  if (known?.headSha !== undefined && known.headSha !== head)
    found.push(
      ...ofPullRequest('synchronize', `synchronize:${head}${after}`, { before: known.headSha, after: head }),
    );
  if (known?.draft !== undefined && known.draft !== polled.isDraft) {
    const action = polled.isDraft ? 'converted_to_draft' : 'ready_for_review';
    found.push(...ofPullRequest(action, `${action}:${head}${after}`));
  }
  const judged = judgements(polled, known, covered, after);
  return [...found, ...judged, ...refreshed(polled, known, { after, isJudged: judged.length > 0, found })];
}

/** Whether it can be merged; left out if the other findings imply it, or if the code host has not computed it yet. */
function refreshed(
  { mergeStateStatus, headRefOid }: PolledPullRequest,
  known: KnownPullRequest | undefined,
  { after, isJudged, found }: { after: string; isJudged: boolean; found: readonly Finding[] },
): Finding[] {
  const state = mergeStateStatus.toLowerCase();
  // A new verdict makes the code host's earlier answer obsolete.
  const isChanged = isJudged || (found.length === 0 && state !== known?.mergeableState);
  return isChanged && state !== 'unknown' ? ofPullRequest('refreshed', `${state}:${headRefOid}${after}`) : [];
}

/** A merge is reported once, and once more if its commit was not known the first time. */
function mergeFindings({ mergeCommit, headRefOid }: PolledPullRequest, known?: KnownPullRequest): Finding[] {
  const isChanged = known?.state !== 'merged' || (known.mergeSha === undefined && mergeCommit);
  return isChanged ? ofPullRequest('closed', `merged:${mergeCommit?.oid ?? headRefOid}`) : [];
}

function ofPullRequest(action: string, id: string, more?: Record<string, unknown>): Finding[] {
  return [{ type: 'pull_request', action, id, ...(more && { more }) }];
}

/** The results of reviews and checks, once there are any. */
function judgements(
  polled: PolledPullRequest,
  known: KnownPullRequest | undefined,
  covered: boolean,
  after: string,
): Finding[] {
  const found: Finding[] = [];
  const head = polled.headRefOid;
  const verdict = verdictOf(polled);
  if (verdict !== undefined && isNews(verdict, known?.verdict, covered)) {
    const more = { review: { state: verdict } };
    found.push({ type: 'pull_request_review', action: 'submitted', id: `${verdict}:${head}${after}`, more });
  }
  const checks = checksOf(polled);
  const knownChecks = known?.headSha === head ? known.checks : undefined;
  if (checks !== undefined && isNews(checks, knownChecks, covered)) {
    const check_suite = {
      head_sha: head,
      head_branch: polled.headRefName,
      status: 'completed',
      conclusion: checks,
      pull_requests: [{ number: polled.number }],
      updated_at: polled.updatedAt,
    };
    found.push({
      type: 'check_suite',
      action: 'completed',
      id: `checks-${checks}:${head}${after}`,
      more: { check_suite },
    });
  }
  return found;
}

function isNews(polled: string, known: string | undefined, covered: boolean): boolean {
  return known === undefined ? !covered : known !== polled;
}

// A pull request as a reconciliation finds it: the shape of the GraphQL answer, converted to the shape of a delivery,
// so the same mapping in `receive/` turns both into lines.

const time = z.string().nullish();
const login = z.object({ login: z.string() }).nullish();

export const PolledPullRequest = z.object({
  number: z.int().positive(),
  title: z.string(),
  url: z.string(),
  state: z.enum(['OPEN', 'CLOSED', 'MERGED']),
  isDraft: z.boolean(),
  merged: z.boolean(),
  mergedAt: time,
  mergedBy: login,
  mergeCommit: z.object({ oid: z.string() }).nullish(),
  author: login,
  createdAt: z.string(),
  updatedAt: z.string(),
  closedAt: time,
  headRefName: z.string(),
  headRefOid: z.string(),
  headRepository: z.object({ nameWithOwner: z.string() }).nullish(),
  baseRefName: z.string(),
  mergeable: z.string(),
  mergeStateStatus: z.string(),
  reviewDecision: z.string().nullish(),
  commits: z.object({
    nodes: z
      .array(
        z
          .object({
            commit: z.object({
              oid: z.string(),
              statusCheckRollup: z.object({ state: z.string() }).nullish(),
            }),
          })
          .nullable(),
      )
      .nullish(),
  }),
});
export type PolledPullRequest = z.infer<typeof PolledPullRequest>;

/** One repository in the answer; the query decides under which names the pull requests are. */
export const PolledRepo = z.looseObject({
  nameWithOwner: z.string(),
  newest: z.object({ nodes: z.array(z.unknown()).nullish() }).optional(),
});

const verdicts: ReadonlyMap<string, 'approved' | 'changes_requested'> = new Map([
  ['APPROVED', 'approved'],
  ['CHANGES_REQUESTED', 'changes_requested'],
]);
const conclusions: ReadonlyMap<string, 'success' | 'failure'> = new Map([
  ['SUCCESS', 'success'],
  ['FAILURE', 'failure'],
  ['ERROR', 'failure'],
]);

/** The combined review verdict; undefined if there is none yet. */
function verdictOf({ reviewDecision }: PolledPullRequest): 'approved' | 'changes_requested' | undefined {
  return verdicts.get(reviewDecision ?? '');
}

/** The combined result of the head commit's checks; undefined while some are running, or if there are none. */
function checksOf({ commits, headRefOid }: PolledPullRequest): 'success' | 'failure' | undefined {
  const commit = commits.nodes?.at(-1)?.commit;
  if (commit?.oid !== headRefOid) return undefined;
  return conclusions.get(commit.statusCheckRollup?.state ?? '');
}

/** The pull request in the format of a delivery's payload. */
function asDelivered(polled: PolledPullRequest): Record<string, unknown> {
  return {
    number: polled.number,
    title: polled.title,
    html_url: polled.url,
    state: polled.state === 'OPEN' ? 'open' : 'closed',
    draft: polled.isDraft,
    merged: polled.merged,
    merged_at: polled.mergedAt,
    merged_by: polled.mergedBy,
    merge_commit_sha: polled.mergeCommit?.oid,
    mergeable: polled.mergeable === 'UNKNOWN' ? null : polled.mergeable === 'MERGEABLE',
    mergeable_state: polled.mergeStateStatus.toLowerCase(),
    user: polled.author,
    created_at: polled.createdAt,
    updated_at: polled.updatedAt,
    closed_at: polled.closedAt,
    head: {
      ref: polled.headRefName,
      sha: polled.headRefOid,
      repo: polled.headRepository && { full_name: polled.headRepository.nameWithOwner },
    },
    base: { ref: polled.baseRefName },
  };
}

// Deployments of a commit as a reconciliation finds them: states that are not in the log become events, each once and
// in the original order.

export const PolledDeployment = z.looseObject({
  id: z.int(),
  sha: z.string(),
  environment: z.string(),
  created_at: z.string(),
  updated_at: z.string(),
});
export const PolledDeploymentStatus = z.looseObject({
  id: z.int(),
  state: z.string(),
  environment: z.string().min(1).optional(),
  created_at: z.string(),
});
export type PolledDeployment = z.infer<typeof PolledDeployment>;
export type PolledDeploymentStatus = z.infer<typeof PolledDeploymentStatus>;

/** A state of a deployment, which may have the same state in another environment too. */
export function stateIn(state: string, environment: string): string {
  return `${state} in ${environment.toLowerCase()}`;
}

export function deploymentDifferences(
  repo: string,
  deployment: PolledDeployment,
  statuses: readonly PolledDeploymentStatus[],
  /** `stateIn` of the states that the log has; undefined if the deployment is not in it. */
  logged: ReadonlySet<string> | undefined,
): EventDraft[] {
  const shared = { deployment, repository: { full_name: repo } };
  const drafts: EventDraft[] = [];
  const add = (type: string, what: string, more: Record<string, unknown>): void => {
    const deliveryId = `poll:${repo}:deployment-${deployment.id}:${what}`;
    const mapping = mapCodehost(type, { ...shared, ...more }, { deliveryId, via: 'poll' });
    if (mapping.ok) drafts.push({ ...mapping.draft, source: 'codehost.poll' });
  };
  if (logged === undefined) add('deployment', 'created', { action: 'created' });
  const seen = new Set(logged);
  for (const status of statuses.toSorted(
    (one, other) => Date.parse(one.created_at) - Date.parse(other.created_at),
  )) {
    const state = stateIn(status.state, status.environment ?? deployment.environment);
    if (seen.has(state)) continue;
    seen.add(state);
    add('deployment_status', state, { action: 'created', deployment_status: status });
  }
  return drafts;
}

// The log's view of a pull request, with the fields that a reconciliation compares.

export type KnownPullRequest = {
  state: 'open' | 'closed' | 'merged';
  draft?: boolean | undefined;
  headSha?: string | undefined;
  /** The results of the reviews, and of the head commit's checks; undefined if not in the log. */
  verdict?: 'approved' | 'changes_requested' | undefined;
  checks?: 'success' | 'failure' | undefined;
  /** Whether it can be merged according to the code host, and the commit of a merge. */
  mergeableState?: string | undefined;
  mergeSha?: string | undefined;
  /** The line that it is known from, so the same change can be reported again when it happens again. */
  asOf?: string | undefined;
};

// The code host's answers about the checks of a commit, the job behind a check, and the comments of a review. Only the
// fields that are used; a missing field does not invalidate the rest.

const text = z.string().nullish();

export const CheckRun = z.object({
  name: z.string(),
  conclusion: text,
  details_url: text,
  html_url: text,
  output: z.object({ title: text, summary: text }).nullish(),
});

export const CheckRuns = z.object({ check_runs: z.array(CheckRun).max(1_000) });

export const CheckJob = z.object({
  steps: z
    .array(z.object({ name: z.string(), conclusion: text }))
    .max(10_000)
    .nullish(),
});

export const ReviewComment = z.object({ path: text, line: z.int().nullish(), body: z.string() });

export type CheckRun = z.infer<typeof CheckRun>;

const jobAddress = /\/actions\/runs\/\d{1,20}\/job\/(\d{1,20})(?:[/?#]|$)/;
const failed: ReadonlySet<string> = new Set(['failure', 'timed_out', 'startup_failure']);

export function hasFailed({ conclusion }: { conclusion?: string | null | undefined }): boolean {
  return failed.has(conclusion ?? '');
}

/** The id of the job with the check's log; undefined for a check that is not a job of the code host itself. */
export function jobOf({ details_url, html_url }: CheckRun): string | undefined {
  return jobAddress.exec(details_url ?? '')?.[1] ?? jobAddress.exec(html_url ?? '')?.[1];
}
