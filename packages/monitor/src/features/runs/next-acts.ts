// Decides what the run loop does next. Pure: the same world gives the same acts, so a restart continues from the board
// and the disk. One step of a wave at a time; the loop decides again after each change.
import { isAgentsWork } from '@svc/contract/worker-statuses';
import { budgetStop } from '../agents/budget.ts';
import type { AgentState } from '../agents/session.ts';
import { workerKey } from '../workers/reduce-worker.ts';
import { isEnded, isUnmerged } from '../workers/status-groups.ts';
import type { Worker } from '../workers/worker.ts';
import {
  type Act,
  defaultTimings,
  type LiveAgent,
  type PlannedRun,
  type Revivals,
  type RunTimings,
  type World,
} from './acts.ts';
import type { HoldReason } from './api.ts';
import { later, type Standing, standingOfTicket } from './wave-standing.ts';

type CurrentWave = {
  number: number;
  tickets: readonly string[];
  state: 'started' | 'blocked' | null;
  standings: { ticket: string; worker: Worker | undefined; standing: Standing }[];
};
type RunWave = { planned: PlannedRun; wave: CurrentWave | null };

export function nextActs(given: World, timings: RunTimings = defaultTimings): Act[] {
  const world = { ...given, now: later(given.now, 0) };
  const waves = world.runs
    .toSorted((one, other) => order(one) - order(other) || (name(one) < name(other) ? -1 : 1))
    .map(
      (planned): RunWave => ({
        planned,
        wave: isOpen(planned) ? currentWave(world, planned, timings) : null,
      }),
    );
  return [
    ...waves.flatMap(({ planned }) => agentEnds(world, planned, timings)),
    ...waves.flatMap((wave) => workerActs(world, wave)),
    ...verificationActs(world, waves),
    ...waves.flatMap((wave) => waveActs(world, wave)),
    ...starts(world, waves),
  ];
}

/** The oldest run first, so that started work is finished. */
function order({ run }: PlannedRun): number {
  return run.startedAt === null ? Number.MAX_SAFE_INTEGER : Date.parse(run.startedAt);
}

function name({ run }: PlannedRun): string {
  return run.orchestrator;
}

function isOpen({ run }: PlannedRun): boolean {
  return run.state === 'running' || run.state === 'paused';
}

/** The first incomplete wave; null if all are complete. */
function currentWave(
  world: World,
  { run, plan, limits }: PlannedRun,
  timings: RunTimings,
): CurrentWave | null {
  for (const [index, tickets] of plan.waves.entries()) {
    const logged = run.waves.find(({ wave }) => wave === index + 1)?.state;
    if (logged === 'completed') continue;
    const standings = tickets.map((ticket) => {
      const key = workerKey(run.orchestrator, ticket);
      const worker = world.workers.get(key);
      const subject = {
        worker,
        agent: world.processes.get(key),
        revivals: world.revivals.get(key),
        verification: world.verifications.get(key),
      };
      return { ticket, worker, standing: standingOfTicket(subject, limits, timings, world.now) };
    });
    return { number: index + 1, tickets, state: logged ?? null, standings };
  }
  return null;
}

