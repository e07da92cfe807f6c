// What the code host knows of a failure: the checks that failed with their summaries, the failing step and the
// end of its log, or the comments of a review. Whatever it does not tell is left out: the link is enough to begin.

import {
  CheckJob,
  type CheckRun,
  CheckRuns,
  cutText,
  type Effect,
  fenced,
  hasFailed,
  jobOf,
  ReviewComment,
  repoNameIn,
  withoutControl,
} from '@svc/core';
import { within } from '@svc/lib/timeout';
import { type Gh, parsed } from '../../codehost/gh.ts';

export type TellWorker = Extract<Effect, { kind: 'tell-worker' }>;
type AskedGh = Pick<Gh, 'request' | 'text'>;

const PATIENCE_MS = 20_000;
const LONGEST_LOG_BYTES = 8 * 1024;
const LONGEST_SUMMARY = 1_000;
const LONGEST_NAME = 200;
const MOST_CHECKS = 5;
const MOST_COMMENTS = 20;
const commit = /^(?:[0-9a-f]{40}|[0-9a-f]{64})$/;

/** Parts of a message, each in its fence; none when nothing is known within the time. */
export async function gatherFailure(
  gh: AskedGh,
  effect: TellWorker,
  patienceMs = PATIENCE_MS,
): Promise<string[]> {
  if (repoNameIn(effect.repo) === undefined) return [];
  const parts: string[] = [];
  const asked = effect.cause === 'checks' ? ofChecks(gh, effect, parts) : ofReview(gh, effect, parts);
  await within(asked, patienceMs, () => undefined);
  return [...parts];
}

async function ofChecks(gh: AskedGh, { repo, sha }: TellWorker, parts: string[]): Promise<void> {
  if (sha === null || !commit.test(sha)) return;
  const answer = await gh.request({
    path: `repos/${repo}/commits/${sha}/check-runs?filter=latest&per_page=100`,
  });
  const runs = answer.ok ? parsed(CheckRuns, answer.value.json) : answer;
  if (!runs.ok) return;
  const failures = runs.value.check_runs.filter(hasFailed);
  if (failures.length > 0)
    parts.push(`Checks that failed:\n${fenced(failures.slice(0, MOST_CHECKS).map(checkWords).join('\n'))}`);
  const job = failures.map(jobOf).find((id) => id !== undefined);
  if (job === undefined) return;
  const asked = await gh.request({ path: `repos/${repo}/actions/jobs/${job}` });
  const read = asked.ok ? parsed(CheckJob, asked.value.json) : asked;
  const step = read.ok ? read.value.steps?.find(hasFailed) : undefined;
  if (step !== undefined) parts.push(`The failing step:\n${fenced(oneLine(step.name))}`);
  const log = await gh.text(`repos/${repo}/actions/jobs/${job}/logs`);
  if (log.ok && log.value.trim() !== '') parts.push(`The end of its log:\n${fenced(tailOf(log.value))}`);
}

async function ofReview(gh: AskedGh, { repo, pr, reviewId }: TellWorker, parts: string[]): Promise<void> {
  if (reviewId === null) return;
  const answer = await gh.request({
    path: `repos/${repo}/pulls/${pr}/reviews/${reviewId}/comments?per_page=${MOST_COMMENTS}`,
  });
  const comments = answer.ok ? parsed(ReviewComment.array(), answer.value.json) : answer;
  if (!comments.ok || comments.value.length === 0) return;
  const words = comments.value.slice(0, MOST_COMMENTS).map(({ path, line, body }) => {
    const place = [path ?? '', line ?? ''].filter((one) => one !== '').join(':');
    return `${oneLine(place)}\n${cutText(withoutControl(body), LONGEST_SUMMARY)}`;
  });
  parts.push(`Comments of the review:\n${fenced(words.join('\n\n'))}`);
}

function checkWords({ name, conclusion, details_url, html_url, output }: CheckRun): string {
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

/** Whole lines from the end, as many as there is room for; of a line that is too long, its end. */
function tailOf(log: string): string {
  const bytes = Buffer.from(withoutControl(log.slice(-4 * LONGEST_LOG_BYTES)).trimEnd());
  if (bytes.length <= LONGEST_LOG_BYTES) return bytes.toString();
  const tail = bytes.subarray(-LONGEST_LOG_BYTES).toString();
  const start = tail.indexOf('\n') + 1;
  // Without a line's end, the first character may be half of one.
  return start > 0 ? tail.slice(start) : tail.replace(/^\uFFFD+/, '');
}
