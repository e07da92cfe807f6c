// Commands to other machines and from them. Both ends are lines, so both survive a kill at any point: the publisher keeps
// a command at the relay while it is open, and a result until the machine that asked has taken it. A line is written once
// for each command, however often the relay shows its record.
import { within } from '@svc/lib/timeout';
import type { Board } from '../../../kernel/board/board.ts';
import type { StateFollower } from '../../../kernel/board/state-follower.ts';
import { Failure } from '../../../kernel/failure.ts';
import { draft, type EventDraft } from '../../../kernel/log/event-line.ts';
import type { TeamCommandView } from '../api.ts';
import {
  COMMAND_MS,
  CommandValue,
  isCommandRemedy,
  MAX_COMMAND_BYTES,
  MOST_COMMANDS_OF_MACHINE,
  MOST_OPEN_COMMANDS,
  ResultValue,
  scopeOfCommand,
  type TeamCommand,
} from '../command.ts';
import { memberNamed } from '../names.ts';
import { commandViews } from '../team-view.ts';
import type { OpenedRecord, Refused } from './records.ts';
import type { TeamFile } from './team-file.ts';

const RESULT_WAIT_MS = 10_000;

/** The lines of a record of kind `command` or `result` of another machine. */
export function commandLines(board: Board, file: TeamFile, opened: OpenedRecord): EventDraft[] | Refused {
  return opened.kind === 'command' ? received(board, file, opened) : answered(board, file.keys.id, opened);
}

function received(board: Board, file: TeamFile, opened: OpenedRecord): EventDraft[] | Refused {
  const { machine: from, key: id, value } = opened;
  const key = `${from}/${id}`;
  const known = board.commands.get(key);
  if (value === null) {
    if (known === undefined || known.closed) return [];
    const detail = { command: id, from };
    return [draft('team.command.closed', {}, detail, { deliveryId: `team-command-closed:${key}` })];
  }
  const { to, at, expiresAt, command: request } = CommandValue.parse(value);
  // A command to another machine is none of our business.
  if (to !== file.keys.id || known !== undefined) return [];
  if (Date.parse(expiresAt) - Date.parse(at) > COMMAND_MS) return { refused: 'wrong-value' };
  const sender = file.roster?.members.find((member) => member.id === from);
  const remembered = [...board.commands.values()].filter((one) => one.from === from).length;
  if (remembered >= MOST_COMMANDS_OF_MACHINE) return { refused: 'too-many-commands' };
  const detail = { command: id, from, to, request, expiresAt, by: askedBy(sender) };
  const once = { via: 'live', deliveryId: `team-command-received:${key}` } as const;
  return [draft('team.command.received', scopeOfCommand(request), detail, once)];
}

/** Only the machine that was asked can answer. */
function answered(board: Board, self: string, { machine, key, value }: OpenedRecord): EventDraft[] | Refused {
  const known = board.commands.get(key);
  if (known?.direction !== 'sent' || known.from !== self) return [];
  if (machine !== known.to) return { refused: 'not-asked' };
  if (value === null || (known.state !== 'open' && known.state !== 'expired')) return [];
  const { state, why, remedy } = ResultValue.parse(value);
  const detail = {
    command: known.id,
    from: self,
    state,
    ...(why !== null && { why }),
    ...(remedy !== null && isCommandRemedy(remedy) && { remedy }),
  };
  const once = { via: 'live', deliveryId: `team-command-result:${key}` } as const;
  return [draft('team.command.ended', scopeOfCommand(known.command), detail, once)];
}

/** By the roster, not by what the command says. */
export function askedBy(member: { person: string; machine: string } | undefined): string {
  return member === undefined ? 'unknown' : `${member.person} (${member.machine})`;
}

export type Asked = { machine: string; command: TeamCommand; key?: string | undefined; by: string };

export function createCommands(options: {
  state: StateFollower;
  /** A line with a delivery id is written once. */
  append: (draft: EventDraft) => Promise<{ seq: number }>;
  now: () => number;
}) {
  const { state, append, now } = options;

  function viewOf(key: string): TeamCommandView | undefined {
    return commandViews(state.board()).find(({ from, id }) => `${from}/${id}` === key);
  }

  /** Resolves when it has ended, or after a while. */
  async function ended(key: string): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>();
    const check = (): void => {
      if (state.board().commands.get(key)?.state !== 'open') resolve();
    };
    const unsubscribe = state.onChange(check);
    check();
    await within(promise, RESULT_WAIT_MS, () => undefined).finally(unsubscribe);
  }

  return {
    async send({ keys }: TeamFile, { machine: name, command, key: id = crypto.randomUUID(), by }: Asked) {
      const board = state.board();
      const to = memberNamed(board.members.values(), name);
      if (to === undefined || to.id === keys.id)
        throw new Failure(
          'usage',
          `No other machine of the team is named ${name}.`,
          'List them: svc team members',
        );
      if (Buffer.byteLength(JSON.stringify(command)) > MAX_COMMAND_BYTES)
        throw new Failure('usage', `A command has at most ${MAX_COMMAND_BYTES} bytes.`);
      const key = `${keys.id}/${id}`;
      const open = [...board.commands.values()].filter(
        (one) => one.direction === 'sent' && one.state === 'open',
      );
      if (open.length >= MOST_OPEN_COMMANDS && !board.commands.has(key))
        throw new Failure(
          'not-allowed-now',
          `${open.length} commands of this machine are open.`,
          'See which: svc team commands',
        );
      const expiresAt = new Date(now() + COMMAND_MS).toISOString();
      const detail = { command: id, from: keys.id, to: to.id, request: command, expiresAt, by };
      const { seq } = await append(
        draft('team.command.sent', scopeOfCommand(command), detail, {
          deliveryId: `team-command-sent:${key}`,
        }),
      );
      await state.reached(seq);
      await ended(key);
      const view = viewOf(key);
      if (view !== undefined) return view;
      throw new Failure('not-allowed-now', 'This machine has left the team meanwhile.');
    },
    /** Ends what was not answered in time, and what a machine that has left cannot answer. */
    async expire({ keys, roster }: TeamFile): Promise<void> {
      for (const { key, id, to, command, state: current, expiresAt, direction } of state
        .board()
        .commands.values()) {
        if (direction !== 'sent' || current !== 'open' || roster === null) continue;
        const isMember = roster.members.some((member) => member.id === to);
        const end = !isMember ? left : now() > Date.parse(expiresAt) ? unanswered : undefined;
        if (end === undefined) continue;
        const detail = { command: id, from: keys.id, ...end };
        const once = { deliveryId: `team-command-expired:${key}` };
        await append(draft('team.command.ended', scopeOfCommand(command), detail, once));
      }
    },
  };
}

const left = {
  state: 'refused',
  why: 'The machine is no longer in the team.',
  remedy: 'See who is: svc team members',
} as const;
const unanswered = {
  state: 'expired',
  why: 'The machine did not answer within 24 hours.',
  remedy: 'See when it was last heard: svc team members. Then send it again.',
} as const;
