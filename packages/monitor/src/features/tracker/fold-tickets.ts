// A ticket after one more event. The tracker's state replaces an earlier one; the phase of our own workflow is kept
// beside it.
import type { WorkerStatus } from '@svc/contract/signal-file';
import type { Board } from '../../kernel/board/board.ts';
import { ask, type Fold, type FoldContext, type LineOf, on } from '../../kernel/board/fold-context.ts';
import { isOlder, later, short, upstreamTime } from '../../kernel/board/line-values.ts';
import { draft } from '../../kernel/log/event-line.ts';
import { topicsIn } from '../../kernel/log/topic-family.ts';
import { attentionId } from '../attention/reduce-attention.ts';
import type { FeedState } from '../feeds/feed-state.ts';
import { feedGrades } from '../feeds/topics.ts';
import { isPreMerge, isUnmerged } from '../workers/status-groups.ts';
import type { Worker } from '../workers/worker.ts';
import { moveTicket } from './move-ticket.ts';
import type { Ticket } from './ticket.ts';
import { unknownTicket } from './ticket.ts';
import { type TicketPhase, ticketPhases } from './ticket-phases.ts';
import { issueActions } from './topics.ts';

const MOST_LABELS = 50;
const issueTopics = topicsIn('tracker.issue', issueActions);
export type IssueLine = LineOf<(typeof issueTopics)[number]>;
type TicketLine = IssueLine | LineOf<'workflow.ticket.phase_changed' | 'workflow.ticket.state_moved'>;

export function reduceTicket(known: Ticket | undefined, line: TicketLine): Ticket | undefined {
  const { ticket } = line.scope;
  if (ticket === undefined) return known;
  const before = known ?? unknownTicket(ticket, line);
  if (line.event === 'workflow.ticket.phase_changed') {
    const phase = phaseOf(line.detail.to);
    return phase === undefined
      ? known
      : touched({ ...before, phase: { phase, at: line.ts, seq: line.seq } }, line);
  }
  if (line.event === 'workflow.ticket.state_moved') return touched(afterOwnMove(before, line), line);
  return touched(afterTracker(before, line), line);
}

function phaseOf(name: string | undefined): TicketPhase | undefined {
  return ticketPhases.find((phase) => phase === name);
}

function afterTracker(before: Ticket, line: IssueLine): Ticket {
  const { detail } = line;
  const reportedAt = upstreamTime(line);
  if (isOlder(reportedAt, before.reportedAt)) return before;
  return {
    ...before,
    title: short(detail.title) ?? before.title,
    url: short(detail.url) ?? before.url,
    state: stateIn(detail) ?? before.state,
    assignee: detail.assignee === null ? null : (assigneeIn(detail) ?? before.assignee),
    priority: detail.priority ?? before.priority,
    labels: detail.labels?.slice(0, MOST_LABELS) ?? before.labels,
    removed: line.event === 'tracker.issue.removed',
    reportedAt: later(before.reportedAt, reportedAt),
    via: line.via,
  };
}

function stateIn({ state }: IssueLine['detail']): Ticket['state'] | undefined {
  return (
    state && {
      id: short(state.id) ?? null,
      name: short(state.name) ?? null,
      type: short(state.type) ?? null,
    }
  );
}

function assigneeIn({ assignee }: IssueLine['detail']): string | undefined {
  return short(assignee?.name) ?? short(assignee?.id);
}

/** Our own move, before the tracker confirms it. */
function afterOwnMove(before: Ticket, line: LineOf<'workflow.ticket.state_moved'>): Ticket {
  const { detail } = line;
  const name = short(detail.to);
  const phase = phaseOf(detail.phase);
  const isSame = before.state?.name === name;
  return {
    ...before,
    state:
      name === undefined || isSame ? before.state : { id: short(detail.stateId) ?? null, name, type: null },
    // A move that was asked for earlier.
    phase: phase === undefined || before.phase?.held ? before.phase : { phase, at: line.ts, seq: line.seq },
  };
}

function touched(ticket: Ticket, line: Pick<TicketLine, 'seq' | 'ts'>): Ticket {
  return { ...ticket, lastSeq: line.seq, lastAt: line.ts };
}

// A feed after one more event: its grade is the last part of the topic.

const feedTopics = topicsIn('monitor.feed', feedGrades);
type FeedLine = LineOf<(typeof feedTopics)[number]>;

export function reduceFeed(known: FeedState | undefined, line: FeedLine): FeedState | undefined {
  const { detail } = line;
  const feed = short(detail.feed);
  if (feed === undefined) return known;
  const grade = line.event.slice('monitor.feed.'.length);
  const since = detail.since ?? line.ts;
  return {
    feed,
    grade,
    since: known?.grade === grade ? known.since : since,
    reason: short(detail.reason) ?? null,
    remedy: short(detail.remedy) ?? null,
    lastSeq: line.seq,
  };
}

// Events of tickets and feeds.

declare module '../../kernel/board/fold-context.ts' {
  interface FoldSteps {
    /** Why a ticket is not moved to done yet; null if nothing holds it back. */
    heldBack: (board: Board, ticket: string) => string | null;
    /** What follows from a change in the tracker. */
    issueSteps: readonly ((
      context: FoldContext<IssueLine['event']>,
      before: Ticket | undefined,
      after: Ticket,
    ) => void)[];
  }
}

