// Runs steps in order. The first that fails ends it, with all that a person needs to go on: which command, how it
// ended, its last lines, and where the whole output is.
import { Failure } from '../../errors.ts';
import { runStep, type Step, type StepEnd } from './run-step.ts';
import type { StepLog } from './step-log.ts';

/** What a create or a removal tells while it works. */
export type WorktreeNews =
  | { kind: 'step'; number: number; of: number; title: string; from: string }
  | { kind: 'output'; line: string }
  | { kind: 'step-done'; number: number; of: number; title: string; ms: number }
  | { kind: 'warning'; message: string };

export type Tell = (news: WorktreeNews) => void;

export async function runSteps(
  steps: readonly Step[],
  options: {
    folder: string;
    environment: Readonly<Record<string, string>>;
    timeoutMs: number;
    log: StepLog;
    now: () => Date;
    signal?: AbortSignal | undefined;
    tell: Tell;
    onStart: (pid: number) => Promise<void>;
  },
): Promise<void> {
  const { log, tell, timeoutMs, now } = options;
  for (const [index, step] of steps.entries()) {
    const count = { number: index + 1, of: steps.length };
    tell({ kind: 'step', ...count, title: step.title, from: step.from });
    await log.heading(`[svc ${now().toISOString()}] ${step.from}: ${step.title}`);
    const end = await runStep(step, { ...options, onLine: (line) => tell({ kind: 'output', line }) });
    await log.heading(`[svc ${now().toISOString()}] ${endWords(end, timeoutMs)}`);
    if (end.ended !== 'exit' || end.exitCode !== 0) {
      await log.heading(end.lastLines.map((line) => `  ${line}`).join('\n'));
      throw stepFailure(step, end, timeoutMs, log.file);
    }
    tell({ kind: 'step-done', ...count, title: step.title, ms: end.ms });
  }
}

function stepFailure(step: Step, end: StepEnd, timeoutMs: number, file: string): Failure {
  const lines = end.lastLines.map((line) => `  ${line}`);
  const message = [
    `${step.title} (from ${step.from}) ${endWords(end, timeoutMs)}.`,
    ...(lines.length > 0 ? ['Its last lines:', ...lines] : []),
    `All of its output: ${file}`,
  ].join('\n');
  return new Failure('start-failed', message, end.ended === 'not-started' ? step.remedy : undefined);
}

function endWords(end: StepEnd, timeoutMs: number): string {
  switch (end.ended) {
    case 'exit':
      return end.exitCode === null
        ? `was ended by ${end.signal} after ${seconds(end.ms)}`
        : `ended with exit code ${end.exitCode} after ${seconds(end.ms)}`;
    case 'not-started':
      return end.reason === 'ENOENT'
        ? 'cannot run: the program is not installed'
        : `cannot run: ${end.reason}`;
    case 'timeout':
      return `took longer than ${seconds(timeoutMs)} and was ended`;
    case 'stopped':
      return `was stopped after ${seconds(end.ms)}`;
  }
}

function seconds(ms: number): string {
  return `${(ms / 1000).toFixed(1)} s`;
}
