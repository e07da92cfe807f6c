// The board: the current state, the state at any past time, and what changed.
import { z } from 'zod';
import { apiRoute, duration, Seq, Time, text } from '../../kernel/http/api-route.ts';
import { AttentionOnBoard } from '../attention/entity.ts';
import { Deployment } from '../deploy/entity.ts';
import { Feed } from '../feeds/entity.ts';
import { PullRequest } from '../pull-requests/entity.ts';
import { Run } from '../runs/entity.ts';
import { Session } from '../sessions/entity.ts';
import { Ticket } from '../tracker/entity.ts';
import { Worker } from '../workers/entity.ts';
import { LeftOut, MemberOnBoard, RecordOnBoard } from './team-entity.ts';

const settled = duration('a duration, like 24h')
  .optional()
  .describe('how long finished work stays on the board: a duration like 24h; default: 7d');
const instanceId = z
  .string()
  .describe('The daemon process that answered; when it changes, fetch the whole board again');

const shown = {
  seq: Seq.describe('The last event on the board'),
  at: Time.nullable().describe('When that event was accepted; null while the log is empty'),
  workers: z.array(Worker),
  pullRequests: z.array(PullRequest),
  deployments: z.array(Deployment),
  tickets: z.array(Ticket),
  runs: z.array(Run),
  attention: z.array(AttentionOnBoard),
  feeds: z.array(Feed),
  sessions: z.array(Session).describe('Agents that people start themselves'),
  members: z.array(MemberOnBoard).describe('The machines of the team; empty unless asked for'),
  team: z.array(RecordOnBoard).describe('What the others have published; empty unless asked for'),
  leftOut: z
    .array(LeftOut)
    .describe('The machines that have published more than is shown of one machine (1 MiB)'),
};
const keys = z.array(z.string());

/** Without the id of the process that answers. */
export type BoardView = Omit<z.infer<typeof Board>, 'instanceId' | 'needsYou'>;
const Board = z
  .object({
    instanceId: instanceId.optional().describe('Only on the live board'),
    needsYou: z
      .int()
      .describe('How much needs a person: cards of the column, sessions, and every other open item'),
    ...shown,
  })
  .meta({ id: 'Board' });

export type BoardChanges = Omit<z.infer<typeof BoardChanges>, 'instanceId'>;
const BoardChanges = z
  .object({
    instanceId,
    ...shown,
    full: z.boolean().describe('This is the whole board: discard what you had before'),
    gone: z
      .object({
        workers: keys,
        pullRequests: keys,
        deployments: keys,
        tickets: keys,
        runs: keys,
        attention: keys,
        feeds: keys,
        sessions: keys,
        members: keys,
        team: keys,
      })
      .describe('Keys of entities that are no longer shown'),
  })
  .meta({ id: 'BoardChanges' });

export const boardRoutes = {
  getBoard: apiRoute({
    method: 'GET',
    path: '/api/board',
    tag: 'board',
    summary: 'Show the board, live or at any past time',
    verbs: ['svc board', 'svc telemetry cost', 'svc ticket list'],
    query: z
      .strictObject({
        at: text(40).optional().describe('a seq, an ISO time, or how long ago, like 2h; default: now'),
        all: z
          .enum(['1', '0'], 'expected 1 or 0')
          .optional()
          .describe('1: include all finished work, however old'),
        settled,
        team: z
          .enum(['1', '0'], 'expected 1 or 0')
          .optional()
          .describe('1: with what the team has published'),
      })
      .refine(
        ({ all, settled: given }) => all !== '1' || given === undefined,
        'all and settled cannot be combined',
      ),
    answer: Board,
    failures: ['usage', 'state-not-ready'],
  }),
  getBoardChanges: apiRoute({
    method: 'GET',
    path: '/api/board/changes',
    tag: 'board',
    summary: 'Show what changed on the board since an event',
    query: z.strictObject({
      after: Seq.optional().describe(
        'the `seq` of the previous answer; without it, the whole board is returned',
      ),
      instanceId: text(100).optional().describe('the `instanceId` of the previous answer'),
      settled,
      atLeast: Seq.optional().describe('wait up to a second until the board includes this event'),
    }),
    answer: BoardChanges,
    failures: ['usage', 'state-not-ready'],
  }),
};
