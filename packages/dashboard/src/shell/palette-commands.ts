// The commands of the palette: what can be done now, on this board and this screen. Those that need a look first lead to
// the place where it is done.
import type { Answer } from '@svc/client';
import type { LiveBoard } from '../live/board-store.ts';
import { waitForFilters } from '../screens/events/wait-for-command.ts';
import { screenAt } from './link-to.ts';
import { decoded } from './page-title.ts';

export type PaletteCommand = {
  id: string;
  name: string;
  /** Other words that find it. */
  words: string;
} & (
  | ({ kind: 'go' } & ReturnType<typeof screenAt>)
  | { kind: 'copy'; text: string }
  | { kind: 'run'; action: 'pause' | 'resume'; run: string }
  | { kind: 'fetch' }
  | { kind: 'new-task' }
);

type Board = Pick<LiveBoard, 'workers' | 'runs'>;
type Place = { pathname: string; search: Readonly<Record<string, unknown>> };

export function paletteCommands(board: Board, place: Place): PaletteCommand[] {
  return [
    ...answers(board),
    {
      kind: 'new-task',
      id: 'new-task',
      name: 'New task: give an agent a task without a ticket',
      words: 'start run agent prompt begin n',
    },
    {
      kind: 'go',
      id: 'start',
      name: 'Start a run for an open ticket',
      words: 'agent begin',
      ...screenAt('/runs'),
    },
    ...runCommands(board),
    {
      kind: 'fetch',
      id: 'fetch',
      name: 'Poll code host and tracker now',
      words: 'fetch missed deliveries refresh sync check feeds repair',
    },
    waitFor(place),
  ];
}

/** The questions of agents. An answer needs its question in sight, so the command opens it. */
function answers({ workers }: Board): PaletteCommand[] {
  const waiting = [...workers.values()].flatMap((worker) =>
    (worker.agent?.open ?? []).map((request) => ({ worker, request })),
  );
  if (waiting.length === 0)
    return [
      {
        kind: 'go',
        id: 'answer',
        name: 'Allow or answer: no agent waits for you',
        words: 'permission reject question attention',
        ...screenAt('/attention'),
      },
    ];
  return waiting.map(({ worker: { ticket, orchestrator }, request }) => ({
    kind: 'go',
    id: `answer ${orchestrator}/${ticket}/${request.request}`,
    name: `${request.kind === 'permission' ? 'Allow or reject' : 'Answer'}: ${ticket}, ${request.title.slice(0, 120)}`,
    words: 'permission question needs you allow reject answer',
    ...screenAt('/tickets/$ticket', { run: orchestrator }, { ticket }),
  }));
}

/** Only runs that svc manages can be paused. */
function runCommands({ runs }: Board): PaletteCommand[] {
  const managed = [...runs.values()].filter(({ plan }) => plan !== null);
  const commands = managed.flatMap(({ orchestrator, name, state }): PaletteCommand[] => {
    const action = state === 'running' ? 'pause' : state === 'paused' ? 'resume' : null;
    if (action === null) return [];
    const verb = action === 'pause' ? 'Pause' : 'Resume';
    return [
      {
        kind: 'run',
        action,
        run: orchestrator,
        id: `${action} ${orchestrator}`,
        name: `${verb} run ${name ?? orchestrator}`,
        words: `${orchestrator} ${action === 'pause' ? 'stop hold' : 'continue'}`,
      },
    ];
  });
  if (commands.some(({ id }) => id.startsWith('pause '))) return commands;
  const none: PaletteCommand = {
    kind: 'go',
    id: 'pause',
    name: 'Pause a run: none is running',
    words: 'stop hold resume',
    ...screenAt('/runs'),
  };
  return [...commands, none];
}

/** Waits for the next event of the ticket that is shown, or for one that matches the filters of the events. */
function waitFor({ pathname, search }: Place): PaletteCommand {
  const textOf = (name: string): string => {
    const value = search[name];
    return typeof value === 'string' ? value : '';
  };
  const ticket = /^\/tickets\/([^/]+)/.exec(pathname)?.[1];
  const isEvents = pathname === '/events';
  const filters = {
    event: isEvents ? textOf('event') : '',
    ticket: ticket === undefined ? (isEvents ? textOf('ticket') : '') : decoded(ticket),
    repo: isEvents ? textOf('repo') : '',
    pr: isEvents ? textOf('pr') : '',
    filter: isEvents ? textOf('filter') : '',
  };
  const text = waitForFilters(filters);
  return { kind: 'copy', id: 'wait-for', name: `Copy: ${text}`, words: 'wait-for command event', text };
}

/** Those that contain every typed word. */
export function commandsFound<Command extends Pick<PaletteCommand, 'name' | 'words'>>(
  commands: readonly Command[],
  typed: string,
): Command[] {
  const words = typed.toLowerCase().split(/\s+/).filter(Boolean);
  return commands.filter(({ name, words: others }) => {
    const text = `${name} ${others}`.toLowerCase();
    return words.every((word) => text.includes(word));
  });
}

/** What a poll now found, in one sentence for each feed. */
export function pollWords({ repos, polled }: Answer<'POST', '/api/feeds/check'>): string {
  const fetched = repos.reduce((sum, { repaired }) => sum + repaired, 0);
  const missed =
    fetched === 0 ? [] : [`${counted(fetched, 'missed delivery', 'missed deliveries')} fetched.`];
  const found = polled.map(({ name, state, newEvents, why }) => {
    if (state === 'polled') return `${name}: ${counted(newEvents ?? 0, 'new event', 'new events')}.`;
    return `${name}: ${state === 'disabled' ? 'not polled' : state}${why === null ? '' : `, ${why}`}.`;
  });
  return [...missed, ...found].join(' ');
}

const counted = (count: number, one: string, many: string): string => `${count} ${count === 1 ? one : many}`;