/** Workers that are given up, and why others wait for something other than a slot. */
function workerActs({ now, revivals }: World, { planned, wave }: RunWave): Act[] {
  const { orchestrator } = planned.run;
  return (wave?.standings ?? []).flatMap(({ ticket, standing }): Act[] => {
    const hold = (
      why: Extract<Act, { kind: 'hold' }>['why'],
      message: string,
      until: string | null,
    ): Act[] => [{ kind: 'hold', orchestrator, ticket, why, message, until }];
    if (standing.is === 'claiming')
      return hold('claim', `${ticket} reports a merge; checking with the code host`, standing.until);
    if (standing.is === 'merge-commit-unknown')
      return hold('merge-commit-unknown', `The merge commit of ${ticket} is not known yet`, null);
    if (standing.is === 'paused' && standing.by === 'idle')
      return hold(
        'idle',
        `The agent of ${ticket} was ended because it had nothing to do; svc agent send ${ticket} continues`,
        null,
      );
    if (standing.is === 'paused')
      return standing.by === 'limit'
        ? hold('limit', `${ticket} waits for the end of the provider’s usage limit`, standing.until)
        : hold(
            'stopped',
            `A person stopped the agent of ${ticket}; svc agent send ${ticket} continues`,
            null,
          );
    if (standing.is !== 'dead') return [];
    if (standing.due > now)
      return hold('backoff', `The process of ${ticket} is gone; waiting before the next step`, standing.due);
    if (standing.next === 'revive') return [];
    const { count = 0, lastEnd = 'died' } = revivals.get(workerKey(orchestrator, ticket)) ?? {};
    const hung = lastEnd === 'hanging';
    return [
      {
        kind: 'fail',
        orchestrator,
        ticket,
        status: hung ? 'stalled' : 'failed',
        reason: hung ? 'worker-stalled' : 'worker-dead',
        message: whyGivenUp(lastEnd, count),
      },
    ];
  });
}

function whyGivenUp(lastEnd: Revivals['lastEnd'], count: number): string {
  if (lastEnd === 'unstartable') return "The agent's program cannot be started";
  const what = `The agent ${lastEnd === 'hanging' ? 'went silent' : 'ended'} before its work was done`;
  return count === 0 ? what : `${what}, even after ${count} ${count === 1 ? 'revival' : 'revivals'}`;
}

/** At most as many at the same time as agents, because each runs the project's tests. */
function verificationActs(world: World, waves: readonly RunWave[]): Act[] {
  const running = new Map<string, number>();
  const projectOf = new Map(world.runs.map(({ run, plan }) => [run.orchestrator, plan.project]));
  for (const [key, { state }] of world.verifications) {
    const project = projectOf.get(key.slice(0, key.indexOf('/')));
    if (state === 'running' && project !== undefined) running.set(project, (running.get(project) ?? 0) + 1);
  }
  return waves.flatMap(({ planned: { run, plan, limits }, wave }) =>
    (wave?.standings ?? []).flatMap(({ ticket, worker, standing }): Act[] => {
      const { orchestrator } = run;
      const verification = world.verifications.get(workerKey(orchestrator, ticket));
      if (verification?.state === 'failed' && verification.remediation === 'none' && worker !== undefined)
        return limits.allowSelfReportedCompletion || !limits.verifyBeforeMerge
          ? []
          : [{ kind: 'file-remediation', orchestrator, ticket, mergeSha: worker.merge?.sha ?? null }];
      const count = running.get(plan.project) ?? 0;
      if (standing.is !== 'to-verify' || count >= limits.maxParallel) return [];
      running.set(plan.project, count + 1);
      return [{ kind: 'start-verification', orchestrator, ticket, mergeSha: standing.mergeSha }];
    }),
  );
}

function waveActs({ processes }: World, { planned, wave }: RunWave): Act[] {
  const { run, plan } = planned;
  const { orchestrator } = run;
  if (!isOpen(planned)) return [];
  if (wave === null) {
    const isLive = plan.waves.flat().some((ticket) => processes.has(workerKey(orchestrator, ticket)));
    return isLive ? [] : [{ kind: 'complete-run', orchestrator }];
  }
  const { number, state, standings } = wave;
  const tickets = [...wave.tickets];
  const begin: Act = { kind: 'start-wave', orchestrator, wave: number, tickets };
  if (state === null) return run.state === 'running' ? [begin] : [];
  if (standings.every(({ standing }) => standing.is === 'complete'))
    return [{ kind: 'complete-wave', orchestrator, wave: number, tickets }];
  const blockers = standings.flatMap(({ ticket, standing }) =>
    standing.is === 'blocked' ? [{ ticket, why: standing.why }] : [],
  );
  if (blockers.length === 0) return state === 'blocked' ? [begin] : [];
  if (state === 'blocked') return [];
  const why = blockers.map((blocker) => `${blocker.ticket}: ${blocker.why}`).join('; ');
  const blocking = blockers.map(({ ticket }) => ticket);
  return [{ kind: 'block-wave', orchestrator, wave: number, tickets: blocking, why }];
}

