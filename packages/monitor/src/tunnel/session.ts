// One connection to the channel, from dialling to its end. It never throws: however it ends, it says how.
import {
  isRelayPosition,
  RELAY_HEADER,
  type Refusal,
  type RelayTraits,
  relayTraits,
  retryAfterMs,
} from '@svc/core';
import type { TunnelClock } from './clock.ts';
import { type Connect, follow, type RelayAnswer } from './connect.ts';
import { MAX_FRAME_BYTES } from './delivery.ts';
import { createEventStream, type StreamFrame } from './event-stream.ts';
import { wordsForError, wordsForStatus } from './failure-words.ts';
import type { ReadKey } from './read-keys.ts';

export type Ending =
  | { kind: 'stopped' }
  | { kind: 'woke' }
  | { kind: 'silent' }
  /** The relay is one of ours, and more can be asked of it than was. */
  | { kind: 'recognised' }
  | { kind: 'lost'; why: string; remedy?: string; refusal?: Refusal; retryAfterMs?: number };

export type Session = {
  ended: Promise<Ending>;
  end: (ending: Ending) => void;
};

const DIAL_PATIENCE_MS = 15_000;

export function openSession(options: {
  channel: string;
  connect: Connect;
  clock: TunnelClock;
  readKey: ReadKey | undefined;
  /** What a relay of ours shall call us in its status. */
  subscriber: string | undefined;
  /** Ask for raw bytes, and for what came after this position. Null: a relay that is not known as ours. */
  ours: { after: string | null } | null;
  maxFrameBytes?: number;
  onOpen: (traits: RelayTraits) => void;
  onFrame: (frame: StreamFrame) => void;
  onSignOfLife: () => void;
  /** Resolves when more can be read. */
  room: (signal: AbortSignal) => Promise<void> | undefined;
}): Session {
  const { connect, clock, ours } = options;
  const abort = new AbortController();
  let ending: Ending | null = null;
  const end = (given: Ending): void => {
    ending ??= given;
    abort.abort();
  };

  async function run(): Promise<Ending> {
    const cancelPatience = clock.after(DIAL_PATIENCE_MS, () =>
      end({ kind: 'lost', why: 'the relay does not answer' }),
    );
    try {
      const opened = await follow(connect, { ...requestOf(options), signal: abort.signal });
      cancelPatience();
      if (ending !== null) return ending;
      if (!opened.ok) return { kind: 'lost', why: `the relay cannot be used: ${opened.why}` };
      const refused = refusalIn(opened.answer, options.readKey, clock.now());
      if (refused !== undefined) return refused;
      const traits = relayTraits(opened.answer.header(RELAY_HEADER));
      if (traits.ours && ours === null) return { kind: 'recognised' };
      options.onOpen(traits);
      return await read(opened.answer.body);
    } catch (error) {
      return ending ?? { kind: 'lost', ...wordsForError(error) };
    } finally {
      cancelPatience();
      end({ kind: 'stopped' });
    }
  }

  async function read(body: AsyncIterable<Uint8Array>): Promise<Ending> {
    const maxFrameBytes = options.maxFrameBytes ?? MAX_FRAME_BYTES;
    const stream = createEventStream({
      maxFrameBytes,
      onFrame(frame) {
        if (ending === null) options.onFrame(frame);
      },
      onSignOfLife: options.onSignOfLife,
    });
    for await (const chunk of body) {
      if (!stream.feed(chunk))
        return { kind: 'lost', why: `the relay sent more than ${maxFrameBytes} bytes in one frame` };
      await options.room(abort.signal);
      if (ending !== null) return ending;
    }
    return ending ?? { kind: 'lost', why: 'the relay closed the connection' };
  }

  return { ended: run(), end };
}

function requestOf(options: Parameters<typeof openSession>[0]): {
  url: URL;
  headers: Record<string, string>;
} {
  const { ours, readKey, subscriber } = options;
  const url = new URL(options.channel);
  const headers: Record<string, string> = {
    // The public relay sends the stream only for exactly this.
    accept: 'text/event-stream',
    'cache-control': 'no-store',
    'user-agent': 'svc',
  };
  if (readKey?.value !== undefined) headers['authorization'] = `Bearer ${readKey.value}`;
  if (ours !== null) url.searchParams.set('raw', '1');
  if (ours !== null && subscriber !== undefined) url.searchParams.set('subscriber', subscriber);
  const after = ours?.after ?? undefined;
  if (isRelayPosition(after)) headers['last-event-id'] = after;
  return { url, headers };
}

function refusalIn(answer: RelayAnswer, key: ReadKey | undefined, now: number): Ending | undefined {
  if (answer.status !== 200) {
    const wait = retryAfterMs(answer.header('retry-after'), now);
    return {
      kind: 'lost',
      ...wordsForStatus(answer.status, key),
      ...(wait !== undefined && { retryAfterMs: wait }),
    };
  }
  const type = answer.header('content-type') ?? '';
  if (/^text\/event-stream\b/i.test(type)) return undefined;
  return {
    kind: 'lost',
    why: 'the relay answered with a page, not with a stream',
    remedy: 'Check the network (a login page?) and the channel: svc config',
  };
}
