// How far long work is: a bar on a terminal, drawn over itself at most ten times a second; elsewhere a plain line
// every few seconds, so that a log stays short.
import type { Terminal } from './terminal.ts';

const BAR_MS = 100;
const LINE_MS = 5_000;
const WIDTH = 24;

export type ProgressStream = { isTTY?: boolean; columns?: number; write: (text: string) => unknown };
export type Progress = { show: (step: ProgressStep) => void; end: () => void };
type ProgressStep = { orchestrator: string; run: number; runs: number; bytes: number };

/** `createProgress({ terminal, stream: process.stderr, verb: 'Sweeping' })` */
export function createProgress({
  terminal,
  stream,
  verb,
}: {
  terminal: Pick<Terminal, 'err' | 'now'>;
  stream: ProgressStream;
  verb: string;
}): Progress {
  const isBar = stream.isTTY === true;
  let shownAt = terminal.now().getTime();
  let bytes = 0;
  let isDrawn = false;

  return {
    show(step) {
      bytes += step.bytes;
      const now = terminal.now().getTime();
      if (now - shownAt < (isBar ? BAR_MS : LINE_MS)) return;
      shownAt = now;
      const words = `${verb} ${step.run} of ${step.runs} runs, ${bytesText(bytes)}`;
      if (!isBar) return terminal.err(words);
      const done = Math.round(((step.run - 1) / step.runs) * WIDTH);
      const text = `[${'#'.repeat(done)}${'.'.repeat(WIDTH - done)}] ${words}: ${step.orchestrator}`;
      stream.write(`\r\x1b[K${text.slice(0, (stream.columns ?? 80) - 1)}`);
      isDrawn = true;
    },
    end() {
      if (isDrawn) stream.write('\r\x1b[K');
      isDrawn = false;
    },
  };
}

const units = ['B', 'KiB', 'MiB', 'GiB', 'TiB'] as const;

/** `1.5 MiB`; bytes without a fraction. */
export function bytesText(bytes: number): string {
  let value = bytes;
  let unit = 0;
  while (value >= 1024 && unit < units.length - 1) {
    value /= 1024;
    unit += 1;
  }
  return `${unit === 0 ? value : value.toFixed(1)} ${units[unit]}`;
}
