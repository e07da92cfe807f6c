// The fault table of docs/internals/faults.md, row by row, without the rows of the feeds (feed-faults.test.ts): what
// `svc doctor` prints, its fix, and what `--fix` does. Faults that only a daemon can have come from one
// that reports them.
import { spawnSync } from 'node:child_process';
import { createHmac } from 'node:crypto';
import { chmodSync, mkdirSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { dirname, join } from 'node:path';
import {
  codehostExample,
  feedsOff,
  healthyReport,
  svcProgram,
  temporaryFolder,
  testTracker,
  until,
} from '@svc/testkit';
import { expect, onTestFinished, test } from 'vitest';
import { type SelfCheck } from '../src/features/doctor/self-check.ts';
import { judgeFeeds, type ReportedFeeds } from '../src/features/feeds/judge-feeds.ts';
import { judgeHealth, judgeSelfCheck, type ReportedHealth } from '../src/features/health/judge-daemon.ts';
import { testRepository } from '../src/features/worktrees/testing/repository.ts';
import { inDoctorOrder } from '../src/kernel/check/finding.ts';
import { claimInstance } from '../src/kernel/instance/instance.ts';
import { covered, feedWorld, SECRET } from './feed-world.ts';
import { startInProcess } from './in-process-daemon.ts';
import { type Patient, runDoctor } from './run-doctor.ts';

const MIB = 1024 * 1024;
const NOWHERE = 'http://127.0.0.1:9';

type Home = ReturnType<typeof newHome>;
type Row = {
  fault: string;
  given: (home: Home) => Promise<Partial<Patient> | undefined> | Partial<Patient> | undefined;
  says: (string | RegExp)[];
  /** What `--fix` reports; without it nothing may be fixed. */
  fixes?: RegExp;
  /** The files afterwards: none may be the doctor's. */
  leaves?: (home: Home) => string[];
};

function newHome() {
  const home = temporaryFolder();
  const write = (path: string, value: unknown, mode = 0o600) => {
    const file = join(home, path);
    mkdirSync(dirname(file), { recursive: true, mode: 0o700 });
    writeFileSync(file, typeof value === 'string' ? value : JSON.stringify(value));
    chmodSync(file, mode);
    return file;
  };
  return { home, write, at: (path: string) => join(home, path) };
}

/** A program that listens on its own port and answers every path with the given response. */
async function listener(answers: Record<string, () => unknown> = {}): Promise<number> {
  const server = createServer((request, response) => {
    const answer = answers[(request.url ?? '').split('?')[0] ?? ''];
    response.statusCode = answer === undefined ? 404 : 200;
    response.end(JSON.stringify(answer?.() ?? {}));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  return (server.address() as AddressInfo).port;
}

type Reported = {
  health?: Partial<ReportedHealth>;
  feeds?: Partial<ReportedFeeds>;
  tried?: Partial<SelfCheck>;
};
const { log: wellLog, outbox: wellOutbox } = healthyReport();
const allWell: SelfCheck = {
  log: { ok: true, seq: 5, milliseconds: 1 },
  receivers: [],
  providers: { enabled: false, present: [], missing: [] },
};

/** Holds the data root and reports what the test gives it. */
async function reportingDaemon(home: string, { health, feeds, tried }: Reported): Promise<undefined> {
  const instance = crypto.randomUUID();
  const startedAt = new Date().toISOString();
  let port = 0;
  const identity = () => {
    return { instance, pid: process.pid, version: '0.1.0', startedAt, port, url: `http://127.0.0.1:${port}` };
  };
  port = await listener({
    '/api/health': () => ({
      ...identity(),
      configuration: { folders: [] },
      findings: inDoctorOrder([...judgeHealth(healthyReport(health)), ...judgeFeeds(feedsOff(feeds))]),
    }),
    '/api/doctor': () => ({ findings: judgeSelfCheck({ ...allWell, ...tried }) }),
    '/api/events/reindex': () => ({ lines: 5, seconds: 0.1 }),
    '/api/feeds/check': () => ({ repos: [], polled: [{ feed: 'codehost', state: 'polled', checked: 3 }] }),
  });
  const claimed = claimInstance(join(home, 'svc'));
  await claimed?.announce({ state: 'running', ...identity() });
  onTestFinished(() => claimed?.withdraw());
}

const reports =
  (reported: Reported) =>
  ({ home }: Home) =>
    reportingDaemon(home, reported);

const healthy = async ({ home, write }: Home, svc: object = {}, environment: Record<string, string> = {}) => {
  write('.svc/config.json', { svc: { projectKey: 'demo', ...svc } });
  await startInProcess({ home, environment });
  return { environment };
};

const silent = (grade: 'late' | 'blind', why: string, remedy: string) => {
  const seen = { lastPingAt: 0, lastMessageAt: null, unauthorisedLastHour: { exact: 0, reserialised: 0 } };
  const feeds: ['codehost'] = ['codehost'];
  return { tunnels: [{ feeds, grade, since: null, code: null, why, remedy, ...seen }] };
};

const rows: Row[] = [
  {
    fault: 'daemon not running',
    given({ home }) {
      const environment = { PATH: process.env['PATH'] ?? '', HOME: home };
      onTestFinished(async () => {
        await until(
          () =>
            spawnSync(process.execPath, [svcProgram, 'monitor', 'stop'], { env: environment }).status === 0,
        );
      });
      return { environment, tools: { host: { program: [process.execPath, svcProgram] } } };
    },
    says: [
      /^broken +daemon +the daemon is not running\n.*\n +Start it: svc monitor start$/m,
      /^unknown +log +unknown while the daemon is stopped: log, index, state, outbox/m,
    ],
    fixes: /^daemon +fixed: started the daemon: pid \d+, http:[^]*No problems found\.$/m,
  },
  {
    fault: 'daemon does not answer',
    async given({ home }) {
      const claimed = claimInstance(join(home, 'svc'));
      const startedAt = new Date().toISOString();
      const record = { instance: crypto.randomUUID(), pid: process.pid, version: '1', startedAt };
      await claimed?.announce({ state: 'running', ...record, port: 9, url: NOWHERE });
      onTestFinished(() => claimed?.withdraw());
    },
    says: [
      /^broken +daemon +the daemon runs but does not answer\n +pid \d+\n +See what it is doing: svc monitor logs/m,
    ],
  },
  {
    fault: 'port taken by another program',
    given: async () => ({ environment: { SVC_MONITOR_PORT: String(await listener()) } }),
    says: [/^broken +port +port \d+ is used by another program\n.*\n +Find it: fuser -v \d+\/tcp/m],
  },
  {
    fault: 'port taken by the daemon of another data root',
    async given() {
      const other = await startInProcess();
      return { environment: { SVC_MONITOR_PORT: String(other.port) } };
    },
    says: [
      /^broken +port +port \d+ is used by the svc daemon of another data root\n +pid \d+.*\n +Stop it with its own SVC_DATA_DIR/m,
    ],
  },
  {
    fault: 'two daemons on one machine',
    async given(home) {
      const other = await startInProcess();
      await healthy(home);
      return { environment: { SVC_MONITOR_PORT: String(other.port) } };
    },
    says: [/^warning +daemon +a second svc daemon runs on this machine[^]*svc monitor stop$/m],
  },
  {
    fault: 'configuration with a wrong type',
    given: (home) => healthy(home, { feedback: { autoFile: 'yes' } }),
    says: [
      /^broken +configuration +.*svc\.feedback\.autoFile: expected true or false[^]*svc config explain svc\.feedback\.autoFile/m,
    ],
  },
  {
    fault: 'configuration that is not JSON',
    async given(home) {
      await healthy(home);
      home.write('.svc/config.json', '{');
    },
    says: [/^broken +configuration .*is not valid JSON[^]*svc config validate/m],
  },
  {
    fault: 'a project that the daemon does not know',
    async given(home) {
      await healthy(home);
      home.write('other/.svc/config.json', { svc: { projectKey: 'other' } });
      return { folder: home.at('other') };
    },
    says: [
      /^warning +configuration +the daemon does not serve .*\/other\n.*\n +Register it: cd '.*\/other' && svc check-project-setup$/m,
    ],
  },
  {
    fault: 'a key that nothing reads',
    given: (home) => healthy(home, { feedbak: {} }),
    says: [/^warning +configuration +.*svc\.feedbak: unknown key[^]*Did you mean feedback/m],
  },
  {
    fault: 'a deprecated key',
    async given(home) {
      home.write('.config/svc/config.json', { otel: { prometheus: 'http://127.0.0.1:9090' } });
      await healthy(home);
    },
    says: [
      /^warning +configuration +.*otel\.prometheus: is deprecated here[^]*Rename it to otel\.prometheusUrl/m,
    ],
    fixes: /^configuration +fixed: renamed otel\.prometheus to otel\.prometheusUrl in .*config\.json$/m,
  },
  {
    fault: 'a secrets file that others may read',
    async given(home) {
      await healthy(home);
      const tracker = { apiToken: 'hush-hush', teamKey: 'ABC' };
      home.write('.config/svc/config-demo.json', { svc: { tracker } }, 0o644);
    },
    says: [/^broken +secrets +other users can read .*config-demo\.json\n +mode 644.*\n +Run: chmod 600 '/m],
    fixes: /^secrets +fixed: set the mode of .*config-demo\.json to 600$/m,
  },
  {
    fault: 'a webhook secret that others may read',
    async given(home) {
      await healthy(home);
      home.write('.config/svc/webhook-secret', 'hush-hush', 0o640);
    },
    says: [/^broken +secrets +other users can read .*webhook-secret\n +mode 640/m],
    fixes: /^secrets +fixed: set the mode of .*webhook-secret to 600$/m,
  },
  {
    fault: 'a configuration folder that others may write to',
    async given(home) {
      await healthy(home);
      home.write('.config/svc/config.json', {});
      chmodSync(home.at('.config/svc'), 0o777);
    },
    says: [/^broken +secrets +other users can change the files in .*\n +mode 777.*\n +Run: chmod 700 '/m],
    fixes: /^secrets +fixed: set the mode of .*\.config\/svc to 700$/m,
  },
  {
    fault: 'disk filling up',
    given: async (home) => ({
      ...(await healthy(home)),
      tools: { diskSpace: async () => ({ freeBytes: 600 * MIB, freeFiles: null }) },
    }),
    says: [/^warning +disk +the disk of .* is filling up\n +600 MiB are free\n +Free disk space/m],
  },
  {
    fault: 'too many files',
    given: async (home) => ({
      ...(await healthy(home)),
      tools: { diskSpace: async () => ({ freeBytes: 5000 * MIB, freeFiles: 12 }) },
    }),
    says: [
      /^broken +disk +the disk of .* has too many files: new ones cannot be created\n +12 more can be created\n +Remove files .*du -x --inodes/m,
    ],
  },
  {
    fault: 'disk full',
    given: async (home) => ({
      ...(await healthy(home)),
      tools: { diskSpace: async () => ({ freeBytes: 20 * MIB, freeFiles: 500 }) },
    }),
    says: [/^broken +disk +the disk of .* is almost full: deliveries will be rejected\n +20 MiB are free/m],
  },
  {
    fault: 'a data folder that cannot be written',
    given: ({ write }) => ({ environment: { SVC_EVENTS_DIR: write('events', 'a file') } }),
    says: [/^broken +disk +.*events cannot be written\n +ENOTDIR.*\n +Check it: ls -ld '/m],
  },
  {
    fault: 'a full disk that takes nothing',
    given: async (home) => ({
      ...(await healthy(home)),
      tools: {
        // As on a full disk: the file is created, and its bytes are refused.
        async writeFile(path) {
          writeFileSync(path, '');
          throw Object.assign(new Error('ENOSPC: no space left on device, write'), { code: 'ENOSPC' });
        },
      },
    }),
    says: [
      /^broken +disk +.*svc cannot be written\n +ENOSPC.*\n +Free disk space; find the largest folders: du/m,
    ],
    leaves: (home) => readdirSync(home.at('svc'), { recursive: true }).map(String),
  },
  {
    fault: 'a data root that others may look into',
    async given(home) {
      await healthy(home);
      chmodSync(home.at('svc'), 0o755);
    },
    says: [/^warning +secrets +other users can list .*svc\n +mode 755, it must be 700\n +Run: chmod 700 '/m],
    fixes: /^secrets +fixed: set the mode of .*svc to 700$/m,
  },
  {
    fault: 'data root removed while the daemon runs',
    given: reports({
      health: {
        dataRoot: { state: 'degraded', why: 'the data root was removed', remedy: 'Run: svc monitor restart' },
      },
    }),
    says: [/^broken +daemon +the data root was removed\n +Run: svc monitor restart$/m],
  },
  {
    fault: 'clock behind the log',
    given: reports({
      health: {
        clock: { state: 'degraded', why: "this machine's clock is behind", remedy: 'Check the clock' },
      },
    }),
    says: [/^broken +clock +this machine's clock is behind\n +Check the clock$/m],
  },
  {
    fault: 'lines missing from the log',
    given: reports({
      health: { log: { ...wellLog, missing: [{ from: 31, to: 60 }] } },
    }),
    says: [/^broken +log +events 31 to 60 are missing from the log\n.*svc events reindex --accept-missing/m],
  },
  {
    fault: 'log file changed by another program',
    given: reports({ health: { log: { ...wellLog, fileChanged: true } } }),
    says: [/^broken +log +another program removed, truncated or replaced .*\n +Run: svc monitor restart/m],
  },
  {
    fault: 'database damaged',
    given: ({ write }) => nothing(write('svc/svc.db', 'no database '.repeat(500))),
    says: [
      /^broken +database +the database is damaged: .*svc\.db\n +file is not a database\n +Run: svc monitor restart/m,
    ],
  },
  {
    fault: 'a check that hangs',
    given: async (home) => ({
      ...(await healthy(home)),
      tools: { timeoutMs: 700, diskSpace: () => new Promise<never>(() => undefined) },
    }),
    says: [/^unknown +disk +the check of disk took longer than 0\.7 s\n +Try again later/m],
  },
  {
    fault: 'spool rejected',
    async given(home) {
      await healthy(home);
      home.write('svc/spool/rejected/0001.json', '{}');
    },
    says: [/^warning +spool +some reports from helper scripts could not be read\n +1 in .*\n +Look at them/m],
  },
  {
    fault: 'signal file corrupt',
    async given(home) {
      home.write('svc/runs/run-1/workers/ABC-1.json', '{');
      const { environment } = await healthy(home);
      await until(async () =>
        /status files cannot be read/.test((await runDoctor({ ...home, environment })).printed),
      );
    },
    says: [/^warning +signals +some status files cannot be read[^]*1 of \d+\n +List them: svc attention/m],
  },
  {
    fault: 'a line of the log that cannot be read',
    async given(home) {
      const first = await startInProcess({ home: home.home });
      await first.close();
      const month = `svc/events/${new Date().toISOString().slice(0, 7)}.jsonl`;
      const lines = readFileSync(home.at(month), 'utf8').trimEnd().split('\n');
      writeFileSync(home.at(month), `${[lines[0], 'torn', ...lines.slice(1)].join('\n')}\n`);
      for (const end of ['', '-wal', '-shm']) rmSync(home.at(`svc/svc.db${end}`), { force: true });
      await healthy(home);
    },
    says: [
      /^warning +log +the event log has lines that cannot be read; they are skipped\n +\d+ since.*\n +Find them: svc monitor logs/m,
    ],
  },
  {
    fault: 'a worktree partly created',
    async given(home) {
      const { worktrees, base, patient } = await project(home);
      await worktrees.create('ABC-1');
      const record = join(base, '.records/ABC-1.json');
      const made = JSON.parse(readFileSync(record, 'utf8')) as object;
      writeFileSync(record, JSON.stringify({ ...made, state: 'making' }));
      return patient;
    },
    says: [
      /^warning +worktrees +worktree ABC-1 is partly created\n.*\n +Run: cd '.*' && svc worktree remove ABC-1$/m,
    ],
    fixes: /^worktrees +fixed: removed the worktree ABC-1, which was partly created and empty$/m,
  },
  {
    fault: 'a worktree whose folder is gone',
    async given(home) {
      const { worktrees, patient } = await project(home);
      const { path } = await worktrees.create('ABC-2');
      rmSync(path, { recursive: true });
      return patient;
    },
    says: [
      /^warning +worktrees +worktree ABC-2 is folder missing\n.*\n +Run: cd '.*' && svc worktree remove ABC-2$/m,
    ],
  },
  {
    fault: 'data of a newer version',
    async given(home) {
      await healthy(home);
      home.write('svc/format.json', { format: 99, svc: '9.0.0' });
    },
    says: [
      /^broken +version +this svc cannot use the data folder\n +The data in .* has format 99, written by svc 9\.0\.0\. .*\n +Update svc to 9\.0\.0 or newer/m,
    ],
  },
  {
    fault: 'skills of another version',
    async given(home) {
      await healthy(home);
      home.write('.agents/skills/.svc-dev.json', { version: '0.0.1', files: {} });
    },
    says: [
      /^warning +version +the skills of codex.* are not those of this svc\n.*version 0\.0\.1, this svc: .*\n +Run: svc skills install --agent codex$/m,
    ],
  },
  {
    fault: 'version drift',
    async given(home) {
      await healthy(home);
      mkdirSync(home.at('cache/99.0.0'), { recursive: true });
      return { environment: { SVC_PLUGIN_CACHE_ROOT: home.at('cache') } };
    },
    says: [
      /^warning +version +version .* is older than the installed 99\.0\.0\n +Update svc, then run: svc monitor restart$/m,
    ],
  },
  {
    fault: "a provider's key is missing",
    given: (home) =>
      healthy(home, { ai: { enabled: true, providers: { 'provider-a': { apiKeyEnv: 'KEY_OF_A' } } } }),
    says: [
      /^warning +providers +provider-a has no key\n +KEY_OF_A is not set for the daemon\n +Set KEY_OF_A and run: svc monitor restart$/m,
    ],
  },
  {
    fault: 'summaries on without a provider',
    given: (home) => healthy(home, { ai: { enabled: true } }),
    says: [/^warning +providers +summaries are on, but no provider is configured\n +Run: svc config set/m],
  },
  {
    fault: 'a metrics backend that does not answer',
    async given(home) {
      home.write('.config/svc/config.json', { otel: { enabled: true, prometheusUrl: NOWHERE } });
      await healthy(home);
      await until(async () => (await runDoctor(home)).printed.includes('backend'));
    },
    says: [/^warning +telemetry +the metrics backend does not answer: .*\n +Start it, or correct its URL/m],
  },
  {
    fault: 'a team without a token',
    given: (home) => healthy(home, { project: { ticketPrefix: 'ABC' }, tracker: { teamKey: 'ABC' } }),
    says: [
      /^warning +tracker +team ABC has no API token: its tickets are not followed\n +Store one: svc config set svc\.tracker\.apiToken/m,
    ],
  },
  {
    fault: 'a team that the tracker does not have',
    async given(home) {
      const tracker = await testTracker('token');
      home.write('.config/svc/config-demo.json', { svc: { tracker: { apiToken: 'token', teamKey: 'XYZ' } } });
      return healthy(
        home,
        { project: { ticketPrefix: 'XYZ' }, tracker: { teamKey: 'XYZ' } },
        { SVC_TRACKER_API_URL: tracker.url },
      );
    },
    says: [
      /^broken +tracker +the tracker has no team XYZ that the token can read\n +Correct it: svc config set svc\.tracker\.teamKey/m,
    ],
  },
  {
    fault: 'log not writable',
    given: reports({
      health: {
        log: {
          ...wellLog,
          failing: 'ENOSPC',
          why: 'ENOSPC',
          remedy: 'Free disk space.',
        },
      },
      tried: {
        log: { ok: false, step: 'write', why: 'ENOSPC', remedy: 'Free disk space and check the folder' },
      },
    }),
    says: [
      /^broken +log +the event log cannot be written: ENOSPC\n +Free disk space\.$/m,
      /^broken +log +a test event could not be written to the event log\n +ENOSPC\n +Free disk space/m,
    ],
  },
  {
    fault: 'a written line that is not in its file',
    given: reports({
      tried: { log: { ok: false, step: 'file', why: 'line 5 is not there', remedy: 'Check the disk' } },
    }),
    says: [
      /^broken +log +a test event was written, but is not in its file\n +line 5 is not there\n +Check the disk$/m,
    ],
  },
  {
    fault: 'a written line that the index does not find',
    given: reports({
      tried: {
        log: { ok: false, step: 'index', why: 'line 5', remedy: 'Rebuild the index: svc events reindex' },
      },
    }),
    says: [
      /^broken +index +a test event was written, but the index does not find it\n.*\n +Rebuild the index: svc events reindex$/m,
    ],
    fixes: /^index +fixed: rebuilt the index: 5 lines$/m,
  },
  {
    fault: 'index far behind',
    given: reports({ health: { log: { ...wellLog, indexLag: 50_000 } } }),
    says: [/^warning +index +the index is far behind the log\n.*\n +Rebuild it: svc events reindex$/m],
    fixes: /^index +fixed: rebuilt the index/m,
  },
  {
    fault: 'index not writable',
    given: reports({
      health: { log: { ...wellLog, indexFailing: 'disk I/O error' } },
    }),
    says: [/^broken +index +the index cannot be written: disk I\/O error\n.*\n +Free disk space/m],
  },
  {
    fault: 'a feed that is late',
    given: reports({
      feeds: silent('late', 'the relay is connected but silent', 'It is retried automatically'),
    }),
    says: [
      /^warning +feeds +the codehost feed is late: the relay is connected but silent\n +last relay ping 1970-.*\n +It is retried automatically$/m,
    ],
  },
  {
    fault: 'a feed that is blind',
    given: reports({
      feeds: silent('blind', 'the relay is connected but silent', 'Check the network and the relay'),
    }),
    says: [
      /^broken +feeds +the codehost feed is blind: the relay is connected but silent\n.*\n +Check the network and the relay$/m,
    ],
  },
  {
    fault: 'code host unreachable',
    given: reports({
      feeds: {
        codehost: {
          state: 'failing',
          code: 'unavailable',
          why: 'it does not answer',
          remedy: 'Wait',
          lastAt: null,
          clock: null,
        },
      },
    }),
    says: [/^broken +code-host +the code host cannot be polled: it does not answer$/m],
    fixes: /^code-host +fixed: polled the code host: 3 checked$/m,
  },
  {
    fault: 'board degraded',
    given: reports({ health: { state: { state: 'degraded', why: 'disk full', remedy: 'Free disk space' } } }),
    says: [/^broken +state +the board does not work: disk full\n +Free disk space$/m],
  },
  {
    fault: 'outbox given up',
    given: reports({ health: { outbox: { ...wellOutbox, givenUp: 2 } } }),
    says: [/^warning +outbox +the outbox gave up on some actions\n +2 given up\n +List them: svc outbox/m],
  },
  {
    fault: 'outbox retrying',
    given: reports({
      health: {
        outbox: {
          ...wellOutbox,
          pending: 3,
          retryingCount: 1,
          retrying: [{ key: '1:notify:x', kind: 'notify', attempts: 1, error: 'refused', nextAt: 0 }],
        },
      },
    }),
    says: [
      /^warning +outbox +the outbox is retrying failed actions\n +1 of 3, the first: 1:notify:x: refused\n.*svc outbox$/m,
    ],
  },
  {
    fault: 'outbox not writable',
    given: reports({
      health: { outbox: { ...wellOutbox, state: 'degraded', why: 'disk full', remedy: 'Free disk space' } },
    }),
    says: [/^broken +outbox +the outbox does not work: disk full\n +Free disk space$/m],
  },
  {
    fault: 'folder of runs unreadable',
    given: reports({
      health: { signals: { state: 'degraded', why: 'EACCES', remedy: 'Check the folder of runs' } },
    }),
    says: [
      /^broken +signals +the reader of status files does not work: EACCES\n +Check the folder of runs$/m,
    ],
  },
  {
    fault: 'a receiver that does not take a signed delivery',
    given: reports({
      tried: {
        receivers: [
          {
            feed: 'codehost',
            ok: false,
            disabled: false,
            why: 'it answered 500',
            remedy: 'See: svc monitor logs',
          },
        ],
      },
    }),
    says: [
      /^broken +receiver +the codehost receiver did not accept a signed delivery\n +it answered 500\n +See: svc monitor logs$/m,
    ],
  },
];

function nothing(_done: unknown): undefined {
  return undefined;
}

/** A project that is a repository, with a daemon. */
async function project({ home: root, write }: Home) {
  const { folder, home, base, worktrees, environment } = testRepository(root);
  write('web/.svc/config.json', { svc: { projectKey: 'demo' } });
  await startInProcess({ home });
  return { worktrees: worktrees(), base, patient: { home, folder, environment } };
}

test.each(rows)('$fault', async ({ given, says, fixes, leaves }) => {
  const home = newHome();
  const patient: Patient = { home: home.home, ...(await given(home)) };
  const { code, printed } = await runDoctor(patient);
  for (const words of says) expect(printed).toMatch(words);
  expect(code).toBe(/^broken/m.test(printed) ? 1 : 0);
  expect(printed).not.toContain('hush');
  expect(leaves?.(home).filter((name) => name.includes('.doctor-')) ?? []).toEqual([]);
  if (fixes === undefined) return;
  expect(printed).toContain('of them: svc doctor --fix');
  const fixed = await runDoctor(patient, '--fix');
  expect(fixed.printed).toMatch(fixes);
});

test('what was fixed is checked again, and is fine', async () => {
  const home = newHome();
  await healthy(home);
  const file = home.write('.config/svc/config.json', {}, 0o644);
  expect((await runDoctor(home)).code).toBe(1);
  const fixed = await runDoctor(home, '--fix');
  expect([fixed.code, statSync(file).mode & 0o777]).toEqual([0, 0o600]);
  expect(fixed.printed).toMatch(/No problems found\.$/);
});

test('a healthy system: nothing is wrong, the test delivery became no event, and one event was written to be read back', async () => {
  const { start, doctor } = await feedWorld();
  const daemon = await start();
  await until(() => covered(daemon));
  await until(
    async () => ((await daemon.get('/api/feeds')).body['codehost'] as { state: string }).state === 'polling',
  );
  const before = daemon.lines().length;
  const { code, printed } = await doctor();
  expect(printed).toMatch(/^(?:(?:off|ok) .*\n(?: +.*\n)*)*No problems found\.$/);
  expect(code).toBe(0);
  expect(daemon.lines()).toHaveLength(before);
  const { ok, findings } = JSON.parse((await doctor('--json')).printed) as {
    ok: boolean;
    findings: { part: string; grade: string; what: string }[];
  };
  expect(ok).toBe(true);
  const what = findings.map(({ what: words }) => words);
  for (const words of [
    'a test event was written and read back',
    'the codehost receiver accepted a signed delivery',
    'the codehost feed is live',
    'repositories report by their webhook',
    'the database is intact',
  ])
    expect(what).toContain(words);
  const checked = await daemon.get('/api/events?event=monitor.daemon.checked');
  expect((checked.body['events'] as unknown[]).length).toBe(2);
});

test('a delivery that only has the header of a self-test is a delivery like any other', async () => {
  const daemon = await startInProcess({ environment: { SVC_WEBHOOK_SECRET: SECRET } });
  const send = (body: string, id: string) =>
    daemon.post('/api/webhook', body, {
      'X-Codehost-Event': 'pull_request',
      'X-Codehost-Delivery': id,
      'X-Svc-Self-Test': id,
      'X-Hub-Signature-256': `sha256=${createHmac('sha256', SECRET).update(body).digest('hex')}`,
    });
  const merged = JSON.stringify(codehostExample('pull_request merged').payload);
  expect((await send(merged, 'one')).body).toMatchObject({ ok: true, event: 'codehost.pr.merged' });
  expect((await send('{"selfTest":"two"}', 'two')).body).toEqual({ ok: true, selfTest: true });
  expect(daemon.lines()).toHaveLength(1);
});

test('every row of docs/internals/faults.md names a test, and every test has its row', () => {
  const root = join(import.meta.dirname, '../../..');
  const text = readFileSync(join(root, 'docs/internals/faults.md'), 'utf8');
  const named = text
    .split('\n')
    .map((line) => / \| `([^`]+)` › ([^|]+) \|$/.exec(line))
    .filter((found) => found !== null);
  expect(named.length).toBeGreaterThanOrEqual(30);
  for (const [, file = '', name = ''] of named)
    expect(readFileSync(join(root, 'packages', file), 'utf8')).toContain(name);
  const own = named.filter(([, file]) => file === 'monitor/e2e/doctor.test.ts').map(([, , name]) => name);
  expect(new Set(own)).toEqual(new Set(rows.map(({ fault }) => fault)));
});
