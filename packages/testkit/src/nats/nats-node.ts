// One nats-server with JetStream, as a process of its own on loopback ports of its own: killed, paused, drained and
// started again on the same ports and the same store. It ends with the process that started it.
import { type ChildProcess, spawn } from 'node:child_process';
import { closeSync, openSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { until, WAIT_MS } from '../waiting.ts';
import { natsPath, natsProgram } from './nats-configuration.ts';

export type NatsNode = {
  name: string;
  port: number;
  /** `nats://127.0.0.1:<port>` */
  url: string;
  /** Where `/healthz`, `/varz` and `/jsz` answer. */
  monitorUrl: string;
  /** Its files: configuration, store, and all that it printed. */
  folder: string;
  /** Undefined while it does not run. */
  pid: () => number | undefined;
  /** Again, on the same ports and store. Resolves when it answers that it is healthy. */
  start: () => Promise<void>;
  /** -9: no chance to say goodbye. */
  kill: () => Promise<void>;
  /** SIGTERM: it hands over what it leads, and ends. */
  terminate: () => Promise<void>;
  /** It stops taking connections, hands over what it leads, sends its clients away one by one, and ends. */
  lameDuck: () => Promise<void>;
  /** Its connections stay open and nothing comes any more. Resolves when it stands still. */
  pause: () => Promise<void>;
  unpause: () => void;
  healthy: () => Promise<boolean>;
};

const running = new Set<ChildProcess>();
let endsWithUs = false;

/** No server outlives the process that started it, however that ends, -9 aside. */
function endWithUs(child: ChildProcess): void {
  running.add(child);
  child.once('exit', () => running.delete(child));
  if (endsWithUs) return;
  endsWithUs = true;
  process.on('exit', () => {
    for (const left of running) left.kill('SIGKILL');
  });
}

/** Not started yet. `configuration` is the whole text of its configuration file. */
export function createNatsNode(given: {
  name: string;
  folder: string;
  port: number;
  monitorPort: number;
  configuration: string;
}): NatsNode {
  const { name, folder, port, monitorPort, configuration } = given;
  const file = join(folder, `${name}.conf`);
  const output = join(folder, `${name}.log`);
  const monitorUrl = `http://127.0.0.1:${monitorPort}`;
  let child: ChildProcess | undefined;
  let ended: Promise<string> = Promise.resolve('it was never started');

  async function healthy(): Promise<boolean> {
    try {
      return (await fetch(`${monitorUrl}/healthz`, { signal: AbortSignal.timeout(2000) })).ok;
    } catch {
      // Nobody listens, or it is paused.
      return false;
    }
  }

  async function start(): Promise<void> {
    if (child !== undefined) throw new Error(`${name} runs already`);
    writeFileSync(file, configuration);
    const written = openSync(output, 'a');
    const started = spawn(natsProgram, ['-c', file], {
      cwd: folder,
      env: { PATH: natsPath() },
      stdio: ['ignore', written, written],
    });
    closeSync(written);
    child = started;
    ended = new Promise((resolve) => {
      const over = (how: string): void => {
        if (child === started) child = undefined;
        resolve(how);
      };
      started.once('error', (error) => over(`${error.message} (run .ci/nats-server to get one)`));
      started.once('exit', (code, signal) => over(`it ended with ${code ?? signal}`));
    });
    endWithUs(started);
    for (const deadline = performance.now() + WAIT_MS; !(await healthy()); await sleep(20)) {
      if (child !== started) throw new Error(`${name}: ${await ended}\n${lastLines(output)}`);
      if (performance.now() > deadline)
        throw new Error(`${name} is not healthy after ${WAIT_MS} ms\n${lastLines(output)}`);
    }
  }

  async function end(signal: NodeJS.Signals): Promise<void> {
    const ending = child;
    if (ending === undefined) return;
    ending.kill(signal);
    const enough = new AbortController();
    const late = sleep(WAIT_MS, 'late', { signal: enough.signal }).catch(() => 'on time');
    if ((await Promise.race([ended, late])) === 'late') ending.kill('SIGKILL');
    enough.abort();
    await ended;
  }

  return {
    name,
    port,
    url: `nats://127.0.0.1:${port}`,
    monitorUrl,
    folder,
    pid: () => child?.pid,
    start,
    kill: () => end('SIGKILL'),
    terminate: () => end('SIGTERM'),
    lameDuck: () => end('SIGUSR2'),
    async pause() {
      const pid = child?.pid;
      if (pid === undefined) return;
      child?.kill('SIGSTOP');
      await until(() => standsStill(pid));
    },
    unpause: () => void child?.kill('SIGCONT'),
    healthy,
  };
}

/** The signal reaches one thread after the other. */
function standsStill(pid: number): boolean {
  if (process.platform !== 'linux') return true;
  const threads = readdirSync(`/proc/${pid}/task`);
  return threads.every((thread) => /\) T /.test(readFileSync(`/proc/${pid}/task/${thread}/stat`, 'latin1')));
}

function lastLines(file: string): string {
  return readFileSync(file, 'utf8').trimEnd().split('\n').slice(-15).join('\n');
}
