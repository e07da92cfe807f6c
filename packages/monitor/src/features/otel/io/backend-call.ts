// One call to a configured backend: the base address comes from the configuration, the path from a fixed list, and only
// the checked parameters of the caller's request are passed on. A redirect is an error.
import { readAnswer } from '@svc/lib/fetch';
import { Failure } from '../../../kernel/failure.ts';

export type BackendAnswer = { status: number; body: Buffer };

export type BackendCall = (
  path: string,
  parameters: readonly (readonly [string, string])[],
  signal: AbortSignal,
) => Promise<BackendAnswer>;

/** A longer query is sent in a body: servers and proxies limit the length of an address. */
const LONGEST_ADDRESS = 4_096;
/** How much of a backend's message is kept. */
const LONGEST_WORDS = 500;

export function createBackendCall(options: {
  /** `the metrics backend` */
  title: string;
  baseUrl: string;
  fetch: typeof fetch;
  maxBytes: number;
}): BackendCall {
  const { title, maxBytes } = options;
  const base = readBase(options.baseUrl);

  return async (path, parameters, signal) => {
    const form = new URLSearchParams(Object.fromEntries(parameters)).toString();
    const address = base.address + path;
    const long = address.length + form.length > LONGEST_ADDRESS;
    const url = long || form === '' ? address : `${address}?${form}`;
    const response = await options.fetch(url, {
      method: long ? 'POST' : 'GET',
      headers: {
        Accept: 'application/json',
        'User-Agent': 'svc-monitor',
        ...base.authorization,
        ...(long && { 'Content-Type': 'application/x-www-form-urlencoded' }),
      },
      ...(long && { body: form }),
      redirect: 'manual',
      signal,
    });
    const { status } = response;
    if (response.type === 'opaqueredirect' || (status >= 300 && status < 400)) {
      await response.body?.cancel();
      throw failed(`${title} answers with a redirect, which is not followed`);
    }
    const body = await readAnswer(response, maxBytes);
    if (body === undefined)
      throw failed(`${title} answers with more than ${maxBytes} bytes`, 'Ask for less.');
    return judge({ status, body }, response.headers.get('content-type') ?? '', title);
  };
}

/** For people: without a password. */
export function shownAddress(baseUrl: string): string {
  return readBase(baseUrl).address;
}

/** Keeps a path prefix; drops query, fragment and trailing slash; user name and password become a header. */
function readBase(text: string): { address: string; authorization: { Authorization?: string } } {
  const url = new URL(text);
  const address = url.origin + url.pathname.replace(/\/+$/, '');
  if (url.username === '' && url.password === '') return { address, authorization: {} };
  const pair = `${decodeURIComponent(url.username)}:${decodeURIComponent(url.password)}`;
  return { address, authorization: { Authorization: `Basic ${Buffer.from(pair).toString('base64')}` } };
}

/** Passes on the backend's own answer, also to an invalid query; everything else is a failure of the backend. */
function judge(answer: BackendAnswer, contentType: string, title: string): BackendAnswer {
  const { status, body } = answer;
  const isJson = /^application\/(?:[\w.+-]+\+)?json\b/i.test(contentType);
  if (status >= 200 && status < 300) {
    if (isJson) return answer;
    const kind = contentType.slice(0, 60) || 'no type';
    throw failed(`${title} answers with something that is not JSON (${kind})`, 'Check its URL.');
  }
  const message = plainWords(body);
  if (status === 401 || status === 403)
    throw failed(
      `${title} rejects the request with ${status}`,
      'Put the user name and password into its URL.',
    );
  if (status === 504) throw new Failure('backend-slow', `${title} was too slow: ${message}`, 'Ask for less.');
  if (status >= 500 || status === 404) throw failed(`${title} answers ${status}: ${message}`);
  if (isJson) return answer;
  return { status, body: Buffer.from(JSON.stringify({ error: message, code: 'backend-refused' })) };
}

function plainWords(body: Buffer): string {
  const text = body.subarray(0, LONGEST_WORDS).toString('utf8');
  return text.replaceAll(/\p{Cc}+/gu, ' ').trim() || 'no message';
}

function failed(message: string, remedy = 'See: svc config explain otel'): Failure {
  return new Failure('backend-failed', `${message}.`, remedy);
}
