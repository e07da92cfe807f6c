// Workers end to end in one process: signal files, the code host's deliveries, the tracker's tickets. The main
// paths only; every path, with kills in between, is `npm run chaos:workers`.
import { spawnSync } from 'node:child_process';
import { mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type { Answer } from '@svc/client';
import type { SignalFile, WorkerStatus } from '@svc/contract/signal-file';
import {
  codehostExample,
  type JsonObject,
  mergedAt,
  patched,
  storyBranch,
  storyMergeSha,
  storyPullRequest,
  storyRepo,
  storyTicket,
  testTracker,
  until,
} from '@svc/testkit';
import { expect, onTestFinished, test, vi } from 'vitest';
import type { BoardView } from '../src/features/board/api.ts';
import { laneSlots } from '../src/kernel/outbox/effect.ts';
import { covered, feedWorld as world } from './feed-world.ts';

type Outbox = Answer<'GET', '/api/outbox'>;

const verified = { skipDeployVerification: false };

/** A daemon that watches the story's repository, and the worker of the story's ticket. */
async function story(deploy: object) {
  const one = await world();
  const { codehost, home, write } = one;
  const tracker = await testTracker('tracker-token');
  const team = tracker.cloud.addTeam({ key: 'ENG' });
  tracker.cloud.addIssue({ teamId: team.id, title: 'Login', number: Number(storyTicket.split('-')[1]) });
  write('.svc/config.json', {
    svc: {
      projectKey: 'demo',
      project: { ticketPrefix: 'ENG' },
      repository: { org: 'acme', name: 'web' },
      tracker: { teamKey: 'ENG', teamId: team.id },
      monitor: { github: { watchRepos: [storyRepo] } },
      deploy: { [storyRepo]: deploy },
    },
  });
  write('.config/svc/config-demo.json', { svc: { tracker: { apiToken: 'tracker-token', teamKey: 'ENG' } } });
  const start = (aheadMs = 0) =>
    one.start({ SVC_TRACKER_API_URL: tracker.url }, { now: () => new Date(Date.now() + aheadMs) });
  let daemon = await start();
  await until(() => covered(daemon));
  const file = join(home, 'svc/runs/run-1/workers', `${storyTicket}.json`);
  const time = new Date().toISOString();
  const board = async () => (await daemon.get('/api/board?all=1')).body as unknown as BoardView;
  const worker = async () => (await board()).workers.find(({ ticket }) => ticket === storyTicket);
  const open = async () => (await board()).attention.map(({ reason }) => reason);
  return {
    ...one,
    /** Stops the daemon, and starts it again this much later. From then on no timer fires. */
    restart: async (laterMs: number) => {
      await daemon.close();
      vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] });
      onTestFinished(() => void vi.useRealTimers());
      daemon = await start(laterMs);
    },
    worker,
    open,
    signal: () => JSON.parse(readFileSync(file, 'utf8')) as SignalFile,
    ticketState: () => {
      const { stateId } = tracker.cloud.issueOf(storyTicket);
      return tracker.cloud.states.find(({ id }) => id === stateId)?.name;
    },
    setStatus: (status: WorkerStatus, more: object = {}) => {
      const signal = {
        ticket: storyTicket,
        orchestrator: 'run-1',
        workerName: 'run-1-42',
        status,
        phase: 1,
        startedAt: time,
        updatedAt: new Date().toISOString(),
        repo: storyRepo,
        branch: storyBranch,
        pr: { number: storyPullRequest },
        kept: 'by others',
        ...more,
      };
      mkdirSync(dirname(file), { recursive: true });
      writeFileSync(join(dirname(file), '.new'), JSON.stringify(signal));
      renameSync(join(dirname(file), '.new'), file);
    },
    /** One of the story's examples, as it would be sent now. */
    happens: async (name: string, patch: JsonObject = {}) => {
      const { type, payload } = mergedAt(patched(codehostExample(name), name, patch), time);
      await codehost.emit(storyRepo, type, payload);
    },
    reaches: (status: WorkerStatus) => until(async () => (await worker())?.status === status),
    needs: (...reasons: string[]) => until(async () => (await open()).join() === reasons.join()),
  };
}

