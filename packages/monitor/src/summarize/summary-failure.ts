// The failure that a caller gets if there is no summary: our own text, with the time to retry if that is known.
import { Failure } from '../errors.ts';
import type { ModelFailure } from './model-failure.ts';

export class SummaryFailure extends Failure {
  readonly retryAfterSec: number | undefined;

  constructor(
    code: 'too-many-requests' | 'provider-failed' | 'provider-timed-out',
    message: string,
    remedy?: string,
    retryAfterMs?: number,
  ) {
    super(code, message, remedy);
    this.retryAfterSec = retryAfterMs === undefined ? undefined : Math.max(1, Math.ceil(retryAfterMs / 1000));
  }
}

export function tooManyRequests(provider: string, retryAfterMs: number): SummaryFailure {
  return new SummaryFailure(
    'too-many-requests',
    `${provider} is called too often.`,
    'Ask again in a moment.',
    retryAfterMs,
  );
}

export function failureFor(who: string, model: string, failure: ModelFailure): SummaryFailure {
  const code = failure.kind === 'timed-out' ? 'provider-timed-out' : 'provider-failed';
  const what = failure.kind === 'unknown-model' ? `${failure.message} ${model}` : failure.message;
  const status = failure.status === undefined ? '' : ` (status ${failure.status})`;
  return new SummaryFailure(code, `${who} ${what}${status}.`, remedyOf(failure), failure.retryAfterMs);
}

function remedyOf({ kind, isRetryable }: ModelFailure): string | undefined {
  if (kind === 'key-refused') return 'Give the daemon a valid key and restart it.';
  if (kind === 'unknown-model') return 'Choose a model of the provider: svc.ai.defaultModel, or --model.';
  return isRetryable || kind === 'timed-out' ? 'Ask again in a moment.' : undefined;
}
