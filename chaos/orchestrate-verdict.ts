// Compares the final state with the roles: the run, its workers, the order of its waves in the log and by the agents'
// own clocks, the tickets in the tracker, what was filed, and leftover worktrees and processes.
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { BoardView } from '../packages/monitor/src/features/board/api.ts';
import type { EventLine } from '../packages/monitor/src/kernel/log/event-line.ts';
import { logLines } from '../packages/testkit/src/script.ts';
import { usualTeamStates } from '../packages/testkit/src/tracker/tickets.ts';
import type { Player } from './orchestrate-cast.ts';
import { MOST_AGENTS, type OrchestrateWorld, REPO, RUN } from './orchestrate-world.ts';
import { wrongFacts } from './world.ts';

/** The differences; empty if everything is as the roles require. */
export async function differences(
  world: OrchestrateWorld,
  cast: readonly Player[],
  watched: Watch['found'],
): Promise<string[]> {
  const board = await world.daemon.board();
  if (board === null) return ['the daemon shows no board'];
  const lines = logLines(world.home.eventsDir)
    .filter((text) => text.includes('"orchestrator.'))
    .map((text) => JSON.parse(text) as EventLine);
  return [
    ...ofRun(board),
    ...cast.flatMap((player) => ofPlayer(world, board, player)),
    ...ofWaves(cast, lines),
    ...ofClocks(world, cast),
    ...ofRemediation(world, cast),
    ...ofAttention(board),
    ...ofAgents(watched),
    ...ofLeftovers(world),
  ];
}

function ofRun(board: BoardView): string[] {
  const state = board.runs.find(({ orchestrator }) => orchestrator === RUN)?.state;
  return state === 'completed' ? [] : [`the run is ${state ?? 'not there'}, not completed`];
}

export function launchesOf(world: OrchestrateWorld, ticket: string): number[] {
  const file = join(world.stage, `${ticket}.launches`);
  if (!existsSync(file)) return [];
  return readFileSync(file, 'utf8').trimEnd().split('\n').map(Number.parseFloat);
}

function ofPlayer(world: OrchestrateWorld, board: BoardView, { ticket, role }: Player): string[] {
  const { ends } = role;
  const worker = board.workers.find((one) => one.ticket === ticket);
  const opened = world.codehost.cloud
    .repoOf(REPO)
    .pullRequests.filter(({ title }) => title.startsWith(`${ticket}:`));
  return wrongFacts(`${ticket} (${role.name})`, [
    ['the board says', worker?.status, ends.status],
    ['its verification', worker?.verification?.state ?? null, ends.verification],
    ['failed deploys', worker?.attempts, role.failedDeploys],
    ['launches', launchesOf(world, ticket).length, ends.launches],
    ['pull requests', opened.length, ends.pullRequests],
    ['merged', opened.filter(({ state }) => state === 'MERGED').length, ends.status === 'done' ? 1 : 0],
    [
      'the ticket is in',
      world.tickets.stateOf(ticket),
      ends.status === 'done' ? usualTeamStates.done : usualTeamStates.begin,
    ],
  ]);
}

/** No worker of a wave is in the log before the previous wave was complete. */
function ofWaves(cast: readonly Player[], lines: readonly EventLine[]): string[] {
  const completed = new Map<number, number>();
  for (const { event, detail, seq } of lines)
    if (event === 'orchestrator.wave.completed') completed.set(Number(detail['wave']), seq);
  return cast.flatMap(({ ticket, wave }) => {
    const first = lines.find(
      ({ event, scope }) => scope.ticket === ticket && event.startsWith('orchestrator.worker.'),
    );
    if (first === undefined) return [`${ticket}: its worker is not in the log`];
    const before = wave === 1 ? 0 : (completed.get(wave - 1) ?? Number.POSITIVE_INFINITY);
    if (!completed.has(wave)) return [`wave ${wave} was not completed`];
    return first.seq > before
      ? []
      : [`${ticket} of wave ${wave} was started before wave ${wave - 1} was complete`];
  });
}

/** The same by the agents' own records. */
function ofClocks(world: OrchestrateWorld, cast: readonly Player[]): string[] {
  const at = (wave: number) =>
    cast.filter((one) => one.wave === wave).flatMap(({ ticket }) => launchesOf(world, ticket));
  const waves = [...new Set(cast.map(({ wave }) => wave))].filter((wave) => wave > 1);
  return waves
    .filter((wave) => Math.min(...at(wave)) <= Math.max(...at(wave - 1)))
    .map((wave) => `an agent of wave ${wave} was launched before the last of wave ${wave - 1}`);
}

