// What a member asks another machine of the team to do. A command is a record of the machine that asks, its result one of
// the machine that was asked. A command is executed once, by the machine that it names, if the owner of that machine
// allows it.
import { z } from 'zod';
import { hookAnswers } from '../agents/request-limit.ts';
import { MachineId } from '../board/team-entity.ts';
import { isMachineId } from './names.ts';

const text = (longest: number) => z.string().min(1).max(longest);
const ticket = z
  .string()
  .regex(/^[A-Za-z0-9][A-Za-z0-9._-]{0,119}$/, 'expected a ticket like ABC-12')
  .describe('like ABC-12');
const item = text(500).describe('the id of an attention item');
const orchestrator = text(120).optional().describe('the agent of this run; default: the newest');
const note = text(1_000).optional();

export type TeamCommand = z.infer<typeof TeamCommand>;
export const TeamCommand = z.discriminatedUnion('verb', [
  z.strictObject({ verb: z.literal('acknowledge'), item }),
  z.strictObject({
    verb: z.literal('hand-over'),
    item,
    to: z.string().trim().min(1).max(100).describe('a person'),
    note,
  }),
  z.strictObject({
    verb: z.literal('answer'),
    subject: text(220).describe('a ticket, or the key of a session'),
    request: text(200).describe('the id of the request'),
    answer: z.enum(hookAnswers),
    orchestrator,
  }),
  z.strictObject({ verb: z.literal('retry-deploy'), ticket, note, orchestrator }),
  z.strictObject({ verb: z.literal('pause'), run: text(120) }),
  z.strictObject({ verb: z.literal('send'), ticket, text: text(20_000), orchestrator }),
]);

export const commandVerbs = ['acknowledge', 'hand-over', 'answer', 'retry-deploy', 'pause', 'send'] as const;
export type CommandVerb = (typeof commandVerbs)[number];

export const commandEnds = ['done', 'failed', 'refused', 'expired'] as const;
export const COMMAND_MS = 24 * 3_600_000;
/** It fits into a record and into a line. */
export const MAX_COMMAND_BYTES = 30_000;
/** Open ones of this machine, and remembered ones of another. */
export const MOST_OPEN_COMMANDS = 200;
export const MOST_COMMANDS_OF_MACHINE = 2_000;

const time = z.iso.datetime();

/** The value of a record of kind `command`. Its key is the id of the command. */
export const CommandValue = z.object({ to: MachineId, at: time, expiresAt: time, command: TeamCommand });
export type CommandValue = z.infer<typeof CommandValue>;

/** What a result suggests. One that is not listed is not shown: it would look like advice of this svc. */
export const commandRemedies = {
  again: 'Send it again.',
  clocks: 'Set the clocks, then send it again.',
  allow: 'On that machine, add the command to svc.team.allow (docs/guide/teams.md).',
  look: 'Look at it on that machine, or ask its person.',
} as const;

export function isCommandRemedy(remedy: string): boolean {
  return Object.values<string>(commandRemedies).includes(remedy);
}

/** The value of a record of kind `result`. Its key is `<machine that asked>/<id of the command>`. */
export const ResultValue = z.object({
  state: z.enum(commandEnds),
  why: z.string().max(2_000).nullable(),
  remedy: z.string().max(2_000).nullable(),
});
export type ResultValue = z.infer<typeof ResultValue>;

/** By `id:<id of a machine>` (or the id alone), `machine:<name>`, `person:<name>`; `*`: every member. */
export type CommandAllowances = Readonly<Record<string, readonly CommandVerb[]>>;

/** Whether it names a member in one of these ways. A name alone could be that of a person, or of a machine. */
export function isAllowanceName(name: string): boolean {
  return name === '*' || isMachineId(name.replace(/^id:/, '')) || /^(?:machine|person):./.test(name);
}

export function isAllowed(
  allow: CommandAllowances,
  { id: machineId, machine, person }: { id: string; machine: string; person: string },
  verb: CommandVerb,
): boolean {
  return [`id:${machineId}`, machineId, `machine:${machine}`, `person:${person}`, '*'].some(
    (name) => isAllowanceName(name) && Object.hasOwn(allow, name) && allow[name]?.includes(verb) === true,
  );
}

/** The ticket or the run that it is about, where the command names one. */
export function scopeOfCommand(command: TeamCommand): { ticket?: string; orchestrator?: string } {
  if (command.verb === 'pause') return { orchestrator: command.run };
  if (command.verb === 'acknowledge' || command.verb === 'hand-over') return {};
  const named = command.verb === 'answer' ? command.subject : command.ticket;
  return {
    ...(!named.includes('/') && { ticket: named }),
    ...(command.orchestrator !== undefined && { orchestrator: command.orchestrator }),
  };
}
