// What remains to be done at an end. When an agent has ended, and when a run is over, the findings waiting in their
// worktrees are filed if the project has consent; unfiled ones stay, and a person is notified. When a run is over its
// summary is written, unless the run wrote one itself. What a killed daemon left undone, the next one does; it asks no
// model about a run that ended before it started.

import { join } from 'node:path';
import { safeSegment } from '@svc/contract/signal-file';
import { messageOf } from '@svc/lib/errors';
import { ifPresent } from '@svc/lib/files';
import { stat } from '@svc/lib/paths';
import { shellQuoted } from '@svc/lib/shell-quoted';
import type { Logger } from 'pino';
import type { Board } from '../../../kernel/board/board.ts';
import { writeFileAtomically } from '../../../kernel/disk/atomic-write.ts';
import type { EventDraft } from '../../../kernel/log/event-line.ts';
import type { DetailOf } from '../../../kernel/log/topics.ts';
import { attentionId } from '../../attention/reduce-attention.ts';
import type { FiledFindings } from '../../findings/io/run-end.ts';
import { workerKey } from '../../workers/reduce-worker.ts';
import { endsWithItsRun } from '../next-acts.ts';
import type { RunPlan } from '../plan.ts';
import type { Run } from '../run.ts';
import { type ModelText, runSummary, summaryNames } from '../run-summary.ts';
import { isLive, type Observation } from './observe.ts';
import type { RunProjects } from './run-project.ts';

const WAITING = 'findings-waiting';

/** Null when no model may be asked. */
export type AskModel = (orchestrator: string, signal: AbortSignal) => Promise<ModelText | null>;

export type RunEnds = {
  /** Call it after each round: each end is handled once. */
  follow: (observed: Observation) => void;
  /** Findings were filed: an attention item about them may be resolved. */
  findingsFiled: () => void;
  stop: () => Promise<void>;
};

type Planned = Run & { plan: RunPlan };
type Of = Pick<Planned, 'orchestrator' | 'plan'>;

export function createRunEnds(options: {
  runsDir: string;
  board: () => Board;
  projects: RunProjects;
  /** Resolves when the board has the final costs of ended agents. */
  costsKnown: () => Promise<unknown>;
  askModel: AskModel;
  append: (draft: EventDraft) => Promise<void>;
  stopping: AbortSignal;
  logger: Logger;
  now: () => Date;
}): RunEnds {
  const { runsDir, board, projects, askModel, append, stopping, logger, now } = options;
  const startedAt = now().toISOString();
  const ended = new Set<string>();
  let before: Promise<void> = Promise.resolve();

  /** One after the other, so two of them never drain the same queue. */
  function then(what: Record<string, string>, work: () => Promise<void>): void {
    before = before
      .then(() => (stopping.aborted ? undefined : work()))
      .catch((error: unknown) => failed(what, error));
  }

  function failed(what: Record<string, string>, error: unknown): void {
    if (!stopping.aborted) logger.error({ err: error, ...what }, 'the end of a run or ticket failed');
  }

  function withoutText(error: unknown): ModelText {
    if (!stopping.aborted) logger.warn({ err: error }, 'no model summary of a run was written');
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
    const message = waitingText(filed, ticket);
    if (filed.left > 0 && open?.message !== message)
      await append({ event: 'comms.attention', ...ours, scope, detail: waitingDetail(filed, message) });
    if (filed.left === 0 && open !== undefined)
      await append({
        event: 'comms.attention_resolved',
        ...ours,
        scope,
        detail: { reason: WAITING, message: 'Resolved: all findings were filed', by: 'svc' },
      });
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
    await options.costsKnown();
    const model = isFresh ? await askModel(orchestrator, stopping).catch(withoutText) : null;
    if (stopping.aborted) return;
    const text = runSummary(board(), run, now().toISOString(), model);
    await writeFileAtomically(join(folder, summaryNames[0]), text);
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

function waitingText({ left, why }: FiledFindings, ticket: string | null): string {
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
