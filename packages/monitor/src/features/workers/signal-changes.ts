// Turns a change of a worker's signal file into one line with the most specific topic and the whole file. Also the
// lines for a file that cannot be read or is gone, and for a process that ended or came back.
import { onlyKnown } from '@svc/contract/payload-fields';
import {
  DeployAttempt,
  repoOfSignal,
  SignalDeploy,
  SignalFile,
  SignalPullRequest,
} from '@svc/contract/signal-file';
import { sameJson } from '@svc/lib/canonical-json';
import { cutText, utf8Length } from '@svc/lib/cut-text';
import type { z } from 'zod';
import { draft, type EventDraft, type EventScope } from '../../kernel/log/event-line.ts';

/** A longer name is left out of the scope, because a cut one would name something else. */
const LONGEST_NAME = 256;

const LONGEST_PROBLEM = 500;

/** How many changed fields are listed: a file may have thousands. */
const MOST_NAMES = 50;

const ours = { source: 'orchestrator' } as const;

export type SignalContext = {
  hash: string;
  /** According to the log the file was gone or unreadable: a line is due even if nothing changed. */
  returned?: boolean;
};

/**
 * The line for a file whose last reported content was `previous`; undefined if nothing changed. `updatedAt` alone is
 * not a change: a worker may update it as a heartbeat, and heartbeats stay out of the log.
 */
export function signalChanges(
  previous: SignalFile | null,
  now: SignalFile,
  { hash, returned = false }: SignalContext,
): EventDraft[] {
  const { signal, cut } = loggedSignal(now);
  const scope = signalScope(now);
  const file = { signal, hash, ...(cut && { cut: ['detail.signal'] }) };
  if (previous === null) {
    const { status, worktreePath } = signal;
    const more = { ...ours, occurredAt: timeOf(now) };
    return status === 'dispatched'
      ? [
          draft(
            'orchestrator.worker.dispatched',
            scope,
            { ...(worktreePath && { worktreePath }), ...file },
            more,
          ),
        ]
      : [draft('orchestrator.worker.status_changed', scope, { to: status, ...file }, more)];
  }
  const before = loggedSignal(previous).signal;
  const keys = changedKeys(before, signal);
  const changed = keys.filter((name) => name !== 'updatedAt');
  if (changed.length === 0 && !returned) return [];
  const more = keys.includes('updatedAt') ? { ...ours, occurredAt: timeOf(now) } : ours;
  const names = changed.slice(0, MOST_NAMES).map((name) => cutText(name, LONGEST_NAME));
  if (changed.includes('status')) {
    const detail = { from: before.status, to: signal.status, changed: names, ...file };
    return [draft('orchestrator.worker.status_changed', scope, detail, more)];
  }
  if (changed.includes('phase')) {
    const detail = { from: before.phase, to: signal.phase, changed: names, ...file };
    return [draft('orchestrator.worker.phase_changed', scope, detail, more)];
  }
  return [draft('orchestrator.worker.updated', scope, { changed: names, ...file }, more)];
}

export type WorkerName = { orchestrator: string; ticket: string };

/** `signal` is the worker as the log knows it, so the line gets the same scope as its other lines. */
export function signalCorrupt(
  worker: WorkerName,
  file: { path: string; problem: string },
  signal: SignalFile | null,
): EventDraft {
  const detail = { path: file.path, problem: problemText(file.problem) };
  return draft('orchestrator.worker.corrupt', scopeOf(worker, signal), detail, ours);
}

export function signalRemoved(worker: WorkerName, signal: SignalFile | null): EventDraft {
  const detail = { reason: 'the status file is gone' };
  return draft('orchestrator.worker.removed', scopeOf(worker, signal), detail, ours);
}

export type WorkerProcess = {
  pid: number;
  reason?: string;
  lastSeenAt?: string;
  willRevive?: boolean;
  /** The last lines of its standard error. */
  stderr?: string;
};

