// The log as it grows. Modes: connected, until the stream ends, breaks or falls silent; then waiting, a little longer
// each time, and connected again behind the last line seen. It ends with its signal, or when the daemon refuses.
import type { EventLine, Operations } from './api-types.ts';
import { ApiFailure, failureIn } from './failure.ts';
import { addressOf } from './request.ts';
import { framesIn, type StreamFrame } from './stream-frames.ts';

export type FollowWish = {
  query?: Operations['GET']['/api/events/stream']['query'] | undefined;
  signal?: AbortSignal | undefined;
};

export type FollowedLine = EventLine;

const FIRST_WAIT_MS = 250;
const LONGEST_WAIT_MS = 10_000;
/** Three keep-alives missed. */
const SILENCE_MS = 45_000;

type Followed = {
  base: string;
  ask: typeof fetch;
  headers: Readonly<Record<string, string>>;
  wish: FollowWish;
};
/** The last line seen, or where the stream began. */
type Place = { after: number | undefined };

export async function* followEvents(followed: Followed): AsyncGenerator<FollowedLine, void, undefined> {
  const { signal } = followed.wish;
  const place: Place = { after: undefined };
  let wait = FIRST_WAIT_MS;
  for (;;) {
    try {
      for await (const line of connected(followed, place)) {
        wait = FIRST_WAIT_MS;
        yield line;
      }
    } catch (error) {
      if (error instanceof ApiFailure && error.status < 500) throw error;
    }
    if (isOver(signal)) return;
    await pause(wait, signal);
    wait = Math.min(wait * 2, LONGEST_WAIT_MS);
  }
}

async function* connected(
  { base, ask, headers, wish }: Followed,
  place: Place,
): AsyncGenerator<FollowedLine> {
  const silence = new AbortController();
  let watchdog: ReturnType<typeof setTimeout> | undefined;
  const heard = (): void => {
    clearTimeout(watchdog);
    watchdog = setTimeout(() => silence.abort(), SILENCE_MS);
  };
  heard();
  const signals = wish.signal === undefined ? [silence.signal] : [wish.signal, silence.signal];
  try {
    const response = await ask(base + addressOf('/api/events/stream', {}, wish.query), {
      headers: { ...headers, ...(place.after !== undefined && { 'Last-Event-ID': String(place.after) }) },
      signal: AbortSignal.any(signals),
    });
    if (!response.ok || response.body === null) throw await failureIn(response);
    for await (const frame of framesIn(response.body, heard)) {
      const line = lineIn(frame, place);
      if (line !== undefined) yield line;
    }
  } finally {
    clearTimeout(watchdog);
    silence.abort();
  }
}

function lineIn({ event, id, data }: StreamFrame, place: Place): FollowedLine | undefined {
  if (id !== undefined) place.after = Number(id);
  if (event === undefined) return JSON.parse(data) as FollowedLine;
  if (event === 'ready') place.after ??= (JSON.parse(data) as { after: number }).after;
  if (event === 'filter-failed') {
    const { error, code } = JSON.parse(data) as { error: string; code: string };
    throw new ApiFailure({ status: 400, code, message: error });
  }
  return undefined;
}

function isOver(signal: AbortSignal | undefined): boolean {
  return signal?.aborted === true;
}

function pause(milliseconds: number, signal: AbortSignal | undefined): Promise<void> {
  return new Promise((resolve) => {
    if (isOver(signal)) return resolve();
    const done = (): void => {
      clearTimeout(timer);
      signal?.removeEventListener('abort', done);
      resolve();
    };
    const timer = setTimeout(done, milliseconds);
    signal?.addEventListener('abort', done);
  });
}
