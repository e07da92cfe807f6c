// Executes one act of the run loop. Long acts (a worktree, a verification) continue in the background; the memory holds
// them, so they keep their slot and are not started again.

import type { SignalFile } from '@svc/contract/signal-file';
import { isAgentsWork } from '@svc/contract/worker-statuses';
import { messageOf } from '@svc/lib/errors';
import type { ReadProcessStarts } from '@svc/lib/system';
import type { Logger } from 'pino';
import { Failure, type FailureCode } from '../../../kernel/failure.ts';
import { draft, type EventDraft } from '../../../kernel/log/event-line.ts';
import type { DetailOf } from '../../../kernel/log/topics.ts';
import { inOneLine } from '../../agents/agent-output.ts';
import { type FoundAgent, markEnd, nextAttempt } from '../../agents/io/find-agents.ts';
import { type AgentEnd, cannotStart, endAgent, type LaunchedAgent } from '../../agents/io/launch.ts';
import { readErrors } from '../../agents/io/output.ts';
import type { SignalStore } from '../../workers/io/signal-store.ts';
import { workerKey } from '../../workers/reduce-worker.ts';
import { workerDied } from '../../workers/signal-changes.ts';
import { isPreMerge, isUnmerged } from '../../workers/status-groups.ts';
import type { Worker } from '../../workers/worker.ts';
import type { Act } from '../acts.ts';
import type { CleanUp } from '../clean-up.ts';
import { endsWithItsRun } from '../next-acts.ts';
import type { RunPlan } from '../plan.ts';
import { isLive, type Observation, type RunMemory } from './observe.ts';
import type { RunProject, RunProjects } from './run-project.ts';
import type { StartAgent } from './start-agent.ts';

export type Execute = (act: Act, observed: Observation) => Promise<void>;

type Of<Kind extends Act['kind']> = Extract<Act, { kind: Kind }>;

/** After a verification that could not be made: the commit is not there yet, or the disk is full. */
const VERIFY_AGAIN_MS = 60_000;
/** While the tracker cannot be asked for the ticket: longer than a usual outage, then a person is asked. */
const START_AGAIN_MS = 30_000;
const MOST_STARTS = 20;
const passing: ReadonlySet<FailureCode> = new Set(['tracker-unavailable', 'tracker-quota-used-up']);
/** A missing program ends within this time, even on a busy machine. */
const AT_ONCE_MS = 30_000;

