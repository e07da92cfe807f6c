// Asks the daemon that served this page. A refusal has the daemon's own words, its code and its remedy.

import { keyHeader } from './key.ts';

export class ApiFailure extends Error {
  override readonly name = 'ApiFailure';
  readonly status: number;
  readonly code: string;
  readonly remedy: string | null;
  /** Seconds after which to come again; null where the daemon did not say. */
  readonly retryAfter: number | null;

  constructor(
    status: number,
    code: string,
    message: string,
    remedy: string | null,
    retryAfter: number | null = null,
  ) {
    super(message);
    this.status = status;
    this.code = code;
    this.remedy = remedy;
    this.retryAfter = retryAfter;
  }
}

type Query = Record<string, string | number | boolean | null | undefined>;

/** `path('/api/events', { ticket: 'ABC-1', pr: undefined })` is `/api/events?ticket=ABC-1`. */
export function path(base: string, query: Query = {}): string {
  const given = Object.entries(query).flatMap(([name, value]) =>
    value === undefined || value === null || value === '' ? [] : [[name, String(value)]],
  );
  return given.length === 0 ? base : `${base}?${new URLSearchParams(given)}`;
}

export async function getJson<Answer>(url: string, signal?: AbortSignal): Promise<Answer> {
  return answerOf<Answer>(await ask(url, { ...(signal && { signal }) }));
}

export async function postJson<Answer>(
  url: string,
  body: unknown = {},
  signal?: AbortSignal,
): Promise<Answer> {
  return answerOf<Answer>(
    await ask(url, {
      method: 'POST',
      headers: { 'Content-Type': 'application/json' },
      body: JSON.stringify(body),
      ...(signal && { signal }),
    }),
  );
}

async function ask(
  url: string,
  request: Omit<RequestInit, 'headers'> & { headers?: Record<string, string> },
): Promise<Response> {
  try {
    return await fetch(url, { ...request, headers: { ...request.headers, ...keyHeader() } });
  } catch (error) {
    if (error instanceof DOMException && error.name === 'AbortError') throw error;
    throw new ApiFailure(0, 'no-answer', 'The daemon does not answer.', 'Run: svc monitor status');
  }
}

async function answerOf<Answer>(response: Response): Promise<Answer> {
  const text = await response.text();
  if (response.ok) return JSON.parse(text) as Answer;
  throw refusal(response.status, text, response.headers.get('Retry-After'));
}

/** The error body of every route: `{error, code, remedy?}`. Anything else was not said by the daemon. */
function refusal(status: number, text: string, retryAfter: string | null): ApiFailure {
  const said = parse(text);
  const field = (name: string): string | null => {
    const value: unknown = typeof said === 'object' && said !== null ? Reflect.get(said, name) : undefined;
    return typeof value === 'string' ? value : null;
  };
  return new ApiFailure(
    status,
    field('code') ?? `http-${status}`,
    field('error') ?? `The daemon answered ${status}.`,
    field('remedy'),
    /^\d{1,9}$/.test(retryAfter ?? '') ? Number(retryAfter) : null,
  );
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    if (error instanceof SyntaxError) return undefined;
    throw error;
  }
}
