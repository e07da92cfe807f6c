// Why a call of a model failed. The provider's text is never repeated: it may quote the key.
import { retryAfterMs as waitInHeader } from '@svc/lib/backoff';
import { Failure } from '../../../kernel/failure.ts';
import { AnswerTooLong, type Sdk } from './open-model.ts';

export type FailureKind =
  | 'timed-out'
  | 'given-up'
  | 'unreachable'
  | 'cut-off'
  | 'rate-limited'
  | 'unavailable'
  | 'key-refused'
  | 'unknown-model'
  | 'rejected'
  | 'malformed';

const messages: Readonly<Record<FailureKind, string>> = {
  'timed-out': 'did not answer in time',
  'given-up': 'did not answer before the request was cancelled',
  unreachable: 'cannot be reached',
  'cut-off': 'cut off its answer',
  'rate-limited': 'accepts no more requests for now',
  unavailable: 'failed to answer',
  'key-refused': 'refused the key',
  'unknown-model': 'does not know the model',
  rejected: 'refused the request',
  malformed: 'returned an unreadable answer',
};

const retryable: ReadonlySet<FailureKind> = new Set([
  'unreachable',
  'cut-off',
  'rate-limited',
  'unavailable',
]);

export class ModelFailure extends Error {
  readonly kind: FailureKind;
  readonly status: number | undefined;
  /** How long the provider asked to wait. */
  readonly retryAfterMs: number | undefined;

  constructor(kind: FailureKind, status?: number, retryAfterMs?: number) {
    super(messages[kind]);
    this.name = 'ModelFailure';
    this.kind = kind;
    this.status = status;
    this.retryAfterMs = retryAfterMs;
  }

  get isRetryable(): boolean {
    return retryable.has(this.kind);
  }
}

export function modelFailureOf(error: unknown, sdk: Pick<Sdk, 'APICallError'>, now: number): ModelFailure {
  if (error instanceof ModelFailure) return error;
  if (isCausedBy(error, (cause) => cause instanceof AnswerTooLong)) return new ModelFailure('malformed');
  if (!sdk.APICallError.isInstance(error))
    return new ModelFailure(isCausedBy(error, isNetworkError) ? 'cut-off' : 'malformed');
  const { statusCode: status, responseHeaders } = error;
  const waitMs = waitInHeader(responseHeaders?.['retry-after'], now, Number.POSITIVE_INFINITY);
  return new ModelFailure(kindOf(status, isCausedBy(error, isNetworkError)), status, waitMs);
}

function kindOf(status: number | undefined, isNetwork: boolean): FailureKind {
  if (status === undefined) return 'unreachable';
  if (status < 300) return isNetwork ? 'cut-off' : 'malformed';
  if (status === 401 || status === 403) return 'key-refused';
  if (status === 404) return 'unknown-model';
  if (status === 429) return 'rate-limited';
  return status === 408 || status === 409 || status >= 500 ? 'unavailable' : 'rejected';
}

function isNetworkError(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  const code = 'code' in error && typeof error.code === 'string' ? error.code : '';
  return (
    /^(?:UND_ERR_|ECONN|EPIPE|ENOTFOUND|EAI_AGAIN|ETIMEDOUT|EHOST|ENET)/.test(code) ||
    error.message === 'terminated'
  );
}

function isCausedBy(error: unknown, test: (cause: unknown) => boolean): boolean {
  let cause = error;
  for (let depth = 0; depth < 6 && cause !== undefined && cause !== null; depth += 1) {
    if (test(cause)) return true;
    cause = cause instanceof Error ? cause.cause : undefined;
  }
  return false;
}

// The failure that a caller gets if there is no summary: our own text, with the time to retry if that is known.

export function tooManyRequests(provider: string, retryAfterMs: number): Failure {
  return new Failure('too-many-requests', `${provider} is called too often.`, 'Ask again in a moment.', {
    retryAfterMs,
  });
}

export function failureFor(who: string, model: string, failure: ModelFailure): Failure {
  const code = failure.kind === 'timed-out' ? 'provider-timed-out' : 'provider-failed';
  const what = failure.kind === 'unknown-model' ? `${failure.message} ${model}` : failure.message;
  const status = failure.status === undefined ? '' : ` (status ${failure.status})`;
  const { retryAfterMs } = failure;
  return new Failure(code, `${who} ${what}${status}.`, remedyOf(failure), { retryAfterMs });
}

function remedyOf({ kind, isRetryable }: ModelFailure): string | undefined {
  if (kind === 'key-refused') return 'Give the daemon a valid key and restart it.';
  if (kind === 'unknown-model') return 'Choose a model of the provider: svc.ai.defaultModel, or --model.';
  return isRetryable || kind === 'timed-out' ? 'Ask again in a moment.' : undefined;
}
