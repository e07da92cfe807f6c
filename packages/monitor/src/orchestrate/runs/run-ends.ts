// What is left to do at an end. When an agent has ended, and when a run is over, the findings that wait in their
// worktrees are filed, where the project has consent; what is not filed stays, and a person is told. When a run is over
// its summary is written, unless the run wrote one itself. What a daemon that was killed did not come to, the next one
// does; it asks no model about a run that ended before it started.

import { stat } from 'node:fs/promises';
import { join } from 'node:path';
import {
  attentionId,
  type Board,
  type DetailOf,
  type EventDraft,
  endsWithItsRun,
  type ModelText,
  type Run,
  type RunPlan,
  runSummary,
  safeSegment,
  summaryNames,
  workerKey,
} from '@svc/core';
import { messageOf } from '@svc/lib/errors';
import { ifPresent } from '@svc/lib/files';
import type { Logger } from 'pino';
import { writeFileAtomically } from '../../disk/atomic-write.ts';
import type { SignalStore } from '../../runs/signal-store.ts';
import { shellQuoted } from '../worktrees/bundle.ts';
import type { FiledFindings } from '../worktrees/context.ts';
import { isLive, type Observation } from './observe.ts';
import type { RunProjects } from './run-project.ts';

const WAITING = 'findings-waiting';

/** Null where no model may be asked. */
export type AskModel = (orchestrator: string, signal: AbortSignal) => Promise<ModelText | null>;

export type RunEnds = {
  /** After each look: each end is looked after once. */
  follow: (observed: Observation) => void;
  /** Somebody filed findings: what a person was told of may be over. */
  findingsFiled: () => void;
  stop: () => Promise<void>;
};

type Planned = Run & { plan: RunPlan };
type Of = Pick<Planned, 'orchestrator' | 'plan'>;

