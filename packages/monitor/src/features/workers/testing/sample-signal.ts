import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import type { SignalFile } from '@svc/contract/signal-file';
import { signalPath } from '../io/signal-folder.ts';

export function sampleSignal(more: Partial<SignalFile> = {}): SignalFile {
  return {
    ticket: 'ENG-1',
    orchestrator: 'orch-1',
    workerName: 'orch-1-ENG-1',
    status: 'implementing',
    phase: 'implement',
    startedAt: '2026-01-02T03:04:05Z',
    updatedAt: '2026-01-02T03:04:05Z',
    ...more,
  };
}

/** Writes it in place, as a careless worker would; returns the path. */
export function putSignal(runsDir: string, signal: SignalFile, text = JSON.stringify(signal)): string {
  const path = signalPath(runsDir, signal.orchestrator, signal.ticket);
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, text);
  return path;
}
