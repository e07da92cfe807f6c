// The way of a ticket through time, as its lines tell it: phases, waits, pull request, checks, reviews, merge,
// deployments, verification; each with the lines that prove it, and on an axis that folds idle nights.
import type { FoldedLine } from '../board-shape.ts';
import { type AxisSegment, foldIdle } from './trace-axis.ts';
import { pullRequestsIn, traceCodehost } from './trace-codehost.ts';
import { createSpanList, momentOf, type TraceSpan } from './trace-span.ts';
import { traceWork } from './trace-work.ts';

export type Trace = {
  ticket: string;
  orchestrator: string | null;
  now: string;
  /** Null when there is nothing to show. */
  from: string | null;
  to: string | null;
  /** How many lines it was made from. */
  lines: number;
  /** There are older lines, which were left out. */
  cut: boolean;
  /** In the order in which they began. */
  spans: TraceSpan[];
  axis: AxisSegment[];
};

/** Whose trace it is. Names compare without case. */
export type TraceSubject = {
  ticket: string;
  /** The run whose worker it is; null for every run. */
  orchestrator: string | null;
  pullRequests: readonly { repo: string; number: number }[];
  /** Commits whose checks and deployments belong to it: heads and the merge. */
  commits: readonly string[];
};

/** `lines` in the order of their seq; those that are not the subject's are left out. */
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
    if (line.event.startsWith('codehost.')) codehost(line);
    else work(line);
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
    // Of the same ticket, but of another pull request than the worker's.
    if (isTicket && (scope.pr === undefined || pullRequests.size === 0)) return true;
    return [scope.sha, scope.mergeSha].some((sha) => sha !== undefined && commits.has(sha));
  };
}
