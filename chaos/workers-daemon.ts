// A daemon that is killed and started again, and what it says in between: its board, looked at once for all who
// wait for something, and its commands, repeated while it is down.
import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { BoardView } from '../packages/core/src/state/views/board-view.ts';
import type { ServerProcess } from '../packages/testkit/src/daemon/server-process.ts';
import { type DaemonHome, startDaemon } from '../packages/testkit/src/daemon/start-daemon.ts';
import { until, WAIT_MS } from '../packages/testkit/src/waiting.ts';

const LOOK_EVERY_MS = 100;
/** Looks at a daemon that has nothing to do before that is believed. */
const QUIET_LOOKS = 10;

export type WorkersDaemon = ReturnType<typeof createWorkersDaemon>;
export type Said = { code: number; printed: string };

export function createWorkersDaemon(options: {
  home: DaemonHome;
  port: number;
  environment: Record<string, string>;
}) {
  const { home, port, environment } = options;
  const url = `http://127.0.0.1:${port}`;
  let running: ServerProcess | null = null;
  let looking: Promise<BoardView | null> | null = null;

  async function get(path: string): Promise<unknown> {
    const response = await fetch(url + path, { signal: AbortSignal.timeout(WAIT_MS) });
    if (!response.ok) throw new Error(`${path}: ${response.status} ${await response.text()}`);
    return response.json();
  }

  /** Null while it is down, or its state has not caught up. */
  function board(): Promise<BoardView | null> {
    looking ??= get('/api/board?all=1')
      .then(
        (view) => view as BoardView,
        () => null,
      )
      .finally(() => {
        looking = null;
      });
    return looking;
  }

  async function isIdle(): Promise<boolean> {
    const { figures } = (await get('/api/outbox')) as { figures: { pending: number; running: number } };
    return figures.pending + figures.running === 0;
  }

  return {
    url,
    board,
    start(): ServerProcess {
      running = startDaemon(home, { port, environment });
      return running;
    },
    async ready(): Promise<void> {
      await running?.ready;
    },
    async kill(): Promise<void> {
      await running?.kill();
    },
    stop: async (): Promise<number | string> => (await running?.stop()) ?? 'not started',
    /** False when it did not come true in that time. */
    async waitFor(holds: (view: BoardView) => boolean, patienceMs = WAIT_MS): Promise<boolean> {
      for (const deadline = performance.now() + patienceMs; performance.now() < deadline; ) {
        const view = await board();
        if (view !== null && holds(view)) return true;
        await sleep(LOOK_EVERY_MS);
      }
      return false;
    },
    /** Waits until nothing is left to do and nothing more is told; false when that is never so. */
    async settle(): Promise<boolean> {
      let quietLooks = 0;
      let seq = -1;
      const isQuiet = until(async () => {
        const before = quietLooks;
        quietLooks = 0;
        await sleep(LOOK_EVERY_MS);
        const view = await board();
        if (view !== null && view.seq === seq && (await isIdle())) quietLooks = before + 1;
        seq = view?.seq ?? -1;
        return quietLooks >= QUIET_LOOKS;
      });
      return isQuiet.catch(() => false);
    },
    outbox: () => get('/api/outbox'),
    /** The command line, as a person uses it. */
    svc: (...words: string[]): Promise<Said> =>
      new Promise((resolve) => {
        const env = { PATH: process.env['PATH'], HOME: home.home, SVC_DATA_DIR: home.dataDir };
        const command = [join(home.home, 'dist/svc.js'), ...words];
        execFile(
          process.execPath,
          command,
          { cwd: home.home, env, timeout: WAIT_MS },
          (error, out, wrong) => {
            const code = error === null ? 0 : typeof error.code === 'number' ? error.code : 1;
            resolve({ code, printed: (out + wrong).trim() });
          },
        );
      }),
  };
}