export function createExecutor(options: {
  runsDir: string;
  memory: RunMemory;
  projects: RunProjects;
  signals: SignalStore;
  startAgent: StartAgent;
  cleanUp: CleanUp;
  processStarts: ReadProcessStarts;
  /** Appends an event and resolves when the board has it. */
  append: (draft: EventDraft) => Promise<void>;
  /** How an agent ended. */
  noteEnd: (agent: { orchestrator: string; ticket: string; attempt: number }, how: AgentEnd) => void;
  /** Something has ended: run another round. */
  wake: () => void;
  stopping: AbortSignal;
  logger: Logger;
  now: () => Date;
}): Execute {
  const { memory, projects, signals, startAgent, cleanUp, processStarts, append } = options;
  const { wake, stopping, logger, now } = options;
  const verifyNotBefore = new Map<string, number>();
  /** Workers whose start has to wait. */
  const startAgain = new Map<string, { tries: number; notBefore: number }>();

  /** Runs in the background; the loop is woken when it ends. */
  function inBackground(
    key: string,
    work: () => Promise<void>,
    onFailure: (error: unknown) => Promise<void>,
  ) {
    const job: Promise<void> = work()
      .catch(async (error: unknown) => {
        if (!stopping.aborted) await onFailure(error);
      })
      .catch((error: unknown) => logger.error({ err: error, worker: key }, 'a step of a run failed'))
      .finally(() => {
        memory.jobs.delete(job);
        wake();
      });
    memory.jobs.add(job);
  }

  function start(act: Of<'dispatch' | 'revive' | 'recall'>, observed: Observation): void {
    const { orchestrator, ticket, wave } = act;
    const key = workerKey(orchestrator, ticket);
    const plan = planOf(observed, orchestrator);
    if (plan === undefined || memory.starting.has(key)) return;
    if (now().getTime() < (startAgain.get(key)?.notBefore ?? 0)) return;
    const attempt = nextAttempt(
      observed.agents.filter((agent) => agent.orchestrator === orchestrator),
      ticket,
    );
    memory.starting.set(key, now().toISOString());
    inBackground(
      key,
      async () => {
        try {
          await cleanUp.settled(plan.project, ticket);
          if (await hasMovedOn(act)) return;
          const project = await projects.of(plan.project);
          const started = await startAgent({
            orchestrator,
            ticket,
            wave,
            attempt,
            plan,
            previous: observed.world.workers.get(key)?.agent ?? null,
            project,
            signal: stopping,
          });
          startAgain.delete(key);
          logger.info({ worker: key, attempt, act: act.kind }, 'agent started');
          if (started !== 'already-started') void followToEnd({ orchestrator, ticket, attempt }, started);
        } finally {
          memory.starting.delete(key);
        }
      },
      async (error) => {
        if (!mayPass(key, error)) return failStart(act, plan.base, error);
        logger.warn({ err: error, worker: key }, 'an agent could not be started: it is tried again');
      },
    );
  }

  /** Counts the tries of a start that may succeed later. */
  function mayPass(key: string, error: unknown): boolean {
    const tries = (startAgain.get(key)?.tries ?? 0) + 1;
    const isOver = !(error instanceof Failure) || !passing.has(error.code) || tries >= MOST_STARTS;
    if (isOver) startAgain.delete(key);
    else startAgain.set(key, { tries, notBefore: now().getTime() + START_AGAIN_MS });
    return !isOver;
  }

  async function followToEnd(
    agent: { orchestrator: string; ticket: string; attempt: number },
    { ended }: LaunchedAgent,
  ): Promise<void> {
    const startedAt = now().getTime();
    try {
      const how = await ended;
      options.noteEnd(agent, how);
      const atOnce = now().getTime() - startedAt < AT_ONCE_MS;
      if (how.known && atOnce && cannotStart(how.exitCode))
        await markEnd(options.runsDir, agent, 'unstartable');
    } catch (error) {
      logger.error({ err: error, ...agent }, 'the end of an agent cannot be recorded');
    } finally {
      wake();
    }
  }

  /** The file is newer than the board: the worker has ended, or has moved past its agent's part. */
  async function hasMovedOn({
    kind,
    orchestrator,
    ticket,
  }: Of<'dispatch' | 'revive' | 'recall'>): Promise<boolean> {
    const read = await signals.read(orchestrator, ticket);
    if (read.state !== 'ok') return false;
    const { status } = read.signal;
    return kind === 'recall' ? !isPreMerge(status) : !isAgentsWork(status);
  }

  /** The reason why an agent did not start goes into its signal file; only a person starts it again. */
  async function failStart(
    act: Of<'dispatch' | 'revive' | 'recall'>,
    base: string,
    error: unknown,
  ): Promise<void> {
    const { orchestrator, ticket, wave } = act;
    const problem = messageOf(error);
    logger.error({ err: error, ticket, orchestrator, base }, 'an agent could not be started');
    const at = now().toISOString();
    const made = await signals.create({
      ticket,
      orchestrator,
      workerName: ticket,
      status: 'failed',
      phase: 'dispatched',
      startedAt: at,
      updatedAt: at,
      wave,
      error: problem,
    });
    const isCanceled = !made.ok && (await endSignal(orchestrator, ticket, 'failed', problem)) === 'canceled';
    if (isCanceled) return;
    await append(raised(act, 'dispatch-failed', `The agent could not be started: ${problem}`));
  }

  /** Leaves a worker alone that has moved past its agent's part. Returns the status in the file. */
  async function endSignal(
    orchestrator: string,
    ticket: string,
    status: SignalFile['status'],
    error: string,
  ): Promise<SignalFile['status'] | undefined> {
    const result = await signals.update(orchestrator, ticket, (before) =>
      isPreMerge(before.status) ? { ...before, status, error } : null,
    );
    return result.ok ? result.signal.status : undefined;
  }

  async function end(act: Of<'end' | 'end-hanging'>, observed: Observation): Promise<void> {
    const { orchestrator, ticket } = act;
    const found = observed.agents.findLast(
      (agent) => agent.orchestrator === orchestrator && agent.ticket === ticket && isLive(agent),
    );
    if (found?.state === 'running') await endFound(found, act.kind === 'end-hanging');
    if (act.kind === 'end' && act.why === 'run-over') await cancelWithRun(orchestrator, ticket, observed);
  }

  async function cancelWithRun(orchestrator: string, ticket: string, { world }: Observation): Promise<void> {
    const worker = world.workers.get(workerKey(orchestrator, ticket));
    if (worker !== undefined && !endsWithItsRun(worker)) return;
    await signals.update(orchestrator, ticket, (before) =>
      isUnmerged(before.status) ? { ...before, status: 'canceled' } : null,
    );
  }

  async function endFound(found: FoundAgent & { state: 'running' }, hung: boolean): Promise<void> {
    const { orchestrator, ticket, attempt, pid, startedAt } = found;
    if (hung) await markEnd(options.runsDir, found, 'hanging');
    const ended = await endAgent({ pid, startedAt, processStarts });
    logger.info({ orchestrator, ticket, attempt, pid, ended, hung }, 'agent ended');
  }

  function verify(act: Of<'start-verification'>, observed: Observation): void {
    const key = workerKey(act.orchestrator, act.ticket);
    const plan = planOf(observed, act.orchestrator);
    const notBefore = verifyNotBefore.get(key) ?? 0;
    if (plan === undefined || memory.verifying.has(key) || now().getTime() < notBefore) return;
    memory.verifying.add(key);
    inBackground(
      key,
      async () => {
        try {
          const project = await projects.of(plan.project);
          await verifyMerge(project, act, observed.world.workers.get(key), stopping);
        } finally {
          memory.verifying.delete(key);
        }
      },
      async (error) => {
        logger.warn({ err: error, worker: key }, 'a merged commit could not be verified');
        verifyNotBefore.set(key, now().getTime() + VERIFY_AGAIN_MS);
      },
    );
  }

  /** A running agent keeps its worktree until the run is over. */
  function removeWorktrees(orchestrator: string, tickets: readonly string[], observed: Observation): void {
    const plan = planOf(observed, orchestrator);
    if (plan === undefined) return;
    // Another run of the project may have the same ticket, and so the same worktree.
    const runs = observed.world.runs.filter((other) => other.plan.project === plan.project);
    const isInUse = (ticket: string) =>
      runs.some(({ run }) => {
        const key = workerKey(run.orchestrator, ticket);
        return observed.world.processes.has(key) || memory.starting.has(key);
      });
    const left = tickets.filter((ticket) => !isInUse(ticket));
    inBackground(
      orchestrator,
      async () => void (await cleanUp.run({ orchestrator, plan, tickets: left })),
      async (error) => logger.error({ err: error, orchestrator }, 'worktrees could not be removed'),
    );
  }

  /** Logged before the file is written: after a restart in between it is logged again, and nothing is missed. */
  async function giveUp(act: Of<'fail'>, { world, agents }: Observation): Promise<void> {
    const { orchestrator, ticket, message } = act;
    const worker = world.workers.get(workerKey(orchestrator, ticket));
    const { process: known, signal = null } = worker ?? {};
    const last = agents.findLast((agent) => agent.orchestrator === orchestrator && agent.ticket === ticket);
    const stderr = await readErrors({
      runsDir: options.runsDir,
      orchestrator,
      ticket,
      since: last?.launchedAt,
    });
    if (act.reason === 'worker-dead' && (known?.state !== 'dead' || known.reviving === true)) {
      const died = { pid: signal?.pid ?? 0, reason: message, ...(stderr !== '' && { stderr }) };
      await append(workerDied({ orchestrator, ticket }, died, signal));
    }
    const why = worker?.agent?.problem ?? stderr;
    const error = why === '' ? message : `${message}: ${inOneLine(why)}`;
    await endSignal(orchestrator, ticket, act.status, error);
  }

  return async (act, observed) => {
    const { orchestrator } = act;
    switch (act.kind) {
      case 'hold':
      case 'file-remediation':
        // A hold is only shown; a remediation is filed by the outbox.
        return;
      case 'dispatch':
      case 'revive':
      case 'recall':
        return start(act, observed);
      case 'end':
      case 'end-hanging':
        return end(act, observed);
      case 'fail':
        return giveUp(act, observed);
      case 'start-verification':
        return verify(act, observed);
      case 'start-wave':
        return append(ofWave(act, 'started', {}));
      case 'block-wave':
        return append(ofWave(act, 'blocked', { reason: act.why }));
      case 'complete-wave':
        await append(ofWave(act, 'completed', {}));
        return removeWorktrees(orchestrator, act.tickets, observed);
      case 'complete-run':
        await append(runCompleted(orchestrator));
        return removeWorktrees(orchestrator, planOf(observed, orchestrator)?.waves.flat() ?? [], observed);
    }
  };
}

