// The label of an agent: one that svc started, or a session that a person started.
import type { Meaning } from '../../kernel/board/label.ts';
import type { WorkerAgent } from '../workers/agent-fields.ts';

const states: Record<NonNullable<WorkerAgent['state']>, { meaning: Meaning | null; words: string }> = {
  starting: { meaning: 'motion', words: 'Starting' },
  running: { meaning: 'motion', words: 'Working' },
  'needs-permission': { meaning: 'you', words: 'Waiting for your permission' },
  'needs-input': { meaning: 'you', words: 'Waiting for your answer' },
  idle: { meaning: null, words: 'Idle' },
  paused: { meaning: 'unknown', words: 'Paused by a usage limit' },
  ended: { meaning: null, words: 'Ended' },
};

type Labelled = {
  /** Unknown: of a session that a person started. */
  state: WorkerAgent['state'] | 'unknown';
  limit?: WorkerAgent['limit'];
  suspended?: WorkerAgent['suspended'];
};

/**
 * A state without a meaning is plain text: an idle agent is neither in progress nor unknown. `timeWords`: how the surface
 * writes a time.
 */
export function agentLabel(
  { state, limit, suspended }: Labelled,
  timeWords: (time: string) => string,
): { meaning: Meaning | null; words: string } {
  if (limit?.endedAt === null)
    return limit.resumeAt === null
      ? { meaning: 'you', words: 'Usage limit, needs you' }
      : { meaning: null, words: `Paused until ${timeWords(limit.resumeAt)}` };
  if (suspended !== undefined)
    return { meaning: null, words: `Idle, ended after ${suspended.minutes} min without work` };
  return state === null || state === 'unknown'
    ? { meaning: 'unknown', words: 'State unknown' }
    : states[state];
}