/** One ticket for each false report, and none for the others. */
function ofRemediation(world: OrchestrateWorld, cast: readonly Player[]): string[] {
  const own = new Set(cast.map(({ ticket }) => ticket));
  const filed = world.tickets.all().filter(({ ticket }) => !own.has(ticket));
  return cast.flatMap(({ ticket, role }) => {
    const about = filed.filter(({ title }) => new RegExp(`\\b${ticket}\\b`).test(title)).length;
    const wanted = role.ends.verification === 'failed' ? 1 : 0;
    return about === wanted
      ? []
      : [`${ticket} (${role.name}): ${about} tickets filed about it, not ${wanted}`];
  });
}

function ofAttention({ attention }: BoardView): string[] {
  return attention
    .filter(({ feed }) => feed === null)
    .map(({ id, message }) => `attention ${id}: ${message}`);
}

function ofAgents({ most, twice }: Watch['found']): string[] {
  return [
    ...(most === MOST_AGENTS ? [] : [`${most} agents ran at once, not ${MOST_AGENTS}`]),
    ...[...twice].map((ticket) => `${ticket}: two agents worked on it at once`),
  ];
}

/** Leftover worktrees and processes. */
function ofLeftovers(world: OrchestrateWorld): string[] {
  const [, ...worktrees] = world.git(world.project, 'worktree', 'list', '--porcelain').split('\n\n');
  const base = join(world.home.dataDir, 'wt', 'web');
  const folders = [base, join(base, '.verify')]
    .filter((folder) => existsSync(folder))
    .flatMap((folder) => readdirSync(folder).map((name) => join(folder, name)))
    .filter((path) => !/\/\.[a-z]+$/.test(path));
  return [
    ...worktrees.map((text) => `a worktree is left: ${text.split('\n')[0]}`),
    ...folders.map((path) => `a folder is left: ${path}`),
    ...agentProcesses(world.root).map(({ pid, ticket }) => `process ${pid} of ${ticket} is left`),
  ];
}

// Watches the agents from outside, by the kernel: every process with the mark of a run in its environment. The leader
// of a group is an agent; the others are its children.

const MARK = `SVC_ORCHESTRATOR=${RUN}`;
const SAMPLE_MS = 50;

type Seen = { pid: number; group: number; ticket: string };

/** Only of one home: other runs of this script may be active. */
export function agentProcesses(root: string): Seen[] {
  return readdirSync('/proc').flatMap((name) => {
    if (!/^\d+$/.test(name)) return [];
    try {
      const environment = readFileSync(`/proc/${name}/environ`, 'latin1');
      if (!environment.includes(MARK) || !environment.includes(root)) return [];
      const stat = readFileSync(`/proc/${name}/stat`, 'latin1');
      const [state, , group] = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
      if (state === 'Z' || state === 'X') return [];
      const [, ticket = ''] = /(?:^|\0)SVC_TICKET=([^\0]*)/.exec(environment) ?? [];
      return [{ pid: Number(name), group: Number(group), ticket }];
    } catch {
      // It ended during the check, or belongs to another user.
      return [];
    }
  });
}

type Watch = ReturnType<typeof watchAgents>;

export function watchAgents(root: string) {
  const found = { samples: 0, most: 0, twice: new Set<string>(), longestGapMs: 0 };
  let last = performance.now();
  const timer = setInterval(() => {
    const now = performance.now();
    found.longestGapMs = Math.max(found.longestGapMs, now - last);
    last = now;
    note(agentProcesses(root));
  }, SAMPLE_MS);

  function note(seen: readonly Seen[]): void {
    const tickets = seen.filter(({ pid, group }) => pid === group).map(({ ticket }) => ticket);
    found.samples += 1;
    found.most = Math.max(found.most, tickets.length);
    for (const ticket of tickets)
      if (tickets.filter((one) => one === ticket).length > 1) found.twice.add(ticket);
  }

  return { found, note, stop: (): void => clearInterval(timer) };
}

/** Only groups with the mark are killed. */
export function endAgents(root: string): void {
  for (const { pid } of agentProcesses(root)) {
    try {
      process.kill(pid, 'SIGKILL');
    } catch {
      // It has already ended.
    }
  }
}
