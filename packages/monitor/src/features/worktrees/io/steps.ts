// What a step sees: the environment that svc was started in, like the user's own shell, without our secrets and without
// variables that would redirect git; and the six variables.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { constants } from 'node:fs';
import { type FileHandle, mkdir } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import type { Readable } from 'node:stream';
import { StringDecoder } from 'node:string_decoder';
import { setTimeout as sleep } from 'node:timers/promises';
import { endGroup } from '@svc/lib/end-group';
import { systemErrorCode } from '@svc/lib/errors';
import { withoutRepository } from '@svc/lib/git';
import { createLimit } from '@svc/lib/limit';
import { entriesIn, openFile, readText, stat } from '@svc/lib/paths';
import type { Environment } from '../../../kernel/config/resolved-value.ts';
import { Failure } from '../../../kernel/failure.ts';
import { secretVariables, withoutSecrets } from '../../agents/agent-environment.ts';
import { fillCommand } from '../../agents/fill-command.ts';
import type { Config } from '../../config.ts';
import type { SetupVariables } from '../../context/setup-variables.ts';
import { detectSetup, makefileNames } from '../detect-setup.ts';

export function stepEnvironment(
  environment: Environment,
  config: Config,
  variables: SetupVariables,
): Record<string, string> {
  return { ...withoutRepository(withoutSecrets(environment, secretVariables(config))), ...variables };
}

// The output of a worktree's steps, kept in one file. A step that prints without end does not fill the disk: beyond its
// share only its last lines are kept, which the runner writes at the end.

const STEP_BYTES = 10 * 1024 * 1024;

export type StepLog = {
  file: string;
  /** A line written by svc; also starts the share of a new step. */
  heading: (text: string) => Promise<void>;
  output: (chunk: Buffer) => Promise<void>;
  close: () => Promise<void>;
};

/** The file is truncated, or continued (`append`). */
export async function openStepLog({ file, append }: { file: string; append: boolean }): Promise<StepLog> {
  await mkdir(dirname(file), { recursive: true });
  // The output may be confidential.
  const handle: FileHandle = await openFile(file, {
    flags: constants.O_WRONLY | constants.O_CREAT | (append ? constants.O_APPEND : constants.O_TRUNC),
    mode: 0o600,
  });
  let left = STEP_BYTES;
  // One write after the other: two streams arrive at once.
  const oneAtATime = createLimit(1);
  const write = (data: Buffer | string): Promise<void> => oneAtATime(() => handle.appendFile(data));
  return {
    file,
    async heading(text) {
      left = STEP_BYTES;
      await write(`${text}\n`);
    },
    async output(chunk) {
      if (left <= 0) return;
      const part = chunk.subarray(0, left);
      left -= part.length;
      await write(part);
      if (left <= 0) await write(`\n[svc: more than ${STEP_BYTES} bytes; the rest is not kept]\n`);
    },
    close: () => oneAtATime(() => handle.close()),
  };
}

// Runs one step of setup or a hook: in its own process group, limited in time, its output reported line by line and kept
// in the log. It has no standard input, so it cannot wait for an answer.

const LAST_LINES = 20;
const LONGEST_LINE = 2_000;
const GRACE_MS = 5_000;
/** A background process of the step may keep its output open. */
const OUTPUT_AFTER_END_MS = 1_000;

export type Step = {
  /** Shown to the user: the command. */
  title: string;
  /** Where it comes from: a configuration key or a file of the project. */
  from: string;
  program: string;
  args: readonly string[];
  /** What to do when the program is missing. */
  remedy?: string;
};

export type StepEnd = { lastLines: string[]; ms: number } & (
  | { ended: 'exit'; exitCode: number | null; signal: NodeJS.Signals | null }
  | { ended: 'not-started'; reason: string }
  | { ended: 'timeout' | 'stopped' }
);

