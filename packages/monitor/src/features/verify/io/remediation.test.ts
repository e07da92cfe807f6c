import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { temporaryFolder, testTracker } from '@svc/testkit';
import { expect, test } from 'vitest';
import { createFileLocks } from '../../../kernel/disk/lock.ts';
import { type EventDraft, parseEventDraft } from '../../../kernel/log/event-line.ts';
import type { Config } from '../../config.ts';
import { projectFindings } from '../../findings/io/queue.ts';
import { topics } from '../../topics.ts';
import { openTracker } from '../../tracker/io/open-tracker.ts';
import { meansOf, TOKEN } from '../../tracker/testing/client-of.ts';
import { projectConfig } from '../../tracker/testing/project-config.ts';
import type { RemediationEffect } from '../remediation-ticket.ts';
import { createRemediationHandler } from './remediation.ts';

const effect = (more: Partial<RemediationEffect> = {}): RemediationEffect => ({
  kind: 'file-remediation',
  key: '21:file-remediation:spring/ABC-7',
  seq: 21,
  orchestrator: 'spring',
  ticket: 'ABC-7',
  project: null,
  sha: 'c0ffee',
  summary: 'Two tests fail on main.',
  findings: ['login.test.ts fails', 'no test for logout'],
  ...more,
});

async function setup(configs: readonly Config[] = [projectConfig({ teamKey: 'ABC' })]) {
  const tracker = await testTracker(TOKEN);
  tracker.cloud.addTeam({ key: 'ABC' });
  const project = temporaryFolder();
  const drafts: EventDraft[] = [];
  const signal = new AbortController().signal;
  const handler = createRemediationHandler({
    configs: () => configs,
    open: (chosen) => openTracker(chosen, meansOf(tracker)),
    appendFinding: projectFindings(createFileLocks({ folder: join(project, 'locks') })),
    append: async (draft) => drafts.push(draft),
    now: () => Date.parse('2026-01-02T03:04:05.678Z'),
  });
  const handle = (given = effect(), number = 1) => handler(given, { number, signal });
  return { tracker, project, drafts, handle };
}

test('a ticket contains what failed and on which commit, and the log contains where it is', async () => {
  const { tracker, drafts, handle } = await setup();
  expect(await handle()).toEqual({ done: 'filed as ABC-1' });
  const [issue] = tracker.cloud.issues;
  expect(issue).toMatchObject({ title: 'Verification of ABC-7 failed', priority: 2 });
  expect(issue?.description).toMatch(
    /^Two tests fail on main\.\n\n- login\.test\.ts fails\n- no test for logout\n\n---\n\nTicket: ABC-7\nCommit: c0ffee\nRun: spring\nRequested by: 21:file-remediation:spring\/ABC-7\n\nsvc-key: [0-9a-f-]{36}$/,
  );
  expect(tracker.cloud.labels.map(({ name }) => name)).toEqual(['auto-submitted', 'verification']);
  expect(drafts).toEqual([
    {
      event: 'orchestrator.verification.remediation_filed',
      source: 'monitor',
      via: 'local',
      deliveryId: 'outbox:21:file-remediation:spring/ABC-7:filed',
      scope: { orchestrator: 'spring', ticket: 'ABC-7', mergeSha: 'c0ffee' },
      detail: { destination: 'tracker', filedAs: 'ABC-1', url: 'https://tracker.example/issue/ABC-1' },
    },
  ]);
  expect(parseEventDraft(topics, drafts[0])).toMatchObject({ ok: true });
});

test('executed again it is the same ticket, whether or not the first result was known', async () => {
  const { tracker, drafts, handle } = await setup();
  await handle();
  expect(await handle(effect(), 2)).toEqual({ done: 'filed as ABC-1' });
  // A daemon that died does not know that it had started.
  expect(await handle(effect(), 1)).toEqual({ done: 'filed as ABC-1' });
  expect(tracker.cloud.issues).toHaveLength(1);
  expect(new Set(drafts.map(({ deliveryId }) => deliveryId)).size).toBe(1);
  // The number of another effect may end with this one's.
  await handle(effect({ key: '1:file-remediation:spring/ABC-7', seq: 1 }), 2);
  expect(tracker.cloud.issues).toHaveLength(2);
});

test('a lost answer creates no second ticket', async () => {
  const { tracker, handle } = await setup();
  tracker.failNext({ kind: 'cut', when: 'after' }, { field: 'issueCreate' });
  tracker.failNext({ kind: 'cut', when: 'before' }, { field: 'issues' });
  expect(await handle()).toEqual({ failed: expect.stringContaining('is unavailable') });
  expect(await handle(effect(), 2)).toEqual({ done: 'filed as ABC-1' });
  expect(tracker.cloud.issues).toHaveLength(1);
});

test('without a tracker it is a finding of the project, once', async () => {
  const { project, drafts, handle } = await setup([projectConfig({ teamKey: 'ABC' }, { token: null })]);
  expect(await handle(effect({ project }))).toEqual({ done: 'noted as a finding' });
  expect(await handle(effect({ project }), 2)).toEqual({ done: 'noted as a finding' });
  const file = join(project, '.svc/findings/current.jsonl');
  const lines = readFileSync(file, 'utf8').trimEnd().split('\n');
  expect(lines).toHaveLength(1);
  expect(JSON.parse(lines[0] ?? '')).toMatchObject({
    skill: 'verification',
    title: 'Verification of ABC-7 failed',
    severity: 'high',
    tags: ['ABC-7'],
  });
  expect(drafts[0]?.detail).toEqual({ destination: 'finding' });
});

test('with neither tracker nor project it is given up, with the remedy', async () => {
  const { project, drafts, handle } = await setup([]);
  expect(await handle()).toMatchObject({
    failed: expect.stringContaining('svc.tracker.teamKey'),
    permanent: true,
  });
  expect(drafts).toEqual([]);
  expect(existsSync(join(project, '.svc'))).toBe(false);
});

test.each([
  ['a refused token is given up', { kind: 'unauthorised' } as const, { permanent: true }],
  [
    'a used-up quota waits',
    { kind: 'too-many-requests', retryAfter: '30' } as const,
    { retryAfterMs: 30_000 },
  ],
  ['a tracker that is down is retried', { kind: 'server-error', status: 503 } as const, {}],
])('%s', async (_, fault, outcome) => {
  const { tracker, handle } = await setup();
  tracker.failNext(fault, { times: 9 });
  expect(await handle()).toEqual({ failed: expect.any(String), ...outcome });
});

test('a log that cannot be written is retried, and the ticket is not created again', async () => {
  const { tracker, handle } = await setup();
  tracker.failNext({ kind: 'slow', ms: 0 });
  const broken = createRemediationHandler({
    configs: () => [projectConfig({ teamKey: 'ABC' })],
    open: (chosen) => openTracker(chosen, meansOf(tracker)),
    appendFinding: async () => undefined,
    append: () => Promise.reject(new Error('disk full')),
    now: Date.now,
  });
  await expect(broken(effect(), { number: 1, signal: new AbortController().signal })).rejects.toThrow(
    'disk full',
  );
  expect(await handle(effect(), 2)).toEqual({ done: 'filed as ABC-1' });
  expect(tracker.cloud.issues).toHaveLength(1);
});