/** A tracker event only updates the ticket, so the echo of our own write causes no effect. */
function foldTicket(context: FoldContext<TicketLine['event']>): void {
  const { board, line, steps } = context;
  const { ticket } = line.scope;
  if (ticket === undefined) return;
  const known = board.tickets.get(ticket);
  // A tracker that has since been set up may use the same name.
  if (known?.local === true && isIssueLine(line)) return;
  const next = reduceTicket(known, line);
  if (next === undefined) return;
  board.tickets.set(ticket, next);
  if (isIssueLine(line)) for (const step of steps.issueSteps) step({ ...context, line }, known, next);
  const phase = line.event === 'workflow.ticket.phase_changed' ? phaseOf(line.detail.to) : undefined;
  if (phase === undefined) return;
  if (isLatePhase(board, line.scope, phase)) return;
  if (phase === 'done' && steps.heldBack(board, ticket) !== null) putHeld(board, next);
  else moveTicket(context, ticket, phase);
  writeStatus(context, phase);
}

function putHeld({ tickets, links }: Board, ticket: Ticket): void {
  if (ticket.phase === null) return;
  tickets.set(ticket.ticket, { ...ticket, phase: { ...ticket.phase, held: true } });
  links.heldTickets.add(ticket.ticket);
}

function isIssueLine(line: TicketLine): line is IssueLine {
  return line.event.startsWith('tracker.');
}

type DispatchLine = LineOf<'workflow.ticket.dispatched' | 'workflow.ticket.dispatch_refused'>;
const DISPATCH_REFUSED = 'dispatch-refused';

/** Only the daemon reports these. What strangers asked for shares one attention item, so they cannot fill the list. */
function foldDispatch(context: FoldContext<DispatchLine['event']>): void {
  const { board, line } = context;
  const { ticket, repo } = line.scope;
  const known = ticket === undefined ? undefined : board.tickets.get(ticket);
  if (known === undefined || line.source !== 'monitor') return;
  const { because = '', by } = line.detail;
  const common = { because, by: by ?? null, at: line.ts, seq: line.seq };
  if (line.event === 'workflow.ticket.dispatched') {
    const { run = null } = line.detail;
    const dispatch = { ...common, run, reason: null, remedy: null };
    board.tickets.set(known.ticket, touched({ ...known, dispatch }, line));
    if (!board.attention.has(attentionId({ orchestrator: null, ticket, reason: DISPATCH_REFUSED }))) return;
    const over = draft(
      'comms.attention_resolved',
      { ticket },
      { reason: DISPATCH_REFUSED, message: 'Resolved: a run was started', by: 'svc' },
    );
    return ask(context, DISPATCH_REFUSED, { kind: 'append', draft: over });
  }
  const { reason = null, remedy, invited = false } = line.detail;
  const dispatch = { ...common, run: null, reason, remedy: remedy ?? null };
  board.tickets.set(known.ticket, touched({ ...known, dispatch }, line));
  const raised = draft('comms.attention', invited ? { ticket, repo } : { repo }, {
    reason: DISPATCH_REFUSED,
    message: `No run was started for ${ticket} by ${because}: ${reason}.`,
    ...(remedy !== undefined && { remedy }),
    severity: invited ? 'medium' : 'low',
    evidence: [line.seq],
  });
  ask(context, DISPATCH_REFUSED, { kind: 'append', draft: raised });
}

/** What a worker does in a phase. Whether it is merged is never taken from a report. */
const statusOfPhase: Readonly<Partial<Record<TicketPhase, WorkerStatus>>> = {
  research: 'researching',
  planning: 'planning',
  inProgress: 'implementing',
  inReview: 'pr-created',
};

/** A phase that the worker itself reports is its status too. */
function writeStatus(context: FoldContext<TicketLine['event']>, phase: TicketPhase): void {
  const status = statusOfPhase[phase];
  const worker = reporter(context.board, context.line.scope);
  if (status === undefined || worker === undefined || worker.removed || !isPreMerge(worker.status)) return;
  const { key, orchestrator, ticket } = worker;
  const reportedAt = context.line.ts;
  ask(context, key, {
    kind: 'write-signal',
    orchestrator,
    ticket,
    status,
    reportedAt,
    pr: null,
    deploy: null,
  });
}

type Reported = { orchestrator?: string | undefined; ticket?: string | undefined };

/** The worker that reports the phase of its own ticket. The tracker writes tickets in capitals, a run as it was given them. */
function reporter({ workers }: Board, { orchestrator, ticket }: Reported): Worker | undefined {
  if (orchestrator === undefined) return undefined;
  return workers
    .values()
    .find((one) => one.orchestrator === orchestrator && one.ticket.toUpperCase() === ticket);
}

/** A worker reports a phase before the merge when it is merged already: its ticket is not moved back. */
export function isLatePhase(board: Board, reported: Reported, phase: TicketPhase): boolean {
  const worker = reporter(board, reported);
  return worker !== undefined && statusOfPhase[phase] !== undefined && !isUnmerged(worker.status);
}

function foldFeed({ board, line }: FoldContext<FeedLine['event']>): void {
  const feed = short(line.detail.feed);
  if (feed === undefined) return;
  const state = reduceFeed(board.feeds.get(feed), line);
  if (state !== undefined) board.feeds.set(feed, state);
}

export const subjectFolds: readonly Fold[] = [
  on([...issueTopics, 'workflow.ticket.phase_changed', 'workflow.ticket.state_moved'], foldTicket),
  on(['workflow.ticket.dispatched', 'workflow.ticket.dispatch_refused'], foldDispatch),
  on(feedTopics, foldFeed),
];