export function createRunEnds(options: {
  runsDir: string;
  board: () => Board;
  projects: RunProjects;
  signals: Pick<SignalStore, 'read'>;
  /** The last costs of agents that have ended are in their signal files. */
  costsWritten: () => Promise<void>;
  askModel: AskModel;
  say: (draft: EventDraft) => Promise<void>;
  stopping: AbortSignal;
  logger: Logger;
  now: () => Date;
}): RunEnds {
  const { runsDir, board, projects, signals, askModel, say, stopping, logger, now } = options;
  const startedAt = now().toISOString();
  const ended = new Set<string>();
  let before: Promise<void> = Promise.resolve();

  /** One after the other, so that no two of them drain the same queue. */
  function then(what: Record<string, string>, work: () => Promise<void>): void {
    before = before
      .then(() => (stopping.aborted ? undefined : work()))
      .catch((error: unknown) => failed(what, error));
  }

  function failed(what: Record<string, string>, error: unknown): void {
    if (!stopping.aborted) logger.error({ err: error, ...what }, 'an end could not be looked after');
  }

  function withoutText(error: unknown): ModelText {
    if (!stopping.aborted) logger.warn({ err: error }, 'no model wrote about a run');
    return { problem: messageOf(error) };
  }

  async function fileFindings({ orchestrator, plan }: Of, ticket: string | null): Promise<void> {
    const { worktrees, findings } = await projects.of(plan.project);
    const scope = { orchestrator, ...(ticket !== null && { ticket }) };
    const given = { scope, signal: stopping };
    const filed =
      ticket === null
        ? await findings.file({ ...given, project: plan.project })
        : await worktrees.fileFindings(ticket, given);
    if (filed.filed > 0) logger.info({ ...scope, ...filed }, 'findings filed');
    const open = board().attention.get(attentionId({ orchestrator, ticket, reason: WAITING }));
    const message = waitingWords(filed, ticket);
    if (filed.left > 0 && open?.message !== message)
      await say({ event: 'comms.attention', ...ours, scope, detail: waitingDetail(filed, message) });
    if (filed.left === 0 && open !== undefined)
      await say({ event: 'comms.attention_resolved', ...ours, scope, detail: { reason: WAITING } });
  }

  async function endRun(run: Planned): Promise<void> {
    const { orchestrator, plan, endedAt } = run;
    const isFresh = endedAt !== null && endedAt >= startedAt;
    const folder = join(runsDir, orchestrator);
    const hasSummary = await isAnyThere(summaryNames.map((name) => join(folder, name)));
    if (!isFresh && (hasSummary || !(await isAnyThere([folder])))) return;
    for (const ticket of [...plan.waves.flat(), null])
      await fileFindings(run, ticket).catch((error: unknown) => failed({ orchestrator }, error));
    if (hasSummary) return;
    await options.costsWritten();
    const model = isFresh ? await askModel(orchestrator, stopping).catch(withoutText) : null;
    if (stopping.aborted) return;
    const text = runSummary(await withFiles(board(), orchestrator), run, now().toISOString(), model);
    await writeFileAtomically(join(folder, summaryNames[0]), text);
  }

  /** The signal files may be ahead of the board, with the last cost of an agent. */
  async function withFiles(known: Board, orchestrator: string): Promise<Board> {
    const workers = new Map(known.workers);
    for (const [key, worker] of workers) {
      if (worker.orchestrator !== orchestrator) continue;
      const read = await signals.read(orchestrator, worker.ticket);
      if (read.state === 'ok') workers.set(key, { ...worker, signal: read.signal });
    }
    return { ...known, workers };
  }

  return {
    follow({ agents, world }) {
      const runs = [...board().runs.values()].filter(isPlanned);
      const plans = new Map(runs.map((run) => [run.orchestrator, run]));
      for (const agent of agents.filter((one) => !isLive(one))) {
        const { orchestrator, ticket, attempt } = agent;
        const [run, name] = [plans.get(orchestrator), `${workerKey(orchestrator, ticket)} ${attempt}`];
        if (run === undefined || ended.has(name)) continue;
        ended.add(name);
        then({ orchestrator, ticket }, () => fileFindings(run, ticket));
      }
      for (const run of runs.filter(isOver)) {
        const { orchestrator } = run;
        // A run that a person reopened ends again.
        const end = `${orchestrator} ${run.endedAt}`;
        if (ended.has(end) || !safeSegment(orchestrator)) continue;
        const isGoingOn =
          [...world.processes.keys()].some((key) => key.startsWith(`${orchestrator}/`)) ||
          [...board().workers.values()].some(
            (one) => one.orchestrator === orchestrator && endsWithItsRun(one),
          );
        if (isGoingOn) continue;
        ended.add(end);
        then({ orchestrator }, () => endRun(run));
      }
    },
    findingsFiled() {
      for (const { orchestrator, ticket, reason } of board().attention.values()) {
        const run = reason === WAITING ? board().runs.get(orchestrator ?? '') : undefined;
        if (run !== undefined && isPlanned(run))
          then({ orchestrator: run.orchestrator }, () => fileFindings(run, ticket));
      }
    },
    stop: () => before,
  };
}

const ours = { source: 'orchestrator', via: 'local' } as const;

function waitingWords({ left, why }: FiledFindings, ticket: string | null): string {
  const whose = ticket === null ? 'the project' : ticket;
  return `${left} ${left === 1 ? 'finding' : 'findings'} of ${whose} ${left === 1 ? 'is' : 'are'} not filed: ${why}`;
}

function waitingDetail({ project }: FiledFindings, message: string): DetailOf<'comms.attention'> {
  const remedy = `cd ${shellQuoted(project)} && svc findings drain`;
  return { reason: WAITING, severity: 'low', message, remedy };
}

function isPlanned(run: Run): run is Planned {
  return run.plan !== null;
}

function isOver({ state }: Run): boolean {
  return state === 'completed' || state === 'canceled';
}

async function isAnyThere(paths: readonly string[]): Promise<boolean> {
  for (const path of paths) {
    if ((await ifPresent(stat(path))) !== undefined) return true;
  }
  return false;
}
