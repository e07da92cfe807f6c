// What a reconciliation found that the log does not say yet, as events with `via: poll`. The delivery id is
// made from what was found, so that finding it again makes no second line.
import type { EventDraft } from '../log/event-line.ts';
import { mapCodehost } from '../receive/map-codehost.ts';
import type { KnownPullRequest } from './known-pull-request.ts';
import { asDelivered, checksOf, type PolledPullRequest, verdictOf } from './polled-pull-request.ts';

export type PolledContext = {
  /** `owner/name` as the code host spells it. */
  repo: string;
  ticketPrefixes?: readonly string[] | undefined;
  /**
   * Whether deliveries cover the repository. If so, reviews and checks are compared only where the log's own
   * view of them is given: a poll sees what they come to, deliveries tell them one by one.
   */
  covered: boolean;
};

/** A pull request that nobody asked for, and that ended before this, is history and no news. */
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

/** `known` is undefined for a pull request that the log does not know. */
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
  // The same change may happen again: what was known before it tells the occasions apart.
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

/** Whether it can be merged; what the other findings tell of it is left out, and so is "not worked out yet". */
function refreshed(
  { mergeStateStatus, headRefOid }: PolledPullRequest,
  known: KnownPullRequest | undefined,
  { after, isJudged, found }: { after: string; isJudged: boolean; found: readonly Finding[] },
): Finding[] {
  const state = mergeStateStatus.toLowerCase();
  // A new judgement makes the code host's earlier word void.
  const isWorthTelling = isJudged || (found.length === 0 && state !== known?.mergeableState);
  return isWorthTelling && state !== 'unknown'
    ? ofPullRequest('refreshed', `${state}:${headRefOid}${after}`)
    : [];
}

/** A merge is told once, and once more when its commit was not known the first time. */
function mergeFindings({ mergeCommit, headRefOid }: PolledPullRequest, known?: KnownPullRequest): Finding[] {
  const isWorthTelling = known?.state !== 'merged' || (known.mergeSha === undefined && mergeCommit);
  return isWorthTelling ? ofPullRequest('closed', `merged:${mergeCommit?.oid ?? headRefOid}`) : [];
}

function ofPullRequest(action: string, id: string, more?: Record<string, unknown>): Finding[] {
  return [{ type: 'pull_request', action, id, ...(more && { more }) }];
}

/** What reviewers and checks say, once they have said something. */
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
