// Runs jq on events for a rule. A batch that takes too long is repeated event by event, so one hard event does not cost
// the others their result; an event that alone takes too long, repeatedly, is the filter's fault.
import { Failure } from '../errors.ts';
import type { JqThreads } from '../log/jq-threads.ts';

export type Matches = JqThreads['matches'];

const BATCH = 256;
const TRIES = 3;

/** Whether each line matches; `problem` for one on which the filter takes too long. */
export async function askJq(
  matches: Matches,
  filter: string,
  lines: readonly string[],
): Promise<(boolean | { problem: string })[]> {
  const answers: (boolean | { problem: string })[] = [];
  for (let from = 0; from < lines.length; from += BATCH)
    answers.push(...(await askBatch(matches, filter, lines.slice(from, from + BATCH))));
  return answers;
}

async function askBatch(matches: Matches, filter: string, lines: readonly string[]) {
  const together = await unlessSlow(() => matches(filter, lines));
  if (together !== undefined) return together;
  const answers: (boolean | { problem: string })[] = [];
  for (const line of lines) answers.push(await askLine(matches, filter, line));
  return answers;
}

async function askLine(
  matches: Matches,
  filter: string,
  line: string,
): Promise<boolean | { problem: string }> {
  for (let attempt = 0; attempt < TRIES; attempt += 1) {
    const [answer] = (await unlessSlow(() => matches(filter, [line]))) ?? [];
    if (answer !== undefined) return answer;
  }
  return { problem: 'its jq filter takes too long on one event' };
}

const costly = new Set<Failure['code']>(['filter-too-slow', 'filter-too-large']);

async function unlessSlow<T>(ask: () => Promise<T>): Promise<T | undefined> {
  try {
    return await ask();
  } catch (error) {
    if (error instanceof Failure && costly.has(error.code)) return undefined;
    throw error;
  }
}
