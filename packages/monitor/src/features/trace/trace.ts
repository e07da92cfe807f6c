// The timeline of a ticket, built from its events: phases, waits, pull request, checks, reviews, merge, deployments,
// verification; each with the events that prove it, on an axis that folds idle nights.

import { WorkerStatus } from '@svc/contract/signal-file';
import { foldIdle } from '@svc/lib/time-axis';
import type { FoldedLine } from '../../kernel/board/board.ts';
import type { LineOf } from '../../kernel/board/fold-context.ts';
import { pullRequestKey } from '../../kernel/board/keys.ts';
import { isOlder, short } from '../../kernel/board/line-values.ts';
import { topicsIn } from '../../kernel/log/topic-family.ts';
import type { Topic } from '../../kernel/log/topics.ts';
import { isIn } from '../../kernel/log/typed-line.ts';
import { checkSuiteActions } from '../codehost/topics.ts';
import { isPassing } from '../pull-requests/pull-request-verdict.ts';
import { detailOf, typedLine } from '../topics.ts';
import { isEnded } from '../workers/status-groups.ts';
import type { Trace } from './api.ts';
import { createSpanList, momentOf, type SpanList, type TraceState } from './trace-span.ts';

/** Whose trace it is. Names are case-insensitive. */
export type TraceSubject = {
  ticket: string;
  /** The run whose worker it is; null for every run. */
  orchestrator: string | null;
  pullRequests: readonly { repo: string; number: number }[];
  /** Commits whose checks and deployments belong to it: heads and the merge. */
  commits: readonly string[];
};

/** `lines` ordered by seq; those of other subjects are ignored. */
export function traceOf(
  subject: TraceSubject,
  lines: readonly FoldedLine[],
  { now, cut = false }: { now: number; cut?: boolean },
): Trace {
  const spans = createSpanList();
  const work = traceWork(spans);
  const codehost = traceCodehost(spans);
  const own = lines.filter(isOf(subject));
  for (const line of own) {
    const typed = typedLine(line);
    if (typed === undefined) continue;
    if (isIn(typed, 'codehost')) codehost(typed);
    else work(typed);
  }
  const all = spans.all();
  const axis = foldIdle(all, now, own.map(momentOf));
  const { ticket, orchestrator } = subject;
  return {
    ticket,
    orchestrator,
    now: new Date(now).toISOString(),
    from: axis[0]?.from ?? null,
    to: axis.at(-1)?.to ?? null,
    lines: own.length,
    cut,
    spans: all,
    axis,
  };
}

const suiteTopics = topicsIn('codehost.check_suite', checkSuiteActions);

function isOf(subject: TraceSubject): (line: FoldedLine) => boolean {
  const name = subject.ticket.toUpperCase();
  const pullRequests = new Set(
    subject.pullRequests.map(({ repo, number }) => `${repo.toLowerCase()}#${number}`),
  );
  const commits = new Set(subject.commits);
  return (line) => {
    const { event, scope } = line;
    const isTicket = scope.ticket?.toUpperCase() === name;
    if (!event.startsWith('codehost.')) {
      const isRun = subject.orchestrator === null || scope.orchestrator === subject.orchestrator;
      return isTicket && (isRun || scope.orchestrator === undefined);
    }
    const repo = scope.repo?.toLowerCase() ?? '';
    if (pullRequestsIn(line).some((number) => pullRequests.has(`${repo}#${number}`))) return true;
    // The same ticket, but not the worker's pull request.
    if (isTicket && (scope.pr === undefined || pullRequests.size === 0)) return true;
    return [scope.sha, scope.mergeSha].some((sha) => sha !== undefined && commits.has(sha));
  };
}

// The worker: its phases by status, what it waited for, the verification of its merge.

const outcomes: Partial<Record<WorkerStatus, Exclude<TraceState, 'running'>>> = {
  done: 'succeeded',
  failed: 'failed',
  'deploy-failed': 'failed',
  stalled: 'failed',
  canceled: 'ended',
};

function traceWork(spans: SpanList): (line: LineOf) => void {
  let status: WorkerStatus | undefined;

  function moveTo(next: WorkerStatus | undefined, line: FoldedLine): void {
    if (next === undefined || next === status) return;
    if (status !== undefined) spans.close('phase', line, outcomes[status] ?? 'ended');
    status = next;
    // The last status is a point in time, not a span.
    if (isEnded(next)) spans.moment('phase', line, outcomes[next] ?? 'ended', { kind: 'phase', label: next });
    else spans.open('phase', line, { kind: 'phase', label: next });
  }

  return (line) => {
    if (line.event === 'orchestrator.worker.status_changed') moveTo(line.detail.to, line);
    else if (
      line.event === 'orchestrator.worker.dispatched' ||
      line.event === 'orchestrator.worker.phase_changed' ||
      line.event === 'orchestrator.worker.updated'
    )
      moveTo(statusOf(line), line);
    else if (line.event === 'orchestrator.worker.died')
      spans.open('process', line, {
        kind: 'wait',
        label: 'No process running',
        reason: 'the agent’s process is gone',
      });
    else if (line.event === 'orchestrator.worker.revived') spans.close('process', line, 'ended');
    else if (line.event === 'orchestrator.verification.started')
      spans.open('verification', line, { kind: 'verification', label: 'Verification' });
    else if (
      line.event === 'orchestrator.verification.passed' ||
      line.event === 'orchestrator.verification.failed'
    )
      endVerification(spans, line);
    else if (line.event === 'comms.attention')
      spans.open(`attention ${line.detail.reason}`, line, {
        kind: 'wait',
        label: `Needs a person: ${line.detail.reason ?? ''}`,
        reason: short(line.detail.message) ?? null,
      });
    else if (line.event === 'comms.attention_resolved')
      spans.close(`attention ${line.detail.reason}`, line, 'ended');
  };
}

