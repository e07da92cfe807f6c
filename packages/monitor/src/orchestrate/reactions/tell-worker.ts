// Tells a worker of its pull request: a message in its inbox, and a word to the run loop to start its agent again
// when it has ended. It ends in one of these ways:
// - delivered: an agent was started after the message was written, and its prompt names the inbox.
// - queued: the agent lives and finds it when it looks; if it ends without a push, it is started again.
// - escalated: the worker has failed or stalled, and a person is asked for.
// - skipped: there is nobody to tell any more, or a newer commit.
// Until an agent is started it waits: for a slot, or for the end of a pause.
import { type Board, type EventDraft, isPreMerge, pullRequestOfWorker, workerKey } from '@svc/core';
import type { Gh } from '../../codehost/gh.ts';
import type { Outcome } from '../../outbox/attempt.ts';
import type { ReadProcessStarts } from '../../runs/processes.ts';
import { findAgents } from '../agents/find-again.ts';
import { gatherFailure, type TellWorker } from './gather.ts';
import { inboxPath, messageWrittenAt, writeMessage } from './inbox.ts';

const LOOK_AGAIN_MS = 5_000;

export function createWorkerTeller(options: {
  runsDir: string;
  board: () => Board;
  gh: Pick<Gh, 'request' | 'text'>;
  /** `log.appendOnce` */
  append: (draft: EventDraft) => Promise<unknown>;
  processStarts: ReadProcessStarts;
  now: () => Date;
}): (effect: TellWorker) => Promise<Outcome> {
  const { runsDir, board, gh, append, processStarts, now } = options;

  async function write(path: string, effect: TellWorker): Promise<string> {
    const { key, cause, number, url } = effect;
    const text = [effect.text, ...(await gatherFailure(gh, effect))].join('\n\n');
    const at = now().toISOString();
    await writeMessage(path, { key, at, cause, number, url, text });
    return at;
  }

  return async (effect) => {
    const { orchestrator, ticket } = effect;
    const path = inboxPath(runsDir, effect);
    const known = await messageWrittenAt(path, effect.key);
    const over = endingOf(board(), effect, known !== undefined);
    if (over !== undefined) return { done: over };
    const writtenAt = known ?? (await write(path, effect));
    await append(recalled(effect));
    const found = await findAgents({ runsDir, orchestrator, processStarts, now });
    const agents = found.filter((agent) => agent.ticket === ticket);
    if (agents.some(({ launchedAt }) => launchedAt > writtenAt))
      return { done: 'delivered: an agent was started for it' };
    if (agents.some(({ state }) => state !== 'gone'))
      return { done: 'queued: the agent finds it when it looks' };
    return { failed: 'an agent is to be started for it', waiting: true, retryAfterMs: LOOK_AGAIN_MS };
  };
}

/** Undefined while the worker can be told. */
function endingOf(board: Board, effect: TellWorker, isWritten: boolean): string | undefined {
  const { orchestrator, ticket, cause, sha } = effect;
  const worker = board.workers.get(workerKey(orchestrator, ticket));
  if (worker === undefined || worker.removed) return 'skipped: there is no such worker any more';
  const { status, merge } = worker;
  if (status === 'failed' || (status === 'stalled' && merge === null))
    return `escalated: the worker is ${status}, and a person is asked for`;
  if (!isPreMerge(status) || merge !== null) return `skipped: the worker is ${status}`;
  const run = board.runs.get(orchestrator);
  if (run?.state !== 'running' && run?.state !== 'paused') return 'skipped: the run is over';
  const head = pullRequestOfWorker(board, worker)?.headSha;
  if (cause !== 'checks' || sha === null || typeof head !== 'string' || head === sha) return undefined;
  return `${isWritten ? 'delivered' : 'skipped'}: there is a newer commit`;
}

function recalled({ key, orchestrator, ticket, repo, pr, cause, number }: TellWorker): EventDraft {
  return {
    event: 'orchestrator.worker.recalled',
    source: 'orchestrator',
    via: 'local',
    deliveryId: `recall:${key}`,
    scope: { orchestrator, ticket, repo, pr },
    detail: { reason: cause, number },
  };
}
