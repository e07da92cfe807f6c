// Follows the agents of all runs: writes what they do to the log, shows their conversations, sends them messages and
// answers. It stores nothing itself: after a restart the files of each attempt are read again, and every event has a name
// by which the log takes it once.
import { messageOf } from '@svc/lib/errors';
import { processExists } from '@svc/lib/pid';
import type { ReadProcessStarts } from '@svc/lib/system';
import type { Logger } from 'pino';
import type { StateFollower } from '../../../kernel/board/state-follower.ts';
import type { EventDraft } from '../../../kernel/log/event-line.ts';
import { workerKey } from '../../workers/reduce-worker.ts';
import type { Worker } from '../../workers/worker.ts';
import { scopeOfWorker } from '../../workers/worker-attention.ts';
import type { AgentView } from '../api.ts';
import type { Budgets } from '../budget.ts';
import { addToConversation, type Conversation, newConversation } from '../conversation.ts';
import type { Answer } from '../messages.ts';
import type { OpenRequest } from '../requests.ts';
import type { AgentEntry, AgentSession } from '../session.ts';
import { createSuspension } from '../suspension.ts';
import { type AgentLog, type CommandLine, createAgentLog, followCommandLine } from './agent-log.ts';
import { type AgentRecord, type AskedView, readRecord, viewAgent } from './agent-record.ts';
import { type AgentTalk, type QueuedMessage, readSession, talkToAgent } from './agent-session.ts';
import { type FoundAgent, markEnd } from './find-agents.ts';
import { readImages } from './image-files.ts';
import { inboxPath, readInbox } from './inbox.ts';
import { type AgentEnd, agentFiles, endAgent } from './launch.ts';
import { createLimits } from './limits-service.ts';
import { createSteering, type Steering } from './steering.ts';

const noRecord = { reason: null, setup: null, delivered: [] };
/** The end of a process is shown sooner than the next round would find it. */
const LOOK_EVERY_MS = 500;
/** Slow machines need long for a first start. */
const START_TIMEOUT_MS = 180_000;

type Attempt = { orchestrator: string; ticket: string; attempt: number };
type WorkerName = { orchestrator: string; ticket: string };

export type Agents = Steering & {
  /** Call it in each round, with every attempt that was found. */
  follow: (agents: readonly FoundAgent[]) => void;
  noteEnd: (agent: Attempt, how: AgentEnd) => void;
  view: (worker: Worker, asked: AskedView) => Promise<AgentView>;
  /** Calls back when the view of the worker may have changed; urgently when its state did. */
  onChange: (worker: WorkerName, changed: (isUrgent: boolean) => void) => () => void;
  /** Why an agent cannot be followed, if one cannot. */
  problem: () => string | null;
  /** Resolves when everything that agents did is in the log, with the number of the last line. */
  settled: () => Promise<number>;
  stop: () => Promise<void>;
};

type Followed = {
  agent: Attempt;
  record: AgentRecord;
  /** Null for a command line. */
  talk: AgentTalk | null;
  /** Only for a command line. */
  commandLine: CommandLine | null;
  conversation: Conversation;
  inbox: QueuedMessage[];
  /** Budgets of its run; null: unknown project, which has none. */
  budget: { project: string; budgets: Budgets } | null;
  since: number;
  /** Requests that the policy was asked about. */
  judged: Set<string>;
  isFailed: boolean;
  isGone: boolean;
  /** Its journal was read; before that its files have the conversation. */
  isRead: boolean;
  log: AgentLog;
};