export async function runStep(
  step: Step,
  options: {
    folder: string;
    environment: Readonly<Record<string, string>>;
    timeoutMs: number;
    log: StepLog;
    signal?: AbortSignal | undefined;
    onLine: (line: string) => void;
    /** The leader of the group, as soon as it runs. */
    onStart: (pid: number) => Promise<void>;
  },
): Promise<StepEnd> {
  const started = performance.now();
  const lines = createLines(options.onLine);
  const ended = () => ({ lastLines: lines.last(), ms: Math.round(performance.now() - started) });
  if (options.signal?.aborted) return { ended: 'stopped', ...ended() };

  const child = spawn(step.program, step.args, {
    cwd: options.folder,
    env: { ...options.environment },
    stdio: ['ignore', 'pipe', 'pipe'],
    detached: true,
  });
  const exit = new Promise<{ exitCode: number | null; signal: NodeJS.Signals | null }>((resolve) => {
    child.once('exit', (exitCode, signal) => resolve({ exitCode, signal }));
  });
  const { pid } = child;
  if (pid === undefined) {
    const [error] = await once(child, 'error');
    return { ended: 'not-started', reason: systemErrorCode(error) ?? String(error), ...ended() };
  }
  const outputs = Promise.all(
    [child.stdout, child.stderr].map((stream) => drain(stream, options.log, lines)),
  );
  const cut = new AbortController();
  const timeout = sleep(options.timeoutMs, 'timeout' as const, { signal: cut.signal });
  timeout.catch(() => undefined);
  try {
    await options.onStart(pid);
    const first = await Promise.race([exit, timeout, whenAborted(options.signal, cut.signal)]);
    if (first === 'timeout' || first === 'stopped') {
      await endGroup(pid, GRACE_MS);
      return { ended: first, ...ended() };
    }
    // What a failed step left running would continue in a folder that is about to be removed.
    if (first.exitCode !== 0) await endGroup(pid, GRACE_MS);
    await Promise.race([outputs, sleep(OUTPUT_AFTER_END_MS, undefined, { signal: cut.signal })]);
    lines.flush();
    return { ended: 'exit', ...first, ...ended() };
  } catch (error) {
    await endGroup(pid, GRACE_MS);
    throw error;
  } finally {
    cut.abort();
    child.stdout.destroy();
    child.stderr.destroy();
    await outputs.catch(() => undefined);
  }
}

function whenAborted(signal: AbortSignal | undefined, over: AbortSignal): Promise<'stopped'> {
  return new Promise((resolve) => {
    // It may have been aborted while the start was recorded.
    if (signal?.aborted === true) return resolve('stopped');
    signal?.addEventListener('abort', () => resolve('stopped'), { once: true, signal: over });
  });
}

async function drain(stream: Readable, log: StepLog, lines: Lines): Promise<void> {
  const decoder = new StringDecoder('utf8');
  const take = lines.source();
  try {
    for await (const chunk of stream) {
      take(decoder.write(chunk));
      await log.output(chunk);
    }
  } catch (error) {
    // Closed by the runner, above.
    if (systemErrorCode(error) !== 'ERR_STREAM_PREMATURE_CLOSE') throw error;
  }
}

type Lines = { source: () => (text: string) => void; flush: () => void; last: () => string[] };

/** Whole lines of two streams; the last ones are remembered. */
function createLines(onLine: (line: string) => void): Lines {
  const last: string[] = [];
  const flushes: (() => void)[] = [];
  const emit = (line: string): void => {
    last.push(line);
    if (last.length > LAST_LINES) last.shift();
    onLine(line);
  };
  return {
    source() {
      let rest = '';
      flushes.push(() => {
        if (rest !== '') emit(rest);
        rest = '';
      });
      return (text) => {
        const parts = (rest + text).split(/\r\n|\n|\r/);
        rest = parts.pop() ?? '';
        for (const part of parts) emit(part.slice(0, LONGEST_LINE));
        if (rest.length > LONGEST_LINE) {
          emit(rest.slice(0, LONGEST_LINE));
          rest = '';
        }
      };
    },
    flush: () => flushes.forEach((flush) => flush()),
    last: () => [...last],
  };
}

// Runs steps in order. The first failure ends it, with everything a person needs to continue: which command, how it ended,
// its last lines, and where the full output is.

/** Progress of a create or a removal. */
export type WorktreeProgress =
  | { kind: 'step'; number: number; of: number; title: string; from: string }
  | { kind: 'output'; line: string }
  | { kind: 'step-done'; number: number; of: number; title: string; ms: number }
  | { kind: 'warning'; message: string };

export type Report = (news: WorktreeProgress) => void;