/** Revivals and recalls before dispatches: started work comes first. */
function starts(world: World, waves: readonly RunWave[]): Act[] {
  const slots = createSlots(world);
  const acts: Act[] = [];
  for (const wanted of ['dead', 'recalled', 'to-dispatch'] as const)
    for (const { planned, wave } of waves) {
      if (wave === null || wave.state === null) continue;
      const due = wave.standings.filter(
        ({ standing }) =>
          standing.is === wanted &&
          (standing.is !== 'dead' || (standing.next === 'revive' && standing.due <= world.now)),
      );
      const hold = due.length === 0 ? undefined : holdOf(planned, wanted, world.now);
      if (hold !== undefined) acts.push(hold);
      else acts.push(...startAll(planned, wave.number, due));
    }
  return acts;

  /** A missing slot is reported once, not for each ticket that waits for one. */
  function startAll(planned: PlannedRun, wave: number, due: CurrentWave['standings']): Act[] {
    const started: Act[] = [];
    const { orchestrator } = planned.run;
    for (const { ticket, standing } of due) {
      const stop = budgetStop(planned.spenders, { orchestrator, ticket }, planned.limits.budget, world.now);
      const refused =
        stop === null ? slots.take(planned, ticket) : ({ why: 'budget', message: stop.message } as const);
      if (refused?.why === 'slots')
        return [...started, { kind: 'hold', orchestrator, ticket: null, until: null, ...refused }];
      if (refused !== undefined)
        started.push({ kind: 'hold', orchestrator, ticket, until: null, ...refused });
      else if (standing.is === 'recalled')
        started.push({ kind: 'recall', orchestrator, ticket, wave, cause: standing.cause });
      else if (standing.is !== 'dead') started.push({ kind: 'dispatch', orchestrator, ticket, wave });
      else {
        const attempt = (world.revivals.get(workerKey(orchestrator, ticket))?.count ?? 0) + 1;
        started.push({ kind: 'revive', orchestrator, ticket, wave, attempt, notBefore: standing.due });
      }
    }
    return started;
  }
}

/** Why a run starts nothing at all. Started work does not wait for reviews. */
function holdOf(
  { run, limits, awaitingReview, spenders }: PlannedRun,
  wanted: Standing['is'],
  now: string,
): Act | undefined {
  const { orchestrator } = run;
  const hold = { kind: 'hold', orchestrator, ticket: null, until: null } as const;
  if (run.state === 'paused') return { ...hold, why: 'paused', message: 'The run is paused' };
  const stop = budgetStop(spenders, { orchestrator, ticket: null }, limits.budget, now);
  if (stop !== null) return { ...hold, why: 'budget', message: stop.message };
  const most = limits.maxAwaitingReview;
  if (wanted !== 'to-dispatch' || most === null || awaitingReview <= most) return undefined;
  const message = `${awaitingReview} pull requests wait for a person; new work starts when at most ${most} do`;
  return { ...hold, why: 'review', message };
}

// The slots of projects and runs: which ticket may start an agent now. A ticket has one worktree in its project, so two
// agents never work on it at the same time, even for two runs.

type Slots = {
  /** Takes a slot for the ticket, or returns why none is free. */
  take: (planned: PlannedRun, ticket: string) => { why: HoldReason; message: string } | undefined;
};

type Project = { most: number; used: number; tickets: Set<string> };

