// One GraphQL request to the tracker over fetch: bounded in time and size, never repeated, and without the
// token in anything that leaves this file.
import {
  readTrackerAnswer,
  readTrackerQuota,
  type TrackerAnswer,
  type TrackerProblem,
  type TrackerQuota,
} from '@svc/core';

export type RequestOptions = {
  token: string;
  apiUrl: string;
  fetch: typeof fetch;
  clock: { now: () => number };
  /** For the whole exchange, the body included. */
  timeoutMs: number;
  maxBytes: number;
  /** Aborted when nobody waits for answers any more. */
  signal?: AbortSignal | undefined;
};

export type TrackerRequester = {
  send: (query: string, variables: Record<string, unknown>) => Promise<TrackerAnswer>;
  /** As the newest answer told it; undefined before the first. */
  quota: () => TrackerQuota | undefined;
  /** Requests made so far, whatever became of them. */
  calls: () => number;
};

export function createTrackerRequester(options: RequestOptions): TrackerRequester {
  const { token, apiUrl, clock, timeoutMs, maxBytes, signal } = options;
  let quota: TrackerQuota | undefined;
  let calls = 0;

  const exchange = async (body: string): Promise<TrackerAnswer> => {
    const response = await options.fetch(apiUrl, {
      method: 'POST',
      headers: { 'Content-Type': 'application/json', Authorization: authorizationFor(token) },
      body,
      // The token must not follow to another address.
      redirect: 'manual',
      signal: AbortSignal.any([AbortSignal.timeout(timeoutMs), ...(signal ? [signal] : [])]),
    });
    const header = (name: string) => response.headers.get(name);
    quota = readTrackerQuota(header) ?? quota;
    const text = await boundedText(response, maxBytes);
    if (text === undefined)
      return failed({ kind: 'malformed', message: `its answer has more than ${maxBytes} bytes` });
    return readTrackerAnswer({ status: response.status, header, body: text, receivedAt: clock.now() });
  };

  return {
    quota: () => quota,
    calls: () => calls,
    async send(query, variables) {
      // A header cannot hold it, and the error would quote it.
      if (!/^[\x21-\x7e]+(?: [\x21-\x7e]+)?$/.test(token))
        return failed({ kind: 'unauthorised', message: 'the token holds characters that no token has' });
      calls += 1;
      try {
        const answer = await exchange(JSON.stringify({ query, variables }));
        return answer.ok ? answer : failed(withoutToken(answer.problem, token));
      } catch (error) {
        return failed({ kind: 'unavailable', message: reasonOf(error, timeoutMs) });
      }
    },
  };
}

/** A personal key stands bare; an OAuth token, known by its beginning, behind `Bearer`. */
function authorizationFor(token: string): string {
  return token.startsWith('lin_oauth_') ? `Bearer ${token}` : token;
}

async function boundedText(response: Response, maxBytes: number): Promise<string | undefined> {
  const decoder = new TextDecoder();
  let text = '';
  let bytes = 0;
  for await (const chunk of response.body ?? []) {
    bytes += chunk.byteLength;
    if (bytes > maxBytes) return undefined;
    text += decoder.decode(chunk, { stream: true });
  }
  return text + decoder.decode();
}

function withoutToken(problem: TrackerProblem, token: string): TrackerProblem {
  return { ...problem, message: problem.message.replaceAll(token, '[token]') };
}

function failed(problem: TrackerProblem): TrackerAnswer {
  return { ok: false, problem };
}

/** Why no answer came: the code of the system where there is one, never the request itself. */
function reasonOf(error: unknown, timeoutMs: number): string {
  if (!(error instanceof Error)) return 'no connection';
  if (error.name === 'AbortError') return 'interrupted';
  if (error.name === 'TimeoutError') return `no answer within ${timeoutMs / 1000} s`;
  const cause = error.cause;
  const code = cause instanceof Error && 'code' in cause ? String(cause.code) : undefined;
  return `no connection, or it broke${code === undefined ? '' : ` (${code})`}`;
}
