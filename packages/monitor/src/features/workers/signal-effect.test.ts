import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { SignalFile } from '@svc/contract/signal-file';
import { temporaryFolder } from '@svc/testkit';
import { expect, test } from 'vitest';
import { createFileLocks } from '../../kernel/disk/lock.ts';
import type { DeployProgress } from './deploy-fields.ts';
import { applySignalEffect, createSignalStore, type WriteSignalEffect } from './io/signal-store.ts';

import { putSignal, sampleSignal } from './testing/sample-signal.ts';

const progress: DeployProgress = {
  environment: 'production',
  deploymentId: 9,
  attempts: [{ deploymentId: 7, state: 'failure', failedAt: '2026-01-02T04:00:00Z', description: undefined }],
  startedAt: '2026-01-02T04:00:00Z',
  deadline: '2026-01-02T05:00:00Z',
  completedAt: null,
  result: null,
  containedIn: ['abc'],
  provenBy: null,
};

function effect(more: Partial<WriteSignalEffect> = {}): WriteSignalEffect {
  return {
    key: '5:write-signal:orch-1/ENG-1',
    seq: 5,
    kind: 'write-signal',
    orchestrator: 'orch-1',
    ticket: 'ENG-1',
    status: 'deploying',
    pr: { state: 'merged', mergedAt: '2026-01-02T03:30:00Z', mergeSha: 'abc' },
    deploy: progress,
    ...more,
  };
}

function setUp(signal: SignalFile | null) {
  const folder = temporaryFolder();
  const runsDir = join(folder, 'runs');
  const path = signal === null ? '' : putSignal(runsDir, signal);
  const locks = createFileLocks({ folder: join(folder, 'locks') });
  const store = createSignalStore({ runsDir, locks, now: () => new Date('2026-05-05T05:05:05Z') });
  return { store, path, text: () => readFileSync(path, 'utf8') };
}

test("merges into the file's content, in its own shape; a second time changes nothing", async () => {
  const attempt = { deploymentId: 7, state: 'failure', logUrl: 'https://log', mine: 1 } as const;
  const before = sampleSignal({
    status: 'merged',
    pr: { number: 42, url: 'https://codehost.example.test/acme/web/pull/42', mine: true },
    deploy: { attempts: [attempt], note: 'n' },
    later: { a: 1 },
  });
  const { store, text } = setUp(before);
  expect(await applySignalEffect(store, effect())).toEqual({ outcome: 'written' });
  const written = text();
  expect(JSON.parse(written)).toEqual({
    ...before,
    status: 'deploying',
    updatedAt: '2026-05-05T05:05:05.000Z',
    pr: { ...before.pr, state: 'merged', mergedAt: '2026-01-02T03:30:00Z', mergeSha: 'abc' },
    deploy: {
      note: 'n',
      environment: 'production',
      deploymentId: 9,
      attempts: [{ ...attempt, failedAt: '2026-01-02T04:00:00Z' }],
      startedAt: '2026-01-02T04:00:00Z',
      deadline: '2026-01-02T05:00:00Z',
      completedAt: null,
      result: null,
    },
  });
  expect(await applySignalEffect(store, effect())).toEqual({ outcome: 'already' });
  expect(text()).toBe(written);
});

test('adds pr and deploy if the file has none', async () => {
  const { store, text } = setUp(sampleSignal({ pr: null }));
  const retried = { times: 1, failedUpTo: 7 };
  const wanted = effect({ status: 'merged', deploy: { ...progress, retried } });
  expect(await applySignalEffect(store, wanted)).toEqual({ outcome: 'written' });
  expect(JSON.parse(text())).toMatchObject({
    status: 'merged',
    pr: { state: 'merged' },
    deploy: { retried },
  });
});

test.each([
  ['done', 'deploying'],
  ['done', 'merged'],
  ['deploying', 'merged'],
  ['canceled', 'merged'],
  ['canceled', 'done'],
] as const)('%s in the file is not taken back to %s', async (status, wanted) => {
  const { store, text } = setUp(sampleSignal({ status }));
  const before = text();
  const result = await applySignalEffect(store, effect({ status: wanted }));
  expect(result).toEqual({ outcome: 'not-overwritten', status });
  expect(text()).toBe(before);
});

test('a missing file is not created, a corrupt one is not touched', async () => {
  expect(await applySignalEffect(setUp(null).store, effect())).toEqual({ outcome: 'missing' });
  const { store, path, text } = setUp(sampleSignal());
  writeFileSync(path, '{"ticket":');
  const result = await applySignalEffect(store, effect());
  expect(result).toEqual({ outcome: 'corrupt', path, problem: expect.stringContaining('not valid JSON') });
  expect(text()).toBe('{"ticket":');
});