test('merged without required proof: done, written into the file, and the ticket is moved', async () => {
  const { setStatus, happens, reaches, signal, ticketState, open } = await story({
    skipDeployVerification: true,
  });
  setStatus('pr-created');
  await reaches('pr-created');
  await happens('pull_request merged');
  await reaches('done');
  await until(() => ticketState() === 'Done');
  await until(() => signal().status === 'done');
  expect(signal()).toMatchObject({ kept: 'by others', pr: { number: storyPullRequest } });
  expect(await open()).toEqual([]);
});

test('a merge that is matched by the branch adds its pull request to the file', async () => {
  const { setStatus, happens, reaches, signal } = await story(verified);
  setStatus('pr-created', { pr: null });
  await reaches('pr-created');
  await happens('pull_request merged');
  await reaches('merged');
  await until(() => signal().status === 'merged');
  const { number, html_url: url } = codehostExample('pull_request merged').payload[
    'pull_request'
  ] as JsonObject;
  expect(signal().pr).toMatchObject({ number, url, state: 'merged', mergeSha: storyMergeSha });
});

test('a failed deployment, another that succeeds: deploy-failed, deploying, done', async () => {
  const { setStatus, happens, reaches, needs, signal, ticketState, worker } = await story(verified);
  setStatus('pr-created');
  await reaches('pr-created');
  await happens('pull_request merged');
  await reaches('merged');
  await happens('deployment created', { deployment: { environment: 'staging' } });
  await happens('deployment_status success', {
    deployment: { environment: 'staging' },
    deployment_status: { environment: 'staging' },
  });
  await happens('deployment created', { deployment: { id: 1 } });
  await reaches('deploying');
  await happens('deployment_status failure', { deployment: { id: 1 } });
  await reaches('deploy-failed');
  await needs('deploy-failed');
  expect(ticketState()).toBe('Backlog');
  await happens('deployment_status in_progress', { deployment: { id: 2 } });
  await reaches('deploying');
  await needs();
  await happens('deployment_status success', { deployment: { id: 2 } });
  await reaches('done');
  await until(() => ticketState() === 'Done');
  await until(() => signal().status === 'done');
  expect(signal().deploy).toMatchObject({ result: 'success', attempts: [{ deploymentId: 1 }] });
  expect(await worker()).toMatchObject({ attempts: 1, deploy: { result: 'success' } });
});

test('signal files and attention do not wait while the code host answers nothing', async () => {
  const { setStatus, happens, reaches, needs, codehost, svc, signal } = await story(verified);
  codehost.failNext({ kind: 'slow', ms: 600_000 }, { on: '/compare/', times: 100 });
  setStatus('pr-created');
  await reaches('pr-created');
  await happens('pull_request merged');
  await reaches('merged');
  for (const id of Array.from({ length: 20 }, (_, index) => index + 1))
    await happens('deployment_status success', { deployment: { id, sha: String(id).padStart(40, '0') } });
  const outbox = async () => {
    const { figures, effects } = JSON.parse((await svc('outbox', '--json')).printed) as Outbox;
    return { figures, proofs: effects.filter(({ kind }) => kind === 'prove-descendant') };
  };
  await until(async () => (await outbox()).figures.running === laneSlots.codehost);
  await happens('deployment_status failure', { deployment: { id: 21 } });
  await needs('deploy-failed');
  await until(() => signal().status === 'deploy-failed');
  // No call has ended, so nothing waited for one.
  const { proofs } = await outbox();
  expect([proofs.length, proofs.filter(({ attempts }) => attempts > 0)]).toEqual([20, []]);
});

