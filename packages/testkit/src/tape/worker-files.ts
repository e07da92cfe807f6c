// What a worker writes: its signal file, and the stream of what its agent prints.
import { randomUUID } from 'node:crypto';
import { appendFileSync, existsSync, mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type { SignalFile } from '@svc/core';
import type { SignalPatch } from './fact.ts';
import { patchedSignal } from './signal-state.ts';

type Named = { orchestrator: string; ticket: string };

/** Written beside it and renamed, as every writer of a signal file does. */
export function changeSignal(
  { runsDir }: { runsDir: string },
  { orchestrator, ticket }: Named,
  patch: SignalPatch,
): void {
  const path = join(runsDir, orchestrator, 'workers', `${ticket}.json`);
  mkdirSync(dirname(path), { recursive: true });
  const before = existsSync(path) ? (JSON.parse(readFileSync(path, 'utf8')) as SignalFile) : undefined;
  const beside = join(dirname(path), `.${ticket}.${randomUUID()}`);
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
