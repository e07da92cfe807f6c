// A ticket whose agent is a real program, run by a real daemon in a new home, and driven as a person does it: with `svc`.
import { chmodSync, existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { readPid, signalGroup } from '@svc/lib/pid';
import type { AgentView } from '../../packages/monitor/src/features/agents/api.ts';
import { agentFiles, pidFolder } from '../../packages/monitor/src/features/agents/io/launch.ts';
import type { EventLine } from '../../packages/monitor/src/kernel/log/event-line.ts';
import { logLines, scriptFolder, writeInto } from '../../packages/testkit/src/script.ts';
import { until } from '../../packages/testkit/src/waiting.ts';
import { openWorld } from '../world.ts';
import { binFolder, type Program } from './programs.ts';
import { MARKER } from './replies.ts';

const RUN = 'run-1';
const TICKET = 'A-1';

export type Look = Pick<AgentView, 'items'> & { agent: NonNullable<AgentView['agent']> };

export type Decision = 'allow_once' | 'reject_once';

export type Driver = {
  /** The worktree. */
  cwd: string;
  world: Awaited<ReturnType<typeof openWorld>>;
  look: () => Promise<Look>;
  /** How the newest process got its session: `new`, `resume` or `load`. */
  how: () => string;
  answer: (kind: Decision) => Promise<void>;
  send: (text: string) => Promise<void>;
  stop: () => Promise<void>;
  /** SIGKILL of the agent and everything it started. */
  killAgent: () => Promise<void>;
  /** SIGKILL of the daemon, while the agent goes on; then another one is started. `meanwhile` is called in between. */
  killDaemon: (meanwhile: () => void) => Promise<void>;
  /** Ends everything, and removes it after `keep`, which gets the files of each process of the agent and their root. */
  end: (keep?: (files: { sent: string; journal: string }[], root: string) => Promise<void>) => Promise<void>;
};

/** What the ticket is started with: by default, a worker command that the fake model answers with a short text. */
type Setup = {
  orchestration?: object;
  /** Variables of the daemon that the agent gets too. */
  shared?: readonly string[];
  prepare?: (run: (...words: string[]) => Promise<void>, world: Driver['world']) => Promise<void>;
};

export async function startTicket(
  program: Program,
  cache: string,
  url: string,
  { orchestration = { workerCommand: '/suite:hello' }, shared = [], prepare }: Setup = {},
): Promise<Driver> {
  const variables = program.environment(url);
  const bin = scriptFolder('agents-bin');
  writeInto(bin, 'svc', `#!/bin/sh\nexec '${process.execPath}' "$HOME/dist/svc.js" "$@"\n`);
  chmodSync(join(bin, 'svc'), 0o755);
  const world = await openWorld(`agents-${program.name}`, {
    ...variables,
    PATH: `${binFolder(program, cache)}:${bin}:${process.env['PATH'] ?? ''}`,
  });
  const { home, daemon, git } = world;
  const folder = join(home.home, 'web');
  const runsDir = join(home.dataDir, 'runs');
  writeInto(folder, 'a.txt', 'one\ntwo\nthree\n');
  writeInto(home.home, '.agents/skills/suite-hello/SKILL.md', `${MARKER}hello`);
  // Codex runs commands in a login shell.
  writeInto(home.home, '.profile', `PATH='${bin}':$PATH\n`);
  git(home.home, 'config', '--global', 'user.name', 'Agent');
  git(home.home, 'config', '--global', 'user.email', 'agent@example.com');
  writeInto(folder, '.svc/config.json', {
    svc: {
      projectKey: 'demo',
      orchestration: { agentEnv: [...Object.keys(variables), ...shared], ...orchestration },
    },
  });
  world.configure('.config/svc/config.json', { projects: [folder] });
  for (const [path, content] of Object.entries(program.settings?.(url) ?? {}))
    writeInto(home.home, path, content);
  git(home.home, 'init', '-q', '--bare', '-b', 'main', 'origin.git');
  git(folder, 'init', '-q', '-b', 'main');
  git(folder, 'add', '.');
  git(folder, 'commit', '-q', '-m', 'Start');
  git(folder, 'remote', 'add', 'origin', join(home.home, 'origin.git'));
  git(folder, 'push', '-q', '-u', 'origin', 'main');
  daemon.start();
  await daemon.ready();

  const run = (...words: string[]): Promise<void> => world.mustRun(folder, ...words);

  /** One for each process of the agent, oldest first. */
  const markers = (): string[] => {
    const at = pidFolder(runsDir, RUN);
    return existsSync(at) ? readdirSync(at).toSorted() : [];
  };

  /** Undefined while the shell has created the marker and not yet written into it. */
  const pidIn = (marker: string | undefined): number | undefined =>
    marker === undefined ? undefined : readPid(readFileSync(join(pidFolder(runsDir, RUN), marker), 'utf8'));

  // Agents outlive the daemon, and would outlive this script.
  const killAll = (): void => {
    for (const pid of markers().flatMap((marker) => pidIn(marker) ?? [])) signalGroup(pid, 'SIGKILL');
  };
  process.once('exit', killAll);

  const view = (): Promise<AgentView> => daemon.ask<AgentView>(`/api/workers/${TICKET}/agent`);
  /** While there is nothing to see yet, it waits. */
  const look = (): Promise<Look> =>
    until(async () => {
      const { agent, items } = await view();
      return agent && { agent, items };
    });
  await prepare?.(run, world);
  await run('orchestrate', 'start', TICKET, '--name', RUN, '--agent', program.name);
  return {
    world,
    cwd: join(home.dataDir, 'wt/demo', TICKET),
    look,
    how() {
      const lines: EventLine[] = logLines(home.eventsDir).map((line) => JSON.parse(line));
      return String(lines.findLast(({ event }) => event === 'agent.session.started')?.detail['how']);
    },
    answer: (kind) => run('agent', 'answer', TICKET, kind),
    send: (text) => run('agent', 'send', TICKET, text),
    stop: () => run('agent', 'stop', TICKET),
    async killAgent() {
      const { attempt } = (await look()).agent;
      signalGroup(await until(() => pidIn(markers().at(-1))), 'SIGKILL');
      await until(async () => {
        const { agent } = await look();
        return agent.attempt > attempt || agent.state === 'ended';
      });
    },
    async killDaemon(meanwhile) {
      await daemon.kill();
      meanwhile();
      daemon.start();
      await daemon.ready();
    },
    async end(keep) {
      await daemon.kill();
      killAll();
      process.removeListener('exit', killAll);
      const files = markers().map((_, at) =>
        agentFiles(runsDir, { orchestrator: RUN, ticket: TICKET, attempt: at + 1 }),
      );
      await keep?.(files, home.home);
      await world.close();
    },
  };
}
