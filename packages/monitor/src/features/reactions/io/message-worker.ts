// Messages a worker about its pull request or its ticket: writes into its inbox and asks the run loop to start its agent again if it has
// ended. The message contains what the code host reports about the failure, as far as it answers in time: the failed
// checks with their summaries, the failing step and the end of its log, or the review comments. The results are:
// - delivered: an agent was started after the message was written, and its prompt names the inbox.
// - queued: the agent is alive and reads it at its next check; if it ends without a push, it is started again.
// - escalated: the worker has failed or stalled, and needs a person.
// - skipped: the agent no longer exists, or there is a newer commit.
// Until an agent is started the message waits: for a slot, or for the end of a pause.
import { repoNameIn } from '@svc/contract/repo-name';
import { shownStatus } from '@svc/contract/worker-statuses';
import { fenced, withoutControl } from '@svc/lib/control-characters';
import { cutText } from '@svc/lib/cut-text';
import type { ReadProcessStarts } from '@svc/lib/system';
import { within } from '@svc/lib/timeout';
import type { Board } from '../../../kernel/board/board.ts';
import type { EventDraft } from '../../../kernel/log/event-line.ts';
import type { Outcome } from '../../../kernel/outbox/attempt.ts';
import type { Effect } from '../../../kernel/outbox/effect.ts';
import { findAgents } from '../../agents/io/find-agents.ts';
import { inboxPath, readInbox, writeMessage } from '../../agents/io/inbox.ts';
import { type Gh, parsed } from '../../codehost/gh.ts';
import { pullRequestOfWorker } from '../../pull-requests/own-pull-request.ts';
import {
  CheckJob,
  type CheckRun,
  CheckRuns,
  hasFailed,
  jobOf,
  ReviewComment,
} from '../../pull-requests/poll-differences.ts';
import { workerKey } from '../../workers/reduce-worker.ts';
import { isPreMerge } from '../../workers/status-groups.ts';

const CHECK_AGAIN_MS = 5_000;

export function createWorkerMessenger(options: {
  runsDir: string;
  board: () => Board;
  gh: Pick<Gh, 'request' | 'text'>;
  /** `log.appendOnce` */
  append: (draft: EventDraft) => Promise<unknown>;
  processStarts: ReadProcessStarts;
  now: () => Date;
}): (effect: MessageWorker) => Promise<Outcome> {
  const { runsDir, board, gh, append, processStarts, now } = options;

  async function write(path: string, effect: MessageWorker): Promise<string> {
    const { key, cause, number, url } = effect;
    const text = [effect.text, ...(await gatherFailure(gh, effect))].join('\n\n');
    const at = now().toISOString();
    await writeMessage(path, { key, at, cause, number, url, text });
    return at;
  }

  return async (effect) => {
    const { orchestrator, ticket } = effect;
    const path = inboxPath(runsDir, effect);
    const known = (await readInbox(path)).find(({ key }) => key === effect.key)?.at;
    const over = endingOf(board(), effect, known !== undefined);
    if (over !== undefined) return { done: over };
    const writtenAt = known ?? (await write(path, effect));
    await append(recalled(effect));
    const found = await findAgents({ runsDir, orchestrator, processStarts, now });
    const agents = found.filter((agent) => agent.ticket === ticket);
    if (agents.some(({ launchedAt }) => launchedAt > writtenAt))
      return { done: 'delivered: an agent was started for it' };
    if (agents.some(({ state }) => state !== 'gone'))
      return { done: 'queued: the agent reads it at its next check' };
    return { failed: 'waiting for an agent to start', waiting: true, retryAfterMs: CHECK_AGAIN_MS };
  };
}

/** Undefined while the worker can still be messaged. */
function endingOf(board: Board, effect: MessageWorker, isWritten: boolean): string | undefined {
  const { orchestrator, ticket, cause, sha } = effect;
  const worker = board.workers.get(workerKey(orchestrator, ticket));
  if (worker === undefined || worker.removed) return 'skipped: the agent no longer exists';
  const { status, merge } = worker;
  if (status === 'failed' || (status === 'stalled' && merge === null))
    return `escalated: the status is ${shownStatus(status)} and needs a person`;
  if (!isPreMerge(status) || merge !== null) return `skipped: the status is ${shownStatus(status)}`;
  const run = board.runs.get(orchestrator);
  if (run?.state !== 'running' && run?.state !== 'paused') return 'skipped: the run is over';
  const head = pullRequestOfWorker(board, worker)?.headSha;
  if (cause !== 'checks' || sha === null || typeof head !== 'string' || head === sha) return undefined;
  return `${isWritten ? 'delivered' : 'skipped'}: there is a newer commit`;
}

