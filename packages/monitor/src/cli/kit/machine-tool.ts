// The actions of tools on another machine of the team.
import { z } from 'zod';
import type { TeamCommand } from '../../features/team/command.ts';
import { Failure } from '../../kernel/failure.ts';
import { needDaemon, requestedBy } from './daemon.ts';
import type { Terminal } from './terminal.ts';
import { plainText } from './text.ts';

export const machineField = (actions: string) =>
  z
    .string()
    .min(1)
    .max(100)
    .optional()
    .describe(`do it on this machine of the team, if its owner allows it; ${actions}`);

export async function onMachine(terminal: Terminal, machine: string, command: TeamCommand) {
  const by = (requestedBy(terminal).by ?? 'a person').slice(0, 90).concat(' via mcp');
  const daemon = await needDaemon(terminal);
  const answer = await daemon.post('/api/team/commands', { body: { machine, command, by } });
  const { state, why, remedy } = answer.command;
  if (state !== 'open' && state !== 'done')
    throw new Failure(
      'not-allowed-now',
      `${machine}: ${state}. ${plainText(why ?? '')}`,
      remedy ?? undefined,
    );
  const text = state === 'done' ? 'Done.' : 'Sent; the machine has not answered yet.';
  return { structured: { ok: true, ...answer }, text, outside: [plainText(machine)] };
}
