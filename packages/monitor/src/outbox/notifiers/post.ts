// One POST to a notification receiver: limited in time, never redirected, response body not read.
import { systemErrorCode } from '@svc/lib/errors';
import { causeOf } from '@svc/lib/fetch';
import { NotSent } from './delivery.ts';

const TIMEOUT_MS = 10_000;
const LONGEST_PAUSE_MS = 3_600_000;
/** Temporary refusals: too slow, too early, too many. */
const passing = new Set([408, 425, 429]);

export type Post = { url: string; headers: Record<string, string>; body: string };

export async function post(
  { url, headers, body }: Post,
  {
    fetch,
    now,
    timeoutMs = TIMEOUT_MS,
  }: { fetch: typeof globalThis.fetch; now: () => Date; timeoutMs?: number },
): Promise<void> {
  const response = await send(fetch, url, {
    method: 'POST',
    headers,
    body,
    redirect: 'manual',
    signal: AbortSignal.timeout(timeoutMs),
  });
  await response.body?.cancel();
  if (response.ok) return;
  const { status } = response;
  if (status < 500 && !passing.has(status))
    throw new NotSent(`it answered HTTP ${status}`, { permanent: true });
  const retryAfterMs = pauseIn(response.headers.get('retry-after'), now().getTime());
  throw new NotSent(`it answered HTTP ${status}`, { permanent: false, retryAfterMs });
}

async function send(fetch: typeof globalThis.fetch, url: string, init: RequestInit): Promise<Response> {
  try {
    return await fetch(url, init);
  } catch (error) {
    throw new NotSent(reasonOf(error), { permanent: false });
  }
}

/** The URL may itself be a secret, so it is never part of the message. */
function reasonOf(error: unknown): string {
  if (error instanceof Error && error.name === 'TimeoutError') return 'no answer in time';
  const code = systemErrorCode(causeOf(error));
  return `the connection failed${code === undefined ? '' : ` (${code})`}`;
}

/** Seconds or a date. */
function pauseIn(header: string | null, now: number): number | undefined {
  if (header === null) return undefined;
  const asked = /^\d{1,9}$/.test(header.trim()) ? Number(header) * 1000 : Date.parse(header) - now;
  return Number.isNaN(asked) ? undefined : Math.min(Math.max(asked, 0), LONGEST_PAUSE_MS);
}
