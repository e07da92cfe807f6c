// A real daemon in its own home, after the recorded day or a part of it: secrets, a project file, a relay on this
// machine, earlier events in the log, signal files and agents' output in the runs folder.
import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { DAY_ENDS, type Day, openDay, readRecords } from '../../../demo/src/day.ts';
import { pastOf, writePast } from '../../../demo/src/past.ts';
import { projectSettings, repos, TICKET_PREFIX } from '../../../demo/src/project.ts';
import { type ServerProcess, startServer } from '../daemon/server-process.ts';
import { codehostSecret, runProgram, svcProgram, trackerSecret } from '../daemon/start-daemon.ts';

import { hostileDay } from './hostile.ts';
import { openTapeWorld, type TapeWorld, tokens } from './world.ts';

const repository = join(import.meta.dirname, '../../../..');

/** Minutes of the day. At `start` only earlier days have passed. */
export const momentOf = { start: 0, midday: 270, end: DAY_ENDS } as const;
export type Moment = keyof typeof momentOf;

export type TapeDaemon = {
  url: string;
  port: number;
  pid: number;
  home: string;
  eventsDir: string;
  runsDir: string;
  /** The daemon's output. */
  output: string;
  day: Day;
  applyDelivery: TapeWorld['applyDelivery'];
  /** The command line in the same home, as a person uses it. */
  svc: (...words: string[]) => Promise<{ code: number; printed: string }>;
  /** Stops it and starts it again, with the same data and port. */
  restart: () => Promise<void>;
  /** At once, like a crash. */
  kill: () => Promise<void>;
  close: () => Promise<void>;
};

export type TapeOptions = {
  /** How much of the day has passed when the daemon starts; `nothing` is an empty machine. */
  past?: Moment | 'nothing';
  hostile?: boolean;
  port?: number;
  environment?: Record<string, string>;
  /** The shipped bundle in packages/monitor/dist, instead of the source. */
  built?: boolean;
  /** Writes older lines into the log before the day's, and returns their number. */
  history?: (eventsDir: string, until: Date) => { lines: number };
  /** A folder for the home. */
  folder?: string;
};

/** The caller has to close it: `await daemon.close()`. */
export async function startTapeDaemon(options: TapeOptions = {}): Promise<TapeDaemon> {
  const { past = 'end', hostile = false, environment = {} } = options;
  const home = mkdtempSync(join(options.folder ?? tmpdir(), 'svc-tape-'));
  const remove = (): void => rmSync(home, { recursive: true, force: true });
  process.once('exit', remove);
  const dataDir = join(home, 'data');
  const eventsDir = join(dataDir, 'events');
  const runsDir = join(dataDir, 'runs');
  const output = join(home, 'daemon.log');
  const nowIs = past === 'nothing' ? Number.NEGATIVE_INFINITY : momentOf[past];
  const now = new Date(Date.now() - 1_000);
  const records = readRecords('day.jsonl');
  const day = openDay({ records: hostile ? hostileDay(records) : records, now, nowIs, pid: process.pid });
  const begins = new Date(Math.min(now.getTime(), day.timeOf(day.records[0]?.at ?? 0).getTime()) - 60_000);
  const earlier = options.history?.(eventsDir, begins).lines ?? 0;
  const happened = pastOf(day, earlier + 1);
  writePast(happened, { eventsDir, runsDir });
  const world = await openTapeWorld({ home, board: happened.board, day });
  writeConfiguration(home, world);

  const folder = join(home, 'tideline');
  const start = options.built ? join(repository, 'packages/monitor/dist/svc.js') : svcProgram;
  if (!existsSync(start)) throw new Error('no bundle; run: npm run build');
  const variables = (): Record<string, string> => ({
    HOME: home,
    SVC_DATA_DIR: dataDir,
    SVC_MONITOR_PORT: String(port),
    SVC_VERSION_FILE: join(repository, 'version.txt'),
    SVC_WEBHOOK_SECRET: codehostSecret,
    SVC_TRACKER_WEBHOOK_SECRET: trackerSecret,
    ...world.environment(),
    ...environment,
  });
  let port = options.port ?? 0;
  let server: ServerProcess;
  const run = async (): Promise<void> => {
    server = startServer({
      command: ['--max-semi-space-size=16', start, 'monitor', 'run'],
      environment: variables(),
      folder,
      announcedIn: join(dataDir, 'daemon.json'),
      output,
    });
    port = (await server.ready).port;
  };
  await run();
  return {
    get url() {
      return `http://127.0.0.1:${port}`;
    },
    get port() {
      return port;
    },
    get pid() {
      return server.pid;
    },
    home,
    eventsDir,
    runsDir,
    output,
    day,
    applyDelivery: world.applyDelivery,
    svc: (...words) => runProgram(start, words, { folder, environment: variables() }),
    async restart() {
      await server.stop();
      await run();
    },
    kill: () => server.kill(),
    async close() {
      await server.kill();
      await world.close();
      process.removeListener('exit', remove);
      remove();
    },
  };
}

/** The tracker has no channel: its feed is disabled, and its deliveries are posted directly to the daemon. */
function writeConfiguration(home: string, { relay, models, backends }: TapeWorld): void {
  const write = (path: string, value: object): void => {
    mkdirSync(dirname(join(home, path)), { recursive: true, mode: 0o700 });
    writeFileSync(join(home, path), JSON.stringify(value, null, 2), { mode: 0o600 });
  };
  write('.config/svc/config.json', {
    svc: {
      monitor: { github: { smeeChannel: relay.newChannel(), hookRepos: [...repos] } },
      projects: [join(home, 'tideline')],
      ai: { providers: { 'provider-a': { baseUrl: models.baseUrl('provider-a') } } },
    },
    archive: { root: join(home, 'data/archives') },
    otel: { enabled: true, prometheusUrl: backends.metricsUrl, lokiUrl: backends.logsUrl },
  });
  write('.config/svc/config-tideline.json', {
    svc: { tracker: { apiToken: tokens.tracker, teamKey: TICKET_PREFIX } },
  });
  write('tideline/.svc/config.json', {
    svc: {
      ...projectSettings,
      ai: { enabled: true, providers: { 'provider-a': { apiKeyEnv: 'TAPE_MODEL_KEY' } } },
    },
  });
}
