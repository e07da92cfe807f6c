// A typed client of the daemon: every operation by its method and path, with what it takes and what it answers.
//
//     const client = createClient('http://127.0.0.1:7400');
//     const { workers } = await client.get('/api/board');
//     await client.post('/api/workers/{ticket}/deploy', { params: { ticket: 'ABC-1' }, body: { word: 'retry' } });
import { ApiFailure, failureIn, noAnswer } from './failure.ts';
import { type FollowedLine, type FollowWish, followEvents } from './follow.ts';
import { addressOf, type Method, type OperationOf, type Path, type Values, type WishOf } from './request.ts';

/** What an operation answers: `Answer<'GET', '/api/board'>`. */
export type Answer<M extends Method, P extends Path<M>> = OperationOf<M, P>['answer'];

export type Client = {
  url: string;
  get: <P extends Path<'GET'>>(path: P, ...wish: WishOf<OperationOf<'GET', P>>) => Promise<Answer<'GET', P>>;
  post: <P extends Path<'POST'>>(
    path: P,
    ...wish: WishOf<OperationOf<'POST', P>>
  ) => Promise<Answer<'POST', P>>;
  /** Lines of the log as they come; resumed without a gap when the connection breaks. Ends with its signal. */
  follow: (wish?: FollowWish) => AsyncGenerator<FollowedLine, void, undefined>;
};

export type ClientOptions = {
  /** Another one than the global: for tests, or behind a proxy. */
  fetch?: typeof fetch;
  /** Sent with every request. */
  headers?: Readonly<Record<string, string>>;
  /** After so long a call fails with the code `no-answer`. Without it a call waits as long as `fetch` does. */
  timeoutMs?: number;
};

type AnyWish = {
  params?: Values | undefined;
  query?: Values | undefined;
  body?: unknown;
  signal?: AbortSignal | undefined;
};

/** Every failure is an `ApiFailure`, but for a signal of the caller's own, whose reason is thrown as it is. */
export function createClient(url: string, options: ClientOptions = {}): Client {
  const base = url.replace(/\/+$/, '');
  const { fetch: ask = fetch, headers = {}, timeoutMs } = options;

  async function call(method: Method, path: string, wish: AnyWish = {}): Promise<unknown> {
    const { params, query, body, signal } = wish;
    const patience = timeoutMs === undefined ? [] : [AbortSignal.timeout(timeoutMs)];
    const signals = signal === undefined ? patience : [signal, ...patience];
    const isSent = method === 'POST';
    try {
      const response = await ask(base + addressOf(path, params, query), {
        method,
        headers: { ...headers, ...(isSent && { 'Content-Type': 'application/json' }) },
        ...(isSent && { body: JSON.stringify(body ?? {}) }),
        ...(signals.length > 0 && { signal: AbortSignal.any(signals) }),
      });
      if (!response.ok) throw await failureIn(response);
      const isText = response.headers.get('Content-Type')?.startsWith('text/') === true;
      return isText ? await response.text() : await response.json();
    } catch (error) {
      throw signal?.aborted === true || error instanceof ApiFailure ? error : noAnswer(error);
    }
  }

  return {
    url: base,
    // What a route answers is what its description says: the daemon is tested against it.
    get: (path, ...[wish]) => call('GET', path, wish) as Promise<never>,
    post: (path, ...[wish]) => call('POST', path, wish) as Promise<never>,
    follow: (wish = {}) => followEvents({ base, ask, headers, wish }),
  };
}
