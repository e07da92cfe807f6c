import { appendFileSync, existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { runCommand } from '@svc/lib/process';
import {
  codehostForTest,
  type FakeCodehost,
  type FakeTracker,
  ghEnvironment,
  temporaryFolder,
  testToken,
  testTracker,
} from '@svc/testkit';
import { describe, expect, test } from 'vitest';
import { createFileLocks } from '../../../kernel/disk/lock.ts';
import { createGh } from '../../codehost/gh.ts';
import { createIssueApi } from '../../codehost/issues.ts';
import { createCodehostDestination } from '../../tracker/io/github/filing.ts';
import { createLinearFiling } from '../../tracker/io/linear/filing.ts';
import { clientOf, TOKEN } from '../../tracker/testing/client-of.ts';
import type { Finding } from '../findings.ts';
import { type DrainOptions, drainFindings } from './drain.ts';
import { createDrainJournal, createFindingsQueue } from './queue.ts';

const finding = (title: string, more: Partial<Finding> = {}): Finding => ({
  ts: '2026-01-02T03:04:05.678Z',
  skill: 'plan',
  title,
  body: 'What was seen.',
  severity: 'high',
  tags: [],
  ...more,
});

async function setup(count: number) {
  const tracker = await testTracker(TOKEN);
  const team = tracker.cloud.addTeam({ key: 'ABC' });
  const folder = temporaryFolder();
  const file = join(folder, 'queue.jsonl');
  const locks = createFileLocks({ folder: join(folder, 'locks') });
  const queue = createFindingsQueue({ file, locks });
  for (let index = 0; index < count; index += 1) await queue.append(finding(`number ${index}`));
  const filed: string[] = [];
  const options = (more: Partial<DrainOptions> = {}): DrainOptions => ({
    queue,
    journal: createDrainJournal(`${file}.filed`),
    destinations: [trackerOf(tracker)],
    baseLabels: ['auto-submitted'],
    onFiled: async ({ title }, _key, destination, { filedAs }) =>
      void filed.push(`${title}: ${destination} ${filedAs}`),
    now: Date.now,
    signal: new AbortController().signal,
    ...more,
  });
  const drain = (more: Partial<DrainOptions> = {}) => drainFindings(options(more));
  return { tracker, team, folder, file, queue, filed, drain };
}

const trackerOf = (tracker: FakeTracker) =>
  createLinearFiling(clientOf(tracker), { teamKey: 'ABC', teamId: null });

const codehostOf = (codehost: FakeCodehost) =>
  createCodehostDestination({
    repo: 'acme/inbox',
    issues: createIssueApi(
      createGh({ environment: ghEnvironment(codehost, testToken), run: runCommand, now: Date.now }),
    ),
    now: Date.now,
    sleep: async () => undefined,
    settledAfterMs: 0,
  });

async function codehostWithRepo(): Promise<FakeCodehost> {
  const codehost = await codehostForTest();
  codehost.cloud.addRepo('acme/inbox', { admin: false });
  return codehost;
}

const titlesAt = (tracker: FakeTracker) => tracker.cloud.issues.map(({ title }) => title).toSorted();

describe('at the tracker', () => {
  test('one ticket per line, with labels and priority; then the file is gone', async () => {
    const { tracker, file, drain, filed } = await setup(12);
    const workspaceLabel = tracker.cloud.addLabel({ name: 'Auto-Submitted' });
    expect(await drain()).toMatchObject({ filed: 12, left: 0, removed: true, failures: [] });
    expect(titlesAt(tracker)).toHaveLength(12);
    expect(filed).toHaveLength(12);
    const [issue] = tracker.cloud.issues;
    const made = tracker.cloud.labels.find(({ name }) => name === 'plan');
    expect(issue).toMatchObject({ priority: 2, labelIds: [workspaceLabel.id, made?.id] });
    expect(issue?.description).toMatch(/^What was seen\.[^]*svc-key: [0-9a-f-]{36}$/);
    expect(existsSync(file)).toBe(false);
    expect(existsSync(`${file}.filed`)).toBe(false);
    // No searches: the team, two labels, one label created, one call per line.
    expect(tracker.calls()).toHaveLength(1 + 2 + 1 + 12);
  });

  test('a failure in the middle keeps the file; the next drain files the rest and nothing twice', async () => {
    const { tracker, file, drain } = await setup(30);
    tracker.failNext({ kind: 'slow', ms: 0 }, { field: 'issueCreate', times: 5 });
    tracker.failNext({ kind: 'rate-limited' }, { field: 'issueCreate', times: 100 });
    const codehost = await codehostWithRepo();
    const destinations = [trackerOf(tracker), codehostOf(codehost)];
    const first = await drain({ destinations });
    expect(first).toMatchObject({
      filed: 5,
      left: 25,
      removed: false,
      failures: [{ why: expect.any(String) }],
    });
    expect(existsSync(file)).toBe(true);
    expect(readFileSync(file, 'utf8').split('\n')).toHaveLength(31);
    // It was started at the tracker: the rest does not go elsewhere, now or at the next drain.
    expect(await drain({ destinations })).toMatchObject({ filed: 0, left: 25 });
    expect(codehost.calls()).toEqual([]);
    tracker.restore();
    expect(await drain({ destinations })).toMatchObject({ filed: 25, left: 0, removed: true });
    expect(new Set(titlesAt(tracker)).size).toBe(30);
    expect(titlesAt(tracker)).toHaveLength(30);
  });

  test.each(['after', 'within'] as const)(
    'an answer that is cut %s the work creates no second ticket',
    async (when) => {
      const { tracker, drain } = await setup(9);
      tracker.failNext({ kind: 'cut', when }, { field: 'issueCreate', times: 4 });
      expect(await drain()).toMatchObject({ filed: 9, removed: true });
      expect(titlesAt(tracker)).toHaveLength(9);
    },
  );

  test('after a lost answer, while the tracker is down, the next drain searches for the ticket', async () => {
    const { tracker, drain, filed } = await setup(3);
    const codehost = await codehostWithRepo();
    const destinations = [trackerOf(tracker), codehostOf(codehost)];
    tracker.failNext({ kind: 'cut', when: 'after' }, { field: 'issueCreate' });
    tracker.failNext({ kind: 'cut', when: 'before' }, { field: 'issues' });
    // It may be at the tracker, so it must not go to the code host.
    expect(await drain({ destinations })).toMatchObject({ filed: 0, left: 3 });
    expect(titlesAt(tracker)).toEqual(['number 0']);
    expect(await drain({ destinations })).toMatchObject({ filed: 3, left: 0, removed: true });
    expect(titlesAt(tracker)).toEqual(['number 0', 'number 1', 'number 2']);
    expect(filed[0]).toBe('number 0: tracker ABC-1');
    expect(codehost.calls()).toEqual([]);
  });

  test('a late duplicate is refused by its id, and the first ticket is used', async () => {
    const { tracker, queue, team, drain } = await setup(1);
    const [line] = await queue.lines();
    // The request of a killed drain, which arrives after this one has started.
    tracker.cloud.addIssue({
      id: line?.key ?? '',
      teamId: team.id,
      title: 'number 0',
      description: `svc-key: ${line?.key}`,
    });
    expect(await drain()).toMatchObject({ filed: 1, removed: true });
    expect(titlesAt(tracker)).toEqual(['number 0']);
  });

  test('equal lines become as many tickets', async () => {
    const { tracker, queue, drain } = await setup(0);
    for (let times = 0; times < 3; times += 1) await queue.append(finding('the same'));
    expect(await drain()).toMatchObject({ filed: 3, removed: true });
    expect(titlesAt(tracker)).toHaveLength(3);
  });

  test('lines that are added during the drain are filed too', async () => {
    const { tracker, queue, drain } = await setup(4);
    let added = 0;
    const onFiled = async (): Promise<void> => {
      if (added < 3) await queue.append(finding(`added ${added++}`, { skill: 'other' }));
    };
    expect(await drain({ onFiled })).toMatchObject({ filed: 7, removed: true });
    expect(titlesAt(tracker)).toHaveLength(7);
  });

  test('an interrupted drain leaves the rest', async () => {
    const { drain } = await setup(20);
    const control = new AbortController();
    const onFiled = async (): Promise<void> => control.abort();
    const report = await drain({ onFiled, signal: control.signal });
    expect(report).toMatchObject({ removed: false, failures: [] });
    expect(report.filed + report.left).toBe(20);
    expect(await drain()).toMatchObject({ filed: report.left, removed: true });
  });

  test('unreadable lines are kept aside', async () => {
    const { tracker, file, drain } = await setup(1);
    appendFileSync(file, '{"torn');
    expect(await drain()).toMatchObject({ filed: 1, unreadable: 1, removed: true });
    expect(readFileSync(`${file}.unreadable`, 'utf8')).toBe('{"torn\n');
    expect(titlesAt(tracker)).toEqual(['number 0']);
  });

  test('labels of other teams and groups are not used; one that was created meanwhile is', async () => {
    const { tracker, team, drain } = await setup(1);
    const other = tracker.cloud.addTeam({ key: 'XYZ' });
    tracker.cloud.addLabel({ name: 'plan', teamId: other.id });
    const own = tracker.cloud.addLabel({ name: 'Auto-submitted', teamId: team.id });
    tracker.failNext({ kind: 'cut', when: 'after' }, { field: 'issueLabelCreate' });
    expect(await drain()).toMatchObject({ filed: 1 });
    const plans = tracker.cloud.labels.filter(({ name }) => name === 'plan');
    expect(plans).toHaveLength(2);
    expect(tracker.cloud.issues[0]?.labelIds).toEqual([own.id, plans[1]?.id]);
  });
});

describe('at the code host', () => {
  const cases: [string, (tracker: FakeTracker) => void][] = [
    ['is down', (t) => t.failNext({ kind: 'server-error', status: 503 }, { times: 100 })],
    ['refuses the token', (t) => t.failNext({ kind: 'unauthorised' }, { times: 100 })],
    ['has no such team', (t) => void t.cloud.teams.splice(0)],
    [
      'refuses the first ticket',
      (t) => t.failNext({ kind: 'rate-limited' }, { field: 'issueCreate', times: 9 }),
    ],
  ];
  test.each(cases)('all lines, when the tracker %s', async (_, fail) => {
    const { tracker, drain, filed } = await setup(3);
    fail(tracker);
    const codehost = await codehostWithRepo();
    const report = await drain({ destinations: [trackerOf(tracker), codehostOf(codehost)] });
    expect(report).toMatchObject({ filed: 3, left: 0, removed: true });
    expect(tracker.cloud.issues).toEqual([]);
    const { issues } = codehost.cloud.repoOf('acme/inbox');
    expect(issues.map(({ title, labels }) => [title, labels])).toEqual(
      [0, 1, 2].map((index) => [`number ${index}`, ['auto-submitted', 'plan']]),
    );
    expect(filed).toEqual([0, 1, 2].map((index) => `number ${index}: codehost acme/inbox#${index + 1}`));
  });

  test('a lost answer creates no second issue, in this drain or the next', async () => {
    const { drain } = await setup(2);
    const codehost = await codehostWithRepo();
    const destinations = [codehostOf(codehost)];
    codehost.failNext({ kind: 'cut', when: 'before' }, { on: /POST .*issues/ });
    codehost.failNext({ kind: 'server-error', status: 502 }, { on: /GET .*issues/ });
    expect(await drain({ destinations })).toMatchObject({ filed: 0, left: 2 });
    expect(codehost.cloud.repoOf('acme/inbox').issues).toHaveLength(1);
    expect(await drain({ destinations })).toMatchObject({ filed: 2, removed: true });
    codehost.cloud.addRepo('acme/other');
    expect(codehost.cloud.repoOf('acme/inbox').issues).toHaveLength(2);
  });

  test('a queue that was started there stays there, also when the tracker is back', async () => {
    const { tracker, drain } = await setup(3);
    tracker.failNext({ kind: 'unauthorised' }, { times: 100 });
    const codehost = await codehostWithRepo();
    const destinations = [trackerOf(tracker), codehostOf(codehost)];
    const control = new AbortController();
    const onFiled = async (): Promise<void> => control.abort();
    expect(await drain({ destinations, signal: control.signal, onFiled })).toMatchObject({
      filed: 1,
      left: 2,
    });
    tracker.restore();
    expect(await drain({ destinations })).toMatchObject({ filed: 2, removed: true });
    expect(tracker.cloud.issues).toEqual([]);
    expect(codehost.cloud.repoOf('acme/inbox').issues).toHaveLength(3);
  });

  test('if neither accepts it, both reasons are reported, and the file stays', async () => {
    const { tracker, file, drain } = await setup(1);
    tracker.failNext({ kind: 'unauthorised' }, { times: 100 });
    const codehost = await codehostForTest();
    const report = await drain({ destinations: [trackerOf(tracker), codehostOf(codehost)] });
    expect(report).toMatchObject({ filed: 0, left: 1, removed: false });
    expect(report.failures.map(({ where }) => where)).toEqual([
      'team ABC of the issue tracker',
      'acme/inbox at the code host',
    ]);
    expect(existsSync(file)).toBe(true);
  });
});
