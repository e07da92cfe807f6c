// The environment of a chaos script's daemon: a home, the code host behind HTTPS with the real client program, the
// issue tracker, real git, and the command line. The daemon is killed and restarted; all waits share one board poll.
import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { BoardView } from '../packages/monitor/src/features/board/api.ts';
import type { PullRequestRow } from '../packages/testkit/src/codehost/cloud.ts';
import { ghEnvironment, startFakeCodehost } from '../packages/testkit/src/codehost/fake-codehost.ts';
import type { Sending } from '../packages/testkit/src/codehost/sendings.ts';
import { freePort } from '../packages/testkit/src/daemon/free-port.ts';
import type { ServerProcess } from '../packages/testkit/src/daemon/server-process.ts';
import {
  codehostSecret,
  createDaemonHome,
  type DaemonHome,
  runSvc,
  type Said,
  startDaemon,
} from '../packages/testkit/src/daemon/start-daemon.ts';
import { createPost, signedDelivery } from '../packages/testkit/src/deliveries/signed-delivery.ts';
import { createRandom } from '../packages/testkit/src/random.ts';
import { askJson, scriptFolder, writeInto } from '../packages/testkit/src/script.ts';
import { startFakeTracker } from '../packages/testkit/src/tracker/fake-tracker.ts';
import { githubTickets, linearTickets, TRACKER_TOKEN } from '../packages/testkit/src/tracker/tickets.ts';
import { until, WAIT_MS } from '../packages/testkit/src/waiting.ts';

const POLL_EVERY_MS = 100;
/** How many times in a row the daemon must be idle before that counts. */
const QUIET_LOOKS = 10;

/** `environment`: more variables for the daemon. `provider`: the tracker, `linear` or `github`. */
export async function openWorld(name: string, environment: Record<string, string> = {}, provider = 'linear') {
  if (provider !== 'linear' && provider !== 'github') throw new Error('--tracker must be linear or github');
  const home = createDaemonHome(name);
  const codehost = await startFakeCodehost({ folder: scriptFolder('chaos-codehost') });
  const tracker = await startFakeTracker();
  codehost.addToken('token');
  codehost.setQuota('core', { limit: 1_000_000, remaining: 1_000_000 });
  tracker.addToken(TRACKER_TOKEN);
  const git = (folder: string, ...words: string[]): string => gitOf(home.home, folder, words);
  /** A configuration file of the home. */
  const configure = (path: string, svc: object): void => writeInto(home.home, path, { svc });
  const daemon = createKilledDaemon(home, {
    // Not repeatable by a seed, because another script may run at the same time.
    port: await freePort(createRandom(process.pid)),
    environment: {
      ...ghEnvironment(codehost, 'token'),
      HOME: home.home,
      SVC_TRACKER_API_URL: tracker.url,
      ...environment,
    },
  });
  const post = createPost(daemon.port);
  return {
    home,
    codehost,
    daemon,
    tickets: provider === 'linear' ? linearTickets(tracker) : githubTickets(codehost),
    configure,
    git,
    /** A delivery directly to the daemon, and whether it was accepted: the code host does not repeat it. */
    async deliver({ type, payload }: Sending, deliveryId: string = crypto.randomUUID()): Promise<boolean> {
      const delivery = signedDelivery({ name: type, type, payload, deliveryId }, codehostSecret);
      return post.post(delivery).then(
        ({ status }) => status < 300,
        () => false,
      );
    },
    pullRequest(repo: string, number: number): PullRequestRow {
      const found = codehost.cloud.repoOf(repo).pullRequests.find((row) => row.number === number);
      if (found === undefined) throw new Error(`${repo}#${number} was not opened`);
      return found;
    },
    /** A project with its first commit in a remote repository beside it: its folder, that one, and the commit. */
    makeProject(svc: object, files: Readonly<Record<string, string>>) {
      const [project, remote] = [join(home.home, 'web'), join(home.home, 'web.git')];
      configure('.config/svc/config.json', { projects: [project] });
      configure('web/.svc/config.json', svc);
      for (const [path, text] of Object.entries(files)) writeInto(project, path, text);
      git(home.home, 'init', '--quiet', '--bare', '-b', 'main', remote);
      git(project, 'init', '--quiet', '-b', 'main');
      git(project, 'remote', 'add', 'origin', remote);
      git(project, 'add', '--all');
      git(project, 'commit', '--quiet', '-m', 'Start');
      git(project, 'push', '--quiet', '-u', 'origin', 'main');
      return { project, remote, sha: git(project, 'rev-parse', 'HEAD') };
    },
    /** Waits until nothing differs from what is expected, and nothing is left to do: later nothing may change it. */
    async settled(differences: () => Promise<string[]>): Promise<string[]> {
      await until(async () => (await differences()).length === 0).catch(() => undefined);
      return [...(await daemon.settle()), ...(await differences())];
    },
    /** The command line, as a user runs it in that folder. */
    svc: (folder: string, ...words: string[]): Promise<Said> => runSvc(home, words, { folder }),
    /** The same; throws when it fails. */
    async mustRun(folder: string, ...words: string[]): Promise<void> {
      const { code, printed } = await runSvc(home, words, { folder });
      if (code !== 0) throw new Error(`svc ${words.join(' ')}: ${printed}`);
    },
    async close(): Promise<void> {
      post.close();
      await daemon.kill();
      await codehost.close();
      await tracker.close();
      home.remove();
    },
  };
}

