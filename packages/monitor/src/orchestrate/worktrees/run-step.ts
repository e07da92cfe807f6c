// Runs one step of setup or a hook: a process group of its own, bounded in time, its output told line by line and
// kept in the log. It has no standard input, so that it cannot wait for an answer.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import type { Readable } from 'node:stream';
import { StringDecoder } from 'node:string_decoder';
import { setTimeout as sleep } from 'node:timers/promises';
import { systemErrorCode } from '../../errors.ts';
import { endGroup } from './process-group.ts';
import type { StepLog } from './step-log.ts';

const LAST_LINES = 20;
const LONGEST_LINE = 2_000;
const GRACE_MS = 5_000;
/** Something that the step left in the background may hold its output open. */
const OUTPUT_AFTER_END_MS = 1_000;

export type Step = {
  /** What a person sees: the command. */
  title: string;
  /** Where it comes from: a key of the configuration or a file of the project. */
  from: string;
  program: string;
  args: readonly string[];
  /** What to do when the program is not there. */
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
    // What a failed step left running would go on in a folder that is about to go.
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
    // It may have come while the start was being remembered.
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
  const tell = (line: string): void => {
    last.push(line);
    if (last.length > LAST_LINES) last.shift();
    onLine(line);
  };
  return {
    source() {
      let rest = '';
      flushes.push(() => {
        if (rest !== '') tell(rest);
        rest = '';
      });
      return (text) => {
        const parts = (rest + text).split(/\r\n|\n|\r/);
        rest = parts.pop() ?? '';
        for (const part of parts) tell(part.slice(0, LONGEST_LINE));
        if (rest.length > LONGEST_LINE) {
          tell(rest.slice(0, LONGEST_LINE));
          rest = '';
        }
      };
    },
    flush: () => flushes.forEach((flush) => flush()),
    last: () => [...last],
  };
}
