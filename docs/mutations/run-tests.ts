// Runs chosen tests of a tree, one vitest at a time, and reads its report.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import type { TestReport } from './verdict.ts';

/** `undefined`: the time was over, or there is no report. */
export async function runTests(
  folder: string,
  wish: {
    files: readonly string[];
    names: readonly RegExp[];
    limitMs: number;
    environment?: Record<string, string>;
  },
): Promise<TestReport | undefined> {
  const report = join(folder, 'report.json');
  rmSync(report, { force: true });
  const vitest = join(folder, 'node_modules', 'vitest', 'vitest.mjs');
  const names = wish.names.map(({ source }) => `(?:${source})`).join('|');
  const child = spawn(
    process.execPath,
    [
      vitest,
      'run',
      ...wish.files,
      '-t',
      names,
      '--maxWorkers=2',
      '--reporter=json',
      `--outputFile.json=${report}`,
    ],
    // A group of its own, so that all of it can be ended.
    {
      cwd: folder,
      stdio: 'ignore',
      detached: true,
      env: { ...process.env, ...wish.environment, CI: '1', NO_COLOR: '1' },
    },
  );
  const limit = setTimeout(() => endGroup(child.pid), wish.limitMs);
  const stop = (): void => endGroup(child.pid);
  process.once('SIGINT', stop).once('SIGTERM', stop);
  try {
    await once(child, 'exit');
  } finally {
    clearTimeout(limit);
    process.off('SIGINT', stop).off('SIGTERM', stop);
  }
  return existsSync(report) ? (JSON.parse(readFileSync(report, 'utf8')) as TestReport) : undefined;
}

function endGroup(pid: number | undefined): void {
  if (pid === undefined) return;
  try {
    process.kill(-pid, 'SIGKILL');
  } catch (error) {
    // It has ended by itself meanwhile.
    if (!(error instanceof Error && 'code' in error && error.code === 'ESRCH')) throw error;
  }
}
