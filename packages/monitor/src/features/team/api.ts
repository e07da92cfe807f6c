// The team: its machines, what each of them works on, and who is invited.
import { z } from 'zod';
import { apiRoute, by, Seq, Time, text } from '../../kernel/http/api-route.ts';
import { AttentionOnBoard } from '../attention/entity.ts';
import { LONGEST_NAME, leftOut, TeamWorker } from '../board/team-entity.ts';
import { Run } from '../runs/entity.ts';
import { Session } from '../sessions/entity.ts';
import { commandEnds, TeamCommand } from './command.ts';
import { TeamMember } from './roster.ts';

const presence = {
  heardAt: Time.nullable().describe('When the machine was last heard; null: not since this daemon started'),
  presence: z
    .enum(['here', 'silent', 'incomplete', 'unknown'])
    .describe(
      'silent: not heard for two heartbeats (70 seconds); incomplete: heard, but see doubt. What is shown of it may be outdated',
    ),
  doubt: z
    .string()
    .nullable()
    .describe('Why what is shown of it may be incomplete; null: nothing was noticed'),
};
const machine = {
  ...TeamMember.omit({ agree: true }).shape,
  self: z.boolean().describe('This machine'),
  ...presence,
};

export type TeamBoard = z.infer<typeof TeamBoard>;
const TeamBoard = z
  .object({
    seq: Seq.describe('The last event on the board'),
    at: Time.nullable(),
    machines: z.array(
      z.object({
        ...machine,
        workers: z.array(TeamWorker),
        runs: z.array(Run),
        sessions: z.array(Session),
        attention: z.array(AttentionOnBoard),
        leftOut: z
          .object(leftOut)
          .nullable()
          .describe('Set if it has published more than is shown of one machine (1 MiB)'),
      }),
    ),
  })
  .meta({ id: 'TeamBoard' });

export type TeamStatus = z.infer<typeof TeamStatus>;
export const TeamStatus = z
  .object({
    name: z.string().describe('Of the team'),
    relay: z.string().describe('Where its records are kept'),
    person: z.string(),
    machine: z.string(),
    role: z.enum(['admin', 'member']),
    state: z
      .enum(['joining', 'connecting', 'live', 'unreachable', 'removed'])
      .describe('joining: the administrator’s machine has not answered yet'),
    since: Time,
    why: z.string().nullable(),
    remedy: z.string().nullable(),
    published: z.int().describe('Records that the relay has acknowledged'),
    pending: z.int().describe('Changes that it has not acknowledged yet'),
    refused: z
      .array(z.object({ reason: z.string(), machine: z.string(), count: z.int(), at: Time }))
      .describe('Records that were refused in the last hour'),
    problems: z
      .array(z.object({ text: z.string(), remedy: z.string() }))
      .describe('What else is wrong, such as records that the relay does not show'),
    invitations: z.array(Time).describe('When open invitations expire; only on the administrator’s machine'),
    members: z.array(z.object(machine)),
  })
  .meta({ id: 'TeamStatus' });
const Team = z.object({ team: TeamStatus.nullable().describe('Null: this machine is in no team') });

export type TeamCommandView = z.infer<typeof TeamCommandView>;
const TeamCommandView = z
  .object({
    id: z.string(),
    direction: z.enum(['sent', 'received']),
    from: z.string().describe('The id of the machine that asks'),
    to: z.string().describe('The id of the machine that is asked'),
    machine: z.string().describe('The other machine'),
    person: z.string().describe('Its person'),
    command: TeamCommand,
    at: Time,
    expiresAt: Time.describe('It is not executed later'),
    state: z.enum(['open', ...commandEnds]),
    why: z.string().nullable(),
    remedy: z.string().nullable(),
    endedAt: Time.nullable(),
  })
  .meta({ id: 'TeamCommandView' });

const who = {
  person: text(LONGEST_NAME).describe('who you are for the others'),
  machine: text(LONGEST_NAME).describe('how this machine is named for the others'),
};
const tag = { tag: 'team', answer: Team } as const;
const change = {
  ...tag,
  method: 'POST',
  failures: ['usage', 'not-allowed-now', 'relay-unavailable', 'file-unusable', 'log-not-writable'],
} as const;

