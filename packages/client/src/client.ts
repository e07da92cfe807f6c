// A typed client for the daemon: every operation by its method and path, with its input and response.
//
//     const client = createClient('http://127.0.0.1:7400');
//     const { workers } = await client.get('/api/board');
//     await client.post('/api/workers/{ticket}/deploy', { params: { ticket: 'ABC-1' }, body: { action: 'retry' } });
import { type Answered, ApiFailure, failureIn, noAnswer } from './failure.ts';
import { followLines, followStream, type Link } from './follow.ts';
import type { EventLine, Operations } from './operations.ts';

const STREAM = '/api/events/stream';
const AGENT_STREAM = '/api/workers/{ticket}/agent/stream';

type Method = keyof Operations;
/** All operations except the streams, which never end. */
type Path<M extends Method> = Exclude<keyof Operations[M], typeof STREAM | typeof AGENT_STREAM> & string;

type Operation = { params: unknown; query: unknown; body: unknown; answer: unknown };
type OperationOf<M extends Method, P extends Path<M>> = Operations[M][P] extends Operation
  ? Operations[M][P]
  : never;

/** The response of an operation: `Answer<'GET', '/api/board'>`. */
export type Answer<M extends Method, P extends Path<M>> = OperationOf<M, P>['answer'];

// oxlint-disable-next-line typescript/no-generated-empty-object-type -- an object without fields is meant
type Nothing = Record<never, never>;
/** A part whose fields are all optional is itself optional. */
type Part<Name extends string, Given> = Given extends undefined
  ? { [N in Name]?: undefined }
  : Nothing extends Given
    ? { [N in Name]?: Given | undefined }
    : { [N in Name]: Given };

type CallOptions<O extends Operation> = Part<'params', O['params']> &
  Part<'query', O['query']> &
  Part<'body', O['body']> & { signal?: AbortSignal | undefined };

/** The arguments of a call after its path. */
type CallArguments<M extends Method, P extends Path<M>> =
  Nothing extends CallOptions<OperationOf<M, P>>
    ? [options?: CallOptions<OperationOf<M, P>>]
    : [options: CallOptions<OperationOf<M, P>>];

export type FollowOptions = {
  query?: Operations['GET'][typeof STREAM]['query'] | undefined;
  /** Start after this event; by default with the next event, or at `query.since`. */
  after?: number | undefined;
  signal?: AbortSignal | undefined;
  /** Called when the stream is live, and when the connection is lost. */
  onLink?: ((link: Link) => void) | undefined;
};

type AgentView = Operations['GET']['/api/workers/{ticket}/agent']['answer'];

export type FollowAgentOptions = {
  ticket: string;
  /** The worker of this run; by default the newest. */
  orchestrator?: string | undefined;
  signal?: AbortSignal | undefined;
  /** Called when the connection is lost; it is opened again. */
  onLost?: ((why: string) => void) | undefined;
};

export type Client = {
  url: string;
  get: <P extends Path<'GET'>>(path: P, ...options: CallArguments<'GET', P>) => Promise<Answer<'GET', P>>;
  post: <P extends Path<'POST'>>(path: P, ...options: CallArguments<'POST', P>) => Promise<Answer<'POST', P>>;
  /** New events of the log; resumes without a gap after a lost connection. Ends with its signal. */
  follow: (options?: FollowOptions) => AsyncGenerator<EventLine, void, undefined>;
  /** The same, in batches of the events that have arrived. */
  followBatches: (options?: FollowOptions) => AsyncGenerator<EventLine[], void, undefined>;
  /** What the agent of a ticket does: each view has the items that changed since the one before it. */
  followAgent: (options: FollowAgentOptions) => AsyncGenerator<AgentView[], void, undefined>;
};

type Headers = Readonly<Record<string, string>>;

export type Fetch = (
  url: string,
  request: { method: Method; headers: Headers; body?: string; signal?: AbortSignal },
) => Promise<Answered>;

export type ClientOptions = {
  /** Replaces the global fetch, for tests or a proxy. */
  fetch?: Fetch;
  /** Sent with every request. */
  headers?: Headers | (() => Headers);
  /** After this time a call fails with the code `no-answer`. By default a call waits as long as `fetch` does. */
  timeoutMs?: number;
};

type AnyCallOptions = { params?: unknown; query?: unknown; body?: unknown; signal?: AbortSignal | undefined };

/** Every failure is an `ApiFailure`, except for the caller's own signal, whose reason is thrown unchanged. */
export function createClient(url: string, options: ClientOptions = {}): Client {
  const base = url.replace(/\/+$/, '');
  const { fetch: ask = (...request) => fetch(...request), headers = {}, timeoutMs } = options;
  const sent = (): Headers => (typeof headers === 'function' ? headers() : headers);

  async function call(method: Method, path: string, given: AnyCallOptions = {}): Promise<unknown> {
    const { params, query, body, signal } = given;
    const timeout = timeoutMs === undefined ? [] : [AbortSignal.timeout(timeoutMs)];
    const signals = signal === undefined ? timeout : [signal, ...timeout];
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

  const followBatches = ({ query, ...given }: FollowOptions = {}) =>
    followLines({
      ...given,
      open: (after, signal) =>
        ask(base + addressOf(STREAM, {}, query), {
          method: 'GET',
          headers: { ...sent(), ...(after !== undefined && { 'Last-Event-ID': String(after) }) },
          signal,
        }),
    });

  const followAgent = ({ ticket, orchestrator, ...given }: FollowAgentOptions) => {
    let known: AgentView | undefined;
    return followStream<AgentView>({
      ...given,
      open(signal) {
        const query = { orchestrator, after: known?.rev, instanceId: known?.instanceId };
        const address = addressOf(AGENT_STREAM, { ticket }, query);
        return ask(base + address, { method: 'GET', headers: sent(), signal });
      },
      read(frames) {
        const views = frames.flatMap(({ event, data }) =>
          event === undefined ? [JSON.parse(data) as AgentView] : [],
        );
        known = views.at(-1) ?? known;
        return { messages: views };
      },
    });
  };

  return {
    url: base,
    // The daemon's tests check that responses match the route's schema.
    get: (path, ...[given]) => call('GET', path, given) as Promise<never>,
    post: (path, ...[given]) => call('POST', path, given) as Promise<never>,
    followBatches,
    followAgent,
    async *follow(given) {
      for await (const lines of followBatches(given)) yield* lines;
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
