// Holds what is there in the end against what was written down: the board, the signal files, the attention items,
// the tickets in the tracker, and the lines that tell a success, of which each worker may have one.
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { SignalFile } from '../packages/core/src/runs/signal-file.ts';
import type { BoardView } from '../packages/core/src/state/views/board-view.ts';
import { RUN, signalFileOf } from './workers-actor.ts';
import type { Ending, Path } from './workers-paths.ts';
import { type TeamKey, teams, type World } from './workers-world.ts';

export type Cast = { ticket: string; team: TeamKey; path: Path };
export type TicketEnd = { ticket: string; ends: string; about: string };

export type Expected = { workers: readonly Cast[]; tickets: readonly TicketEnd[] };

/** In words; empty when everything is as it was written down. */
export async function differences(world: World, expected: Expected): Promise<string[]> {
  const board = await world.daemon.board();
  if (board === null) return ['the daemon shows no board'];
  const successes = successesIn(world.home.eventsDir);
  return [
    ...expected.workers.flatMap((cast) => differencesOf(world, board, cast, successes)),
    ...expected.tickets.flatMap(({ ticket, ends, about }) => {
      const is = world.stateOf(ticket);
      return is === ends ? [] : [`${ticket} (${about}): the ticket is in ${is}, not in ${ends}`];
    }),
    ...strangersIn(board, expected),
  ];
}

function differencesOf(
  world: World,
  board: BoardView,
  { ticket, team, path }: Cast,
  successes: Map<string, number>,
): string[] {
  const { ends } = path;
  const worker = board.workers.find((one) => one.ticket === ticket);
  const open = board.attention.filter((item) => item.ticket === ticket).map(({ reason }) => reason);
  const file = readSignal(world, ticket);
  const isMoved = ends.ticket === 'done';
  const facts: [what: string, is: unknown, wanted: unknown][] = [
    ['the board says', worker?.status, ends.status],
    ['the board says of the deploy', worker?.deploy?.result ?? null, ends.result],
    ['attempts on the board', worker?.attempts, ends.attempts],
    ['open attention', open.toSorted().join(', '), ends.attention.toSorted().join(', ')],
    ['the file says', file?.status ?? null, ends.file === undefined ? ends.status : ends.file],
    ['the ticket is in', world.stateOf(ticket), isMoved ? teams[team].done : teams[team].begin],
    ['successes told', successes.get(ticket) ?? 0, ends.result === 'success' ? 1 : 0],
  ];
  if (file !== null && file.status === ends.status) facts.push(...factsOfDeploy(file, ends));
  return facts
    .filter(([, is, wanted]) => is !== wanted)
    .map(([what, is, wanted]) => `${ticket} (${path.name}): ${what} ${String(is)}, not ${String(wanted)}`);
}

function factsOfDeploy({ deploy }: SignalFile, ends: Ending): [string, unknown, unknown][] {
  return [
    ['the file says of the deploy', deploy?.result ?? null, ends.result],
    ['attempts in the file', deploy?.attempts?.length ?? 0, ends.attempts],
  ];
}

/** Workers and calls for a person that nobody wrote down. */
function strangersIn(board: BoardView, { workers }: Expected): string[] {
  const cast = new Set(workers.map(({ ticket }) => ticket));
  const isStrange = (ticket: string | null): boolean => ticket === null || !cast.has(ticket);
  return [
    ...board.workers.filter(({ ticket }) => isStrange(ticket)).map(({ key }) => `${key}: nobody knows it`),
    ...board.attention
      .filter(({ ticket, feed }) => feed === null && isStrange(ticket))
      .map(({ id, message }) => `${id}: ${message}`),
  ];
}

/** Null when there is none, or it cannot be read. */
function readSignal(world: World, ticket: string): SignalFile | null {
  try {
    const read = SignalFile.safeParse(JSON.parse(readFileSync(signalFileOf(world, ticket), 'utf8')));
    return read.success ? read.data : null;
  } catch (error) {
    if (error instanceof SyntaxError) return null;
    throw error;
  }
}

function successesIn(eventsDir: string): Map<string, number> {
  const counts = new Map<string, number>();
  for (const name of readdirSync(eventsDir).filter((one) => one.endsWith('.jsonl'))) {
    for (const text of readFileSync(join(eventsDir, name), 'utf8').split('\n')) {
      if (!text.includes('orchestrator.deploy.succeeded')) continue;
      const { event, scope } = JSON.parse(text) as {
        event: string;
        scope: { ticket?: string; orchestrator?: string };
      };
      if (event !== 'orchestrator.deploy.succeeded' || scope.orchestrator !== RUN) continue;
      counts.set(scope.ticket ?? '', (counts.get(scope.ticket ?? '') ?? 0) + 1);
    }
  }
  return counts;
}
