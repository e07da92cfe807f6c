// The daemon from start to exit: claims the data root, runs, and stops on a signal.
//   first SIGTERM, SIGINT or SIGHUP   requests in progress finish, everything is closed, exit 0
//   second signal                     exit at once; what was acknowledged is on disk anyway
//   an uncaught error                 logged, exit 70
//   another process has the data root logged, exit 6 at once: there must be only one writer
import { constants } from 'node:os';
import { setTimeout as sleep } from 'node:timers/promises';
import { systemErrorCode } from '@svc/lib/errors';
import { every } from '@svc/lib/rounds';
import type { DestinationStream, Logger } from 'pino';
import type { Machine } from '../kernel/config/environment.ts';
import type { Environment } from '../kernel/config/resolved-value.ts';
import { Failure } from '../kernel/failure.ts';
import type { Host } from '../kernel/instance/control.ts';
import {
  askHealth,
  type FoundDaemon,
  findDaemon,
  notAnswering,
  remedyFor,
} from '../kernel/instance/find-daemon.ts';
import { claimInstance, type Instance } from '../kernel/instance/instance.ts';
import type { RunDoctor } from './routes.ts';
import type { RunningDaemon } from './run.ts';

const EXIT_BUG = 70;
const EXIT_TAKEN = 6;
const KEEP_EVERY_MS = 5_000;
const CLAIM_WITHIN_MS = 10_000;
const CLOSE_WITHIN_MS = 10_000;
const LINGER_MS = 1_000;

export type LifetimeOptions = {
  machine: Machine;
  environment: Environment;
  folder: string;
  version: string;
  now: () => Date;
  host: Host;
  runDoctor?: RunDoctor | undefined;
  /** As in `DaemonOptions`. */
  readOnly?: boolean;
  /** The log file; undefined for standard output. */
  logFile: string | undefined;
};

export async function runUntilStopped(options: LifetimeOptions): Promise<void> {
  const { machine, host } = options;
  const instance = await claimOrSayWho(machine.dataDir);
  const stopSignal = untilStopSignal(host);
  try {
    // Loaded only now, so the command line starts fast and a second daemon exits fast.
    const [{ runDaemon }, { createLogger }] = await Promise.all([
      import('./run.ts'),
      import('../kernel/telemetry/logger.ts'),
    ]);
    const logTo = await logDestination(options);
    const logger = createLogger(logTo);
    host.onFault((error) => {
      logger.fatal({ err: error }, 'a bug in svc ended the daemon; please report it');
      host.exit(EXIT_BUG);
    });
    const daemon = await runDaemon({
      ...options,
      pid: host.pid,
      logTo,
      dataRootTrouble: instance.trouble,
    }).catch(async (error: unknown) => {
      throw systemErrorCode(error) === 'EADDRINUSE' ? await portTaken(machine) : error;
    });
    await serve(daemon, instance, options, stopSignal, logger);
  } finally {
    instance.withdraw();
    // Nothing should keep the process alive now; if something does, it must not run without the data root.
    setTimeout(() => host.exit(), LINGER_MS).unref();
  }
}

async function serve(
  daemon: RunningDaemon,
  instance: Instance,
  { version, host }: LifetimeOptions,
  stopSignal: Promise<NodeJS.Signals>,
  logger: Logger,
): Promise<void> {
  const { port, url, startedAt } = daemon;
  const identity = { instance: daemon.instance, pid: host.pid, port, url, version, startedAt };
  const keeping = every(
    KEEP_EVERY_MS,
    async () => {
      if ((await instance.keep()) === 'held') return;
      logger.fatal('another process has taken the data root; this daemon exits now');
      host.exit(EXIT_TAKEN);
    },
    (error) => logger.error({ err: error }, 'cannot take the lock of the data root again'),
  );
  try {
    await instance.announce({ state: 'running', ...identity });
    logger.info({ signal: await stopSignal }, 'stopping');
    await keeping.stop();
    await instance
      .announce({ state: 'stopping', ...identity })
      .catch((error: unknown) =>
        logger.warn({ err: error }, 'cannot write to daemon.json that the daemon is stopping'),
      );
  } finally {
    await keeping.stop();
    const late = setTimeout(() => {
      logger.fatal(`the daemon did not close within ${CLOSE_WITHIN_MS / 1000} s`);
      host.exit(EXIT_BUG);
    }, CLOSE_WITHIN_MS);
    await daemon.close().finally(() => clearTimeout(late));
  }
}

/** Takes the data root. Waits a little for a daemon that is starting or stopping, to report it or to replace it. */
async function claimOrSayWho(dataDir: string): Promise<Instance> {
  const deadline = performance.now() + CLAIM_WITHIN_MS;
  for (;;) {
    const instance = claimInstance(dataDir);
    if (instance !== undefined) return instance;
    const found = await findDaemon(dataDir);
    if (found.state === 'running' || performance.now() > deadline) throw alreadyRunning(found, dataDir);
    await sleep(10 + Math.random() * 30);
  }
}

function alreadyRunning(found: FoundDaemon, dataDir: string): Failure {
  if (found.state === 'running') {
    const { pid, url } = found.daemon;
    return new Failure(
      'already-running',
      `The daemon of ${dataDir} is already running: pid ${pid}, ${url}`,
      'Replace it with: svc monitor restart',
    );
  }
  const { message } = notAnswering(found, dataDir);
  return new Failure('already-running', message, remedyFor(found, dataDir));
}

async function portTaken({ dataDir, port }: Machine): Promise<Failure> {
  const other = await askHealth(dataDir, port);
  const who = other === undefined ? 'another program' : `the daemon of another data root (pid ${other.pid})`;
  return new Failure(
    'port-taken',
    `Port ${port} is in use by ${who}.`,
    'Set SVC_MONITOR_PORT to a free port, or stop that program.',
  );
}

async function logDestination({ logFile, now, host }: LifetimeOptions): Promise<DestinationStream> {
  if (logFile !== undefined) {
    const { openLogFile } = await import('../kernel/instance/log-file.ts');
    return openLogFile(logFile, now);
  }
  const { destination } = await import('pino');
  // While the pipe is not read, lines wait in memory up to a limit, and the daemon continues.
  return destination({ fd: host.standardOutput, sync: false, maxLength: 4 * 1024 * 1024 });
}

function untilStopSignal(host: Host): Promise<NodeJS.Signals> {
  return new Promise((resolve) => {
    let asked = false;
    host.onStopSignal((name) => {
      if (asked) host.exit(128 + constants.signals[name]);
      asked = true;
      resolve(name);
    });
  });
}
