// The board: the state of now or of any past moment, and what of it changed.
import { z } from 'zod';
import { AttentionOnBoard, Deployment, Feed, PullRequest, Run, Ticket, Worker } from './entities.ts';
import { apiRoute, duration, Seq, Time, text } from './route.ts';

const settled = duration('a duration, like 24h')
  .optional()
  .describe('for how long what has settled is still shown: a duration like 24h; default: 7d');
const instanceId = z
  .string()
  .describe('Names the process that answered: after a restart the whole board is asked for again');

const shown = {
  seq: Seq.describe('The last line that the board knows'),
  at: Time.nullable().describe('When that line was accepted; null while there is none'),
  workers: z.array(Worker),
  pullRequests: z.array(PullRequest),
  deployments: z.array(Deployment),
  tickets: z.array(Ticket),
  runs: z.array(Run),
  attention: z.array(AttentionOnBoard),
  feeds: z.array(Feed),
};
const keys = z.array(z.string());

/** Without the name of the process that answers. */
export type BoardView = Omit<z.infer<typeof Board>, 'instanceId'>;
const Board = z
  .object({ instanceId: instanceId.optional().describe('Only of the board of now'), ...shown })
  .meta({ id: 'Board' });

export type BoardChanges = Omit<z.infer<typeof BoardChanges>, 'instanceId'>;
const BoardChanges = z
  .object({
    instanceId,
    ...shown,
    full: z.boolean().describe('Everything is here: what the reader had before does not count any more'),
    gone: z
      .object({
        workers: keys,
        pullRequests: keys,
        deployments: keys,
        tickets: keys,
        runs: keys,
        attention: keys,
        feeds: keys,
      })
      .describe('Keys of what is no longer shown'),
  })
  .meta({ id: 'BoardChanges' });

export const boardRoutes = {
  getBoard: apiRoute({
    method: 'GET',
    path: '/api/board',
    tag: 'board',
    summary: 'The state of now, or of any past moment',
    verbs: ['svc board'],
    query: z
      .strictObject({
        at: text(40).optional().describe('a seq, an ISO time, or how long ago, like 2h; default: now'),
        all: z.enum(['1', '0'], 'expected 1 or 0').optional().describe('1: also what has settled long ago'),
        settled,
      })
      .refine(
        ({ all, settled: given }) => all !== '1' || given === undefined,
        'all and settled: one of them leaves out what the other asks for',
      ),
    answer: Board,
    failures: ['usage', 'state-not-ready'],
  }),
  getBoardChanges: apiRoute({
    method: 'GET',
    path: '/api/board/changes',
    tag: 'board',
    summary: 'What of the board changed since a line, for whoever follows it',
    query: z.strictObject({
      after: Seq.optional().describe('the `seq` of the last answer; without it everything is told'),
      instanceId: text(100).optional().describe('the `instanceId` of the last answer'),
      settled,
      atLeast: Seq.optional().describe('waits a second for this line to be on the board'),
    }),
    answer: BoardChanges,
    failures: ['usage', 'state-not-ready'],
  }),
};