function endVerification(
  spans: SpanList,
  line: LineOf<'orchestrator.verification.passed' | 'orchestrator.verification.failed'>,
): void {
  const state = line.event.endsWith('passed') ? 'succeeded' : 'failed';
  const given = { reason: short(line.detail.summary) ?? null };
  if (!spans.isOpen('verification'))
    return spans.moment('verification', line, state, {
      kind: 'verification',
      label: 'Verification',
      ...given,
    });
  spans.close('verification', line, state, given.reason === null ? {} : { reason: given.reason });
}

/** The first event of a worker has its status in the signal file. */
function statusOf({
  event,
  detail,
}: LineOf<`orchestrator.worker.${'dispatched' | 'phase_changed' | 'updated'}`>): WorkerStatus | undefined {
  const read = WorkerStatus.safeParse(detail.signal?.['status']);
  if (read.success) return read.data;
  return event === 'orchestrator.worker.dispatched' ? 'dispatched' : undefined;
}

// The code host: pull requests, their checks and reviews, the merge, deployments.

const neither = new Set(['cancelled', 'canceled', 'stale']);
const deploymentEnds: Readonly<Record<string, Exclude<TraceState, 'running'>>> = {
  success: 'succeeded',
  failure: 'failed',
  error: 'failed',
  inactive: 'ended',
};

type Family<Name extends string> = LineOf<Extract<Topic, `${Name}.${string}`>>;

