// The live log as server-sent events: `id` is the seq, `data` the event. A client that reconnects with Last-Event-ID
// continues without a gap; one that does not keep up is cut off with the id to resume from. When a jq filter skips many
// events, `position` reports the position, so a client that reconnects does not start over.
import type { ServerResponse } from 'node:http';
import { Failure } from '../../../kernel/failure.ts';
import type { OpenStream } from '../../../kernel/http/server.ts';
import { type EventFilter, matchesFilter } from '../../../kernel/log/event-filter.ts';
import type { EventLog } from '../../../kernel/log/event-log.ts';
import { type LogEntry, TailTooSlow } from '../../../kernel/log/log-entry.ts';

/** After this many skipped events, the client gets the current position. */
const POSITION_EVERY = 1_000;
const PIECE_CHARACTERS = 256 * 1024;
/** A client that has not read what was written for this long is gone. */
const STUCK_MS = 30_000;

export async function streamEvents(options: {
  log: Pick<EventLog, 'subscribe'>;
  stream: OpenStream;
  after: number;
  filter: EventFilter;
  /** A jq filter: whether each event is wanted. */
  matches?: ((lines: string[]) => Promise<boolean[]>) | undefined;
}): Promise<void> {
  const { log, after, filter, matches } = options;
  const { response, onSlow, signal } = options.stream;
  let passedOver = 0;
  response.write(`event: ready\ndata: {"after":${after}}\n\n`);
  try {
    for await (const entries of log.subscribe({ after, signal })) {
      const plain = entries.filter(({ line }) => matchesFilter(line, filter));
      const wanted = matches === undefined || plain.length === 0 ? plain : await filtered(plain, matches);
      const frames = wanted.map(({ line, text }) => `id: ${line.seq}\ndata: ${text}\n\n`);
      passedOver = frames.length > 0 ? 0 : passedOver + entries.length;
      if (passedOver >= POSITION_EVERY) {
        frames.push(`event: position\nid: ${entries.at(-1)?.line.seq}\ndata: {}\n\n`);
        passedOver = 0;
      }
      for (const piece of inPieces(frames)) {
        if (response.write(piece)) continue;
        onSlow();
        await drained(response, signal);
        if (signal.aborted || response.destroyed) return;
      }
    }
  } catch (error) {
    if (error instanceof TailTooSlow)
      response.write(`event: disconnected\ndata: {"resumeAfter":${error.lastSeq}}\n\n`);
    else if (error instanceof Failure)
      response.write(
        `event: filter-failed\ndata: ${JSON.stringify({ error: error.message, code: error.code })}\n\n`,
      );
    else throw error;
  } finally {
    response.end();
  }
}

/** Joins frames up to the size of one write, which bounds what a client that does not read can hold. */
function* inPieces(frames: readonly string[]): Generator<string> {
  let piece = '';
  for (const frame of frames) {
    if (piece !== '' && piece.length + frame.length > PIECE_CHARACTERS) {
      yield piece;
      piece = '';
    }
    piece += frame;
  }
  if (piece !== '') yield piece;
}

async function filtered(
  entries: readonly LogEntry[],
  matches: (lines: string[]) => Promise<boolean[]>,
): Promise<LogEntry[]> {
  const answers = await matches(entries.map(({ text }) => text));
  return entries.filter((_, index) => answers[index]);
}

/** Waits until the client has read what was written; meanwhile the tail continues without it. */
function drained(response: ServerResponse, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    // What has ended already emits no more events.
    if (signal.aborted || response.destroyed) return resolve();
    const stuck = setTimeout(() => response.destroy(), STUCK_MS);
    const done = (): void => {
      clearTimeout(stuck);
      response.off('drain', done);
      response.off('close', done);
      signal.removeEventListener('abort', done);
      resolve();
    };
    response.once('drain', done);
    response.once('close', done);
    signal.addEventListener('abort', done, { once: true });
  });
}
