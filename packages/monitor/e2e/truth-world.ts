// A daemon with projects of its own, a tracker, and the deliveries and signal files that say what happened to a ticket; and
// every answer that the product gives to "is it done?".
import { createHash, createHmac, randomUUID } from 'node:crypto';
import { mkdirSync, readFileSync, renameSync, symlinkSync, writeFileSync } from 'node:fs';
import { delimiter, dirname, join, resolve } from 'node:path';
import { type JsonObject, temporaryFolder, testTracker, until } from '@svc/testkit';
import type { BoardView } from '../src/features/board/api.ts';
import type { Receipt, Why } from '../src/features/workers/api.ts';
import { startInProcess } from './in-process-daemon.ts';
import { svcInProcess } from './svc-in-process.ts';

const SECRET = 'd'.repeat(64);
const json = { 'Content-Type': 'application/json' };

/** A commit id that only this name has. */
export const shaOf = (name: string): string => createHash('sha1').update(name).digest('hex');
export const since = (ms: number): string => new Date(Date.now() + ms).toISOString();

export type TruthWorld = Awaited<ReturnType<typeof truthWorld>>;

/** `files` are below the home, unless their paths are absolute; `settings` the deploy policies of the home; `before` runs before the first start. The home itself is a project that is always valid; it has the tracker. */
export async function truthWorld(
  files: Record<string, unknown>,
  settings: object = {},
  before: () => void = () => undefined,
) {
  const home = temporaryFolder();
  const write = (path: string, content: unknown): void => {
    const file = resolve(home, path);
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(file, typeof content === 'string' ? content : JSON.stringify(content), { mode: 0o600 });
  };
  const tracker = await testTracker('tracker-token');
  const team = tracker.cloud.addTeam({ key: 'ABC' });
  const base = (svc: object = {}): object => ({
    svc: {
      projectKey: 'base',
      project: { ticketPrefix: 'ABC' },
      tracker: { teamKey: 'ABC', teamId: team.id },
      ...svc,
    },
  });
  write('.svc/config.json', base({ deploy: settings }));
  write('.config/svc/config-base.json', {
    svc: { tracker: { apiToken: 'tracker-token', teamKey: 'ABC' } },
  });
  for (const [path, content] of Object.entries(files)) write(path, content);

  // Git is there; the code host's client is not, so nobody else knows whether a commit contains another.
  const bin = join(home, 'bin');
  mkdirSync(bin);
  const places = (process.env['PATH'] ?? '').split(delimiter).map((place) => join(place, 'git'));
  symlinkSync(places.find((place) => isFile(place)) ?? '/usr/bin/git', join(bin, 'git'));
  const environment = {
    PATH: bin,
    SVC_WEBHOOK_SECRET: SECRET,
    SVC_TRACKER_API_URL: tracker.url,
  };
  const start = () => startInProcess({ home, environment });
  before();
  let daemon = await start();
  let version = 1_000;
  const issues = new Map<number, string>();
  const svc = (...words: string[]) =>
    svcInProcess({ home, folder: home, environment: { ...environment, HOME: home } })(...words);
  const board = async () => (await daemon.get('/api/board?all=1')).body as unknown as BoardView;
  const workerOf = async (ticket: string, run = 'run-1') =>
    (await board()).workers.find((one) => one.ticket === ticket && one.orchestrator === run);
  const lastSeq = (): number => daemon.allLines().at(-1)?.seq ?? 0;

  async function deliver(type: string, payload: JsonObject): Promise<void> {
    const body = JSON.stringify(payload);
    const signature = createHmac('sha256', SECRET).update(body).digest('hex');
    const { status } = await daemon.post('/api/webhook', body, {
      ...json,
      'x-codehost-event': type,
      'x-codehost-delivery': randomUUID(),
      'x-hub-signature-256': `sha256=${signature}`,
    });
    if (status !== 200) throw new Error(`the delivery was answered with ${status}`);
  }

  function pull(repo: string, number: number, patch: JsonObject, action: string): Promise<void> {
    const pull_request = {
      number,
      state: 'closed',
      merged: true,
      merged_at: since(0),
      merge_commit_sha: shaOf(`merge ${repo}${number}`),
      title: 'A change',
      created_at: since(-60_000),
      updated_at: since(0),
      closed_at: since(0),
      head: { ref: `b${number}`, sha: shaOf(`head ${number}`), repo: { full_name: repo } },
      base: { ref: 'main', repo: { full_name: repo } },
      ...patch,
    };
    return deliver('pull_request', { action, number, pull_request, repository: { full_name: repo } });
  }

  const trackerState = (number: number): string | undefined => {
    const { stateId } = tracker.cloud.issues.find(({ id }) => id === issues.get(number)) ?? {};
    return tracker.cloud.statesOf(team.id).find(({ id }) => id === stateId)?.name;
  };
  const signalPath = (ticket: string, run: string): string =>
    join(home, 'svc/runs', run, 'workers', `${ticket}.json`);
  const signal = (ticket: string, run = 'run-1'): JsonObject =>
    JSON.parse(readFileSync(signalPath(ticket, run), 'utf8')) as JsonObject;

  /** What the line of the log will say of it. */
  function writeSignal(ticket: string, patch: JsonObject, run: string): string {
    const file = signalPath(ticket, run);
    const updatedAt = since(0);
    const text = JSON.stringify({
      ticket,
      orchestrator: run,
      workerName: ticket,
      status: 'pr-created',
      phase: 5,
      startedAt: since(-120_000),
      repo: 'acme/web',
      ...patch,
      updatedAt,
    });
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(`${dirname(file)}/.new`, text);
    renameSync(`${dirname(file)}/.new`, file);
    return `${run} ${ticket} ${updatedAt}`;
  }

  return {
    home,
    write,
    base,
    svc,
    board,
    workerOf,
    signal,
    shaOf,
    daemon: () => daemon,
    deliver,
    restart: async () => {
      await daemon.close();
      daemon = await start();
    },
    /** The policy of every repository, when the daemon has read all files as they are now. */
    policies: async (): Promise<Record<string, string>> => {
      version += 1;
      const marker = { 'acme/marker': { skipDeployVerification: false, timeoutSec: version } };
      write('.svc/config.json', base({ deploy: { ...settings, ...marker } }));
      return until(async () => {
        const { policies } = (await daemon.get('/api/deploy/policy')).body as {
          policies: { repo: string; timeoutSec: number; verification: string }[];
        };
        const isRead = policies.some((one) => one.repo === 'acme/marker' && one.timeoutSec === version);
        return isRead
          ? Object.fromEntries(policies.map(({ repo, verification }) => [repo, verification]))
          : undefined;
      });
    },
    addIssue: (number: number) => {
      issues.set(number, tracker.cloud.addIssue({ teamId: team.id, title: 'A ticket', number }).id);
    },
    trackerState,
    /** The signal files; resolves when the daemon has read them. */
    workers: async (all: [ticket: string, patch: JsonObject, run?: string][]) => {
      const times = all.map(([ticket, patch, run = 'run-1']) => writeSignal(ticket, patch, run));
      await until(() => {
        const read = daemon.allLines().flatMap(({ event, detail }) => {
          const given: JsonObject | undefined = event.startsWith('orchestrator.worker.')
            ? (detail['signal'] as JsonObject)
            : undefined;
          const { orchestrator, ticket, updatedAt } = given ?? {};
          return [[orchestrator, ticket, updatedAt].join(' ')];
        });
        return times.every((one) => read.includes(one));
      });
    },

    merge: (repo: string, number: number, patch: JsonObject = {}) => pull(repo, number, patch, 'closed'),
    pull,
    deployed: (
      repo: string,
      id: unknown,
      sha: string,
      state: string,
      place = 'production',
      { deployment = {}, status = {} }: { deployment?: JsonObject; status?: JsonObject } = {},
    ) =>
      deliver('deployment_status', {
        action: 'created',
        deployment_status: { id: 1, state, environment: place, created_at: since(0), ...status },
        deployment: {
          id,
          sha,
          ref: 'main',
          task: 'deploy',
          environment: place,
          created_at: since(0),
          ...deployment,
        },
        repository: { full_name: repo },
      }),
    report: async (fact: object) => (await daemon.post('/api/events', JSON.stringify(fact), json)).status,
    /** Everything that was accepted is on the board, and every effect of it has been tried. */
    settled: (): Promise<unknown> =>
      until(async () => {
        const last = lastSeq();
        const { figures } = (await daemon.get('/api/outbox')).body as {
          figures: { pending: number; running: number; retryingCount: number };
        };
        const isQuiet = figures.running === 0 && figures.pending === figures.retryingCount;
        return isQuiet && (await board()).seq >= last && lastSeq() === last;
      }),
    /** Where the ticket is done, and where it is not: `done` or `waits`, or each answer if they differ. */
    verdict: async (number: number, run = 'run-1'): Promise<string> => {
      const ticket = `ABC-${number}`;
      const worker = await workerOf(ticket, run);
      const why = (await daemon.get(`/api/workers/${ticket}/why`)).body as unknown as Why;
      const receipt = (await daemon.get(`/api/workers/${ticket}/receipt`)).body as unknown as Receipt;
      const answers = {
        ...(worker && {
          board: worker.status === 'done',
          // What the agent wrote itself is no answer.
          signal: signal(ticket, run)['status'] === 'done' && worker.claim?.status !== 'done',
        }),
        why: why.shipped === true,
        receipt: receipt.shipped === true,
        // Nobody moves a ticket that no run works on.
        tracker: trackerState(number) === 'Done' || (worker === undefined && receipt.shipped === true),
      };
      const all = new Set(Object.values(answers));
      if (all.size !== 1) return JSON.stringify(answers);
      return all.has(true) ? 'done' : 'waits';
    },
  };
}

function isFile(path: string): boolean {
  try {
    readFileSync(path);
    return true;
  } catch {
    return false;
  }
}
