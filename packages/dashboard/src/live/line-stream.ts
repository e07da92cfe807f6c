// The daemon's event lines, as they become durable. Its states:
//   connecting   no answer yet, or between two tries
//   live         lines and heartbeats come
//   lost         the connection ended or fell silent; it is tried again for ever, from the last line on
// A browser's own EventSource stops for ever after one bad answer and does not notice a silent peer; this does.

import type { EventLine } from '@svc/core';
import { createParser } from 'eventsource-parser';
import { keyHeader } from '../api/key.ts';

/** The daemon sends something at least every 15 s. */
const SILENCE_MS = 40_000;
const FIRST_RETRY_MS = 250;
const LONGEST_RETRY_MS = 5_000;

export type LinkState = { state: 'connecting' | 'live' | 'lost'; since: number; why: string | null };

export type LineStream = { state: () => LinkState; close: () => void };

export function openLineStream(options: {
  /** The query of `/api/events/stream`, with its filters; the position is added. */
  query?: Record<string, string>;
  /** Begin after this line; `now` begins with the next one. */
  after: number | 'now';
  onLines: (lines: EventLine[]) => void;
  onState: (state: LinkState) => void;
  onRefused?: (status: number, text: string) => void;
}): LineStream {
  const closed = new AbortController();
  let after: number | null = options.after === 'now' ? null : options.after;
  let link: LinkState = { state: 'connecting', since: Date.now(), why: null };

  const become = (state: LinkState['state'], why: string | null = null): void => {
    if (link.state === state) return;
    link = { state, since: Date.now(), why };
    options.onState(link);
  };

  async function connect(): Promise<void> {
    const attempt = new AbortController();
    const give = (): void => attempt.abort();
    closed.signal.addEventListener('abort', give, { once: true });
    let silence = setTimeout(give, SILENCE_MS);
    try {
      const query = new URLSearchParams(options.query);
      const response = await fetch(`/api/events/stream?${query}`, {
        signal: attempt.signal,
        headers: { ...keyHeader(), ...(after !== null && { 'Last-Event-ID': String(after) }) },
      });
      if (!response.ok || response.body === null) {
        options.onRefused?.(response.status, await response.text());
        return;
      }
      let batch: EventLine[] = [];
      const parser = createParser({
        onEvent({ event, data, id }) {
          if (event === 'ready') {
            after ??= (JSON.parse(data) as { after: number }).after;
            become('live');
          } else if (event === undefined && id !== undefined) {
            batch.push(JSON.parse(data) as EventLine);
            after = Number(id);
          } else if (event === 'seen' && id !== undefined) {
            // With a jq filter: looked at, and not what was asked for.
            after = Number(id);
          } else if (event === 'filter-failed') {
            options.onRefused?.(400, data);
            closed.abort();
          }
        },
      });
      const decoder = new TextDecoder();
      for await (const chunk of chunksOf(response.body)) {
        clearTimeout(silence);
        silence = setTimeout(give, SILENCE_MS);
        parser.feed(decoder.decode(chunk, { stream: true }));
        if (batch.length === 0) continue;
        options.onLines(batch);
        batch = [];
      }
    } finally {
      clearTimeout(silence);
      closed.signal.removeEventListener('abort', give);
      attempt.abort();
    }
  }

  async function keepConnected(): Promise<void> {
    let pause = FIRST_RETRY_MS;
    while (!closed.signal.aborted) {
      const began = Date.now();
      // Whatever ended it, the answer is the same: show it, wait a little, and go on from the last line.
      const why = await connect().then(
        () => 'The daemon ended the stream.',
        (error: unknown) => (error instanceof Error ? error.message : String(error)),
      );
      if (closed.signal.aborted) return;
      become('lost', why);
      pause = Date.now() - began > LONGEST_RETRY_MS ? FIRST_RETRY_MS : Math.min(pause * 2, LONGEST_RETRY_MS);
      await new Promise((resolve) => setTimeout(resolve, pause * (0.5 + Math.random() / 2)));
    }
  }

  void keepConnected();
  return { state: () => link, close: () => closed.abort() };
}

async function* chunksOf(body: ReadableStream<Uint8Array>): AsyncGenerator<Uint8Array> {
  const reader = body.getReader();
  for (;;) {
    const { done, value } = await reader.read();
    if (done) return;
    yield value;
  }
}