function createKilledDaemon(
  home: DaemonHome,
  { port, environment }: { port: number; environment: Record<string, string> },
) {
  const url = `http://127.0.0.1:${port}`;
  let running: ServerProcess | null = null;
  let pending: Promise<BoardView | null> | null = null;

  /** Null while it is down, or its state has not caught up. */
  function board(): Promise<BoardView | null> {
    pending ??= askJson<BoardView>(`${url}/api/board?all=1`)
      .catch(() => null)
      .finally(() => {
        pending = null;
      });
    return pending;
  }

  async function isIdle(): Promise<boolean> {
    const { figures } = await askJson<{ figures: { pending: number; running: number } }>(`${url}/api/outbox`);
    return figures.pending + figures.running === 0;
  }

  return {
    port,
    board,
    ask: <Answer>(path: string, body?: object): Promise<Answer> => askJson<Answer>(url + path, body),
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
    /** False if it did not become true in that time. */
    async waitFor(holds: (view: BoardView) => boolean, timeoutMs = WAIT_MS): Promise<boolean> {
      for (const deadline = performance.now() + timeoutMs; performance.now() < deadline; ) {
        const view = await board();
        if (view !== null && holds(view)) return true;
        await sleep(POLL_EVERY_MS);
      }
      return false;
    },
    /** Waits until nothing is left to do and the log no longer grows. Returns what is left if that never happens. */
    async settle(): Promise<string[]> {
      let quietLooks = 0;
      let seq = -1;
      const isQuiet = await until(async () => {
        const before = quietLooks;
        quietLooks = 0;
        await sleep(POLL_EVERY_MS);
        const view = await board();
        if (view !== null && view.seq === seq && (await isIdle())) quietLooks = before + 1;
        seq = view?.seq ?? -1;
        return quietLooks >= QUIET_LOOKS;
      }).catch(() => false);
      return isQuiet
        ? []
        : [`the outbox is not empty: ${JSON.stringify(await askJson(`${url}/api/outbox`))}`];
    },
  };
}

function gitOf(home: string, folder: string, words: readonly string[]): string {
  const person = { NAME: 'Kim', EMAIL: 'kim@example.com' };
  const names = Object.entries(person).flatMap(([field, value]) => [
    [`GIT_AUTHOR_${field}`, value],
    [`GIT_COMMITTER_${field}`, value],
  ]);
  const env = {
    PATH: process.env['PATH'],
    HOME: home,
    GIT_CONFIG_NOSYSTEM: '1',
    ...Object.fromEntries(names),
  };
  const output = execFileSync('git', ['-C', folder, ...words], {
    encoding: 'utf8',
    env,
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  return output.trim();
}

/** One line for each fact that is not as it should be. */
export function wrongFacts(
  whose: string,
  facts: readonly (readonly [what: string, is: unknown, wanted: unknown])[],
): string[] {
  return facts
    .filter(([, is, wanted]) => is !== wanted)
    .map(([what, is, wanted]) => `${whose}: ${what} ${String(is)}, not ${String(wanted)}`);
}

/** One line for each kind of player: what it must come to, and how many of them have no difference. */
export function resultsByKind(
  players: readonly { ticket: string; kind: string; end: string }[],
  differences: readonly string[],
): string[] {
  const width = Math.max(...players.map(({ kind }) => kind.length));
  return [...Map.groupBy(players, ({ kind }) => kind)].map(([kind, those]) => {
    const right = those.filter(({ ticket }) => !differences.some((line) => line.startsWith(`${ticket} `)));
    return `  ${kind.padEnd(width)}  ${those[0]?.end}: ${right.length} of ${those.length}`;
  });
}
