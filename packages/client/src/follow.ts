// Follows a stream of the daemon. Modes:
// - connected: messages arrive. Left when the stream ends, breaks or goes silent.
// - waiting: a little longer each time; then it reconnects after the last message.
// It ends with its signal, or when the daemon refuses.
import { createParser } from 'eventsource-parser';
import { type Answered, ApiFailure, failureIn } from './failure.ts';
import type { EventLine } from './operations.ts';

const FIRST_WAIT_MS = 250;
const LONGEST_WAIT_MS = 5_000;
/** Nearly three keep-alives missed. */
const SILENCE_MS = 40_000;

/** Live: events after `after` arrive. */
export type Link = { state: 'live'; after: number } | { state: 'lost'; why: string };

type Frame = { event?: string | undefined; id?: string | undefined; data: string };
type Followed<Message> = {
  /** Opens the stream after the last message that was read. */
  open: (signal: AbortSignal) => Promise<Answered>;
  /** The messages of the frames that have arrived; a failure ends the stream. */
  read: (frames: readonly Frame[]) => { messages: Message[]; failure?: ApiFailure };
  signal?: AbortSignal | undefined;
  onLost?: ((why: string) => void) | undefined;
};

/** Messages in batches, as they arrive. */
export async function* followStream<Message>(
  followed: Followed<Message>,
): AsyncGenerator<Message[], void, undefined> {
  const { signal, onLost } = followed;
  let wait = FIRST_WAIT_MS;
  for (;;) {
    let why = 'The daemon ended the stream.';
    try {
      for await (const messages of connected(followed)) {
        wait = FIRST_WAIT_MS;
        yield messages;
      }
    } catch (error) {
      if (error instanceof ApiFailure && error.status < 500) throw error;
      why = error instanceof Error ? error.message : String(error);
    }
    if (isOver(signal)) return;
    onLost?.(why);
    // Random, so clients of a restarted daemon do not all reconnect at once.
    await pause(wait * (0.5 + Math.random() / 2), signal);
    if (isOver(signal)) return;
    wait = Math.min(wait * 2, LONGEST_WAIT_MS);
  }
}

async function* connected<Message>({ open, read, signal }: Followed<Message>): AsyncGenerator<Message[]> {
  const silence = new AbortController();
  let watchdog: ReturnType<typeof setTimeout> | undefined;
  const resetWatchdog = (): void => {
    clearTimeout(watchdog);
    watchdog = setTimeout(() => silence.abort(), SILENCE_MS);
  };
  resetWatchdog();
  try {
    const ended = signal === undefined ? silence.signal : AbortSignal.any([signal, silence.signal]);
    const response = await open(ended);
    if (!response.ok || response.body === null) throw await failureIn(response);
    const frames: Frame[] = [];
    const parser = createParser({ onEvent: (frame) => frames.push(frame) });
    const decoder = new TextDecoder();
    const reader = response.body.getReader();
    for (;;) {
      const { done, value } = await reader.read();
      if (done) return;
      resetWatchdog();
      parser.feed(decoder.decode(value, { stream: true }));
      const { messages, failure } = read(frames.splice(0));
      if (messages.length > 0) yield messages;
      if (failure !== undefined) throw failure;
    }
  } finally {
    clearTimeout(watchdog);
    // Closes the connection when the caller stops reading.
    silence.abort();
  }
}

/** The log: after a lost connection it goes on after the last event. */
export function followLines({
  open,
  after,
  signal,
  onLink,
}: {
  /** Opens the stream after an event; without one, at the position in the request. */
  open: (after: number | undefined, signal: AbortSignal) => Promise<Answered>;
  after?: number | undefined;
  signal?: AbortSignal | undefined;
  onLink?: ((link: Link) => void) | undefined;
}): AsyncGenerator<EventLine[], void, undefined> {
  /** The last event received, or where the stream started. */
  const position = { after };
  return followStream<EventLine>({
    open: (ended) => open(position.after, ended),
    signal,
    onLost: (why) => onLink?.({ state: 'lost', why }),
    read(frames) {
      const lines: EventLine[] = [];
      let failure: ApiFailure | undefined;
      for (const { event, id, data } of frames) {
        if (id !== undefined) position.after = Number(id);
        if (event === undefined) lines.push(JSON.parse(data) as EventLine);
        if (event === 'ready') position.after ??= (JSON.parse(data) as { after: number }).after;
        if (event === 'filter-failed') {
          const { error, code } = JSON.parse(data) as { error: string; code: string };
          failure = new ApiFailure({ status: 400, code, message: error });
          break;
        }
      }
      const isReady = frames.some(({ event }) => event === 'ready');
      if (isReady && position.after !== undefined) onLink?.({ state: 'live', after: position.after });
      return { messages: lines, ...(failure && { failure }) };
    },
  });
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
