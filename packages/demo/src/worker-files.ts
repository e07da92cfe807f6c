// What a worker writes: its signal file and the output stream of its agent; and what the daemon writes into a signal
// file, for the past part of the day.
import { createHash, randomUUID } from 'node:crypto';
import { appendFileSync, existsSync, mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type { SignalFile } from '@svc/contract/signal-file';
import { canonicalJson } from '@svc/lib/canonical-json';
import { withWrite, writableOver } from 'svc-monitor/src/features/workers/signal-write.ts';
import type { Effect } from 'svc-monitor/src/kernel/outbox/effect.ts';

type Named = { orchestrator: string; ticket: string };

/** `pr` and `phaseTimestamps` are merged; any other field is replaced. */
export function patchedSignal(before: SignalFile | undefined, patch: Partial<SignalFile>): SignalFile {
  const { pr, phaseTimestamps, ...rest } = patch;
  return {
    ...before,
    ...rest,
    ...(pr !== undefined && { pr: { ...before?.pr, ...pr } }),
    phaseTimestamps: { ...before?.phaseTimestamps, ...phaseTimestamps },
  } as SignalFile;
}

/** The content hash of a signal file: a new `updatedAt` alone is not a change. */
export function hashOf({ updatedAt: _, ...signal }: SignalFile): string {
  return createHash('sha256').update(canonicalJson(signal)).digest('hex');
}

/** As the daemon writes it; undefined if that would undo something in the file. */
export function writtenSignal(
  signal: SignalFile,
  effect: Extract<Effect, { kind: 'write-signal' }>,
): SignalFile | undefined {
  return writableOver(signal, effect) ? withWrite(signal, effect) : undefined;
}

export const signalPath = (runsDir: string, { orchestrator, ticket }: Named): string =>
  join(runsDir, orchestrator, 'workers', `${ticket}.json`);

/** Written to a temporary file and renamed, like every writer of a signal file. */
export function changeSignal(
  { runsDir }: { runsDir: string },
  worker: Named,
  patch: Partial<SignalFile>,
): void {
  const path = signalPath(runsDir, worker);
  mkdirSync(dirname(path), { recursive: true });
  const before = existsSync(path) ? (JSON.parse(readFileSync(path, 'utf8')) as SignalFile) : undefined;
  const beside = join(dirname(path), `.${worker.ticket}.${randomUUID()}`);
  writeFileSync(beside, JSON.stringify(patchedSignal(before, patch), null, 2));
  renameSync(beside, path);
}

export function appendOutput(
  { runsDir }: { runsDir: string },
  { orchestrator, ticket }: Named,
  lines: readonly object[],
): void {
  const path = join(runsDir, orchestrator, 'workers/output', `${ticket}-stream.jsonl`);
  mkdirSync(dirname(path), { recursive: true });
  appendFileSync(path, lines.map((line) => `${JSON.stringify(line)}\n`).join(''));
}
