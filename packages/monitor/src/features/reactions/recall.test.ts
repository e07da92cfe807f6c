// From failing checks to an agent that is started for them: the real run loop, signal files, watcher and
// processes, over a log in memory.

import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { system } from '@svc/lib/system';
import { temporaryFolder, until, WAIT_MS } from '@svc/testkit';
import pino from 'pino';
import { expect, onTestFinished, test } from 'vitest';
import type { FoldedLine } from '../../kernel/board/board.ts';
import { createFileLocks } from '../../kernel/disk/lock.ts';
import { type DraftOf, draft, type EventDraft } from '../../kernel/log/event-line.ts';
import type { Topic } from '../../kernel/log/topics.ts';
import type { Outcome } from '../../kernel/outbox/attempt.ts';
import type { Effect } from '../../kernel/outbox/effect.ts';
import { findAgents } from '../agents/io/find-agents.ts';
import { inboxPath } from '../agents/io/inbox.ts';
import { emptyBoard, foldLine } from '../board.ts';
import { failed } from '../codehost/gh.ts';
import { resolveConfig } from '../configure.ts';
import { defaultTimings } from '../runs/acts.ts';
import { createOrchestrator } from '../runs/io/orchestrator.ts';
import type { RunProject } from '../runs/io/run-project.ts';
import { createStartAgent } from '../runs/io/start-agent.ts';
import { unfollowed } from '../runs/testing/run-world.ts';
import { createSignalStore } from '../workers/io/signal-store.ts';
import { watchSignals } from '../workers/io/watch-signals.ts';
import type { Worker } from '../workers/worker.ts';
import { noFindings, nothing } from '../worktrees/testing/no-findings.ts';
import { createWorkerMessenger } from './io/message-worker.ts';

type Change = { lines: FoldedLine[] };
const now = (): Date => new Date();
const processStarts = system.processStarts;
const unavailable = failed({ kind: 'unavailable', message: 'no connection' });

/** Folds what is appended; events that this causes are appended right after. */
function logInMemory() {
  const board = emptyBoard();
  const listeners = new Set<(change: Change) => void>();
  const messages: Extract<Effect, { kind: 'message-worker' }>[] = [];
  const known = new Set<string>();
  async function append(event: EventDraft): Promise<{ seq: number }> {
    if (event.deliveryId !== undefined && known.has(event.deliveryId)) return { seq: board.seq };
    if (event.deliveryId !== undefined) known.add(event.deliveryId);
    const line = { ...event, seq: board.seq + 1, ts: now().toISOString() };
    const effects = foldLine(board, line);
    for (const effect of effects) {
      if (effect.kind === 'append') await append(effect.draft);
      if (effect.kind === 'message-worker') messages.push(effect);
    }
    for (const listener of listeners) listener({ lines: [line] });
    return { seq: line.seq };
  }
  const state = {
    board: () => board,
    ready: Promise.resolve(),
    reached: async () => undefined,
    onChange(listener: (change: never) => void) {
      const heard = listener as (change: Change) => void;
      listeners.add(heard);
      return () => void listeners.delete(heard);
    },
  };
  return { board, append, state, messages };
}

/**
 * The first agent opens its pull request and ends; each later one only ends. All write down their prompts. The daemon
 * updates an agent's signal file before the agent changes it, because both write the whole file.
 */
const AGENT = `
echo "$SVC_INBOX_FILE" >> "$0.inbox"; echo "$1" >> "$0.prompts"
while [ -e "$SVC_SIGNAL_FILE" ] && ! grep -qw "\\"pid\\": *$$" "$SVC_SIGNAL_FILE"; do sleep 0.02; done
sed 's/"dispatched"/"pr-created"/' "$SVC_SIGNAL_FILE" > "$SVC_SIGNAL_FILE.new" && mv "$SVC_SIGNAL_FILE.new" "$SVC_SIGNAL_FILE"
`;

