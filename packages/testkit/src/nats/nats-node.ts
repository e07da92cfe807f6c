// One nats-server with JetStream, as a process with its own loopback ports: killed, paused, drained and restarted with
// the same ports and the same store. It ends with the process that started it.
import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { closeSync, existsSync, openSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { connect } from 'node:net';
import { dirname, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { until, WAIT_MS } from '../waiting.ts';

export type NatsNode = {
  name: string;
  port: number;
  /** `nats://127.0.0.1:<port>` */
  url: string;
  /** Where `/healthz`, `/varz` and `/jsz` answer. */
  monitorUrl: string;
  /** Its files: configuration, store, and its output. */
  folder: string;
  /** Undefined while it is not running. */
  pid: () => number | undefined;
  /** With the same ports and store. Resolves when it reports that it is healthy. */
  start: () => Promise<void>;
  /** SIGKILL. */
  kill: () => Promise<void>;
  /** SIGTERM: it hands over what it leads, and ends. */
  terminate: () => Promise<void>;
  /** It stops accepting connections, hands over what it leads, disconnects its clients one by one, and ends. */
  lameDuck: () => Promise<void>;
  /** Its connections stay open, but nothing is sent. Resolves when it is stopped. */
  pause: () => Promise<void>;
  unpause: () => void;
  healthy: () => Promise<boolean>;
};

const running = new Set<ChildProcess>();
let endsWithUs = false;

/** No server outlives the process that started it, unless that is killed by SIGKILL. */
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
      // It is not listening, or paused.
      return false;
    }
  }

  async function start(): Promise<void> {
    if (child !== undefined) throw new Error(`${name} is already running`);
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

// Which nats-server tests, chaos and benches start, and its configuration for the relay.

const fetched = join(import.meta.dirname, '../../../../.cache/nats-server/usr/sbin/nats-server');

/** The one in `NATS_SERVER`, else the one that `.ci/nats-server` downloaded, else the installed one. */
export const natsProgram: string =
  process.env['NATS_SERVER'] ?? (existsSync(fetched) ? fetched : 'nats-server');
/** A PATH on which that program comes first; Debian's folder for it is not on every user's PATH. */
export const natsPath = (): string =>
  [...(natsProgram.includes('/') ? [dirname(natsProgram)] : []), process.env['PATH'], '/usr/sbin'].join(':');

export type NatsSettings = {
  /** The largest message; the server's own default is 1 MiB. */
  maxPayload?: number;
  /** Every write synced before it is acknowledged. */
  syncAlways?: boolean;
  /** Clients do not learn about the other nodes: needed if they connect through a proxy. */
  quietAboutPeers?: boolean;
  /** The folder for the nodes' stores; by default they are next to the configuration, and removed with it. */
  storesIn?: string;
};

export type NatsMember = { port: number; monitorPort: number; routePort: number };

/** The text of the file. `peers` holds all nodes of the cluster; one alone makes no cluster. */
export function natsConfiguration(given: {
  name: string;
  member: NatsMember;
  peers: readonly NatsMember[];
  storeFolder: string;
  settings: NatsSettings;
}): string {
  const { name, member, peers, storeFolder, settings } = given;
  const jetStream = [`store_dir: "${storeFolder}"`, 'max_file_store: 64GB', 'max_memory_store: 64MB'];
  if (settings.syncAlways === true) jetStream.push('sync_interval: always');
  const lines = [
    `server_name: ${name}`,
    `listen: "127.0.0.1:${member.port}"`,
    `http: "127.0.0.1:${member.monitorPort}"`,
    ...(settings.maxPayload === undefined ? [] : [`max_payload: ${settings.maxPayload}`]),
    // The minimum that the server allows.
    'lame_duck_duration: 30s',
    'lame_duck_grace_period: 1s',
    `jetstream {\n  ${jetStream.join('\n  ')}\n}`,
  ];
  if (peers.length > 1) {
    const routes = peers.map(({ routePort }) => `"nats-route://127.0.0.1:${routePort}"`).join(', ');
    const quiet = settings.quietAboutPeers === true ? '\n  no_advertise: true' : '';
    lines.push(
      `cluster {\n  name: svc-test\n  listen: "127.0.0.1:${member.routePort}"\n  routes: [${routes}]${quiet}\n}`,
    );
  }
  return `${lines.join('\n')}\n`;
}

/** `2.15.1`, or the reason why it is unknown. */
/** Throws if it is not installed. */
export function natsServerVersion(): string {
  const { stdout, error } = spawnSync(natsProgram, ['--version'], {
    encoding: 'utf8',
    timeout: WAIT_MS,
    env: { PATH: natsPath() },
  });
  const version = /v(\d+\.\d+\.\d+)/.exec(stdout ?? '')?.[1];
  if (version !== undefined) return version;
  const why = error?.message ?? 'it does not print its version';
  throw new Error(`nats-server: ${why} (run .ci/nats-server to get one)`);
}

// One request to a nats-server over a plain socket: enough for tests, without a client library.

const INBOX = '_INBOX.svc-test';
/** A leader that is being replaced does not answer. */
const ASK_AGAIN_MS = 10_000;

/** The text of the answer: `await askNats(port, '$JS.API.INFO', '')`. Asks more than once if there is none. */
export function askNats(port: number, subject: string, text: string): Promise<string> {
  return new Promise((resolve, reject) => {
    const socket = connect({ host: '127.0.0.1', port });
    let received = '';
    const timer = setTimeout(() => end(new Error(`${subject}: no answer in ${WAIT_MS} ms`)), WAIT_MS);
    const ask = (): void => {
      socket.write(`PUB ${subject} ${INBOX} ${Buffer.byteLength(text)}\r\n${text}\r\n`);
    };
    let again: NodeJS.Timeout | undefined;
    const end = (result: Error | string): void => {
      clearTimeout(timer);
      clearInterval(again);
      socket.destroy();
      if (result instanceof Error) reject(result);
      else resolve(result);
    };
    socket.setEncoding('utf8');
    socket.on('connect', () => {
      socket.write('CONNECT {"verbose":false,"pedantic":false,"headers":true,"no_responders":true}\r\n');
      socket.write(`SUB ${INBOX} 1\r\n`);
      ask();
      again = setInterval(ask, ASK_AGAIN_MS);
    });
    socket.on('data', (chunk: string) => {
      received += chunk;
      const problem = /^-ERR (.*)\r\n/m.exec(received)?.[1];
      if (problem !== undefined) return end(new Error(`${subject}: ${problem}`));
      if (/^HMSG /m.test(received)) return end(new Error(`${subject}: no responder`));
      const message = /^MSG \S+ \S+ (?:\S* )?(\d+)\r\n/m.exec(received);
      if (message === null) return undefined;
      const start = message.index + message[0].length;
      // The answers are plain ASCII: characters are bytes.
      if (received.length < start + Number(message[1])) return undefined;
      return end(received.slice(start, start + Number(message[1])));
    });
    socket.on('error', end);
    socket.on('close', () => end(new Error(`${subject}: the connection was closed`)));
  });
}
