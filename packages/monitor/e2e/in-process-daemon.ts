// A whole daemon inside the test's process, in its own home, with access to its output.
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { RunCommand } from '@svc/lib/process';
import { temporaryFolder } from '@svc/testkit';
import { onTestFinished } from 'vitest';
import { runDaemon } from '../src/daemon/run.ts';
import type { ReadSocketTable } from '../src/kernel/access/socket-table.ts';
import { readMachine } from '../src/kernel/config/environment.ts';
import { claimInstance } from '../src/kernel/instance/instance.ts';
import type { EventLine } from '../src/kernel/log/event-line.ts';

export type InProcessDaemon = Awaited<ReturnType<typeof startInProcess>>;

export async function startInProcess(
  given: {
    environment?: Record<string, string>;
    home?: string;
    now?: () => Date;
    socketTable?: ReadSocketTable;
    readOnly?: boolean;
    heartbeatMs?: number | undefined;
    run?: RunCommand;
  } = {},
) {
  const home = given.home ?? temporaryFolder();
  const environment = { SVC_MONITOR_PORT: '0', ...given.environment };
  const machine = readMachine(environment, home);
  const printed: string[] = [];
  const claimed = claimInstance(machine.dataDir);
  const daemon = await runDaemon({
    machine,
    environment,
    folder: home,
    version: '1.2.3',
    pid: process.pid,
    logTo: { write: (line) => void printed.push(line) },
    dataRootTrouble: () => claimed?.trouble() ?? null,
    now: given.now ?? (() => new Date()),
    readOnly: given.readOnly,
    heartbeatMs: given.heartbeatMs,
    ...(given.socketTable && { socketTable: given.socketTable }),
    ...(given.run && { run: given.run }),
  }).catch((error: unknown) => {
    claimed?.withdraw();
    throw error;
  });
  const { instance, port, url, startedAt } = daemon;
  await claimed?.announce({
    state: 'running',
    instance,
    pid: process.pid,
    port,
    url,
    version: '1.2.3',
    startedAt,
  });
  let closed: Promise<void> | undefined;
  const close = (): Promise<void> => (closed ??= daemon.close().then(() => claimed?.withdraw()));
  onTestFinished(close);
  /** Every event of the log, read from its files. */
  const allLines = (): EventLine[] =>
    readdirSync(machine.eventsDir)
      .filter((name) => name.endsWith('.jsonl'))
      .toSorted()
      .flatMap((name) => readFileSync(join(machine.eventsDir, name), 'utf8').split('\n'))
      .filter((text) => text !== '')
      .map((text) => JSON.parse(text) as EventLine);
  return {
    ...daemon,
    close,
    home,
    machine,
    printed: () => printed.join(''),
    allLines,
    /** Every event of the log, except the daemon's own. */
    lines: (): EventLine[] => allLines().filter((line) => line.source !== 'monitor'),
    get: async (path: string, headers: Record<string, string> = {}) => {
      const response = await fetch(daemon.url + path, { headers });
      return {
        status: response.status,
        headers: response.headers,
        body: (await response.json()) as Record<string, unknown>,
      };
    },
    post: async (
      path: string,
      body: string | Uint8Array<ArrayBuffer>,
      headers: Record<string, string> = {},
    ) => {
      const response = await fetch(daemon.url + path, { method: 'POST', body, headers });
      return {
        status: response.status,
        headers: response.headers,
        body: (await response.json()) as Record<string, unknown>,
      };
    },
  };
}
