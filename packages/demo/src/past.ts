// The part of the day before the daemon starts, as the daemon would have written it: every record becomes an event in
// the log, with its effects (attention items, deploy events, signal files).
import { appendFileSync, mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type { SignalFile } from '@svc/contract/signal-file';
import { emptyBoard, foldLine } from 'svc-monitor/src/features/board.ts';
import { mapCodehost } from 'svc-monitor/src/features/codehost/map-codehost.ts';
import { mapTracker } from 'svc-monitor/src/features/tracker/map-tracker.ts';
import { signalChanges, workerDied } from 'svc-monitor/src/features/workers/signal-changes.ts';
import type { Board } from 'svc-monitor/src/kernel/board/board.ts';
import { cutToFit } from 'svc-monitor/src/kernel/log/cut-to-fit.ts';
import {
  type EventFields,
  type EventLine,
  MAX_EVENT_LINE_BYTES,
} from 'svc-monitor/src/kernel/log/event-line.ts';
import type { Day, DayRecord, Delivery } from './day.ts';
import { deployPolicies, TICKET_PREFIX } from './project.ts';
import { appendOutput, hashOf, patchedSignal, signalPath, writtenSignal } from './worker-files.ts';

type Output = Extract<DayRecord, { kind: 'output' }>;

export type Past = {
  lines: EventLine[];
  /** The fold of the lines. */
  board: Board;
  /** By `<orchestrator>/<ticket>`. */
  signals: Map<string, SignalFile>;
  outputs: Output[];
};

const host = { id: '7ade0000-0000-4000-8000-000000000001', name: 'tideline-laptop' };

/** Everything up to `day.nowIs`. `firstSeq` is not 1 if the log already has lines. */
export function pastOf(day: Day, firstSeq = 1): Past {
  const board = emptyBoard();
  const past: Past = { lines: [], board, signals: new Map(), outputs: [] };
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
      if (after !== undefined)
        appendSignal(before, { ...after, updatedAt: new Date(last + 20).toISOString() });
    }
  }

  function appendSignal(before: SignalFile | undefined, after: SignalFile): void {
    past.signals.set(keyOf(after), after);
    for (const draft of signalChanges(before ?? null, after, { hash: hashOf(after) }))
      append(draft, last + 20);
  }

  function appendRecord(record: DayRecord): void {
    last = Math.max(last, day.timeOf(record.at).getTime());
    switch (record.kind) {
      case 'codehost':
      case 'tracker':
        return append(deliveredDraft(record, past.lines.length), last);
      case 'signal': {
        const before = past.signals.get(keyOf(record));
        return appendSignal(before, patchedSignal(before, record.patch));
      }
      case 'died': {
        const signal = past.signals.get(keyOf(record)) ?? null;
        const process = { pid: signal?.pid ?? 1, reason: `process ${signal?.pid} has ended` };
        return append(workerDied(record, process, signal), last);
      }
      case 'report':
      case 'daemon': {
        const { event, scope, detail } = record;
        const source = record.kind === 'daemon' ? 'monitor' : 'orchestrator';
        return append({ event, scope, detail, source, via: 'local' }, last);
      }
      case 'output':
        past.outputs.push(record);
        return;
      case 'scene':
    }
  }

  const records = day.records.filter(({ at }) => at <= day.nowIs);
  if (records[0] !== undefined) append(configApplied, day.timeOf(records[0].at).getTime());
  for (const record of records) appendRecord(day.dated(record));
  return past;
}

/** What a daemon writes at start when it serves the project. */
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

/** The event that the receiver, or polling, creates from it. */
function deliveredDraft({ kind, type, payload, found }: Delivery, number: number): EventFields {
  const id = `0a7e0000-0000-4000-8000-${String(number).padStart(12, '0')}`;
  const meta = found
    ? ({ deliveryId: `poll:${id}`, via: 'poll' } as const)
    : ({ deliveryId: id, via: 'live' } as const);
  const context = { ...meta, ticketPrefixes: [TICKET_PREFIX] };
  const mapping = kind === 'codehost' ? mapCodehost(type, payload, context) : mapTracker(payload, context);
  if (!mapping.ok) throw new Error(mapping.problem);
  return found ? { ...mapping.draft, source: 'codehost.poll' } : mapping.draft;
}

/** The fields in the order of the log's writer. */
function toLine(draft: EventFields, seq: number, time: Date): EventLine {
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

/** Writes it to disk for the daemon. */
export function writePast(
  { lines, signals, outputs }: Past,
  { eventsDir, runsDir }: { eventsDir: string; runsDir: string },
): void {
  if (lines.length > 0) writeMonthFiles(eventsDir, lines);
  for (const signal of signals.values()) {
    const path = signalPath(runsDir, signal);
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, JSON.stringify(signal, null, 2));
  }
  for (const output of outputs) appendOutput({ runsDir }, output, output.lines);
}

const BATCH = 2_000;

/** Writes lines, in order of seq, as the log's files: one per month. */
export function writeMonthFiles(eventsDir: string, lines: Iterable<EventLine>): { lines: number } {
  mkdirSync(eventsDir, { recursive: true, mode: 0o700 });
  let month = '';
  let batch: string[] = [];
  let written = 0;
  const flush = (): void => {
    if (batch.length > 0) appendFileSync(join(eventsDir, `${month}.jsonl`), batch.join(''), { mode: 0o600 });
    written += batch.length;
    batch = [];
  };
  for (const line of lines) {
    const itsMonth = line.ts.slice(0, 7);
    if (itsMonth !== month || batch.length === BATCH) flush();
    month = itsMonth;
    batch.push(`${JSON.stringify(line)}\n`);
  }
  flush();
  return { lines: written };
}
