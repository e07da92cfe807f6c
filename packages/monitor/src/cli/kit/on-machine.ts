// What verbs share that show or command the machines of the team.
import type { Answer } from '@svc/client';
import type { TeamCommand } from '../../features/team/command.ts';
import { Failure } from '../../kernel/failure.ts';
import { needDaemon, requestedBy } from './daemon.ts';
import { AnswerIsNo, paint, printJson, type Terminal } from './terminal.ts';
import { ageText, plainText } from './text.ts';

type TeamBoard = Answer<'GET', '/api/team/board'>;

export const teamOption = ['--team', 'show every machine of the team'] as const;
export const machineOption = ['--machine <name>', 'show one machine of the team'] as const;

export const onMachineOption = ['--machine <name>', 'do it on this machine of the team'] as const;

/** Asks another machine, and prints what came of it. Exit code 1 when it was not done. */
export async function commandMachine(
  terminal: Terminal,
  machine: string,
  command: TeamCommand,
  { json = false, key }: { json?: boolean | undefined; key?: string | undefined } = {},
): Promise<void> {
  const body = { machine, command, key, ...requestedBy(terminal) };
  const answer = await (await needDaemon(terminal)).post('/api/team/commands', { body });
  const { state, why, remedy } = answer.command;
  const isOver = state !== 'open' && state !== 'done';
  if (json) {
    printJson(terminal, answer);
    if (isOver) throw new AnswerIsNo();
    return;
  }
  if (isOver)
    throw new Failure(
      'not-allowed-now',
      `${machine}: ${state}. ${plainText(why ?? '')}`,
      remedy ?? undefined,
    );
  if (state === 'done') return terminal.out(`Done on ${plainText(machine)}.`);
  terminal.out(
    `Sent to ${plainText(machine)}, which has not answered yet. It is valid for a day. See: svc team commands`,
  );
}

export async function getTeamBoard(
  terminal: Terminal,
  query: { at?: string | undefined; machine?: string | undefined },
): Promise<TeamBoard> {
  return (await needDaemon(terminal)).get('/api/team/board', { query });
}

/** The line above what a machine has, and how much of it is not shown. */
export function printMachine(terminal: Terminal, shown: TeamBoard['machines'][number]): void {
  terminal.out(machineHead(terminal, shown));
  const { leftOut, machine } = shown;
  if (leftOut === null) return;
  const text = `  Shown: ${leftOut.shown} of ${leftOut.of}, the newest. The rest: svc board, on ${machine}`;
  terminal.out(paint(terminal, 'yellow', plainText(text)));
}

/** `laptop (kim)`, with the age of what is known if the machine is not heard. */
export function machineHead(
  terminal: Terminal,
  shown: Pick<
    TeamBoard['machines'][number],
    'machine' | 'person' | 'self' | 'presence' | 'heardAt' | 'doubt'
  >,
): string {
  const name = plainText(`${shown.machine} (${shown.person})${shown.self ? ', this machine' : ''}`);
  if (shown.presence === 'here') return name;
  const heard =
    shown.presence === 'incomplete'
      ? plainText(shown.doubt ?? '')
      : shown.heardAt === null
        ? 'not heard yet'
        : `last heard ${ageText(shown.heardAt, terminal.now())}`;
  return paint(terminal, 'yellow', `${name}: ${heard}; this may be outdated`);
}
