// Why a ticket needs a person: raised when the cause appears, resolved automatically when it is gone.

import { isAgentsWork, shownStatus } from '@svc/contract/worker-statuses';
import type { Board } from '../../kernel/board/board.ts';
import type { FoldContext } from '../../kernel/board/fold-context.ts';
import { inOneLine } from '../agents/agent-output.ts';
import { limitText, pausedBy } from '../agents/limits.ts';
import { cutRequest } from '../agents/request-limit.ts';
import type { AttentionItem } from '../attention/attention-item.ts';
import { hasStandingCause } from '../attention/standing-cause.ts';
import { type DeployReason, openReasons } from '../deploy/deploy-worker.ts';
import { isUnseenClaim, pullRequestOfWorker } from '../pull-requests/own-pull-request.ts';
import type { PullRequest } from '../pull-requests/pull-request.ts';
import { checkSummary } from '../pull-requests/pull-request-verdict.ts';
import type { WorkerAgent } from '../workers/agent-fields.ts';
import { processOf } from '../workers/known-process.ts';
import type { ReactionCause, Reactions } from '../workers/reaction-causes.ts';
import { MOST_REACTIONS, reactionCauses } from '../workers/reaction-causes.ts';
import { workerKey } from '../workers/reduce-worker.ts';
import { putWorker } from '../workers/slice.ts';
import { isOver, isPreMerge } from '../workers/status-groups.ts';
import type { Worker } from '../workers/worker.ts';
import { type Raised, resolve, type WorkerReason } from '../workers/worker-attention.ts';

const deployReasons: ReadonlySet<string> = new Set<DeployReason>([
  'deploy-timeout',
  'deploy-budget-exhausted',
  'deploy-failed',
  'done-unproven',
]);

/** Reasons outside the deploy lifecycle. */
export const workerReasons: readonly WorkerReason[] = [
  ['pr-closed', closedPullRequest],
  ['pr-unproven', unprovenPullRequest],
  ['worker-dead', deadProcess],
  ['worker-stalled', silentProcess],
  ['signal-corrupt', corruptFile],
  ['verification-failed', failedVerification],
  ['reaction-exhausted', exhaustedReactions],
  ['agent-needs-permission', (_board, worker) => agentWaits(worker, 'needs-permission')],
  ['agent-needs-input', (_board, worker) => agentWaits(worker, 'needs-input')],
  ['agent-stopped', stoppedAgent],
  ['agent-limit', unknownLimit],
];

function closedPullRequest(board: Board, worker: Worker): Raised | undefined {
  if (isOver(worker)) return undefined;
  const pullRequest = pullRequestOfWorker(board, worker);
  if (pullRequest?.state !== 'closed') return undefined;
  const message = `Pull request ${pullRequest.repo}#${pullRequest.number} was closed without a merge`;
  return { message, severity: 'medium', remedy: 'svc why' };
}

/** At once if nobody is left who could open it; else when a poll of the code host, after the claim, found none. */
function unprovenPullRequest(board: Board, worker: Worker): Raised | undefined {
  const { statusSeq, unseenSeq, recall, agent } = worker;
  // A claim of more than that has its own item.
  if (!isUnseenClaim(board, worker) || openReasons(worker).includes('done-unproven')) return undefined;
  const process = processOf(worker);
  const hasEnded = process.state === 'dead' && process.reviving !== true && recall === null;
  if (!hasEnded && (unseenSeq === null || unseenSeq < statusSeq)) return undefined;
  const end = hasEnded ? `, and its ${agent === null ? 'process' : 'agent'} has ended` : '';
  const message = `The agent claims a pull request; none was seen${end}. Open it, or have the agent open it`;
  return { message, severity: 'high', remedy: agent === null ? 'svc why' : 'svc agent send' };
}

