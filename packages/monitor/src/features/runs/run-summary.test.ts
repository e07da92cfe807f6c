import {
  mergedPullRequest,
  mergedWorker,
  sampleAttention,
  sampleBoard,
  sampleDeployment,
  sampleTime,
  sampleWorker,
} from '@svc/testkit';
import { expect, test } from 'vitest';
import type { Run } from './run.ts';
import { runSummary } from './run-summary.ts';

const signal = (ticket: string, usd: number | null) => ({
  ticket,
  orchestrator: 'run-1',
  workerName: ticket,
  status: 'done' as const,
  phase: 1,
  startedAt: sampleTime('09:00'),
  updatedAt: sampleTime('11:00'),
  ...(usd !== null && { cost: { usd } }),
});

const run: Run = {
  orchestrator: 'run-1',
  name: null,
  state: 'completed',
  startedAt: sampleTime('09:00'),
  endedAt: sampleTime('12:00'),
  tickets: [],
  plan: {
    waves: [['ENG-1', 'ENG-2'], ['ENG-3']],
    maxParallel: 2,
    project: '/web',
    base: 'main',
    workerCommand: '/a:b',
    workerModel: 'm',
  },
  blockedBy: null,
  maxParallel: 2,
  waves: [],
  lastSeq: 100,
  lastAt: sampleTime('12:00'),
};

const success = { state: 'success' as const, at: sampleTime('11:10'), seq: 44, via: 'live' as const };
const board = sampleBoard({
  workers: [
    mergedWorker({ status: 'done', signal: signal('ENG-1', 0.5) }, { result: 'success' }),
    sampleWorker({ ticket: 'ENG-2', status: 'failed', signal: signal('ENG-2', null) }),
  ],
  pullRequests: [mergedPullRequest({ title: 'Log in\n## Forged' })],
  deployments: [sampleDeployment({ states: [success] })],
  attention: [sampleAttention({ ticket: 'ENG-2', message: 'It stalled', remedy: 'svc why ENG-2' })],
});

const part = (text: string, heading: string): string =>
  text.split(/^(?=#{2,3} )/m).find((one) => one.startsWith(heading)) ?? '';

test('the facts of the run and of each ticket, with their sources', () => {
  const text = runSummary(board, run, sampleTime('12:00'), null);
  expect(text).toMatch(/^# Run run-1: completed\n/);
  expect(text).toContain('- Tickets: 3 (1 done, 1 failed, 1 unknown)');
  const shipped = part(text, '### ENG-1');
  expect(shipped).toContain('### ENG-1: Log in ## Forged\n');
  expect(shipped).toContain('- Shipped: yes\n');
  expect(shipped).toMatch(/- Pull request: acme\/web#12 \(observed .*\) https:\/\/codehost/);
  expect(shipped).toMatch(/- Deployment: 41 of aaaaaaa\S* to production \(observed /);
  expect(part(text, '## Needs a person')).toContain('- ENG-2: ');
  expect(part(text, '## Needs a person')).toContain('It stalled (svc why ENG-2)');
});

test('unknown values are shown as unknown: never 0, and never left out', () => {
  const text = runSummary(board, run, sampleTime('12:00'), null);
  expect(text).toContain('- Cost: at least $0.50 (unknown for ENG-2, ENG-3)');
  expect(part(text, '### ENG-2')).toContain('- Cost: unknown\n');
  const never = part(text, '### ENG-3');
  for (const name of ['Status', 'Shipped', 'Cost']) expect(never).toContain(`- ${name}: unknown\n`);
  const empty = runSummary(sampleBoard(), { ...run, startedAt: null }, sampleTime('12:00'), null);
  expect(empty).toContain('- Cost: unknown\n');
  expect(empty).toContain('- Started: unknown\n');
  expect(empty).toContain('## Needs a person\n\nNothing.\n');
});

test('a model’s text, or why there is none; no section if no model may be used', () => {
  const at = sampleTime('12:00');
  const written = runSummary(board, run, at, { text: 'All is well.\n', by: 'provider-a (m)' });
  expect(written).toContain('## Summary\n\nAll is well.\n\n(Written by provider-a (m) from the facts below)');
  expect(runSummary(board, run, at, { problem: 'it timed out' })).toContain('returned no text: it timed out');
  expect(runSummary(board, run, at, null)).not.toContain('## Summary');
});
