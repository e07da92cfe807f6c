// Access to the metrics or the log backend. Identical concurrent queries are one call; the answer to a range query is
// cached for 15 seconds; a few calls run at once, and some wait in a queue.
import { createCache } from '@svc/lib/cache';
import { causeOf } from '@svc/lib/fetch';
import { createLimit, TooManyWaiting } from '@svc/lib/limit';
import { createFlights } from '@svc/lib/single-flight';
import { Failure } from '../../../kernel/failure.ts';
import type { ProxyRequest } from '../proxy-request.ts';
import { type BackendAnswer, type BackendCall, createBackendCall } from './backend-call.ts';

const TIMEOUT_MS = 30_000;
const MAX_BYTES = 16 * 1024 * 1024;
const CACHE_MS = 15_000;
const CACHE_ENTRIES = 200;
const CACHE_BYTES = 32 * 1024 * 1024;
const AT_ONCE = 8;
const MOST_WAITING = 64;

export type ProxyOutcome = 'answered' | 'cached' | 'failed' | 'slow' | 'busy';

export type BackendProxy = {
  /** The backend's own answer; a Failure if it failed, was too slow, or too many queries were waiting. */
  ask: (request: Pick<ProxyRequest, 'path' | 'parameters' | 'isRange'>) => Promise<BackendAnswer>;
  /** One call past the queue and the cache, to check whether the backend answers. */
  probe: (path: string) => Promise<void>;
  stop: () => void;
};

export type BackendProxyOptions = {
  title: string;
  baseUrl: string;
  now: () => number;
  fetch?: typeof fetch;
  /** The outcome of each query, with `why` if the backend failed. */
  onOutcome?: (outcome: ProxyOutcome, why: string | null) => void;
  timeoutMs?: number;
  maxBytes?: number;
  atOnce?: number;
  mostWaiting?: number;
};

export function createBackendProxy(options: BackendProxyOptions): BackendProxy {
  const { title, now, timeoutMs = TIMEOUT_MS, atOnce = AT_ONCE, mostWaiting = MOST_WAITING } = options;
  const onOutcome = options.onOutcome ?? (() => undefined);
  const call = createBackendCall({
    title,
    baseUrl: options.baseUrl,
    fetch: options.fetch ?? fetch,
    maxBytes: options.maxBytes ?? MAX_BYTES,
  });
  const cache = createCache<BackendAnswer>({
    now,
    lifetimeMs: CACHE_MS,
    most: CACHE_ENTRIES,
    mostBytes: CACHE_BYTES,
    bytesOf: (key, { body }) => body.length + key.length * 2,
  });
  const stopping = new AbortController();
  const flights = createFlights<BackendAnswer>();
  const limit = createLimit(atOnce, mostWaiting);

  /** The time in the queue counts: a caller is answered within the timeout. */
  function queued(path: string, parameters: Parameters<BackendCall>[1]): Promise<BackendAnswer> {
    const signal = AbortSignal.any([AbortSignal.timeout(timeoutMs), stopping.signal]);
    return limit(() => call(path, parameters, signal), signal);
  }

  async function fly(key: string, { path, parameters, isRange }: Parameters<BackendProxy['ask']>[0]) {
    try {
      const answer = await queued(path, parameters);
      if (isRange && answer.status === 200) cache.set(key, answer);
      onOutcome('answered', null);
      return answer;
    } catch (error) {
      if (error instanceof TooManyWaiting) {
        onOutcome('busy', null);
        throw new Failure('busy', `Too many queries to ${title} are waiting.`, 'Ask again later.');
      }
      const failure = failureOf(error, title, timeoutMs);
      onOutcome(failure.code === 'backend-slow' ? 'slow' : 'failed', failure.message);
      throw failure;
    }
  }

  return {
    async ask(request) {
      const key = JSON.stringify([request.path, request.parameters]);
      const kept = request.isRange ? cache.get(key) : undefined;
      if (kept !== undefined) {
        onOutcome('cached', null);
        return kept;
      }
      return flights(key, () => fly(key, request));
    },
    async probe(path) {
      const signal = AbortSignal.any([AbortSignal.timeout(timeoutMs), stopping.signal]);
      try {
        await call(path, [], signal);
      } catch (error) {
        throw failureOf(error, title, timeoutMs);
      }
    },
    stop: () => stopping.abort(),
  };
}

function failureOf(error: unknown, title: string, timeoutMs: number): Failure {
  if (error instanceof Failure) return error;
  const options = { cause: error };
  if (error instanceof DOMException && error.name === 'TimeoutError') {
    const message = `${title} did not answer within ${timeoutMs / 1000} s.`;
    return new Failure('backend-slow', message, 'Ask for less, or check whether it is overloaded.', options);
  }
  const remedy = 'Start it; svc checks again by itself. Its URL: svc config explain otel';
  return new Failure('backend-failed', `${title} cannot be reached: ${reasonOf(error)}.`, remedy, options);
}

function reasonOf(error: unknown): string {
  const cause = causeOf(error);
  if (!(cause instanceof Error)) return String(cause);
  const code = 'code' in cause && typeof cause.code === 'string' ? cause.code : '';
  return [code, cause.message].find((words) => words !== '') ?? cause.name;
}
