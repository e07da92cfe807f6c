// The world of the workers: a home with two projects, the code host behind HTTPS with the real client program,
// the issue tracker, the public relay, a real git repository, and a daemon that is killed and started again.
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { ghEnvironment, startFakeCodehost } from '../packages/testkit/src/codehost/fake-codehost.ts';

import { freePort } from '../packages/testkit/src/daemon/free-port.ts';
import { createDaemonHome } from '../packages/testkit/src/daemon/start-daemon.ts';
import { createRandom, type Random } from '../packages/testkit/src/random.ts';
import { startPublicRelay } from '../packages/testkit/src/relay/public-relay.ts';
import { startFakeTracker } from '../packages/testkit/src/tracker/fake-tracker.ts';
import { createWorkersDaemon } from './workers-daemon.ts';
import { createHistory } from './workers-history.ts';

/** Seconds after which a deploy in `repos.slow` has stalled. */
const SLOW_SEC = 8;

export const repos = {
  /** The proof of a deploy is skipped, and that is configured. */
  skips: 'acme/web',
  /** In no configuration: met in signal files. */
  unknown: 'acme/lib',
  verified: 'acme/api',
  /** Verified, with no worktree that git could be asked in. */
  compared: 'acme/app',
  /** Verified with a short timeout. */
  slow: 'acme/slow',
  /** Verified in an environment of another name, and only by the merge commit itself. */
  strict: 'acme/shop',
} as const;

/** Of the first team the ids of the states are cached; in the second they have other names, found by name. */
export const teams = {
  ABC: { begin: 'Backlog', work: 'In Progress', review: 'In Review', done: 'Done', canceled: 'Canceled' },
  XYZ: { begin: 'New', work: 'Doing', review: 'Peer review', done: 'Shipped', canceled: 'Dropped' },
} as const;
export type TeamKey = keyof typeof teams;

export type World = Awaited<ReturnType<typeof openWorld>>;

export async function openWorld(random: Random) {
  const home = createDaemonHome('chaos-workers');
  const cloudFolder = mkdtempSync(join(tmpdir(), 'svc-chaos-codehost-'));
  const relay = await startPublicRelay({ pingMs: 1000 });
  const codehost = await startFakeCodehost({ folder: cloudFolder });
  const tracker = await startFakeTracker();
  const history = createHistory(join(home.home, 'worktree'));
  codehost.addToken('token');
  codehost.setQuota('core', { limit: 1_000_000, remaining: 1_000_000 });
  for (const repo of Object.values(repos)) {
    codehost.cloud.addRepo(repo);
    codehost.cloud.addCommit(repo, history.root);
  }
  tracker.addToken('tracker-token');
  const first = tracker.cloud.addTeam({ key: 'ABC' });
  tracker.cloud.addTeam({
    key: 'XYZ',
    states: Object.values(teams.XYZ).map((name) => [name, 'started'] as const),
  });
  const write = (path: string, svc: object): void => {
    const file = join(home.home, path);
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(file, JSON.stringify({ svc }));
  };
  const other = join(home.home, 'other');
  write('.config/svc/config.json', {
    monitor: { github: { smeeChannel: relay.newChannel() } },
    projects: [other],
  });
  write('.svc/config.json', {
    projectKey: 'one',
    project: { ticketPrefix: 'ABC' },
    tracker: {
      teamKey: 'ABC',
      teamId: first.id,
      stateIds: Object.fromEntries(tracker.cloud.statesOf(first.id).map(({ name, id }) => [name, id])),
      stateMap: { planning: null },
    },
    monitor: { github: { watchRepos: [repos.skips, repos.verified, repos.slow] } },
    deploy: {
      [repos.skips]: { skipDeployVerification: true },
      [repos.verified]: { skipDeployVerification: false },
      [repos.compared]: { skipDeployVerification: false },
      [repos.slow]: { skipDeployVerification: false, timeoutSec: SLOW_SEC },
      [repos.strict]: {
        skipDeployVerification: false,
        productionEnvironment: 'live',
        stagingEnvironment: 'production',
        acceptDescendants: false,
      },
    },
  });
  const { work, review, done, canceled } = teams.XYZ;
  write('other/.svc/config.json', {
    projectKey: 'two',
    project: { ticketPrefix: 'XYZ' },
    tracker: {
      teamKey: 'XYZ',
      stateMap: { research: work, planning: work, inProgress: work, inReview: review, done, canceled },
    },
  });
  for (const [key, teamKey] of Object.entries({ one: 'ABC', two: 'XYZ' }))
    write(`.config/svc/config-${key}.json`, { tracker: { apiToken: 'tracker-token', teamKey } });
  const daemon = createWorkersDaemon({
    home,
    // Not one of the choices that a seed repeats: another script may run at the same time.
    port: await freePort(createRandom(process.pid)),
    environment: {
      ...ghEnvironment(codehost, 'token'),
      HOME: home.home,
      SVC_TRACKER_API_URL: tracker.url,
    },
  });
  return {
    home,
    relay,
    codehost,
    tracker,
    history,
    daemon,
    random,
    /** The display name of the ticket's state. */
    stateOf(ticket: string): string {
      const { stateId } = tracker.cloud.issueOf(ticket);
      return tracker.cloud.states.find(({ id }) => id === stateId)?.name ?? 'none';
    },
    newTicket(team: TeamKey, title: string): string {
      const row = tracker.cloud.teams.find(({ key }) => key === team);
      return tracker.cloud.identifierOf(tracker.cloud.addIssue({ teamId: row?.id ?? '', title }));
    },
    async close(): Promise<void> {
      await daemon.kill();
      await relay.stop();
      await codehost.close();
      await tracker.close();
      home.remove();
      rmSync(cloudFolder, { recursive: true, force: true });
    },
  };
}
