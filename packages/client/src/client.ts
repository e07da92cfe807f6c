// A typed client of the daemon: every operation by its method and path, with what it takes and what it answers.
//
//     const client = createClient('http://127.0.0.1:7400');
//     const { workers } = await client.get('/api/board');
//     await client.post('/api/workers/{ticket}/deploy', { params: { ticket: 'ABC-1' }, body: { word: 'retry' } });
import { type Answered, ApiFailure, failureIn, noAnswer } from './failure.ts';
import { followLines, type Link } from './follow.ts';
import type { EventLine, Operations } from './operations.ts';

const STREAM = '/api/events/stream';

type Method = keyof Operations;
/** Answered at once, unlike the stream, which never ends. */
type Path<M extends Method> = Exclude<keyof Operations[M], typeof STREAM> & string;

type Operation = { params: unknown; query: unknown; body: unknown; answer: unknown };
type OperationOf<M extends Method, P extends Path<M>> = Operations[M][P] extends Operation
  ? Operations[M][P]
  : never;

/** What an operation answers: `Answer<'GET', '/api/board'>`. */
export type Answer<M extends Method, P extends Path<M>> = OperationOf<M, P>['answer'];

// oxlint-disable-next-line typescript/no-generated-empty-object-type -- an object without fields is meant
type Nothing = Record<never, never>;
/** A part whose fields may all be missing may itself be left out. */
type Part<Name extends string, Given> = Given extends undefined
  ? { [N in Name]?: undefined }
  : Nothing extends Given
    ? { [N in Name]?: Given | undefined }
    : { [N in Name]: Given };

type Wish<O extends Operation> = Part<'params', O['params']> &
  Part<'query', O['query']> &
  Part<'body', O['body']> & { signal?: AbortSignal | undefined };

/** What a call is given besides its path. */
type WishOf<M extends Method, P extends Path<M>> =
  Nothing extends Wish<OperationOf<M, P>>
    ? [wish?: Wish<OperationOf<M, P>>]
    : [wish: Wish<OperationOf<M, P>>];

export type FollowWish = {
  query?: Operations['GET'][typeof STREAM]['query'] | undefined;
  /** Begin behind this line; without it, with the next line or where `query.since` says. */
  after?: number | undefined;
  signal?: AbortSignal | undefined;
  /** Called when lines come, and when the connection is lost. */
  onLink?: ((link: Link) => void) | undefined;
};

export type Client = {
  url: string;
  get: <P extends Path<'GET'>>(path: P, ...wish: WishOf<'GET', P>) => Promise<Answer<'GET', P>>;
  post: <P extends Path<'POST'>>(path: P, ...wish: WishOf<'POST', P>) => Promise<Answer<'POST', P>>;
  /** Lines of the log as they come; resumed without a gap when the connection breaks. Ends with its signal. */
  follow: (wish?: FollowWish) => AsyncGenerator<EventLine, void, undefined>;
  /** The same, all lines together that have come. */
  followBatches: (wish?: FollowWish) => AsyncGenerator<EventLine[], void, undefined>;
};

type Headers = Readonly<Record<string, string>>;

export type Fetch = (
  url: string,
  request: { method: Method; headers: Headers; body?: string; signal?: AbortSignal },
) => Promise<Answered>;

export type ClientOptions = {
  /** Another one than the global: for tests, or behind a proxy. */
  fetch?: Fetch;
  /** Sent with every request. */
  headers?: Headers | (() => Headers);
  /** After so long a call fails with the code `no-answer`. Without it a call waits as long as `fetch` does. */
  timeoutMs?: number;
};

type AnyWish = { params?: unknown; query?: unknown; body?: unknown; signal?: AbortSignal | undefined };

/** Every failure is an `ApiFailure`, but for a signal of the caller's own, whose reason is thrown as it is. */
export function createClient(url: string, options: ClientOptions = {}): Client {
  const base = url.replace(/\/+$/, '');
  const { fetch: ask = (...request) => fetch(...request), headers = {}, timeoutMs } = options;
  const sent = (): Headers => (typeof headers === 'function' ? headers() : headers);

  async function call(method: Method, path: string, wish: AnyWish = {}): Promise<unknown> {
    const { params, query, body, signal } = wish;
    const patience = timeoutMs === undefined ? [] : [AbortSignal.timeout(timeoutMs)];
    const signals = signal === undefined ? patience : [signal, ...patience];
    try {
      const response = await ask(base + addressOf(path, params, query), {
        method,
        headers: { ...sent(), ...(method === 'POST' && { 'Content-Type': 'application/json' }) },
        ...(method === 'POST' && { body: JSON.stringify(body ?? {}) }),
        ...(signals.length > 0 && { signal: AbortSignal.any(signals) }),
      });
      if (!response.ok) throw await failureIn(response);
      const text = await response.text();
      const isText = response.headers.get('Content-Type')?.startsWith('text/') === true;
      return isText ? text : JSON.parse(text);
    } catch (error) {
      throw signal?.aborted === true || error instanceof ApiFailure ? error : noAnswer(error);
    }
  }

  const followBatches = ({ query, ...wish }: FollowWish = {}) =>
    followLines({
      ...wish,
      open: (after, signal) =>
        ask(base + addressOf(STREAM, {}, query), {
          method: 'GET',
          headers: { ...sent(), ...(after !== undefined && { 'Last-Event-ID': String(after) }) },
          signal,
        }),
    });

  return {
    url: base,
    // What a route answers is what its description says: the daemon is tested against it.
    get: (path, ...[wish]) => call('GET', path, wish) as Promise<never>,
    post: (path, ...[wish]) => call('POST', path, wish) as Promise<never>,
    followBatches,
    async *follow(wish) {
      for await (const lines of followBatches(wish)) yield* lines;
    },
  };
}

/** `addressOf('/api/runs/{run}', { run: 'a/b' })` is `/api/runs/a%2Fb`. */
function addressOf(path: string, params: unknown = {}, query: unknown = {}): string {
  const values = new Map(Object.entries(Object(params)));
  const filled = path.replaceAll(/\{(\w+)\}/g, (_, name: string) =>
    encodeURIComponent(textOf(values.get(name))),
  );
  const asked = Object.entries(Object(query)).flatMap(([name, value]): [string, string][] =>
    value === undefined ? [] : [[name, textOf(value)]],
  );
  return asked.length === 0 ? filled : `${filled}?${new URLSearchParams(asked).toString()}`;
}

function textOf(value: unknown): string {
  return typeof value === 'number' ? String(value) : typeof value === 'string' ? value : '';
}