test('three failed deployments wait for a person, whose retry counts what came since', async () => {
  const { setStatus, happens, reaches, needs, svc, worker, signal } = await story(verified);
  setStatus('pr-created');
  await reaches('pr-created');
  await happens('pull_request merged');
  await reaches('merged');
  for (const id of [1, 2, 3]) await happens('deployment_status error', { deployment: { id } });
  await needs('deploy-budget-exhausted');
  await happens('deployment_status success', { deployment: { id: 4 } });
  await until(async () => (await svc('events', 'list', '--json')).printed.includes('"deploymentId":4'));
  expect(await worker()).toMatchObject({ status: 'deploy-failed', deploy: { result: 'budget-exhausted' } });
  expect((await svc('deploy', 'retry', storyTicket)).code).toBe(0);
  await reaches('done');
  await needs();
  await until(() => signal().status === 'done');
});

test('a passed deadline: the code host is asked once more, then the worker has stalled', async () => {
  const { setStatus, happens, reaches, needs, codehost, svc, signal } = await story({
    ...verified,
    timeoutSec: 1,
  });
  setStatus('pr-created');
  await reaches('pr-created');
  await happens('pull_request merged');
  await needs('deploy-timeout');
  await reaches('stalled');
  expect(codehost.calls().some((line) => line.includes('/deployments?'))).toBe(true);
  expect((await svc('why', storyTicket)).printed).toContain('stalled');
  await happens('deployment_status success');
  await reaches('done');
  await needs();
  await until(() => signal().status === 'done');
});

test('a deadline that passed while the daemon was down is noticed at its start', async () => {
  const { setStatus, happens, reaches, restart, signal } = await story({ ...verified, timeoutSec: 3600 });
  setStatus('pr-created');
  await reaches('pr-created');
  await happens('pull_request merged');
  await reaches('merged');
  await restart(2 * 3600 * 1000);
  await reaches('stalled');
  await until(() => signal().status === 'stalled');
  expect(signal().deploy).toMatchObject({ result: 'timeout' });
});

test('done without a merge is a claim: shown, not accepted, until a person accepts it', async () => {
  const { setStatus, reaches, needs, svc, worker, ticketState } = await story(verified);
  setStatus('pr-created');
  await reaches('pr-created');
  setStatus('done');
  await needs('done-unproven');
  expect(await worker()).toMatchObject({ status: 'pr-created', claim: { status: 'done' } });
  expect(ticketState()).toBe('Backlog');
  expect((await svc('deploy', 'accept', storyTicket)).code).toBe(0);
  await reaches('done');
  await needs();
  await until(() => ticketState() === 'Done');
});

test('a claimed pull request that was not seen needs a person once its process has ended, until it is seen', async () => {
  const { setStatus, happens, reaches, needs, svc, worker } = await story(verified);
  const { pid } = spawnSync(process.execPath, ['--version']);
  setStatus('pr-created', { pid, pr: null });
  await reaches('pr-created');
  await needs('pr-unproven');
  expect(await worker()).toMatchObject({ needs: ['pr-unproven'], pullRequestKey: null });
  const why = (await svc('why', storyTicket)).printed;
  expect(why).toContain('The agent claims a pull request; none was seen.');
  expect((await svc('board')).printed).toContain('1 needs you, 0 working, 0 in review');
  const id = `run-1/${storyTicket}/pr-unproven`;
  expect((await svc('attention', 'resolve', id)).code).toBe(1);
  await happens('pull_request opened');
  await needs();
  expect((await svc('board')).printed).toContain('0 need you, 0 working, 1 in review');
});

test('a pull request that is closed without a merge needs a person until it is reopened', async () => {
  const { setStatus, happens, reaches, needs, worker } = await story(verified);
  setStatus('pr-created');
  await reaches('pr-created');
  await happens('pull_request opened');
  const now = () => new Date().toISOString();
  await happens('pull_request closed', { pull_request: { closed_at: now() } });
  await needs('pr-closed');
  await happens('pull_request opened', { action: 'reopened', pull_request: { updated_at: now() } });
  await needs();
  await happens('pull_request merged');
  await reaches('merged');
  expect(await worker()).toMatchObject({ pullRequest: 'acme/web#42', attempts: 0 });
});
