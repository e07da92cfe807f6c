// The part of the day that has happened already, as the daemon would have written it: every fact is a line, and
// what a line asks for (attention, a deploy told, a signal file written) has been done and told too.
import {
  type Board,
  cutToFit,
  type EventFields,
  type EventLine,
  emptyBoard,
  foldLine,
  MAX_EVENT_LINE_BYTES,
  mapCodehost,
  mapTracker,
  type SignalFile,
  signalChanges,
  workerDied,
} from '@svc/core';
import type { Fact } from './fact.ts';
import { deployPolicies, PREFIX } from './product.ts';
import { hashOf, patchedSignal, writtenSignal } from './signal-state.ts';
import type { TeamDay } from './team-day.ts';

export type Past = {
  lines: EventLine[];
  /** What the lines come to. */
  board: Board;
  /** By `<orchestrator>/<ticket>`. */
  signals: Map<string, SignalFile>;
  outputs: Map<string, string>;
};

const host = { id: '7ade0000-0000-4000-8000-000000000001', name: 'tideline-laptop' };

/** Everything up to `day.nowIs`; `firstSeq` where the log has lines already. */
export function pastOf(day: TeamDay, firstSeq = 1): Past {
  const board = emptyBoard();
  const past: Past = { lines: [], board, signals: new Map(), outputs: new Map() };
  let last = 0;

  function append(draft: EventFields, time: number): void {
    last = Math.max(last, time);
    const seq = past.lines.length + firstSeq;
    const line = toLine(draft, seq, new Date(last));
    past.lines.push(line);
    for (const effect of foldLine(board, line)) {
      if (effect.kind === 'append')
        append({ ...effect.draft, deliveryId: `outbox:${effect.key}` }, last + 40);
      if (effect.kind !== 'write-signal') continue;
      const before = past.signals.get(keyOf(effect));
      const after = before && writtenSignal(before, effect);
      if (after !== undefined) tellSignal(before, { ...after, updatedAt: new Date(last + 20).toISOString() });
    }
  }

  function tellSignal(before: SignalFile | undefined, after: SignalFile): void {
    past.signals.set(keyOf(after), after);
    for (const draft of signalChanges(before ?? null, after, { hash: hashOf(after) }))
      append(draft, last + 20);
  }

  function tell(fact: Fact): void {
    const at = day.timeOf(fact.at);
    last = Math.max(last, at.getTime());
    switch (fact.way) {
      case 'codehost':
      case 'tracker':
        return append(deliveredDraft(fact, at, past.lines.length), last);
      case 'signal': {
        const before = past.signals.get(keyOf(fact));
        return tellSignal(before, patchedSignal(before, fact.patch(at)));
      }
      case 'died': {
        const signal = past.signals.get(keyOf(fact)) ?? null;
        const life = { pid: signal?.pid ?? 1, reason: `process ${signal?.pid} has ended` };
        return append(workerDied(fact, life, signal), last);
      }
      case 'event':
        return append({ ...fact.draft(at), source: 'orchestrator', via: 'local' }, last);
      case 'daemon':
        return append({ ...fact.draft(at), source: 'monitor', via: 'local' }, last);
      case 'output': {
        const text = fact.lines.map((line) => `${JSON.stringify(line)}\n`).join('');
        past.outputs.set(keyOf(fact), (past.outputs.get(keyOf(fact)) ?? '') + text);
      }
    }
  }

  const facts = day.facts.filter(({ at }) => at <= day.nowIs);
  if (facts[0] !== undefined) append(configApplied, day.timeOf(facts[0].at).getTime());
  for (const fact of facts) tell(fact);
  return past;
}

/** What a daemon that serves the project writes when it starts. */
const configApplied: EventFields = {
  event: 'monitor.config.applied',
  source: 'monitor',
  via: 'local',
  scope: {},
  detail: {
    project: '/projects/tideline',
    served: true,
    keys: [],
    deploy: deployPolicies,
    others: 'default',
  },
};

function keyOf({ orchestrator, ticket }: { orchestrator: string; ticket: string }): string {
  return `${orchestrator}/${ticket}`;
}

type Delivered = Extract<Fact, { way: 'codehost' | 'tracker' }>;

/** What the receiver, or a reconciliation, makes of it. */
function deliveredDraft(fact: Delivered, at: Date, number: number): EventFields {
  const id = `0a7e0000-0000-4000-8000-${String(number).padStart(12, '0')}`;
  const isFound = fact.way === 'codehost' && fact.found === true;
  const meta = isFound
    ? ({ deliveryId: `poll:${id}`, via: 'poll' } as const)
    : ({ deliveryId: id, via: 'live' } as const);
  const context = { ...meta, ticketPrefixes: [PREFIX] };
  const mapping =
    fact.way === 'codehost'
      ? mapCodehost(fact.type, fact.payload(at), context)
      : mapTracker(fact.payload(at), context);
  if (!mapping.ok) throw new Error(mapping.problem);
  return isFound ? { ...mapping.draft, source: 'codehost.poll' } : mapping.draft;
}

/** The fields in the order of the log's own writer. */
export function toLine(draft: EventFields, seq: number, time: Date): EventLine {
  const { event, source, via, scope, detail, deliveryId, occurredAt, relay, actor } = draft;
  const line: EventLine = {
    seq,
    ts: time.toISOString(),
    id: `7a9e0000-0000-4000-8000-${String(seq).padStart(12, '0')}`,
    schemaVersion: 1,
    event,
    source,
    via,
    host,
    scope,
    detail,
    ...(deliveryId !== undefined && { deliveryId }),
    ...(occurredAt !== undefined && { occurredAt }),
    ...(relay !== undefined && { relay }),
    ...(actor !== undefined && { actor }),
  };
  const longest = MAX_EVENT_LINE_BYTES - 1;
  return Buffer.byteLength(JSON.stringify(line)) <= longest ? line : cutToFit(line, longest);
}