function planOf({ world }: Observation, orchestrator: string): RunPlan | undefined {
  return world.runs.find(({ run }) => run.orchestrator === orchestrator)?.plan;
}

/** A failed attempt to verify is an error here, so it is tried again. */
async function verifyMerge(
  { folder, verifier, worktrees }: RunProject,
  { orchestrator, ticket, mergeSha }: Extract<Act, { kind: 'start-verification' }>,
  worker: Worker | undefined,
  signal: AbortSignal,
): Promise<void> {
  const verified = await verifier.verify({
    orchestrator,
    ticket,
    repoFolder: folder,
    mergeSha,
    worktreeBase: await worktrees.base(),
    repo: worker?.repo ?? undefined,
    pr: worker?.pr?.number,
    signal,
  });
  if (!verified.ok) throw new Failure('file-unusable', verified.reason, verified.remedy);
}

// The events that the run loop appends.

const ours = { source: 'orchestrator' } as const;

function ofWave(
  { orchestrator, wave, tickets }: Of<'start-wave' | 'block-wave' | 'complete-wave'>,
  state: 'started' | 'blocked' | 'completed',
  more: Pick<DetailOf<'orchestrator.wave.blocked'>, 'reason'>,
): EventDraft {
  return draft(`orchestrator.wave.${state}`, { orchestrator }, { wave, tickets, ...more }, ours);
}

function raised(
  { orchestrator, ticket }: { orchestrator: string; ticket: string },
  reason: string,
  message: string,
): EventDraft {
  const remedy = `svc orchestrate retry ${orchestrator} ${ticket}`;
  const detail = { reason, message, severity: 'high', remedy } as const;
  return draft('comms.attention', { orchestrator, ticket }, detail, ours);
}

function runCompleted(orchestrator: string): EventDraft {
  return draft('orchestrator.run.completed', { orchestrator }, {}, ours);
}