export function createAgents(options: {
  runsDir: string;
  instanceId: string;
  state: Pick<StateFollower, 'board' | 'onChange'>;
  /** `log.appendOnce` */
  append: (draft: EventDraft) => Promise<{ seq: number }>;
  /** Resolves when the board has the current content of the worker's signal file. */
  syncSignal: (worker: WorkerName) => Promise<void>;
  /** The answer that the user's policy gives; null: a person is asked. */
  policyAnswer: (worker: Worker, request: OpenRequest) => Promise<Answer | null>;
  /** The budgets of the run, as currently configured. */
  budgetsOf: (orchestrator: string) => Promise<{ project: string; budgets: Budgets } | null>;
  /** After how many minutes without work an agent of the run is ended; null: never. */
  idleMinutesOf: (orchestrator: string) => Promise<number | null>;
  processStarts: ReadProcessStarts;
  /** Starts a round. */
  wake: () => void;
  /** When the journal is longer, the session continues in a new one: a file cannot be cut while it is written. */
  journalBytes: number;
  logger: Logger;
  now: () => Date;
}): Agents {
  const { runsDir, instanceId, append, processStarts, logger, now } = options;
  const { board } = options.state;
  const limits = createLimits({ board, append, now });
  const suspension = createSuspension({ ...options, board });
  const followed = new Map<string, Followed>();
  const opening = new Map<string, Promise<void>>();
  /** Agents that ended while something else was done for them. */
  const missed = new Set<string>();
  const ends = new Map<string, AgentEnd>();
  /** Attempts whose record somebody removed. */
  const unrecorded = new Set<string>();
  let lastLine = 0;
  const listeners = new Map<string, Set<(isUrgent: boolean) => void>>();
  const stopping = new AbortController();

  /** Why agents cannot be followed, by key. */
  const problems = new Map<string, string>();
  const noteProblem = (agent: Attempt) => (error: unknown) => {
    problems.set(keyOf(agent), messageOf(error));
    logger.error({ err: error, ...agent }, 'an agent cannot be followed');
  };

  function notify(key: string, isUrgent = false): void {
    for (const changed of listeners.get(key) ?? []) changed(isUrgent);
  }

  const unsubscribe = options.state.onChange(({ lines }) => {
    for (const { event, scope } of lines)
      if (event.startsWith('agent.')) notify(workerKey(scope.orchestrator ?? '', scope.ticket ?? ''));
  });

  async function readMessages({
    agent,
    record,
  }: Pick<Followed, 'agent' | 'record'>): Promise<QueuedMessage[]> {
    const messages = await readInbox(inboxPath(runsDir, agent));
    return messages
      .filter(({ key }) => !record.delivered.includes(key))
      .map(({ key, text, by = null, images = [] }) => ({ key, text, by, images }));
  }

  function newFollowed(agent: Attempt, record: AgentRecord): Followed {
    const one: Followed = {
      agent,
      record,
      talk: null,
      commandLine: null,
      conversation: newConversation(),
      inbox: [],
      budget: null,
      since: performance.now(),
      judged: new Set(),
      isFailed: false,
      isGone: false,
      isRead: record.setup === null,
      log: createAgentLog({
        ...options,
        agent,
        name: record.agent,
        scope() {
          const worker = board().workers.get(keyOf(agent));
          return worker ? scopeOfWorker(worker) : { orchestrator: agent.orchestrator, ticket: agent.ticket };
        },
        queued: () => one.talk?.sendable().length ?? 0,
        limitEnd: (words) => limits.endOf(words, agentFiles(runsDir, agent).journal),
        onProblem: noteProblem(agent),
        stopping: stopping.signal,
      }),
    };
    return one;
  }

  function onEntry(
    one: Followed,
    entry: AgentEntry,
    sessions: { before: AgentSession; after: AgentSession },
  ): void {
    addToConversation(one.conversation, entry, sessions);
    one.log.addEntry(entry, sessions);
    const { before, after } = sessions;
    notify(keyOf(one.agent), before.state !== after.state || before.open !== after.open);
  }

  async function open(agent: Attempt): Promise<void> {
    const record = await readRecord(runsDir, agent);
    if (record === undefined || stopping.signal.aborted) return;
    if (record === 'unreadable') {
      logger.error({ ...agent }, 'the record of an agent cannot be read: it is started again');
      return endProcess(agent);
    }
    const one = newFollowed(agent, record);
    one.inbox = await readMessages(one);
    one.budget = await options.budgetsOf(agent.orchestrator);
    followed.set(keyOf(agent), one);
    if (record.setup === null) return logCommandLine(one);
    one.talk = await talkToAgent({
      files: agentFiles(runsDir, agent),
      setup: record.setup,
      messages: () => [...limits.resumes(agent), ...one.inbox],
      readImages: (images, isTaken) => readImages(runsDir, agent, images, isTaken),
      mayStart: () => limits.budgetStop(one) === null,
      onEntry: (entry, sessions) => onEntry(one, entry, sessions),
      onProblem: noteProblem(agent),
    });
    await one.talk.goOn();
    one.isRead = true;
  }

  /** An agent that ended while no daemon was running. */
  async function logEnded(agent: Attempt): Promise<void> {
    const record = await readRecord(runsDir, agent);
    if (record === undefined) unrecorded.add(`${keyOf(agent)}.${agent.attempt}`);
    if (record === undefined || stopping.signal.aborted) return;
    const known = record === 'unreadable' ? { ...noRecord, agent: 'unknown' } : record;
    const one = newFollowed(agent, known);
    if (record !== 'unreadable' && record.setup === null) {
      logCommandLine(one);
      await end(one);
    } else await readSession(agentFiles(runsDir, agent), (entry, sessions) => onEntry(one, entry, sessions));
    await one.log.written();
  }

  function logCommandLine(one: Followed): void {
    const { agent: name, reason } = one.record;
    one.log.add({
      event: 'agent.session.started',
      name: 'session',
      detail: { agent: name, protocol: false, ...(reason !== null && { reason }) },
    });
    one.commandLine = followCommandLine({
      path: agentFiles(runsDir, one.agent).output,
      log: one.log,
      limitEnd: limits.endOf,
      onProblem: noteProblem(one.agent),
    });
  }

  /** What no line of the agent causes: new messages, a policy, a start that fails, a journal that is full. */
  async function check(one: Followed): Promise<void> {
    const { agent, talk } = one;
    one.commandLine?.logCost();
    if (talk === null || one.isFailed) return;
    problems.delete(keyOf(agent));
    one.budget = await options.budgetsOf(agent.orchestrator);
    const messages = await readMessages(one);
    if (messages.length !== one.inbox.length) {
      one.inbox = messages;
      await talk.goOn();
    }
    await applyPolicy(one, talk);
    const isLate = !talk.isReady() && performance.now() - one.since > START_TIMEOUT_MS;
    const failure =
      talk.startProblem() ?? (isLate ? `The agent did not start within ${START_TIMEOUT_MS / 1_000} s` : null);
    if (failure !== null) {
      one.isFailed = true;
      one.log.add({ event: 'agent.session.failed', name: 'session', detail: { problem: failure } });
      await one.log.written();
      await markEnd(runsDir, agent, 'unstartable');
      await endProcess(agent);
    } else if (
      talk.changedFile() !== null ||
      talk.isFull() ||
      (talk.read() > options.journalBytes && talk.session().state === 'idle')
    ) {
      const changed = talk.changedFile();
      const isSent = changed === 'sent' || (changed === null && talk.isFull());
      const what = isSent ? 'file of messages to an agent' : 'journal of an agent';
      const why = changed === null ? 'is full' : 'was changed by another program';
      logger.warn({ ...agent, bytes: talk.read() }, `the ${what} ${why}: its session continues in a new one`);
      const problem = `The ${what} ${why}. svc ends its process; a new one continues, with the messages that are waiting`;
      one.log.add({ event: 'agent.session.failed', name: 'file', detail: { problem } });
      await one.log.written();
      await endProcess(agent);
    } else if (await suspension.isDue(agent, talk)) await endProcess(agent);
  }

  async function applyPolicy(one: Followed, talk: AgentTalk): Promise<void> {
    const worker = board().workers.get(keyOf(one.agent));
    for (const request of talk.session().open) {
      if (one.judged.has(request.request) || worker === undefined) continue;
      const answer = await options.policyAnswer(worker, request);
      one.judged.add(request.request);
      if (answer !== null) await talk.answer({ request: request.request, answer, by: 'policy' });
    }
  }

  async function endProcess(agent: Attempt): Promise<void> {
    const process = last.get(keyOf(agent));
    if (process?.state !== 'running' || process.attempt !== agent.attempt) return;
    const { pid, startedAt } = process;
    await endAgent({ pid, startedAt, processStarts });
  }

  async function end(one: Followed): Promise<void> {
    const { agent, talk } = one;
    const key = keyOf(agent);
    const how = ends.get(`${key}.${agent.attempt}`);
    const exit = how?.known === true ? { exitCode: how.exitCode, signal: how.signal } : null;
    if (talk !== null) await talk.end(exit);
    else {
      await one.commandLine?.end(last.get(key)?.launchedAt ?? '');
      one.log.add({
        event: 'agent.session.ended',
        name: 'end',
        detail: {
          ...(typeof exit?.exitCode === 'number' && { exitCode: exit.exitCode }),
          ...(typeof exit?.signal === 'string' && { signal: exit.signal }),
        },
      });
    }
    lastLine = Math.max(lastLine, await one.log.written());
    await talk?.stop();
    await one.commandLine?.stop();
    ends.delete(`${key}.${agent.attempt}`);
    if (followed.get(key) === one) followed.delete(key);
    problems.delete(key);
    notify(key);
  }

  function inBackground(key: string, work: Promise<void>, agent: Attempt): void {
    const job = work.catch(noteProblem(agent)).finally(() => {
      opening.delete(key);
      if (missed.delete(key)) options.wake();
    });
    opening.set(key, job);
  }

  /** The newest attempt of each worker. */
  let last = new Map<string, FoundAgent>();
  /** Resolved when the first round has looked for them. */
  const found = Promise.withResolvers<void>();

  const looking = setInterval(() => {
    for (const [key, agent] of last) {
      const one = followed.get(key);
      if (agent.state !== 'running' || one === undefined || one.isGone || processExists(agent.pid)) continue;
      one.isGone = true;
      options.wake();
    }
  }, LOOK_EVERY_MS).unref();

  /** Everything that it did is in the log. */
  function isLogged(agent: FoundAgent): boolean {
    const known = board().workers.get(keyOf(agent))?.agent;
    if (known === undefined || known === null || known.attempt < agent.attempt) return false;
    return known.state === 'ended' || known.suspended !== undefined;
  }

  const steering = createSteering({
    ...options,
    running(worker) {
      const one = followed.get(worker.key);
      if (one === undefined || last.get(worker.key)?.state === 'gone') return undefined;
      return { talk: one.talk, record: one.record };
    },
    known: async (worker) => {
      await found.promise;
      await opening.get(worker.key);
    },
    async readInboxOf(worker) {
      const one = followed.get(worker.key);
      if (one !== undefined) one.inbox = await readMessages(one);
    },
    whyHeld(worker) {
      const one = followed.get(worker.key);
      return (one && limits.budgetStop(one)?.message) ?? null;
    },
  });

  return {
    ...steering,
    follow(agents) {
      last = new Map(agents.map((agent) => [keyOf(agent), agent]));
      for (const [key, agent] of last) {
        const isGone = agent.state === 'gone';
        if (opening.has(key) && isGone) missed.add(key);
        // The events of an agent belong to a worker of the board.
        if (opening.has(key) || !board().workers.has(key)) continue;
        const one = followed.get(key);
        if (one === undefined) {
          if (!isGone) inBackground(key, open(agent), agent);
          else if (!isLogged(agent) && !unrecorded.has(`${key}.${agent.attempt}`))
            inBackground(key, logEnded(agent), agent);
        } else if (isGone || one.agent.attempt !== agent.attempt) {
          inBackground(key, end(one), agent);
        } else inBackground(key, check(one), agent);
      }
      for (const [key, { orchestrator, ticket, attempt }] of last) {
        const worker = board().workers.get(key);
        if (worker !== undefined)
          limits.resumeWhenOver(worker).catch(noteProblem({ orchestrator, ticket, attempt }));
      }
      found.resolve();
    },
    noteEnd(agent, how) {
      ends.set(`${keyOf(agent)}.${agent.attempt}`, how);
    },
    view(worker, asked) {
      const one = followed.get(worker.key);
      return viewAgent({ worker, followed: one?.isRead ? one : undefined, runsDir, instanceId, asked });
    },
    onChange({ orchestrator, ticket }, changed) {
      const key = workerKey(orchestrator, ticket);
      const known = listeners.get(key) ?? new Set();
      listeners.set(key, known.add(changed));
      return () => {
        known.delete(changed);
        if (known.size === 0) listeners.delete(key);
      };
    },
    problem: () => problems.values().next().value ?? null,
    async settled() {
      await Promise.all(opening.values());
      for (const { log } of followed.values()) lastLine = Math.max(lastLine, await log.written());
      return lastLine;
    },
    async stop() {
      stopping.abort();
      found.resolve();
      unsubscribe();
      clearInterval(looking);
      await Promise.all(opening.values());
      for (const one of followed.values()) {
        await one.talk
          ?.stop()
          .catch((error: unknown) => logger.warn({ err: messageOf(error) }, 'an agent’s files'));
        await one.commandLine?.stop();
        await one.log.written();
      }
    },
  };
}

function keyOf({ orchestrator, ticket }: WorkerName): string {
  return workerKey(orchestrator, ticket);
}