export const teamRoutes = {
  getTeam: apiRoute({
    ...tag,
    method: 'GET',
    path: '/api/team',
    summary: 'Show the team: its machines, the connection, refused records',
    verbs: ['svc team status', 'svc team members', 'svc uninstall'],
    failures: [],
  }),
  getTeamBoard: apiRoute({
    method: 'GET',
    path: '/api/team/board',
    tag: 'team',
    summary: 'Show what every machine of the team works on',
    description:
      'Of other machines: what they have published. Texts of agents, diffs and folders are not shared.',
    verbs: ['svc board', 'svc attention'],
    query: z.strictObject({
      at: text(40).optional().describe('a seq, an ISO time, or how long ago, like 2h; default: now'),
      machine: text(100).optional().describe('only the machine with this name'),
    }),
    answer: TeamBoard,
    failures: ['usage', 'not-allowed-now', 'state-not-ready'],
  }),
  createTeam: apiRoute({
    ...change,
    path: '/api/team/create',
    summary: 'Create a team at a relay, with this machine as its administrator',
    verbs: ['svc team create'],
    body: z.strictObject({
      relay: text(2000).describe('the address of a svc-relay'),
      name: text(100),
      ...who,
      createKey: text(512).optional().describe('where the relay asks for one'),
    }),
  }),
  inviteToTeam: apiRoute({
    ...change,
    path: '/api/team/invite',
    summary: 'Make an invitation for one machine, valid for an hour',
    verbs: ['svc team invite'],
    body: z.strictObject({
      person: text(LONGEST_NAME)
        .optional()
        .describe('a member, if it is for a further machine of that person'),
    }),
    answer: z.object({ invitation: z.string().describe('One line, a secret'), expiresAt: Time }),
  }),
  joinTeam: apiRoute({
    ...change,
    path: '/api/team/join',
    summary: 'Join a team with an invitation',
    description: 'Waits up to 20 seconds for the administrator’s machine; after that the state is joining.',
    verbs: ['svc team join'],
    body: z.strictObject({ invitation: text(2500), ...who }),
  }),
  removeFromTeam: apiRoute({
    ...change,
    path: '/api/team/remove',
    summary: 'Remove a machine from the team, and change the keys',
    verbs: ['svc team remove'],
    body: z.strictObject({ machine: text(100).describe('its name or id') }),
  }),
  listTeamCommands: apiRoute({
    method: 'GET',
    path: '/api/team/commands',
    tag: 'team',
    summary: 'List what machines of the team have asked of each other here',
    description: 'Commands from this machine and to it, newest first, for at least three days.',
    verbs: ['svc team commands'],
    answer: z.object({ commands: z.array(TeamCommandView) }),
    failures: ['state-not-ready'],
  }),
  commandMachine: apiRoute({
    ...change,
    path: '/api/team/commands',
    summary: 'Ask another machine of the team to do something',
    description:
      'The answer waits up to 10 seconds for the result; after that the state is open. The owner of the machine decides what is allowed: svc.team.allow.',
    verbs: [
      'svc attention ack',
      'svc attention hand-over',
      'svc agent answer',
      'svc agent send',
      'svc orchestrate pause',
      'svc deploy retry',
    ],
    body: z.strictObject({
      machine: text(100).describe('its name or id'),
      command: TeamCommand,
      key: text(100).optional().describe('the same key twice is one command; default: each request counts'),
      by,
    }),
    answer: z.object({ command: TeamCommandView }),
    failures: ['usage', 'not-allowed-now', 'state-not-ready', 'log-not-writable'],
  }),
  leaveTeam: apiRoute({
    ...change,
    path: '/api/team/leave',
    summary: 'Leave the team: remove what this machine has published, and its keys',
    verbs: ['svc team leave', 'svc uninstall'],
    body: z.strictObject({}),
  }),
};