function traceCodehost(spans: SpanList): (line: Family<'codehost'>) => void {
  const requested = new Map<string, FoldedLine>();
  const heads = new Map<string, FoldedLine>();
  const merges = new Set<string>();
  /** Checks and deployments that have ended once. */
  const over = new Set<string>();

  function pullRequest(line: Family<'codehost.pr'>): void {
    const { event, scope, detail } = line;
    const { repo = '', pr } = scope;
    if (pr === undefined) return;
    const name = pullRequestKey(repo, pr);
    const url = detail.url || null;
    if (scope.sha !== undefined && !heads.has(scope.sha)) heads.set(scope.sha, line);
    const { requestedReviewer: reviewer } = detail;
    if (event === 'codehost.pr.review_requested' && reviewer) requested.set(`${name} ${reviewer}`, line);
    const isOver = event === 'codehost.pr.merged' || event === 'codehost.pr.closed';
    if (!isOver && detail.state !== 'closed') openPullRequest(name, line, url);
    if (event === 'codehost.pr.opened' || event === 'codehost.pr.ready_for_review')
      if (detail.draft !== true)
        spans.open(`review ${name}`, line, {
          kind: 'wait',
          label: 'Waiting for review',
          reason: `no review of ${repo}#${pr} yet`,
          url,
        });
    if (event === 'codehost.pr.converted_to_draft') spans.close(`review ${name}`, line, 'ended');
    if (!isOver) return;
    const isMerged = event === 'codehost.pr.merged';
    if (!spans.isOpen(`pr ${name}`)) openPullRequest(name, line, url);
    spans.close(`pr ${name}`, line, isMerged ? 'succeeded' : 'ended', {
      reason: isMerged ? 'merged' : 'closed without a merge',
    });
    spans.close(`review ${name}`, line, 'ended');
    if (isMerged) merged(name, line, url);
  }

  function openPullRequest(name: string, line: Family<'codehost.pr'>, url: string | null): void {
    const { repo = '', pr } = line.scope;
    const { createdAt: created } = line.detail;
    const moment = momentOf(line);
    const isReopened = line.event === 'codehost.pr.reopened';
    const at =
      created !== undefined && !isReopened && isOlder(created, moment)
        ? new Date(created).toISOString()
        : moment;
    spans.open(`pr ${name}`, line, { kind: 'pull-request', label: `${repo}#${pr}`, url }, at);
  }

  function merged(name: string, line: Family<'codehost.pr'>, url: string | null): void {
    const { repo = '', pr, mergeSha } = line.scope;
    if (merges.has(name)) return;
    merges.add(name);
    spans.moment(`merge ${name}`, line, 'succeeded', { kind: 'merge', label: `${repo}#${pr} merged`, url });
    if (mergeSha === undefined) return;
    spans.open(`deploy ${mergeSha}`, line, {
      kind: 'wait',
      label: 'Waiting for deployment',
      reason: `no deployment of ${mergeSha.slice(0, 7)} has started`,
    });
  }

  function review(line: Family<'codehost.pr_review'>): void {
    const { event, scope, detail } = line;
    const { repo = '', pr } = scope;
    if (pr === undefined || event !== 'codehost.pr_review.submitted') return;
    const name = pullRequestKey(repo, pr);
    const reviewer = short(detail.reviewer) ?? 'someone';
    const verdict = short(detail.state) ?? 'commented';
    spans.close(`review ${name}`, line, 'ended');
    const state = verdict === 'approved' ? 'succeeded' : verdict === 'changes_requested' ? 'failed' : 'ended';
    const asked = requested.get(`${name} ${reviewer}`);
    requested.delete(`${name} ${reviewer}`);
    const given = {
      kind: 'review' as const,
      label: `Review by ${reviewer}`,
      reason: verdict.replaceAll('_', ' '),
      url: detail.url || null,
    };
    spans.moment(`review ${name} ${reviewer}`, line, state, given, { line: asked ?? line });
  }

  function checkSuite(line: Family<'codehost.check_suite'>): void {
    const { event, scope, detail, via } = line;
    const app = short(detail.app) ?? (via === 'poll' ? 'all checks' : 'Checks');
    const name = `${scope.sha ?? '-'} ${detail.suiteId ?? app}`;
    const opening = { kind: 'checks' as const, label: app };
    if (event !== 'codehost.check_suite.completed') return spans.open(name, line, opening);
    endChecks(name, line, opening, detail.conclusion || 'unknown');
  }

  function commitStatus(line: Family<'codehost.status'>): void {
    const { scope, detail, event } = line;
    const context = short(detail.context) ?? 'status';
    const name = `${scope.sha ?? '-'} status ${context}`;
    const opening = { kind: 'checks' as const, label: context, url: detail.url || null };
    const state = event.slice('codehost.status.'.length);
    if (state === 'pending') return spans.open(name, line, opening);
    endChecks(name, line, opening, state);
  }

  /** Checks without a start event are assumed to have started when their commit was pushed. */
  function endChecks(
    name: string,
    line: FoldedLine,
    opening: { kind: 'checks'; label: string; url?: string | null },
    conclusion: string,
  ): void {
    const state = isPassing(conclusion) ? 'succeeded' : neither.has(conclusion) ? 'ended' : 'failed';
    const reason = conclusion.replaceAll('_', ' ');
    const isFirst = !over.has(name);
    over.add(name);
    if (spans.isOpen(name)) return spans.close(name, line, state, { reason });
    const head = isFirst ? heads.get(line.scope.sha ?? '') : undefined;
    const from = head !== undefined && !isOlder(momentOf(line), momentOf(head)) ? head : line;
    spans.moment(name, line, state, { ...opening, reason }, { line: from });
  }

  function deployment(line: Family<'codehost.deployment' | 'codehost.deployment_status'>): void {
    const { event, scope, detail } = line;
    const status = isIn(line, 'codehost.deployment_status') ? line.detail : undefined;
    const { repo = '', deploymentId, sha, environment = 'unknown' } = scope;
    if (deploymentId === undefined) return;
    if (sha !== undefined) spans.close(`deploy ${sha}`, line, 'ended');
    const name = `deployment ${pullRequestKey(repo, deploymentId)}`;
    const url = status?.environmentUrl || status?.logUrl || null;
    const opening = { kind: 'deployment' as const, label: environment, url };
    const state = event.slice('codehost.deployment_status.'.length);
    const end = event === 'codehost.deployment.created' ? undefined : deploymentEnds[state];
    if (end === undefined) {
      if (!over.has(name)) spans.open(name, line, opening);
      return;
    }
    // An ended deployment stays ended: `inactive` only means that a newer one replaced it.
    if (over.has(name)) return;
    over.add(name);
    if (!spans.isOpen(name)) spans.open(name, line, opening);
    const reason = short(detail.description) ?? state;
    spans.close(name, line, end, url === null ? { reason } : { reason, url });
  }
  return (line) => {
    if (isIn(line, 'codehost.pr')) return pullRequest(line);
    if (isIn(line, 'codehost.pr_review')) return review(line);
    if (isIn(line, 'codehost.check_suite')) return checkSuite(line);
    if (isIn(line, 'codehost.status')) return commitStatus(line);
    if (isIn(line, 'codehost.deployment') || isIn(line, 'codehost.deployment_status'))
      return deployment(line);
  };
}

/** The pull requests that a check suite names; its scope names one only when there is one. */
function pullRequestsIn(line: Pick<FoldedLine, 'event' | 'scope' | 'detail'>): number[] {
  const listed = detailOf(line, suiteTopics)?.prs ?? [];
  return line.scope.pr === undefined ? listed : [line.scope.pr, ...listed];
}