async function setUp() {
  const folder = temporaryFolder();
  const runsDir = join(folder, 'runs');
  const worktree = join(folder, 'worktree');
  mkdirSync(worktree);
  mkdirSync(runsDir);
  const agent = join(folder, 'agent.sh');
  writeFileSync(agent, AGENT);
  const data = { svc: { orchestration: { agent: ['/bin/sh', agent, '${PROMPT}'] } } };
  const { config } = resolveConfig(
    [{ path: '/conf.json', layers: ['project'], reads: ['project'], data, lineOf: () => 1 }],
    {},
  );
  if (config === undefined) throw new Error('The configuration of the test is wrong');
  const project = {
    folder,
    config,
    repo: 'acme/web',
    worktrees: {
      list: async () => [{ name: 'ENG-1', path: worktree, branch: 'ENG-1', state: 'ready' }],
      fileFindings: async () => nothing,
    },
    findings: noFindings,
    readTicket: async () => null,
    agentFor: async () => ({
      name: 'sh',
      protocol: false,
      reason: 'not a known agent',
      commands: null,
      prompt: '/a:b ENG-1',
    }),
    verifier: {},
  } as unknown as RunProject;
  const { board, append, state, messages } = logInMemory();
  const signals = createSignalStore({
    runsDir,
    locks: createFileLocks({ folder: join(folder, 'locks'), timeoutMs: WAIT_MS }),
    now,
  });
  const watcher = watchSignals({
    runsDir,
    known: (orchestrator, ticket) => board.workers.get(`${orchestrator}/${ticket}`) ?? null,
    knownWorkers: () => board.workers.values(),
    append,
    now,
    pollMs: 50,
    rescanMs: 100,
  });
  const environment = () => ({ PATH: process.env['PATH'] });
  const orchestrator = createOrchestrator({
    runsDir,
    state,
    append,
    projects: { of: async () => project },
    signals,
    startAgent: createStartAgent({
      runsDir,
      signals,
      environment,
      locations: {},
      hostname: 'mini',
      processStarts,
      syncSignal: async () => undefined,
      append,
      now,
    }),
    processStarts,
    agents: unfollowed,
    askModel: async () => null,
    logger: pino({ level: 'silent' }),
    now,
    timings: { ...defaultTimings, revivalDelaysSec: [] },
    everyMs: 50,
  });
  onTestFinished(async () => {
    await orchestrator.stop();
    await watcher.stop();
  });
  orchestrator.start();
  const send = createWorkerMessenger({
    runsDir,
    board: () => board,
    gh: { request: async () => unavailable, text: async () => unavailable },
    append,
    processStarts,
    now,
  });
  const linesOf = (end: string): string[] => {
    const path = `${agent}.${end}`;
    return existsSync(path) ? readFileSync(path, 'utf8').trim().split('\n') : [];
  };
  const agents = () => findAgents({ runsDir, orchestrator: 'run-1', processStarts, now });
  return { runsDir, board, append, messages, send, linesOf, watcher, orchestrator, agents };
}

async function untilDone(attempt: () => Promise<Outcome>): Promise<string> {
  const before: Outcome[] = [];
  const done = await until(async () => {
    const outcome = await attempt();
    if ('done' in outcome) return outcome.done;
    before.push(outcome);
    return undefined;
  });
  for (const outcome of before) expect(outcome).toMatchObject({ waiting: true });
  return done;
}

const codehost = <Name extends Topic>(
  event: Name,
  { scope: about, detail }: Pick<DraftOf<Name>, 'scope' | 'detail'>,
): DraftOf<Name> => draft(event, about, detail, { source: 'codehost.webhook', via: 'live' });
const scope = { repo: 'acme/web', pr: 12, branch: 'ENG-1' };
const pushed = (sha: string): EventDraft =>
  codehost('codehost.pr.synchronize', { scope: { ...scope, sha }, detail: { state: 'open' } });
const failing = (sha: string): EventDraft =>
  codehost('codehost.check_suite.completed', {
    scope: { repo: 'acme/web', sha },
    detail: { conclusion: 'failure', suiteId: 1, app: 'ci', prs: [12] },
  });

test('checks fail after the agent has ended: it is started once more, and knows why', async () => {
  const { runsDir, board, append, messages, send, linesOf, watcher, orchestrator, agents } = await setUp();
  const workerNow = (): Worker | undefined => board.workers.get('run-1/ENG-1');
  await append({
    event: 'orchestrator.run.started',
    source: 'orchestrator',
    via: 'local',
    scope: { orchestrator: 'run-1' },
    detail: {
      plan: [['ENG-1']],
      maxParallel: 1,
      project: '/p',
      base: 'main',
      workerCommand: '/a:b',
      workerModel: 'm',
    },
  });
  await until(() => workerNow()?.status === 'pr-created');
  await append(pushed('a'.repeat(40)));
  await append(failing('a'.repeat(40)));
  const inbox = inboxPath(runsDir, { orchestrator: 'run-1', ticket: 'ENG-1' });
  const [effect] = messages;
  if (effect === undefined) throw new Error('Nothing was asked for');
  expect(await untilDone(() => send(effect))).toMatch(/^delivered: |^queued: /);
  await until(() => linesOf('prompts').length === 2);
  const [first, second] = linesOf('prompts');
  expect(first).toBe('/a:b ENG-1');
  expect(second).toMatch(/^\/a:b ENG-1 /);
  expect(second?.endsWith(` ${inbox}`)).toBe(true);
  expect(linesOf('inbox')).toEqual([inbox, inbox]);
  await until(() => workerNow()?.recall === null);
  expect(workerNow()?.recalls).toBe(1);

  // It has ended without a push: it is not started for the same commit again.
  await until(async () => (await agents()).every(({ state }) => state === 'gone'));
  const lookAgain = async (): Promise<void> => {
    await watcher.rescan();
    await orchestrator.checkNow();
  };
  await lookAgain();
  await append(failing('a'.repeat(40)));
  await lookAgain();
  // Whatever it started is done when it has stopped.
  await orchestrator.stop();
  expect(await agents()).toHaveLength(2);
  expect([messages.length, linesOf('prompts').length, workerNow()?.status]).toEqual([1, 2, 'pr-created']);
});
