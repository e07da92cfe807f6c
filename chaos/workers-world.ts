// The environment of the workers: two projects of two teams, the public relay, and a real git repository in which
// merges are siblings: none contains another unless it is created on top of it.
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import type { Random } from '../packages/testkit/src/random.ts';
import { startPublicRelay } from '../packages/testkit/src/relay/public-relay.ts';
import { usualTeamStates } from '../packages/testkit/src/tracker/tickets.ts';
import { openWorld } from './world.ts';

export const RUN = 'run-1';
/** Seconds after which a deploy in `repos.slow` has stalled. */
const SLOW_SEC = 8;

export const repos = {
  /** Deploy verification is skipped by configuration. */
  skips: 'acme/web',
  /** In no configuration: only in signal files. */
  unknown: 'acme/lib',
  verified: 'acme/api',
  /** Verified, without a worktree for git. */
  compared: 'acme/app',
  /** Verified with a short timeout. */
  slow: 'acme/slow',
  /** Verified in an environment with another name, and only by the merge commit itself. */
  strict: 'acme/shop',
} as const;

/** The first team has cached state ids; the second has other names, which are found by name. */
export const teams = {
  ABC: usualTeamStates,
  XYZ: { begin: 'New', work: 'Doing', review: 'Peer review', done: 'Shipped', canceled: 'Dropped' },
} as const;
export type TeamKey = keyof typeof teams;

export type WorkersWorld = Awaited<ReturnType<typeof openWorkersWorld>>;

export async function openWorkersWorld(random: Random, provider: string) {
  const world = await openWorld('chaos-workers', {}, provider);
  const { home, codehost, tickets, configure } = world;
  const relay = await startPublicRelay({ pingMs: 1000 });
  const folder = join(home.home, 'worktree');
  mkdirSync(folder);
  const git = (...words: string[]): string => world.git(folder, ...words);
  git('init', '--quiet');
  const tree = git('hash-object', '-t', 'tree', '-w', '/dev/null');
  const root = git('commit-tree', tree, '-m', 'Start');
  for (const repo of Object.values(repos)) {
    codehost.cloud.addRepo(repo);
    codehost.cloud.addCommit(repo, root);
  }
  const first = tickets.addTeam('ABC', { repo: repos.skips, states: teams.ABC, cached: true });
  const second = tickets.addTeam('XYZ', { repo: 'acme/other', states: teams.XYZ, inProject: true });
  configure('.config/svc/config.json', {
    monitor: { github: { smeeChannel: relay.newChannel() } },
    projects: [join(home.home, 'other')],
  });
  configure('.svc/config.json', {
    projectKey: 'one',
    project: { ticketPrefix: 'ABC' },
    ...first.project,
    tracker: { ...first.project.tracker, stateMap: { planning: null } },
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
  configure('other/.svc/config.json', {
    projectKey: 'two',
    project: { ticketPrefix: 'XYZ' },
    ...second.project,
    tracker: {
      ...second.project.tracker,
      stateMap: { research: work, planning: work, inProgress: work, inReview: review, done, canceled },
    },
  });
  for (const [key, { secrets }] of Object.entries({ one: first, two: second }))
    if (secrets) configure(`.config/svc/config-${key}.json`, secrets);
  return {
    ...world,
    random,
    history: {
      folder,
      root,
      /** A commit on top of another, by default of the root. */
      commit: (message: string, parent = root): string =>
        git('commit-tree', tree, '-p', parent, '-m', message),
    },
    signalFileOf: (ticket: string): string => join(home.dataDir, 'runs', RUN, 'workers', `${ticket}.json`),
    async close(): Promise<void> {
      await world.daemon.kill();
      await relay.stop();
      await world.close();
    },
  };
}
