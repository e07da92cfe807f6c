import type { Meaning } from '../../parts/meaning.ts';

/** A completed run ended; whether its work shipped is each worker's receipt. */
export function runStateMeaning(state: string): Meaning {
  if (state === 'completed') return 'proven';
  if (state === 'running') return 'motion';
  return state === 'paused' ? 'you' : 'unknown';
}