function recalled({ key, orchestrator, ticket, repo, pr, cause, number }: MessageWorker): EventDraft {
  return {
    event: 'orchestrator.worker.recalled',
    source: 'orchestrator',
    via: 'local',
    deliveryId: `recall:${key}`,
    scope: { orchestrator, ticket, ...(repo !== null && { repo }), ...(pr !== null && { pr }) },
    detail: { reason: cause, ...(number !== null && { number }) },
  };
}

export type MessageWorker = Extract<Effect, { kind: 'message-worker' }>;
type AskedGh = Pick<Gh, 'request' | 'text'>;

const TIMEOUT_MS = 20_000;
const LONGEST_LOG_BYTES = 8 * 1024;
const LONGEST_SUMMARY = 1_000;
const LONGEST_NAME = 200;
const MOST_CHECKS = 5;
const MOST_COMMENTS = 20;
const commit = /^(?:[0-9a-f]{40}|[0-9a-f]{64})$/;

/** Parts of a message, each in its own fence; none if nothing is known in time. */
async function gatherFailure(gh: AskedGh, effect: MessageWorker, timeoutMs = TIMEOUT_MS): Promise<string[]> {
  if (effect.cause === 'ticket' || effect.repo === null || repoNameIn(effect.repo) === undefined) return [];
  const parts: string[] = [];
  const asked = effect.cause === 'checks' ? ofChecks(gh, effect, parts) : ofReview(gh, effect, parts);
  await within(asked, timeoutMs, () => undefined);
  return [...parts];
}

async function ofChecks(gh: AskedGh, { repo, sha }: MessageWorker, parts: string[]): Promise<void> {
  if (sha === null || !commit.test(sha)) return;
  const answer = await gh.request({
    path: `repos/${repo}/commits/${sha}/check-runs?filter=latest&per_page=100`,
  });
  const runs = answer.ok ? parsed(CheckRuns, answer.value.json) : answer;
  if (!runs.ok) return;
  const failures = runs.value.check_runs.filter(hasFailed);
  if (failures.length > 0)
    parts.push(`Failed checks:\n${fenced(failures.slice(0, MOST_CHECKS).map(checkText).join('\n'))}`);
  const job = failures.map(jobOf).find((id) => id !== undefined);
  if (job === undefined) return;
  const asked = await gh.request({ path: `repos/${repo}/actions/jobs/${job}` });
  const read = asked.ok ? parsed(CheckJob, asked.value.json) : asked;
  const step = read.ok ? read.value.steps?.find(hasFailed) : undefined;
  if (step !== undefined) parts.push(`The failing step:\n${fenced(oneLine(step.name))}`);
  const log = await gh.text(`repos/${repo}/actions/jobs/${job}/logs`);
  if (log.ok && log.value.trim() !== '') parts.push(`The end of its log:\n${fenced(tailOf(log.value))}`);
}

async function ofReview(gh: AskedGh, { repo, pr, reviewId }: MessageWorker, parts: string[]): Promise<void> {
  if (reviewId === null) return;
  const answer = await gh.request({
    path: `repos/${repo}/pulls/${pr}/reviews/${reviewId}/comments?per_page=${MOST_COMMENTS}`,
  });
  const comments = answer.ok ? parsed(ReviewComment.array(), answer.value.json) : answer;
  if (!comments.ok || comments.value.length === 0) return;
  const texts = comments.value.slice(0, MOST_COMMENTS).map(({ path, line, body }) => {
    const position = [path ?? '', line ?? ''].filter((one) => one !== '').join(':');
    return `${oneLine(position)}\n${cutText(withoutControl(body), LONGEST_SUMMARY)}`;
  });
  parts.push(`Review comments:\n${fenced(texts.join('\n\n'))}`);
}

function checkText({ name, conclusion, details_url, html_url, output }: CheckRun): string {
  const summary = cutText(
    withoutControl([output?.title, output?.summary].filter(Boolean).join('\n')),
    LONGEST_SUMMARY,
  );
  const head = oneLine(`${name}: ${conclusion ?? ''} ${html_url ?? details_url ?? ''}`);
  return summary === '' ? head : `${head}\n${summary}`;
}

function oneLine(text: string): string {
  return cutText(withoutControl(text).replaceAll(/\s+/g, ' ').trim(), LONGEST_NAME);
}

/** Whole lines from the end, as many as fit; of a line that is too long, its end. */
function tailOf(log: string): string {
  const bytes = Buffer.from(withoutControl(log.slice(-4 * LONGEST_LOG_BYTES)).trimEnd());
  if (bytes.length <= LONGEST_LOG_BYTES) return bytes.toString();
  const tail = bytes.subarray(-LONGEST_LOG_BYTES).toString();
  const start = tail.indexOf('\n') + 1;
  // Without a line break, the first character may be incomplete.
  return start > 0 ? tail.slice(start) : tail.replace(/^\uFFFD+/, '');
}