function createSlots({ runs, processes }: Pick<World, 'runs' | 'processes'>): Slots {
  const projects = new Map<string, Project>();
  const usedByRun = new Map<string, number>();
  for (const { run, plan, limits } of runs) {
    const known = projects.get(plan.project);
    const most = Math.min(known?.most ?? limits.maxParallel, limits.maxParallel);
    projects.set(plan.project, { most, used: known?.used ?? 0, tickets: known?.tickets ?? new Set() });
    usedByRun.set(run.orchestrator, 0);
  }
  const projectOfRun = new Map(runs.map(({ run, plan }) => [run.orchestrator, projects.get(plan.project)]));
  for (const key of processes.keys()) {
    const [orchestrator = '', ticket = ''] = key.split('/', 2);
    occupy(projectOfRun.get(orchestrator), orchestrator, ticket);
  }
  return {
    take({ run, plan }, ticket) {
      const project = projects.get(plan.project);
      const usedHere = usedByRun.get(run.orchestrator) ?? 0;
      if (project === undefined || project.tickets.has(ticket.toLowerCase()))
        return { why: 'ticket-elsewhere', message: `Another agent is working on ${ticket}` };
      if (project.used >= project.most)
        return { why: 'slots', message: `All ${project.most} slots of the project are taken` };
      if (usedHere >= plan.maxParallel)
        return { why: 'slots', message: `All ${plan.maxParallel} slots of the run are taken` };
      occupy(project, run.orchestrator, ticket);
      return undefined;
    },
  };

  function occupy(project: Project | undefined, orchestrator: string, ticket: string): void {
    if (project === undefined) return;
    project.used += 1;
    project.tickets.add(ticket.toLowerCase());
    usedByRun.set(orchestrator, (usedByRun.get(orchestrator) ?? 0) + 1);
  }
}

// What has to be stopped: every agent and every worker of a closed run, the agent of a worker that has ended, and an
// agent that is silent for too long.

function agentEnds(world: World, { run, limits }: PlannedRun, timings: RunTimings): Act[] {
  const { orchestrator, state } = run;
  if (state === 'unknown') return [];
  if (state === 'canceled' || state === 'completed') return endsOfRun(world, orchestrator);
  const acts: Act[] = [];
  for (const [key, agent] of world.processes) {
    if (!key.startsWith(`${orchestrator}/`)) continue;
    const ticket = key.slice(orchestrator.length + 1);
    const why = whyEnded(world.workers.get(key), agent, timings, world.now);
    if (why !== undefined) acts.push({ kind: 'end', orchestrator, ticket, why });
    else if (isSilent(agent, limits.stallAfterSec)) acts.push({ kind: 'end-hanging', orchestrator, ticket });
  }
  return acts;
}

/** A worker ends with its run even without a process, when it waits for a revival, a person or a review. */
function endsOfRun({ processes, workers }: World, orchestrator: string): Act[] {
  const keys = new Set([...processes.keys()].filter((key) => key.startsWith(`${orchestrator}/`)));
  for (const worker of workers.values())
    if (worker.orchestrator === orchestrator && endsWithItsRun(worker)) keys.add(worker.key);
  return [...keys].map((key) => {
    const ticket = key.slice(orchestrator.length + 1);
    return { kind: 'end', orchestrator, ticket, why: 'run-over' };
  });
}

/** After the merge, the deploy decides. A file that is gone or cannot be read is not written. */
export function endsWithItsRun({ status, merge, removed, corrupt }: Worker): boolean {
  if (merge !== null || removed || corrupt !== null) return false;
  return status !== 'canceled' && isUnmerged(status);
}

function whyEnded(
  worker: Worker | undefined,
  { reported }: LiveAgent,
  { afterEndSec }: RunTimings,
  now: string,
): 'canceled' | 'worker-ended' | 'idle' | undefined {
  if (worker === undefined) return undefined;
  // Its part is done, and it has no message: a later one starts it again.
  if (reported === 'idle' && !isAgentsWork(worker.status) && worker.recall === null) return 'idle';
  if (!isEnded(worker.status)) return undefined;
  if (worker.status === 'canceled') return 'canceled';
  return later(worker.statusSince, afterEndSec) <= now ? 'worker-ended' : undefined;
}

const mayBeSilent: ReadonlySet<AgentState> = new Set(['needs-permission', 'needs-input', 'idle', 'paused']);

/** Creating a worktree may take long, and has its own limits. An agent that waits for a person may be silent. */
function isSilent({ state, reported, silentSec }: LiveAgent, stallAfterSec: number): boolean {
  if (reported !== null && mayBeSilent.has(reported)) return false;
  return state === 'running' && silentSec >= stallAfterSec;
}
