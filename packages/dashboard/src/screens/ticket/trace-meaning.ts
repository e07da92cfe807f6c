// What a bar of a trace means, and in words. What merely ended has no meaning of its own and is plain.

import type { TraceSpan } from '@svc/core';
import type { Meaning } from '../../parts/meaning.ts';
import { statusMeaning, statusWords } from '../../parts/status-meaning.ts';
import { clockWords, durationWords } from '../../parts/time-words.ts';

export type SpanMeaning = Meaning | 'plain';

export const laneNames: Record<TraceSpan['kind'], string> = {
  phase: 'Phases',
  wait: 'Waits',
  'pull-request': 'Pull request',
  checks: 'Checks',
  review: 'Reviews',
  merge: 'Merge',
  deployment: 'Deployments',
  verification: 'Verification',
};

/** `isProven`: the worker was seen to be done. What only its signal file says is never green. */
export function spanMeaning(span: TraceSpan, isProven: boolean): SpanMeaning {
  const { kind, state, label } = span;
  if (kind === 'wait') return waitMeaning(label);
  if (kind === 'phase' && state === 'succeeded') return isProven ? 'proven' : 'unknown';
  if (state === 'succeeded') return 'proven';
  // A review that asks for changes is not broken: somebody has to answer it.
  if (state === 'failed') return kind === 'review' ? 'you' : 'broken';
  if (state === 'ended') return 'plain';
  if (kind === 'phase') return statusMeaning(label);
  return kind === 'review' || kind === 'pull-request' ? 'review' : 'motion';
}

function waitMeaning(label: string): SpanMeaning {
  if (label.startsWith('Needs a person')) return 'you';
  if (label.startsWith('Nothing runs')) return 'broken';
  return /review/i.test(label) ? 'review' : 'plain';
}

/** A phase is named by its status; everything else names itself. */
export function spanLabel({ kind, label, state }: TraceSpan, isProven: boolean): string {
  if (kind !== 'phase') return label;
  return state === 'succeeded' && !isProven ? `${statusWords(label)}, claimed` : statusWords(label);
}

const stateWords: Record<TraceSpan['state'], string> = {
  running: 'goes on',
  succeeded: 'succeeded',
  failed: 'failed',
  ended: 'ended',
};

/** `09:14 to 09:40, 26 min, succeeded`. */
export function spanWords(span: TraceSpan, now: number): string {
  const start = Date.parse(span.start);
  if (span.end === span.start) return `${clockWords(start, now)}, ${stateWords[span.state]}`;
  const end = span.end === null ? null : Date.parse(span.end);
  const until = end === null ? 'now' : clockWords(end, now);
  return `${clockWords(start, now)} to ${until}, ${durationWords((end ?? now) - start)}, ${stateWords[span.state]}`;
}
