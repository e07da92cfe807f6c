// A ticket after one more line. What the tracker tells replaces what it told of an earlier moment; what our
// own workflow tells is kept beside it.
import { asFields, numberAt, objectAt } from '../receive/payload-fields.ts';
import type { FoldedLine } from './board-shape.ts';
import { type TicketPhase, ticketPhases } from './effect.ts';
import { isOlder, later, shortTextAt, upstreamTime } from './line-fields.ts';
import type { Ticket } from './ticket.ts';

const MOST_LABELS = 50;
const phases: ReadonlySet<string> = new Set(ticketPhases);

export function reduceTicket(known: Ticket | undefined, line: FoldedLine): Ticket | undefined {
  const { ticket } = line.scope;
  if (ticket === undefined) return known;
  const before = known ?? unknownTicket(ticket, line);
  if (line.event.startsWith('tracker.issue.')) return touched(afterTracker(before, line), line);
  if (line.event === 'workflow.ticket.phase_changed') {
    const phase = phaseAt(line, 'to');
    return phase === undefined
      ? known
      : touched({ ...before, phase: { phase, at: line.ts, seq: line.seq } }, line);
  }
  if (line.event === 'workflow.ticket.state_moved') return touched(afterOwnMove(before, line), line);
  return known;
}

/** The phase that a line names; undefined for a word that is none. */
export function phaseAt({ detail }: FoldedLine, name: string): TicketPhase | undefined {
  const phase = detail[name];
  return isPhase(phase) ? phase : undefined;
}

function isPhase(value: unknown): value is TicketPhase {
  return typeof value === 'string' && phases.has(value);
}

function afterTracker(before: Ticket, line: FoldedLine): Ticket {
  const { detail } = line;
  const told = upstreamTime(line);
  if (isOlder(told, before.toldAt)) return before;
  return {
    ...before,
    title: shortTextAt(detail, 'title') ?? before.title,
    url: shortTextAt(detail, 'url') ?? before.url,
    state: stateIn(detail) ?? before.state,
    assignee: detail['assignee'] === null ? null : (assigneeIn(detail) ?? before.assignee),
    priority: numberAt(detail, 'priority') ?? before.priority,
    labels: labelsIn(detail) ?? before.labels,
    removed: line.event === 'tracker.issue.removed',
    toldAt: later(before.toldAt, told),
    via: line.via,
  };
}

function stateIn(detail: FoldedLine['detail']): Ticket['state'] | undefined {
  const state = asFields(detail['state']);
  return (
    state && {
      id: shortTextAt(state, 'id') ?? null,
      name: shortTextAt(state, 'name') ?? null,
      type: shortTextAt(state, 'type') ?? null,
    }
  );
}

function assigneeIn(detail: FoldedLine['detail']): string | undefined {
  const assignee = objectAt(detail, 'assignee');
  return shortTextAt(assignee, 'name') ?? shortTextAt(assignee, 'id');
}

function labelsIn({ labels }: FoldedLine['detail']): string[] | undefined {
  if (!Array.isArray(labels)) return undefined;
  return labels.slice(0, MOST_LABELS).filter((label) => typeof label === 'string');
}

/** Our own move, before the tracker confirms it. */
function afterOwnMove(before: Ticket, line: FoldedLine): Ticket {
  const { detail } = line;
  const name = shortTextAt(detail, 'to');
  const phase = phaseAt(line, 'phase');
  const isSame = before.state?.name === name;
  return {
    ...before,
    state:
      name === undefined || isSame
        ? before.state
        : { id: shortTextAt(detail, 'stateId') ?? null, name, type: null },
    phase: phase === undefined ? before.phase : { phase, at: line.ts, seq: line.seq },
  };
}

function touched(ticket: Ticket, line: FoldedLine): Ticket {
  return { ...ticket, lastSeq: line.seq, lastAt: line.ts };
}

function unknownTicket(ticket: string, line: FoldedLine): Ticket {
  return {
    ticket,
    title: null,
    url: null,
    state: null,
    assignee: null,
    priority: null,
    labels: [],
    phase: null,
    removed: false,
    toldAt: null,
    via: 'local',
    lastSeq: line.seq,
    lastAt: line.ts,
  };
}