export async function runSteps(
  steps: readonly Step[],
  options: {
    folder: string;
    environment: Readonly<Record<string, string>>;
    timeoutMs: number;
    log: StepLog;
    now: () => Date;
    signal?: AbortSignal | undefined;
    report: Report;
    onStart: (pid: number) => Promise<void>;
  },
): Promise<void> {
  const { log, report, timeoutMs, now } = options;
  for (const [index, step] of steps.entries()) {
    const count = { number: index + 1, of: steps.length };
    report({ kind: 'step', ...count, title: step.title, from: step.from });
    await log.heading(`[svc ${now().toISOString()}] ${step.from}: ${step.title}`);
    const end = await runStep(step, { ...options, onLine: (line) => report({ kind: 'output', line }) });
    await log.heading(`[svc ${now().toISOString()}] ${endText(end, timeoutMs)}`);
    if (end.ended !== 'exit' || end.exitCode !== 0) {
      await log.heading(end.lastLines.map((line) => `  ${line}`).join('\n'));
      throw stepFailure(step, end, timeoutMs, log.file);
    }
    report({ kind: 'step-done', ...count, title: step.title, ms: end.ms });
  }
}

function stepFailure(step: Step, end: StepEnd, timeoutMs: number, file: string): Failure {
  const lines = end.lastLines.map((line) => `  ${line}`);
  const message = [
    `${step.title} (from ${step.from}) ${endText(end, timeoutMs)}.`,
    ...(lines.length > 0 ? ['Last lines of its output:', ...lines] : []),
    `Full output: ${file}`,
  ].join('\n');
  return new Failure('start-failed', message, end.ended === 'not-started' ? step.remedy : undefined);
}

function endText(end: StepEnd, timeoutMs: number): string {
  switch (end.ended) {
    case 'exit':
      return end.exitCode === null
        ? `was killed by ${end.signal} after ${seconds(end.ms)}`
        : `ended with exit code ${end.exitCode} after ${seconds(end.ms)}`;
    case 'not-started':
      return end.reason === 'ENOENT'
        ? 'cannot run: the program is not installed'
        : `cannot run: ${end.reason}`;
    case 'timeout':
      return `took longer than ${seconds(timeoutMs)} and was stopped`;
    case 'stopped':
      return `was stopped after ${seconds(end.ms)}`;
  }
}

function seconds(ms: number): string {
  return `${(ms / 1000).toFixed(1)} s`;
}

// Commands that the project's owner wrote: `svc.orchestration.hooks`. The shell gets them as written, with the six
// variables filled in. External values (branch, path) are variables there and never part of the command.

export function hookSteps(config: Config, kind: 'setup' | 'teardown', variables: SetupVariables): Step[] {
  return config.svc.orchestration.hooks[kind].map((command) =>
    filledStep(command, `svc.orchestration.hooks.${kind}`, variables),
  );
}

/** The environment of the step must contain the variables too. */
function filledStep(command: string, from: string, variables: SetupVariables): Step {
  return { ...shellStep(fillCommand(command, variables), from), title: command };
}

export function shellStep(command: string, from: string): Step {
  return { title: command, from, program: '/bin/sh', args: ['-c', command] };
}

// The steps that set up a new worktree: only the configured ones, or what its files call for.

const LONGEST_MAKEFILE = 1024 * 1024;

export async function setupSteps(config: Config, variables: SetupVariables): Promise<Step[]> {
  const configured = config.svc.worktree.setup;
  if (configured !== undefined)
    return configured.map((command) => filledStep(command, 'svc.worktree.setup', variables));
  const worktree = variables.WORKTREE_PATH;
  const entries = await entriesIn(worktree);
  const files = entries.filter((entry) => entry.isFile()).map((entry) => entry.name);
  return detectSetup(files, await makefileText(worktree, files)).map((command) => ({
    title: [command.program, ...command.args].join(' '),
    from: command.because,
    program: command.program,
    args: command.args,
    remedy: command.remedy,
  }));
}

async function makefileText(worktree: string, files: readonly string[]): Promise<string | undefined> {
  const name = makefileNames.find((candidate) => files.includes(candidate));
  if (name === undefined) return undefined;
  const path = join(worktree, name);
  return (await stat(path)).size > LONGEST_MAKEFILE ? undefined : readText(path);
}