function deadProcess(_board: Board, worker: Worker): Raised | undefined {
  const { removed, status, statusSeq, process } = worker;
  // A worker that died and was then marked failed still needs a person; one that reported its failure itself does not.
  const wasGivenUp = status === 'failed' && process.seq < statusSeq;
  if (removed || !(isAgentsWork(status) || wasGivenUp)) return undefined;
  if (worker.process.state !== 'dead' || worker.process.reviving === true) return undefined;
  // svc ended it, because it had nothing to do.
  if (worker.agent?.suspended !== undefined) return undefined;
  const problem = worker.agent?.problem ?? null;
  const errors =
    problem !== null
      ? `. ${inOneLine(problem)}`
      : process.stderr === undefined
        ? ''
        : `. Its standard error ends with: ${inOneLine(process.stderr)}`;
  const message = `The agent’s process is gone; its last status is ${shownStatus(status)}${errors}`;
  return { message, severity: 'high', remedy: startAgain(worker) };
}

/** Before the ticket. */
function startAgain({ orchestrator }: Worker): string {
  return `svc orchestrate retry ${orchestrator}`;
}

/** It went silent before its merge; a deploy that takes too long has its own reason. */
function silentProcess(_board: Board, worker: Worker): Raised | undefined {
  const { status, deploy, removed, signal, process } = worker;
  if (removed || status !== 'stalled' || deploy !== null) return undefined;
  const message = `The agent is stalled${signal?.error ? `: ${signal.error}` : ''}`;
  return { message, severity: 'high', remedy: process.state === 'dead' ? startAgain(worker) : 'svc why' };
}

function corruptFile(_board: Board, { corrupt, removed }: Worker): Raised | undefined {
  if (corrupt === null || removed) return undefined;
  const message = `The status file of the ticket cannot be read: ${corrupt.problem} (${corrupt.path})`;
  return { message, severity: 'medium', remedy: 'svc why' };
}

/** Open until a ticket or finding is filed about it. */
function failedVerification(_board: Board, { verification }: Worker): Raised | undefined {
  if (verification?.state !== 'failed' || verification.advisory || verification.remediation !== null)
    return undefined;
  const message = `Verification of the merge commit failed: ${verification.summary ?? 'no summary'}`;
  return { message, severity: 'high', remedy: 'svc why' };
}

/** The worker was notified as often as allowed, and the problem is still there. */
function exhaustedReactions(board: Board, worker: Worker): Raised | undefined {
  if (worker.removed || !isPreMerge(worker.status)) return undefined;
  if (reactionCauses.every((cause) => worker.reactions[cause].length <= MOST_REACTIONS)) return undefined;
  const pullRequest = pullRequestOfWorker(board, worker);
  const cause = pullRequest && exhaustedCause(worker.reactions, pullRequest);
  if (pullRequest === undefined || cause === undefined) return undefined;
  const what = cause === 'checks' ? 'Checks still fail' : 'A reviewer still requests changes';
  const message = `${what} on ${pullRequest.repo}#${pullRequest.number}, although the agent was notified ${MOST_REACTIONS} times`;
  return { message, severity: 'medium', remedy: 'svc why' };
}

/** The cause that persists although the limit of messages is reached. */
function exhaustedCause(
  reactions: Reactions,
  pullRequest: Pick<PullRequest, 'state' | 'checks' | 'verdict'>,
): ReactionCause | undefined {
  if (pullRequest.state !== 'open') return undefined;
  return reactionCauses.find(
    (cause) =>
      reactions[cause].length > MOST_REACTIONS &&
      (cause === 'checks'
        ? checkSummary(pullRequest).failed.length > 0
        : pullRequest.verdict === 'changes_requested'),
  );
}

/** Its agent has asked, and waits for the answer. */
function agentWaits(worker: Worker, state: 'needs-permission' | 'needs-input'): Raised | undefined {
  const { agent, removed } = worker;
  if (removed || agent?.state !== state) return undefined;
  const [request, ...others] = agent.open;
  const { title = 'something', command = null } = request ?? {};
  // The input of a tool does not say which tool it is.
  const what = inOneLine(command?.startsWith('{') === true ? `${title} ${command}` : (command ?? title));
  const cut = request?.cut === true ? `. ${cutRequest.why}` : '';
  const more = `${others.length === 0 ? '' : `, and ${others.length} more`}${cut}`;
  const message =
    state === 'needs-permission'
      ? `The agent asks for permission: ${what}${more}`
      : `The agent asks a question: ${what}${more}`;
  return { message, severity: 'high', remedy: 'svc agent answer', answer: answersTo(agent) };
}

