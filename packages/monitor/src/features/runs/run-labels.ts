// The labels of a run, of its waves and of the verification of its merges.
import type { StateLabel } from '../../kernel/board/label.ts';
import type { Run } from './run.ts';

const states: Record<Run['state'], StateLabel> = {
  running: { meaning: 'motion', words: 'Running' },
  paused: { meaning: 'you', words: 'Paused' },
  completed: { meaning: 'proven', words: 'Completed' },
  canceled: { meaning: 'unknown', words: 'Canceled' },
  unknown: { meaning: 'unknown', words: 'Unknown' },
};

export function runLabel(state: Run['state']): StateLabel {
  return states[state];
}

/** `null`: not started. */
export function waveLabel(state: string | null): StateLabel {
  if (state === 'started') return { meaning: 'motion', words: 'In progress' };
  if (state === 'completed') return { meaning: 'proven', words: 'Completed' };
  if (state === 'blocked') return { meaning: 'you', words: 'Blocked' };
  return { meaning: 'unknown', words: 'Not started' };
}

export function verificationLabel(state: string | null, advisory = false): StateLabel {
  if (state === 'passed') return { meaning: 'proven', words: 'Passed' };
  if (state === 'running') return { meaning: 'motion', words: 'Running' };
  if (state === 'failed') return { meaning: 'broken', words: advisory ? 'Failed, advisory' : 'Failed' };
  return { meaning: 'unknown', words: 'None' };
}
