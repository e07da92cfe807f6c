// Reads the daemon's live log, and calls for each line. A stream that breaks is taken up where it was.
import { setTimeout as sleep } from 'node:timers/promises';
import type { EventLine } from '@svc/core';
import type { DaemonAddress } from './daemon.ts';

const AGAIN_AFTER_MS = 200;

/** Resolves when the first stream is open; it goes on until `signal`. */
export function followEvents(
  daemon: DaemonAddress,
  onLine: (line: EventLine) => void,
  signal: AbortSignal,
): Promise<void> {
  return new Promise((resolve) => void keepFollowing(daemon, onLine, signal, resolve).finally(resolve));
}

async function keepFollowing(
  daemon: DaemonAddress,
  onLine: (line: EventLine) => void,
  signal: AbortSignal,
  onOpen: () => void,
): Promise<void> {
  let last: string | undefined;
  while (!signal.aborted) {
    try {
      const headers = { ...daemon.headers, ...(last !== undefined && { 'last-event-id': last }) };
      const response = await fetch(`${daemon.url}/api/events/stream`, { signal, headers });
      for await (const frame of framesOf(response)) {
        onOpen();
        if (frame.id === undefined || frame.event !== undefined) continue;
        last = frame.id;
        onLine(JSON.parse(frame.data) as EventLine);
      }
    } catch (error) {
      if (signal.aborted) return;
      // The connection broke; whether the daemon has ended is seen elsewhere.
      if (!(error instanceof TypeError)) throw error;
    }
    await sleep(AGAIN_AFTER_MS);
  }
}

type Frame = { id: string | undefined; event: string | undefined; data: string };

/** The frames of an event stream as this daemon writes them: one `data` line each. */
async function* framesOf({ body }: Response): AsyncGenerator<Frame> {
  if (body === null) return;
  let text = '';
  for await (const part of body.pipeThrough(new TextDecoderStream())) {
    const frames = (text + part).split('\n\n');
    text = frames.pop() ?? '';
    for (const frame of frames) {
      const field = (name: string): string | undefined =>
        frame
          .split('\n')
          .find((line) => line.startsWith(`${name}: `))
          ?.slice(name.length + 2);
      yield { id: field('id'), event: field('event'), data: field('data') ?? '' };
    }
  }
}
