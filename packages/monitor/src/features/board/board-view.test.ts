import {
  mergedPullRequest,
  mergedWorker,
  sampleAttention,
  sampleBoard,
  sampleDeployment,
  samplePullRequest,
  sampleTicket,
  sampleTime,
  sampleWorker,
} from '@svc/testkit';
import { expect, test } from 'vitest';
import { attentionView } from '../attention/attention-view.ts';
import { boardView } from './board-view.ts';

const longAgo = '2025-12-01T00:00:00.000Z';

test('each entity with its derived fields, without the signal file', () => {
  const signal = { error: 'no disk', cost: { usd: 1.5 }, token: 'secret' };
  const view = boardView(
    sampleBoard({
      workers: [mergedWorker({ signal: signal as never })],
      pullRequests: [mergedPullRequest()],
      attention: [sampleAttention()],
    }),
  );
  expect(view).toMatchObject({ seq: 100, at: sampleTime('12:00') });
  expect(view.workers[0]).toMatchObject({
    status: 'merged',
    error: 'no disk',
    cost: { usd: 1.5, inputTokens: null, outputTokens: null },
    attempts: 0,
    budget: 3,
    pullRequest: 'acme/web#12',
    waitsFor: 'a deployment of aaaaaaa to production',
    until: sampleTime('11:30'),
    contradictions: [],
  });
  expect(view.workers[0]).not.toHaveProperty('signal');
  expect(JSON.stringify(view)).not.toContain('secret');
  expect(view.pullRequests[0]).toMatchObject({
    name: 'acme/web#12',
    readiness: { ready: false, reasons: ['it is already merged'] },
  });
  expect(view.attention).toHaveLength(1);
});

test('staging is shown beside the worker, and does not make it done', () => {
  const states = [{ state: 'success' as const, at: sampleTime('11:15'), seq: 55, via: 'live' }];
  const view = boardView(
    sampleBoard({
      workers: [mergedWorker()],
      deployments: [sampleDeployment({ environment: 'staging', states })],
    }),
  );
  expect(view.workers[0]).toMatchObject({ status: 'merged', policy: { stagingEnvironment: 'staging' } });
  expect(view.deployments).toMatchObject([{ environment: 'staging', state: 'success' }]);
});

test('entities that settled over a week ago are left out, unless all are requested', () => {
  const lastAt = longAgo;
  const board = sampleBoard({
    workers: [
      sampleWorker({ ticket: 'ENG-1', status: 'done', lastAt }),
      sampleWorker({ ticket: 'ENG-2', status: 'failed' }),
      sampleWorker({ ticket: 'ENG-3', status: 'stalled', lastAt }),
    ],
    pullRequests: [
      samplePullRequest({ number: 1, state: 'closed', lastAt }),
      samplePullRequest({ number: 2, lastAt }),
      mergedPullRequest({ number: 3 }),
    ],
    deployments: [
      sampleDeployment({ id: 1, states: [], state: 'success', lastAt }),
      sampleDeployment({ id: 2, states: [], state: 'pending', lastAt }),
    ],
    tickets: [sampleTicket({ ticket: 'ENG-1', removed: true, lastAt }), sampleTicket({ ticket: 'ENG-2' })],
  });
  const view = boardView(board);
  expect(view.workers.map(({ ticket }) => ticket)).toEqual(['ENG-2', 'ENG-3']);
  expect(view.pullRequests.map(({ number }) => number)).toEqual([2, 3]);
  expect(view.deployments.map(({ id }) => id)).toEqual([2]);
  expect(view.tickets.map(({ ticket }) => ticket)).toEqual(['ENG-2']);
  const all = boardView(board, { all: true });
  expect([all.workers, all.pullRequests, all.deployments, all.tickets].map(({ length }) => length)).toEqual([
    3, 3, 2, 2,
  ]);
});

test('attention: by severity, then the longest open; snoozed items separately', () => {
  const now = Date.parse(sampleTime('12:00'));
  const item = (ticket: string, severity: string, opened: string, snoozedUntil: string | null = null) =>
    sampleAttention({ ticket, severity, openedAt: sampleTime(opened), snoozedUntil });
  const view = attentionView(
    sampleBoard({
      attention: [
        item('A-1', 'low', '08:00'),
        item('A-2', 'high', '11:30'),
        item('A-3', 'high', '11:00'),
        item('A-4', 'strange', '07:00'),
        item('A-5', 'high', '07:00', sampleTime('13:00')),
        item('A-6', 'medium', '07:00', sampleTime('11:59')),
      ],
    }),
    now,
  );
  expect(view.open.map(({ ticket }) => ticket)).toEqual(['A-3', 'A-2', 'A-6', 'A-1', 'A-4']);
  expect(view.open[1]?.ageMs).toBe(30 * 60_000);
  expect(view.snoozed.map(({ ticket }) => ticket)).toEqual(['A-5']);
});
