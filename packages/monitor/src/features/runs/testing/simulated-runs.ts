// Simulates runs, agents and people: executes acts as the run loop would, and makes random things happen: agents die,
// hang, report falsely and succeed, the daemon is killed, people pause, retry and cancel.

import type { Worker } from '../../workers/worker.ts';
import type { Act, LiveAgent, PlannedRun, Revivals, RunTimings, Verification, World } from '../acts.ts';
import type { Run } from '../run.ts';

export type SimulatedRun = { id: string; project: string; waves: string[][]; most: number };
export type NewWorker = (orchestrator: string, ticket: string, now: string) => Worker;
type Choose = (most: number) => number;

export const quickTimings: RunTimings = {
  revivalDelaysSec: [10, 60, 300],
  settleSec: 5,
  claimSec: 100,
  afterEndSec: 20,
  agentAnswerSec: 30,
  journalBytes: 1_000_000,
};
const STALL_SEC = 200;

export function simulateRuns({
  runs: given,
  projectMost,
  newWorker,
  choose,
}: {
  runs: SimulatedRun[];
  projectMost: number;
  newWorker: NewWorker;
  choose: Choose;
}) {
  let time = Date.parse('2026-01-01T00:00:00.000Z');
  const now = (): string => new Date(time).toISOString();
  const active = (state: LiveAgent['state']): LiveAgent => {
    const since = time;
    return {
      state,
      reported: null,
      get silentSec() {
        return (time - since) / 1_000;
      },
    };
  };
  const runs = new Map<string, PlannedRun>();
  const workers = new Map<string, Worker>();
  const processes = new Map<string, LiveAgent>();
  const revivals = new Map<string, Revivals>();
  const verifications = new Map<string, Verification>();
  /** The results, for the test to check. */
  const problems: string[] = [];

  for (const { id, project, waves, most } of given) {
    const run: Run = {
      orchestrator: id,
      name: null,
      state: 'running',
      startedAt: now(),
      endedAt: null,
      tickets: waves.flat(),
      plan: null,
      blockedBy: null,
      maxParallel: most,
      waves: [],
      lastSeq: 1,
      lastAt: now(),
    };
    runs.set(id, {
      run,
      plan: { waves, project, base: 'main', workerCommand: '/a:b', workerModel: 'm', maxParallel: most },
      limits: {
        maxParallel: projectMost,
        maxAwaitingReview: null,
        verifyBeforeMerge: true,
        allowSelfReportedCompletion: false,
        stallAfterSec: STALL_SEC,
        budget: { ticketUsd: null, runUsd: null, dayUsd: null },
      },
      awaitingReview: 0,
      spenders: [],
    });
  }

  const world = (): World => ({
    now: now(),
    runs: [...runs.values()],
    workers,
    processes,
    revivals,
    verifications,
  });
  const change = (id: string, more: Partial<Run>): void => {
    const planned = runs.get(id);
    if (planned !== undefined) runs.set(id, { ...planned, run: { ...planned.run, ...more } });
  };
  const toStatus = (key: string, status: Worker['status'], more: Partial<Worker> = {}): void => {
    const worker = workers.get(key);
    if (worker !== undefined) workers.set(key, { ...worker, status, statusSince: now(), ...more });
  };
  const gone = (key: string, lastEnd: Revivals['lastEnd']): void => {
    const agent = processes.get(key);
    processes.delete(key);
    const known = revivals.get(key);
    if (agent?.state === 'running' && known !== undefined)
      revivals.set(key, { ...known, lastDeathAt: now(), lastEnd });
  };

  function start(key: string, id: string, ticket: string): void {
    const planned = runs.get(id);
    const inProject = [...processes.keys()].filter(
      (other) => runs.get(other.split('/')[0] ?? '')?.plan.project === planned?.plan.project,
    );
    if (inProject.some((other) => other.endsWith(`/${ticket}`))) problems.push(`${key} was started twice`);
    if (planned?.run.state !== 'running') problems.push(`${key} was started in a run that is not running`);
    const wave = planned?.plan.waves.findIndex((tickets) => tickets.includes(ticket)) ?? 0;
    const before = planned?.run.waves.filter((one) => one.wave <= wave);
    if (before?.length !== wave || before.some(({ state }) => state !== 'completed'))
      problems.push(`${key} was started before the previous wave was complete`);
    processes.set(key, active('starting'));
    if (!workers.has(key)) workers.set(key, newWorker(id, ticket, now()));
    if (inProject.length + 1 > projectMost) problems.push(`${key} was one too many in its project`);
    const own = inProject.filter((other) => other.startsWith(`${id}/`)).length;
    if (own + 1 > (planned?.plan.maxParallel ?? 0)) problems.push(`${key} was one too many in its run`);
  }

  function waveChanged(
    id: string,
    number: number,
    state: Run['waves'][number]['state'],
    tickets: string[],
  ): void {
    const waves = runs.get(id)?.run.waves ?? [];
    const isReady = waves.filter((one) => one.wave < number && one.state === 'completed').length;
    if (state === 'started' && isReady !== number - 1)
      problems.push(`wave ${number} of ${id} started before the previous one was complete`);
    const others = waves.filter((one) => one.wave !== number);
    change(id, { waves: [...others, { wave: number, state, tickets, seq: 1 }] });
  }

  function carryOut(act: Act): void {
    const id = act.orchestrator;
    const key = 'ticket' in act ? `${id}/${act.ticket}` : '';
    switch (act.kind) {
      case 'dispatch':
        return start(key, id, act.ticket);
      case 'revive': {
        const known = revivals.get(key);
        if (act.notBefore > now()) problems.push(`${key} was revived too early`);
        start(key, id, act.ticket);
        if (known !== undefined) revivals.set(key, { ...known, count: act.attempt });
        if (act.attempt > quickTimings.revivalDelaysSec.length) problems.push(`${key} was revived too often`);
        return;
      }
      case 'recall':
        if (processes.has(key)) problems.push(`${key} was recalled while its agent is alive`);
        start(key, id, act.ticket);
        return toStatus(key, workers.get(key)?.status ?? 'pr-created', { recall: null });
      case 'end':
        gone(key, 'died');
        return act.why === 'run-over' ? cancel(key) : undefined;
      case 'end-hanging':
        return gone(key, 'hanging');
      case 'fail':
        if (processes.has(key)) problems.push(`${key} was given up while its agent is alive`);
        if (!workers.has(key)) workers.set(key, newWorker(id, act.ticket, now()));
        return toStatus(key, act.status);
      case 'start-verification':
        return void verifications.set(key, { state: 'running', remediation: 'none' });
      case 'file-remediation':
        return void verifications.set(key, { state: 'failed', remediation: 'filed' });
      case 'start-wave':
        return waveChanged(id, act.wave, 'started', act.tickets);
      case 'complete-wave':
        return waveChanged(id, act.wave, 'completed', act.tickets);
      case 'block-wave':
        if (runs.get(id)?.run.waves.some((one) => one.wave === act.wave && one.state === 'blocked'))
          problems.push(`wave ${act.wave} of ${id} was blocked twice`);
        return waveChanged(id, act.wave, 'blocked', act.tickets);
      case 'complete-run':
        return change(id, { state: 'completed' });
      case 'hold':
        return;
    }
  }

  const some = <T>(values: readonly T[]): T | undefined =>
    values.length === 0 ? undefined : values[choose(values.length)];
  const launched = (key: string): void => {
    processes.set(key, active('running'));
    revivals.set(key, { count: revivals.get(key)?.count ?? 0, lastDeathAt: null, lastEnd: 'died' });
  };

  /** One random event. */
  function happen(): void {
    const agent = some([...processes.keys()]);
    const worker = some([...workers.keys()]);
    const run = some([...runs.keys()]);
    const status = worker === undefined ? undefined : workers.get(worker)?.status;
    switch (choose(15)) {
      case 0:
      case 1:
      case 2:
        if (agent !== undefined && processes.get(agent)?.state === 'starting') launched(agent);
        return;
      case 3:
        if (agent !== undefined) gone(agent, 'died');
        return;
      case 4:
        if (agent !== undefined && processes.get(agent)?.state === 'running') progress(agent);
        return;
      case 5:
        time += choose(STALL_SEC * 1000 * 2);
        return;
      case 6:
        // The daemon is killed: dispatches in progress and verifications are lost.
        for (const [key, { state }] of processes) if (state === 'starting') processes.delete(key);
        for (const [key, { state }] of verifications) if (state === 'running') verifications.delete(key);
        return;
      case 7:
        if (worker !== undefined && (status === 'pr-created' || status === 'merging')) merge(worker);
        return;
      case 8:
        if (worker !== undefined && verifications.get(worker)?.state === 'running')
          verifications.set(worker, { state: choose(2) === 0 ? 'passed' : 'failed', remediation: 'none' });
        return;
      case 9:
        if (worker !== undefined && (status === 'failed' || status === 'stalled' || status === 'canceled'))
          retry(worker);
        return;
      case 10:
        if (worker !== undefined && status !== 'done' && choose(4) === 0) toStatus(worker, 'canceled');
        return;
      case 13:
        if (worker !== undefined && (status === 'pr-created' || status === 'merging'))
          toStatus(worker, status, { recall: { cause: 'checks', at: now(), seq: 1 } });
        return;
      case 11:
        if (run !== undefined && runs.get(run)?.run.state === 'running') change(run, { state: 'paused' });
        return;
      case 12:
        if (run !== undefined && runs.get(run)?.run.state === 'paused') change(run, { state: 'running' });
        return;
      default:
        if (run !== undefined && choose(20) === 0 && runs.get(run)?.run.state === 'running') cancelRun(run);
    }
  }

  function progress(key: string): void {
    const states = ['researching', 'implementing', 'pr-created', 'failed', 'stalled', 'shipping'] as const;
    const status = some(states);
    const worker = workers.get(key);
    if (status === undefined || worker === undefined || worker.status === 'canceled' || worker.merge !== null)
      return;
    processes.set(key, active('running'));
    const claim = choose(5) === 0 ? ({ status: 'done', at: now(), seq: 1 } as const) : null;
    toStatus(key, status, { claim });
  }

  function merge(key: string): void {
    toStatus(key, 'done', { merge: { sha: 'a'.repeat(40), at: now(), seq: 1 }, claim: null });
  }

  function cancel(key: string): void {
    const worker = workers.get(key);
    if (worker?.merge === null && worker.status !== 'done') toStatus(key, 'canceled', { claim: null });
  }

  /** Tickets that were not started are removed; the loop handles the rest. */
  function cancelRun(id: string): void {
    change(id, { state: 'canceled' });
    for (const ticket of runs.get(id)?.plan.waves.flat() ?? []) {
      const key = `${id}/${ticket}`;
      if (!workers.has(key)) workers.set(key, { ...newWorker(id, ticket, now()), status: 'canceled' });
    }
  }

  /** A finished run continues, at the wave of the ticket. */
  function retry(key: string): void {
    if (processes.has(key) || workers.get(key)?.merge !== null) return;
    const [id = '', ticket = ''] = key.split('/');
    const planned = runs.get(id);
    const wave = (planned?.plan.waves.findIndex((tickets) => tickets.includes(ticket)) ?? -1) + 1;
    const waves = (planned?.run.waves ?? []).map((one) =>
      one.wave === wave && one.state === 'completed' ? { ...one, state: 'started' as const } : one,
    );
    const isRunOver = planned?.run.state === 'completed' || planned?.run.state === 'canceled';
    change(id, { waves, ...(isRunOver && { state: 'running' }) });
    revivals.delete(key);
    toStatus(key, 'dispatched', { claim: null });
  }

  /** From here on everything succeeds: people act, and agents finish. */
  function goWell(): void {
    time += 60_000;
    for (const [id, { run }] of runs) if (run.state === 'paused') change(id, { state: 'running' });
    for (const [key, agent] of processes)
      if (agent.state === 'starting') launched(key);
      else if (isWorking(workers.get(key)?.status)) {
        toStatus(key, 'pr-created');
        gone(key, 'died');
      }
    for (const [key, worker] of workers)
      if (worker.status === 'pr-created' || worker.status === 'merging') merge(key);
      else if (worker.status === 'failed' || worker.status === 'stalled') retry(key);
    for (const [key, { state }] of verifications)
      if (state === 'running') verifications.set(key, { state: 'passed', remediation: 'none' });
  }

  const isOver = (): boolean =>
    processes.size === 0 &&
    [...runs.values()].every(({ run }) => run.state === 'completed' || run.state === 'canceled');

  return { world, carryOut, happen, goWell, isOver, problems, choose, processes };
}

function isWorking(status: Worker['status'] | undefined): boolean {
  return status !== undefined && !['done', 'canceled', 'failed', 'stalled', 'pr-created'].includes(status);
}
