// The live log as server-sent events: `id` is the seq, `data` the line. A client that comes back with
// Last-Event-ID goes on without a gap; one that does not keep up is cut off with the id to resume from.
import type { ServerResponse } from 'node:http';
import { type EventFilter, matchesFilter } from '@svc/core';
import type { EventLog } from '../log/event-log.ts';
import { TailCutOff } from '../log/log-errors.ts';

const KEEP_ALIVE_MS = 15_000;
/** A client that has not taken what was written for so long is gone. */
const STUCK_MS = 30_000;

export async function streamEvents(options: {
  log: Pick<EventLog, 'subscribe'>;
  response: ServerResponse;
  after: number;
  filter: EventFilter;
  signal: AbortSignal;
}): Promise<void> {
  const { log, response, after, filter, signal } = options;
  response.writeHead(200, {
    'Content-Type': 'text/event-stream',
    Connection: 'keep-alive',
    'X-Accel-Buffering': 'no',
  });
  response.write(`event: ready\ndata: {"after":${after}}\n\n`);
  const keepAlive = setInterval(() => response.write(': keep-alive\n\n'), KEEP_ALIVE_MS);
  try {
    for await (const entries of log.subscribe({ after, signal })) {
      const frames = entries
        .filter(({ line }) => matchesFilter(line, filter))
        .map(({ line, text }) => `id: ${line.seq}\ndata: ${text}\n\n`);
      if (frames.length > 0 && !response.write(frames.join(''))) await drained(response, signal);
    }
  } catch (error) {
    if (!(error instanceof TailCutOff)) throw error;
    response.write(`event: cut-off\ndata: {"resumeAfter":${error.lastSeq}}\n\n`);
  } finally {
    clearInterval(keepAlive);
    response.end();
  }
}

/** Waits until the client has taken what was written; meanwhile the tail goes on without it. */
function drained(response: ServerResponse, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
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
