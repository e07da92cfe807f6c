// The result of a summary request. A 503 without its own code means that AI is not configured.
import type { ApiAnswer, api } from '@svc/core';
import type { ApiFailure } from '../../api/client.ts';

export type SummaryAnswer =
  | { kind: 'summary'; summary: ApiAnswer<typeof api.summarizeRun> }
  | { kind: 'not-configured'; words: string; remedy: string }
  /** Try again after this many seconds. */
  | { kind: 'later'; words: string; seconds: number }
  | { kind: 'failed'; words: string; code: string; remedy: string | undefined }
  | { kind: 'canceled' };

const DEFAULT_WAIT_SEC = 5;
const LONGEST_WAIT_SEC = 3_600;

type Refusal = Pick<ApiFailure, 'status' | 'code' | 'message' | 'remedy' | 'retryAfter'>;

export function refusedSummary({ status, code, message: words, remedy, retryAfter }: Refusal): SummaryAnswer {
  if (status === 503 && (code === 'http-503' || code === 'not-configured'))
    return { kind: 'not-configured', words, remedy: remedy ?? 'Run: svc config set svc.ai.enabled true' };
  if (status !== 429) return { kind: 'failed', words, code, remedy };
  const seconds = Math.min(Math.max(1, retryAfter ?? DEFAULT_WAIT_SEC), LONGEST_WAIT_SEC);
  return { kind: 'later', words, seconds };
}
