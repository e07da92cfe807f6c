import { mergedPullRequest, sampleBoard, sampleWorker, verifiedPolicy } from '@svc/testkit';
import { pino } from 'pino';
import { expect, onTestFinished, test } from 'vitest';
import { createHttpServer } from '../../kernel/http/server.ts';
import { allowEveryone } from '../../kernel/http/testing/allow-everyone.ts';
import { type EventDraft, parseEventDraft } from '../../kernel/log/event-line.ts';
import { emptyBoard } from '../board.ts';
import { heldBack } from '../tickets/held-ticket.ts';
import { topics } from '../topics.ts';
import { type MoveEnding, type TicketMove, TicketNotMoved } from './io/move-ticket.ts';
import { trackerRoutes } from './routes.ts';

const move: TicketMove = {
  outcome: 'moved',
  from: 'Backlog',
  to: 'In Review',
  stateId: 'id-1',
  why: 'its phase is inReview',
  remedy: null,
};

async function world(ending?: MoveEnding, board = emptyBoard()) {
  const reported: EventDraft[] = [];
  const asked: [string, number][] = [];
  const server = createHttpServer({
    logger: pino({ level: 'silent' }),
    access: allowEveryone,
    show: () => false,
    onAnswer: () => undefined,
    routes: [
      trackerRoutes({
        projects: { of: () => Promise.reject(new Error('no project is read')) },
        folderOf: () => undefined,
        heldBack,
        state: {
          board: () => board,
          reached: async () => undefined,
          progress: () => ({ ready: true, seq: 0, logSeq: 0 }),
        },
        report: async (draft) => ({ seq: reported.push(draft) + 40 }),
        outcomeOf: async (key, timeoutMs) => {
          asked.push([key, timeoutMs]);
          return ending;
        },
      }),
    ],
  });
  onTestFinished(() => server.close());
  const port = await server.listen(0);
  const post = async (ticket: string, body: unknown) => {
    const response = await fetch(`http://127.0.0.1:${port}/api/tickets/${ticket}/phase`, {
      method: 'POST',
      headers: { 'Content-Type': 'application/json' },
      body: JSON.stringify(body),
    });
    return { status: response.status, body: await response.json() };
  };
  return { post, reported, asked };
}

test('the event goes into the log, and the response has the outcome of its effect', async () => {
  const { post, reported, asked } = await world({ state: 'ended', move });
  expect(await post('abc-12', { phase: 'create-pr' })).toEqual({
    status: 200,
    body: {
      ticket: 'ABC-12',
      phase: 'inReview',
      outcome: 'moved',
      from: 'Backlog',
      to: 'In Review',
      why: 'its phase is inReview',
      remedy: null,
    },
  });
  expect(reported).toEqual([
    {
      event: 'workflow.ticket.phase_changed',
      source: 'cli',
      via: 'local',
      scope: { ticket: 'ABC-12' },
      detail: { to: 'inReview', skill: 'create-pr' },
    },
  ]);
  expect(parseEventDraft(topics, reported[0]).ok).toBe(true);
  expect(asked).toEqual([['41:move-ticket:ABC-12', 15_000]]);
});

test('a phase given by its own name has no skill', async () => {
  const { post, reported } = await world({ state: 'ended', move });
  await post('ABC-12', { phase: 'done' });
  expect(reported[0]?.detail).toEqual({ to: 'done' });
});

test('skipped has its reason', async () => {
  const { post } = await world({ state: 'ended', move: { ...move, outcome: 'skipped', why: 'it is null' } });
  expect((await post('ABC-12', { phase: 'done' })).body).toMatchObject({
    outcome: 'skipped',
    why: 'it is null',
  });
});

test('what has not ended in time is pending, with the reason', async () => {
  const error = new TicketNotMoved('tracker-unavailable', 'It is down.', undefined, { permanent: false });
  const tried = await world({ state: 'retrying', error });
  expect((await tried.post('ABC-1', { phase: 'done' })).body).toMatchObject({
    outcome: 'pending',
    why: 'It is down.',
  });
  const untried = await world();
  expect((await untried.post('ABC-1', { phase: 'done' })).body).toMatchObject({
    outcome: 'pending',
    why: expect.stringContaining('queued'),
  });
});

test('a permanent failure is an error with its fix', async () => {
  const error = new TicketNotMoved('tracker-error', 'No such ticket.', 'Name another.', { permanent: true });
  const { post } = await world({ state: 'given-up', error });
  expect(await post('ABC-1', { phase: 'done' })).toEqual({
    status: 502,
    body: { error: 'No such ticket.', code: 'tracker-error', remedy: 'Name another.' },
  });
});

test.each([
  ['a ticket without a number', 'ABC', { phase: 'done' }, 'like ABC-12'],
  ['a ticket that is a path', 'ABC-1%2F..%2Fx', { phase: 'done' }, 'like ABC-12'],
  ['a ticket that is too long', `A-${'1'.repeat(80)}`, { phase: 'done' }, 'like ABC-12'],
  ['no phase', 'ABC-1', {}, 'expected the name'],
  ['a phase that is not text', 'ABC-1', { phase: 7 }, 'expected the name'],
  ['a list', 'ABC-1', ['done'], 'must be a JSON object'],
  ['a slip', 'ABC-1', { phase: 'inreveiw' }, 'did you mean inReview?'],
  ['an unknown field', 'ABC-1', { phase: 'done', force: true }, 'Unknown field "force"'],
])('%s is refused, and nothing is reported', async (_, ticket, body, message) => {
  const { post, reported } = await world();
  const answer = await post(ticket, body);
  expect(answer).toMatchObject({
    status: 400,
    body: { code: 'usage', error: expect.stringContaining(message) },
  });
  expect(reported).toEqual([]);
});

test('done is held while its repository requires a verified deployment, and reported all the same', async () => {
  const projects = [
    { project: '/p', deploy: { 'acme/web': verifiedPolicy }, relaxes: [], others: 'default' as const },
  ];
  const board = sampleBoard({ projects, pullRequests: [mergedPullRequest()] });
  const { post, reported, asked } = await world({ state: 'ended', move }, board);
  expect(await post('ENG-1', { phase: 'merge-pr' })).toMatchObject({
    status: 200,
    body: { outcome: 'held', why: 'acme/web requires a verified deployment, and none was seen' },
  });
  expect(await post('ENG-1', { phase: 'inReview' })).toMatchObject({ body: { outcome: 'moved' } });
  expect([reported.length, asked.length]).toEqual([2, 1]);
});

test('a worker that reports a review after the merge gets the reason why its ticket was not moved', async () => {
  const board = sampleBoard({ workers: [sampleWorker({ status: 'merged' })] });
  const { post, asked } = await world({ state: 'ended', move }, board);
  expect(await post('ENG-1', { phase: 'inReview', orchestrator: 'run-1' })).toMatchObject({
    status: 200,
    body: { outcome: 'skipped', why: 'its pull request is merged already', remedy: null },
  });
  expect(asked).toEqual([]);
  expect(await post('ENG-1', { phase: 'inReview' })).toMatchObject({ body: { outcome: 'moved' } });
});