export function workerDied(
  worker: WorkerName,
  process: WorkerProcess,
  signal: SignalFile | null,
): EventDraft {
  return draft('orchestrator.worker.died', scopeOf(worker, signal), { ...process }, ours);
}

export function workerRevived(
  worker: WorkerName,
  process: WorkerProcess,
  signal: SignalFile | null,
): EventDraft {
  return draft('orchestrator.worker.revived', scopeOf(worker, signal), { ...process }, ours);
}

/** A problem as it is written to the log, for comparison. */
export function problemText(problem: string): string {
  return cutText(problem, LONGEST_PROBLEM);
}

function signalScope(signal: SignalFile): EventScope {
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

// A signal file as it is written to a log line: whole, or, if it is too large, only its known fields with their texts
// cut, so a worker's own fields never displace the line's subject.

const MAX_SIGNAL_BYTES = 24 * 1024;

/** A line with deeper nesting in its detail is not folded. */
const MAX_DEPTH = 24;

/** The greatest text length that fits is used; the last one always fits. */
const TEXT_LENGTHS = [1_000, 200, 48];

const MAX_ATTEMPTS = 10;

/** For fields whose content is up to the worker: the whole field or nothing. */
const MAX_FREE_BYTES = 4 * 1024;

const freeFields = ['verification', 'phaseTimestamps'];

export type LoggedSignal = { signal: SignalFile; cut: boolean };

/** Idempotent: cutting an already cut signal changes nothing. */
export function loggedSignal(signal: SignalFile): LoggedSignal {
  if (fits(signal, MAX_SIGNAL_BYTES)) return { signal, cut: false };
  for (const length of TEXT_LENGTHS) {
    const known = knownFields(signal, length);
    if (fits(known, MAX_SIGNAL_BYTES)) return { signal: known, cut: true };
  }
  throw new Error('A signal of known fields and short texts is too large for a line.');
}

function knownFields(signal: SignalFile, length: number): SignalFile {
  const known = pickKnown(SignalFile, signal, length);
  for (const name of freeFields) {
    const free = signal[name];
    if (free !== null && free !== undefined && fits(free, MAX_FREE_BYTES)) known[name] = free;
    else delete known[name];
  }
  if (signal.pr) known['pr'] = pickKnown(SignalPullRequest, signal.pr, length);
  if (signal.deploy) {
    const deploy = pickKnown(SignalDeploy, signal.deploy, length);
    const attempts = signal.deploy.attempts?.slice(-MAX_ATTEMPTS);
    if (attempts) deploy['attempts'] = attempts.map((attempt) => pickKnown(DeployAttempt, attempt, length));
    known['deploy'] = deploy;
  }
  if (signal.cost) {
    const { usd, inputTokens, outputTokens } = signal.cost;
    known['cost'] = { usd, inputTokens, outputTokens };
  }
  return known as SignalFile;
}

function pickKnown(
  schema: z.ZodObject,
  values: Record<string, unknown>,
  length: number,
): Record<string, unknown> {
  const known: Record<string, unknown> = {};
  for (const name of Object.keys(schema.shape)) {
    const value = values[name];
    if (value !== undefined) known[name] = typeof value === 'string' ? shorter(value, length) : value;
  }
  return known;
}

const longTime = /^(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d)\.(\d{3})\d*(Z|[+-]\d\d:?\d\d)$/;

/** A time with too many decimals stays a time; every other text is cut and marked. */
function shorter(text: string, length: number): string {
  return text.length <= 40 ? text : cutText(text.replace(longTime, '$1.$2$3'), length);
}

function fits(value: unknown, maxBytes: number): boolean {
  if (depthExceeds(value, MAX_DEPTH)) return false;
  const text = JSON.stringify(value);
  return text.length <= maxBytes && utf8Length(text) <= maxBytes;
}

function depthExceeds(value: unknown, depth: number): boolean {
  if (typeof value !== 'object' || value === null) return false;
  return depth === 0 || Object.values(value).some((child) => depthExceeds(child, depth - 1));
}
