// What a change of a worker's signal file is told as: one line, of the most telling topic, with the whole file.
// Also the lines for a file that cannot be read or is gone, and for a process that ended or came back.
import { cutText } from '../log/cut-text.ts';
import type { EventDraft, EventScope } from '../log/event-line.ts';
import type { Topic } from '../log/topics.ts';
import { onlyKnown } from '../receive/only-known.ts';
import { sameJson } from './canonical-json.ts';
import { repoOfSignal, type SignalFile } from './signal-file.ts';
import { shorter, toldSignal } from './told-signal.ts';

/** A longer name is left out of the scope, where a cut one would name something else. */
const LONGEST_NAME = 256;
const LONGEST_PROBLEM = 500;
/** Of changed fields: a file may have thousands. */
const MOST_NAMES = 50;

export type SignalContext = {
  hash: string;
  /** The log said last that the file was gone or unreadable: a line is due even when nothing changed. */
  returned?: boolean;
};

/**
 * The line for a file that was `previous` when the log last told of it; none when nothing changed. `updatedAt`
 * alone is no change: a worker may touch it as a sign of life, and those stay out of the log.
 */
export function signalChanges(
  previous: SignalFile | null,
  now: SignalFile,
  { hash, returned = false }: SignalContext,
): EventDraft[] {
  const { signal, cut } = toldSignal(now);
  const detail = { signal, hash, ...(cut && { cut: ['detail.signal'] }) };
  const tell = (topic: Topic, more: object, occurredAt?: string): EventDraft[] => [
    draft(topic, signalScope(now), { ...more, ...detail }, occurredAt),
  ];
  if (previous === null) {
    const { status, worktreePath } = signal;
    const at = timeOf(now);
    return status === 'dispatched'
      ? tell('orchestrator.worker.dispatched', onlyKnown({ worktreePath: worktreePath ?? undefined }), at)
      : tell('orchestrator.worker.status_changed', { to: status }, at);
  }
  const before = toldSignal(previous).signal;
  const keys = changedKeys(before, signal);
  const changed = keys.filter((name) => name !== 'updatedAt');
  if (changed.length === 0 && !returned) return [];
  const at = keys.includes('updatedAt') ? timeOf(now) : undefined;
  const names = changed.slice(0, MOST_NAMES).map((name) => cutText(name, LONGEST_NAME));
  if (changed.includes('status')) {
    const move = { from: before.status, to: signal.status };
    return tell('orchestrator.worker.status_changed', { ...move, changed: names }, at);
  }
  if (changed.includes('phase')) {
    const move = { from: before.phase, to: signal.phase };
    return tell('orchestrator.worker.phase_changed', { ...move, changed: names }, at);
  }
  return tell('orchestrator.worker.updated', { changed: names }, at);
}

export type WorkerName = { orchestrator: string; ticket: string };

/** `signal` is what the log knows of the worker, so that the line is found with the others of its subject. */
export function signalCorrupt(
  worker: WorkerName,
  file: { path: string; problem: string },
  signal: SignalFile | null,
): EventDraft {
  return draft('orchestrator.worker.corrupt', scopeOf(worker, signal), {
    path: file.path,
    problem: problemText(file.problem),
  });
}

export function signalRemoved(worker: WorkerName, signal: SignalFile | null): EventDraft {
  const detail = { reason: 'the signal file is gone' };
  return draft('orchestrator.worker.removed', scopeOf(worker, signal), detail);
}

export type WorkerLife = {
  pid: number;
  reason?: string;
  lastSeenAt?: string;
  willRevive?: boolean;
  /** The last lines of its standard error. */
  stderr?: string;
};

export function workerDied(worker: WorkerName, life: WorkerLife, signal: SignalFile | null): EventDraft {
  return draft('orchestrator.worker.died', scopeOf(worker, signal), { ...life });
}

export function workerRevived(worker: WorkerName, life: WorkerLife, signal: SignalFile | null): EventDraft {
  return draft('orchestrator.worker.revived', scopeOf(worker, signal), { ...life });
}

/** A problem as the log tells it, by which two of them compare. */
export function problemText(problem: string): string {
  return cutText(problem, LONGEST_PROBLEM);
}

export function signalScope(signal: SignalFile): EventScope {
  const { pr, deploy } = signal;
  return onlyKnown({
    ticket: named(signal.ticket),
    orchestrator: named(signal.orchestrator),
    worker: named(signal.workerName),
    repo: named(repoOfSignal(signal)),
    pr: pr?.number ?? undefined,
    branch: named(signal.branch),
    mergeSha: named(pr?.mergeSha),
    environment: named(deploy?.environment),
    deploymentId: deploy?.deploymentId ?? undefined,
  });
}

function scopeOf({ orchestrator, ticket }: WorkerName, signal: SignalFile | null): EventScope {
  return { ...(signal && signalScope(signal)), orchestrator, ticket };
}

function named(text: string | null | undefined): string | undefined {
  return text && text.length <= LONGEST_NAME ? text : undefined;
}

function timeOf(signal: SignalFile): string {
  return shorter(signal.updatedAt, LONGEST_NAME);
}

function changedKeys(before: SignalFile, after: SignalFile): string[] {
  const names = new Set([...Object.keys(before), ...Object.keys(after)]);
  return [...names].filter((name) => !sameJson(before[name], after[name]));
}

function draft(event: Topic, scope: EventScope, detail: object, occurredAt?: string): EventDraft {
  const base = { event, source: 'orchestrator', via: 'local', scope, detail: { ...detail } } as const;
  return occurredAt === undefined ? base : { ...base, occurredAt };
}