/** What a person may type: a request that is not shown whole can only be rejected. A question shows its own answers. */
export function answersTo({ state, open }: Pick<WorkerAgent, 'state' | 'open'>): string {
  if (state !== 'needs-permission') return '';
  return open[0]?.cut === true ? 'reject' : 'allow (or reject)';
}

/** Its agent has ended its turn before its work was done, and no person has stopped it: that person knows. */
function stoppedAgent(_board: Board, { agent, status, removed }: Worker): Raised | undefined {
  if (removed || agent?.state !== 'idle' || !isAgentsWork(status) || agent.stopped !== null) return undefined;
  const last = agent.problem ?? agent.message;
  const phase = status === 'dispatched' ? '' : ` (${shownStatus(status)})`;
  const message = `The agent stopped before its work was done${phase}${last === null ? '' : `: ${inOneLine(last)}`}`;
  return { message, severity: 'high', remedy: 'svc agent send' };
}

/** A limit whose end is known needs nobody. */
function unknownLimit(_board: Board, worker: Worker): Raised | undefined {
  const limit = pausedBy(worker.agent);
  if (limit === null || worker.removed || !isPreMerge(worker.status)) return undefined;
  if (limit.until !== null && limit.resumeAt !== null) return undefined;
  return { message: limitText(limit), severity: 'high', remedy: 'svc agent send' };
}

/** Whether the cause of the reason still exists; undefined for reasons that are raised elsewhere. */
function causeHolds(board: Board, worker: Worker, reason: string): boolean | undefined {
  if (deployReasons.has(reason)) return openReasons(worker).some((open) => open === reason);
  const own = workerReasons.find(([name]) => name === reason);
  return own && own[1](board, worker) !== undefined;
}

/** A failed verification has happened: a person may say that it is dealt with. */
const decidedByPerson: ReadonlySet<string> = new Set(['verification-failed']);

/**
 * What needs a person in the worker's state now, whatever was done with the attention items. The board, the counts and
 * the refusal to resolve an item all follow from it.
 */
export function needsOf(board: Board, worker: Worker): string[] {
  if (worker.removed || worker.status === 'canceled') return [];
  const own = workerReasons.filter(([, find]) => find(board, worker) !== undefined).map(([reason]) => reason);
  const needs = [...openReasons(worker), ...own].filter((reason) => !decidedByPerson.has(reason));
  return worker.status === 'failed' && !needs.includes('worker-dead') ? [...needs, 'worker-failed'] : needs;
}

/** Whether the cause of the item still exists, as far as the board can tell. */
export function causeStands(board: Board, item: AttentionItem): boolean {
  const worker = board.workers.get(workerKey(item.orchestrator ?? '', item.ticket ?? ''));
  return hasStandingCause(item, {
    needs: worker === undefined ? [] : needsOf(board, worker),
    session: board.sessions.get(item.session ?? '')?.state,
    grade: board.feeds.get(item.feed ?? '')?.grade,
  });
}

/** The cause went away before our line was appended: resolves the item at once, without a notification. */
export function withdraw(context: FoldContext<'comms.attention'>): boolean {
  const { board, line } = context;
  const { orchestrator, ticket } = line.scope;
  const { reason } = line.detail;
  if (line.source !== 'monitor') return false;
  if (orchestrator === undefined || ticket === undefined || reason === undefined) return false;
  const worker = board.workers.get(workerKey(orchestrator, ticket));
  if (worker === undefined || causeHolds(board, worker, reason) !== false) return false;
  const next = resolve(context, worker, reason);
  if (next !== worker) putWorker(board, next);
  return true;
}
