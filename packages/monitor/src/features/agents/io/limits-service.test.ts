// Usage limits, and a file of messages that is full, through the follower of agents and the board, with files on disk, a
// clock that jumps, and restarts of the daemon. The agent is this test: it answers what is in the file of sent messages.
// `npm run model:limits` makes 1,000 restarts.
import { appendFileSync, mkdirSync, readFileSync, utimesSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { temporaryFolder, until } from '@svc/testkit';
import pino from 'pino';
import { expect, onTestFinished, test } from 'vitest';
import type { EventDraft } from '../../../kernel/log/event-line.ts';
import { emptyBoard, foldLine } from '../../board.ts';
import { pausedBy } from '../limits.ts';
import { writeRecord } from './agent-record.ts';
import { type Agents, createAgents } from './agents.ts';
import { agentFiles } from './launch.ts';

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const agent = { orchestrator: 'run-1', ticket: 'ENG-1', attempt: 1 };
const scope = { orchestrator: 'run-1', ticket: 'ENG-1' };
const KEY = 'run-1/ENG-1';
const restarts = Number(process.env['RESTARTS'] ?? 40);

async function world() {
  const runsDir = join(temporaryFolder(), 'runs');
  const files = agentFiles(runsDir, agent);
  mkdirSync(dirname(files.journal), { recursive: true });
  const setup = {
    cwd: runsDir,
    resume: null,
    mode: null,
    model: null,
    ticket: null,
    prompt: 'work',
    continuation: null,
  };
  await writeRecord(runsDir, agent, { agent: 'codex', reason: null, setup, delivered: [] });
  writeFileSync(files.journal, '');

  let clock = Date.parse('2026-11-16T14:00:00Z');
  const lines: { event: string; ts: string; deliveryId?: string | undefined; detail: object }[] = [];
  const delivered = new Set<string>();
  let board = emptyBoard();
  const raised = new Set<string>();
  const append = async (draft: EventDraft): Promise<{ seq: number }> => {
    if (draft.deliveryId !== undefined && delivered.has(draft.deliveryId)) return { seq: lines.length };
    if (draft.deliveryId !== undefined) delivered.add(draft.deliveryId);
    const line = {
      ...draft,
      via: 'local',
      source: 'orchestrator',
      seq: lines.length + 1,
      ts: new Date(clock).toISOString(),
    };
    lines.push(line);
    for (const effect of foldLine(board, line as never)) {
      if (effect.kind !== 'append') continue;
      const reason = String(Reflect.get(effect.draft.detail, 'reason'));
      if (effect.draft.event === 'comms.attention') raised.add(reason);
      if (effect.draft.event === 'comms.attention_resolved') raised.delete(reason);
    }
    return { seq: lines.length };
  };
  const at = new Date(clock).toISOString();
  const run = { name: 'run-1', plan: [['ENG-1']], tickets: ['ENG-1'], project: '/p', maxParallel: 1 };
  await append({ event: 'orchestrator.run.started', scope: { orchestrator: 'run-1' }, detail: run } as never);
  const signal = { ...scope, workerName: 'w', status: 'implementing', startedAt: at, updatedAt: at };
  await append({
    event: 'orchestrator.worker.status_changed',
    scope,
    detail: { to: 'implementing', signal },
  } as never);

  const make = (): Agents =>
    createAgents({
      runsDir,
      instanceId: 'test',
      state: { board: () => board, onChange: () => () => undefined },
      append,
      syncSignal: async () => undefined,
      policyAnswer: async () => null,
      budgetsOf: async () => null,
      idleMinutesOf: async () => null,
      processStarts: async () => new Map(),
      wake: () => undefined,
      journalBytes: 1e9,
      logger: pino({ level: 'silent' }),
      now: () => new Date(clock),
    });
  let agents = make();
  onTestFinished(() => agents.stop());

  // The agent: what it answers to each prompt.
  let handled = 0;
  let answer: object = { result: { stopReason: 'end_turn' } };
  const sent = () =>
    readFileSync(files.sent, 'utf8')
      .split('\n')
      .filter(Boolean)
      .map((line) => JSON.parse(line));
  const write = (message: object): void => {
    appendFileSync(files.journal, `${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`);
    utimesSync(files.journal, clock / 1_000, clock / 1_000);
  };
  function work(): void {
    for (const { id, method } of sent().slice(handled)) {
      handled += 1;
      if (method === 'initialize') write({ id, result: { protocolVersion: 1, agentInfo: { name: 'x' } } });
      else if (method === 'session/new') write({ id, result: { sessionId: 's' } });
      else if (method === 'session/prompt') write({ id, ...answer });
    }
  }
  /** A round of the daemon, after which everything that it causes has happened. */
  async function round(): Promise<void> {
    const found = { ...agent, launchedAt: at, state: 'running' as const, pid: process.pid, startedAt: at };
    agents.follow([found]);
    await agents.settled();
    agents.follow([found]);
    await agents.settled();
  }
  const shown = async () => (await agents.view(worker(), { after: 0, instanceId: undefined })).agent;
  const worker = () => {
    const known = board.workers.get(KEY);
    if (known === undefined) throw new Error('no worker');
    return known;
  };
  const resumes = () =>
    sent()
      .filter(({ params }) => String(params?._meta?.svc?.key).startsWith('limit:'))
      .map(({ params }) => params._meta.svc.key as string);

  return {
    raised,
    shown,
    worker,
    round,
    resumes,
    sent,
    append,
    now: () => clock,
    setClock: (time: number): void => {
      clock = time;
    },
    overs: () =>
      lines.filter(({ event }) => event === 'agent.limit.over').map(({ deliveryId }) => deliveryId ?? ''),
    /** The agent asks for what svc answers with its id, until no answer fits any more. */
    fill: (): void => {
      for (const letter of ['a', 'b', 'c', 'd', 'e'])
        write({ id: letter.repeat(15 * 1024 * 1024), method: 'fs/read' });
    },
    answerTo: (request: string) =>
      agents.answer(worker(), { request, answer: 'reject_once', by: 'mia', key: request }),
    stop: (by: string) => agents.cancel(worker(), by),
    send: (text: string) => agents.message(worker(), { text, by: 'mia', key: text }),
    ofRun: (state: 'paused' | 'resumed' | 'canceled') =>
      append({
        event: `orchestrator.run.${state}`,
        scope: { orchestrator: 'run-1' },
        detail: { by: 'mia' },
      } as never),
    /** The next prompts get this answer. */
    answers: (given: object): void => {
      answer = given;
    },
    /** Lets the agent and the daemon work until the board shows the state. */
    untilState: async (state: string): Promise<void> => {
      await until(async () => {
        await round();
        work();
        return worker().agent?.state === state;
      });
    },
    restart: async (): Promise<void> => {
      await agents.stop();
      // From the log alone.
      board = emptyBoard();
      for (const line of lines) foldLine(board, line as never);
      agents = make();
    },
  };
}

const limited = (message: string) => ({ error: { code: 429, message } });
const usual = { result: { stopReason: 'end_turn' } };
const atTime = (time: number) => limited(`Usage limit reached, resets_at: ${Math.floor(time / 1_000)}`);

test('a limit is a pause until its end, and then the agent continues once', async () => {
  const { answers, untilState, shown, raised, round, setClock, now, resumes, overs, restart } = await world();
  answers(limited("You've hit your usage limit. Try again in 2 hours."));
  await untilState('paused');
  const resumeAt = new Date(now() + 2 * HOUR).toISOString();
  expect(await shown()).toMatchObject({ state: 'paused', limit: { until: resumeAt, resumeAt, number: 1 } });
  expect([...raised]).toEqual([]);
  setClock(now() + 2 * HOUR - 1);
  await round();
  expect(overs()).toEqual([]);
  answers(usual);
  setClock(now() + 1);
  // Restarted at the moment of the reset, between the event and the prompt.
  await round();
  await restart();
  await untilState('idle');
  await restart();
  await round();
  expect([resumes(), overs()]).toEqual([['limit:1.2'], ['agent.limit.over:run-1/ENG-1.1:2']]);
});

test('a limit without an end asks a person, and is tried again a few times', async () => {
  const { answers, untilState, shown, raised, setClock, now, resumes, worker } = await world();
  answers(limited('Rate limit exceeded. Try again later.'));
  await untilState('paused');
  expect(await shown()).toMatchObject({
    limit: { until: null, resumeAt: new Date(now() + 15 * MINUTE).toISOString() },
  });
  expect([...raised]).toEqual(['agent-limit']);
  for (const minutes of [15, 60, 240]) {
    const count = resumes().length;
    setClock(now() + minutes * MINUTE);
    await untilState('paused');
    await until(async () => {
      await untilState('paused');
      return resumes().length === count + 1 && pausedBy(worker().agent)?.number === count + 2;
    });
  }
  setClock(now() + 1_000 * HOUR);
  await untilState('paused');
  expect(worker().agent?.limit).toMatchObject({ number: 4, resumeAt: null, endedAt: null });
  expect(resumes()).toHaveLength(3);
});

test('a limit with an end in the past is tried again after a minute', async () => {
  const { answers, untilState, now, worker, setClock, round, overs } = await world();
  answers(atTime(now() - 10 * HOUR));
  await untilState('paused');
  expect(worker().agent?.limit?.resumeAt).toBe(new Date(now() + MINUTE).toISOString());
  await round();
  expect(overs()).toEqual([]);
  setClock(now() + MINUTE);
  answers(usual);
  await untilState('idle');
  expect(overs()).toHaveLength(1);
});

test('a person’s stop before the reset: the agent is not resumed', async () => {
  const { answers, untilState, now, setClock, stop, round, restart, resumes, overs, raised, send, sent } =
    await world();
  answers(atTime(now() + HOUR));
  await untilState('paused');
  await stop('mia');
  await untilState('idle');
  expect([...raised]).toEqual([]);
  setClock(now() + 100 * HOUR);
  await restart();
  await round();
  expect([resumes(), overs()]).toEqual([[], []]);
  answers(usual);
  await send('go on');
  await untilState('idle');
  expect(sent().at(-1)).toMatchObject({ params: { prompt: [{ text: 'go on' }] } });
});

test('a paused or ended run: the agent is not resumed before the run is', async () => {
  const { answers, untilState, now, setClock, ofRun, round, overs } = await world();
  answers(atTime(now() + HOUR));
  await untilState('paused');
  await ofRun('paused');
  setClock(now() + 2 * HOUR);
  await round();
  expect(overs()).toEqual([]);
  await ofRun('resumed');
  answers(usual);
  await untilState('idle');
  expect(overs()).toHaveLength(1);
});

test('a canceled run: the agent is not resumed', async () => {
  const { answers, untilState, now, setClock, ofRun, round, overs } = await world();
  answers(atTime(now() + HOUR));
  await untilState('paused');
  await ofRun('canceled');
  setClock(now() + 2 * HOUR);
  await round();
  expect(overs()).toEqual([]);
});

test('a person’s message ends the pause: the agent is not resumed again at the reset', async () => {
  const { answers, untilState, now, setClock, send, round, overs, resumes } = await world();
  answers(atTime(now() + HOUR));
  await untilState('paused');
  answers(usual);
  await send('I paid. Go on.');
  await untilState('idle');
  setClock(now() + 2 * HOUR);
  await round();
  expect([overs(), resumes()]).toEqual([[], []]);
});

test(
  `after ${restarts} restarts with a clock that jumps, each limit was resumed once, and none that a person stopped`,
  async () => {
    const { answers, untilState, now, setClock, round, restart, stop, send, resumes, overs, worker } =
      await world();
    let seed = Number(process.env['SEED'] ?? 1);
    const random = (most: number): number => {
      seed = (seed * 1_103_515_245 + 12_345) % 2 ** 31;
      return seed % most;
    };
    const expected: string[] = [];
    answers(atTime(now() + HOUR));
    for (let count = 0; count < restarts; ) {
      await untilState('paused');
      const limit = pausedBy(worker().agent);
      const end = Date.parse(limit?.resumeAt ?? '');
      for (let jumps = random(4); jumps > 0 && count < restarts; jumps -= 1) {
        // Back and forth, but not past the end.
        setClock(end - 1 - random(20 * 24) * HOUR);
        await restart();
        await round();
        count += 1;
        expect(worker().agent?.state).toBe('paused');
      }
      const isStopped = random(5) === 0;
      answers(usual);
      if (isStopped) await stop('mia');
      else expected.push(`limit:${limit?.attempt}.${limit?.turn}`);
      setClock(end + random(20 * 24) * HOUR);
      await restart();
      count += 1;
      await untilState('idle');
      setClock(end - random(20 * 24) * HOUR);
      await restart();
      await round();
      count += 1;
      expect(resumes()).toEqual(expected);
      expect(overs()).toHaveLength(expected.length);
      // The next limit, long after this one.
      setClock(end + 48 * HOUR);
      answers(atTime(now() + (1 + random(20 * 24)) * HOUR));
      await send(`again ${count}`);
    }
  },
  restarts * 5_000,
);

test('a full file of messages is named on the board, and what becomes of a message then is said', async () => {
  const { untilState, fill, round, send, sent, worker, restart, answerTo } = await world();
  await untilState('idle');
  fill();
  await until(async () => {
    await round();
    return worker().agent?.problem !== null;
  });
  expect(worker().agent?.problem).toBe(
    'The file of messages to an agent is full. svc ends its process; a new one continues, with the messages that are waiting',
  );
  expect(await send('go on')).toBe('queued: the agent is started again');
  await expect(answerTo('r')).rejects.toThrow('is full. It is started again, and asks again');
  expect(JSON.stringify(sent().filter(({ method }) => method !== undefined))).not.toContain('go on');
  await restart();
  await round();
  expect(worker().agent?.problem).toContain('is full');
});
