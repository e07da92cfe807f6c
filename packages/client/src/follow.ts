// Follows the log. Modes:
// - connected: events arrive. Left when the stream ends, breaks or goes silent.
// - waiting: a little longer each time; then it reconnects after the last event.
// It ends with its signal, or when the daemon refuses.
import { createParser, type EventSourceMessage } from 'eventsource-parser';
import { type Answered, ApiFailure, failureIn } from './failure.ts';
import type { EventLine } from './operations.ts';

const FIRST_WAIT_MS = 250;
const LONGEST_WAIT_MS = 5_000;
/** Nearly three keep-alives missed. */
const SILENCE_MS = 40_000;

/** Live: events after `after` arrive. */
export type Link = { state: 'live'; after: number } | { state: 'lost'; why: string };

type Followed = {
  /** Opens the stream after an event; without one, at the position in the request. */
  open: (after: number | undefined, signal: AbortSignal) => Promise<Answered>;
  after?: number | undefined;
  signal?: AbortSignal | undefined;
  onLink?: ((link: Link) => void) | undefined;
};
/** The last event received, or where the stream started. */
type Position = { after: number | undefined };

export async function* followLines(followed: Followed): AsyncGenerator<EventLine[], void, undefined> {
  const { signal, onLink } = followed;
  const position: Position = { after: followed.after };
  let wait = FIRST_WAIT_MS;
  for (;;) {
    let why = 'The daemon ended the stream.';
    try {
      for await (const lines of connected(followed, position)) {
        wait = FIRST_WAIT_MS;
        yield lines;
      }
    } catch (error) {
      if (error instanceof ApiFailure && error.status < 500) throw error;
      why = error instanceof Error ? error.message : String(error);
    }
    if (isOver(signal)) return;
    onLink?.({ state: 'lost', why });
    // Random, so clients of a restarted daemon do not all reconnect at once.
    await pause(wait * (0.5 + Math.random() / 2), signal);
    if (isOver(signal)) return;
    wait = Math.min(wait * 2, LONGEST_WAIT_MS);
  }
}

async function* connected(
  { open, signal, onLink }: Followed,
  position: Position,
): AsyncGenerator<EventLine[]> {
  const silence = new AbortController();
  let watchdog: ReturnType<typeof setTimeout> | undefined;
  const resetWatchdog = (): void => {
    clearTimeout(watchdog);
    watchdog = setTimeout(() => silence.abort(), SILENCE_MS);
  };
  resetWatchdog();
  try {
    const ended = signal === undefined ? silence.signal : AbortSignal.any([signal, silence.signal]);
    const response = await open(position.after, ended);
    if (!response.ok || response.body === null) throw await failureIn(response);
    const frames: EventSourceMessage[] = [];
    const parser = createParser({ onEvent: (frame) => frames.push(frame) });
    const decoder = new TextDecoder();
    const reader = response.body.getReader();
    for (;;) {
      const { done, value } = await reader.read();
      if (done) return;
      resetWatchdog();
      parser.feed(decoder.decode(value, { stream: true }));
      const isReady = frames.some(({ event }) => event === 'ready');
      const read = readFrames(frames.splice(0), position);
      if (isReady && position.after !== undefined) onLink?.({ state: 'live', after: position.after });
      if (read.lines.length > 0) yield read.lines;
      if (read.failure !== undefined) throw read.failure;
    }
  } finally {
    clearTimeout(watchdog);
    // Closes the connection when the caller stops reading.
    silence.abort();
  }
}

function readFrames(
  frames: readonly EventSourceMessage[],
  position: Position,
): { lines: EventLine[]; failure?: ApiFailure } {
  const lines: EventLine[] = [];
  for (const { event, id, data } of frames) {
    if (id !== undefined) position.after = Number(id);
    if (event === undefined) lines.push(JSON.parse(data) as EventLine);
    if (event === 'ready') position.after ??= (JSON.parse(data) as { after: number }).after;
    if (event === 'filter-failed') {
      const { error, code } = JSON.parse(data) as { error: string; code: string };
      return { lines, failure: new ApiFailure({ status: 400, code, message: error }) };
    }
  }
  return { lines };
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
