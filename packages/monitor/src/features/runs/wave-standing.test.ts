import { sampleWorker } from '@svc/testkit';
import { expect, test } from 'vitest';
import type { Worker } from '../workers/worker.ts';
import { defaultTimings } from './acts.ts';
import { standingOfTicket } from './wave-standing.ts';

const NOW = '2026-01-02T03:00:00.000Z';
const at = (minute: number): string => `2026-01-02T02:${minute}:00.000Z`;
const limits = {
  maxParallel: 3,
  maxAwaitingReview: null,
  verifyBeforeMerge: false,
  allowSelfReportedCompletion: true,
  stallAfterSec: 1_800,
  budget: { ticketUsd: null, runUsd: null, dayUsd: null },
};
const recall = (cause: 'message' | 'checks' | 'review', minute: number) => ({
  cause,
  at: at(minute),
  seq: 1,
});
const isIdle = { is: 'paused', by: 'idle', until: null };

test.each([
  ['nothing has happened', {}, isIdle],
  ['a message came after it', { recall: recall('message', 31) }, { is: 'recalled', cause: 'message' }],
  ['checks failed after it', { recall: recall('checks', 31) }, { is: 'recalled', cause: 'checks' }],
  ['a reviewer asked after it', { recall: recall('review', 31) }, { is: 'recalled', cause: 'review' }],
  ['a person has retried it', { retriedAt: at(31) }, { is: 'dead', next: 'revive', due: NOW }],
] as const)('an agent that was ended because it had nothing to do, and %s', (_, given, standing) => {
  const agent = { suspended: { at: at(30), minutes: 30 }, limit: null, stopped: null };
  const worker = { ...sampleWorker({}), status: 'implementing', ...given, agent } as unknown as Worker;
  const revivals = { count: 0, lastDeathAt: NOW, lastEnd: 'died', lastLaunchAt: at(10) } as const;
  const subject = { worker, agent: undefined, revivals, verification: undefined };
  const timings = { ...defaultTimings, revivalDelaysSec: [0] };
  expect(standingOfTicket(subject, limits, timings, NOW)).toEqual(standing);
});
