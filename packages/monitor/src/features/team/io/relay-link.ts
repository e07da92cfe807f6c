// The way to the relay: one PUT for a record, and a stream of all records that is kept open with the loop of the tunnel.
import type { StoredRecord } from '@svc/contract/relay/record';
import { systemClock } from '@svc/lib/clock';
import { messageOf } from '@svc/lib/errors';
import { causeOf, readAnswer } from '@svc/lib/fetch';
import { z } from 'zod';
import { Failure } from '../../../kernel/failure.ts';
import type { StreamFrame } from '../../feeds/io/delivery-service.ts';
import { keepConnected } from '../../feeds/io/keep-connected.ts';
import { createConnect } from '../../feeds/io/session.ts';

const PUT_MS = 10_000;
const MAX_ANSWER_BYTES = 16 * 1024;
/** The largest roster in JSON in JSON. */
const MAX_FRAME_BYTES = 1024 * 1024;
const MOST_WAITING = 2_000;

const Answer = z.object({
  code: z.string().optional(),
  error: z.string().optional(),
  remedy: z.string().optional(),
});

/** Resolves when it is durable at the relay. */
export async function putRecord(
  channelUrl: string,
  { path, signature, body }: StoredRecord,
  key?: string,
): Promise<void> {
  const response = await fetch(`${channelUrl}/${path}`, {
    method: 'PUT',
    redirect: 'error',
    headers: { 'x-svc-signature': signature, ...(key !== undefined && { authorization: `Bearer ${key}` }) },
    body,
    signal: AbortSignal.timeout(PUT_MS),
  }).catch((error: unknown) => {
    throw unreachable(messageOf(causeOf(error)));
  });
  const text = (await readAnswer(response, MAX_ANSWER_BYTES))?.toString() ?? '';
  if (response.ok) return;
  const { code, error, remedy } = answerIn(text);
  throw new Failure(
    'relay-unavailable',
    `The relay refused a record (${code ?? response.status}). ${error ?? ''}`.trim(),
    remedy ?? 'Check the relay: svc team status',
  );
}

export function isRefusedAs(error: unknown, code: 'not-a-member' | 'old-version'): boolean {
  return error instanceof Failure && error.message.includes(`(${code})`);
}

function unreachable(why: string): Failure {
  return new Failure(
    'relay-unavailable',
    `The relay of the team cannot be reached: ${why}.`,
    'Check the network and the relay. This machine keeps working alone, and publishes when the relay is back.',
  );
}

function answerIn(text: string): z.infer<typeof Answer> {
  try {
    return Answer.safeParse(JSON.parse(text)).data ?? {};
  } catch (error) {
    if (error instanceof SyntaxError) return {};
    throw error;
  }
}

export type Lost = { why: string; remedy: string | undefined; isRefused: boolean };

export type RecordStream = { stop: () => Promise<void> };

/**
 * Frames are passed on one after the other; `onFrame` must not reject. They may still wait, or be handled, when the next
 * connection asks for a position and gets everything after it again: from then on `isLatest` is false.
 */
export function followRecords(options: {
  channelUrl: string;
  key: string;
  /** Everything up to here is durable; null: from the beginning. */
  position: () => string | null;
  onFrame: (frame: StreamFrame, isLatest: () => boolean) => Promise<void>;
  onLost: (lost: Lost) => void;
}): RecordStream {
  let chain = Promise.resolve();
  let waiting = 0;
  let handled = 0;
  let connections = 0;
  const kept = keepConnected({
    channel: `${options.channelUrl}/records`,
    connect: createConnect(),
    clock: systemClock,
    random: Math.random,
    readKey: { variable: 'the team', value: options.key, fileName: 'team.json' },
    subscriber: undefined,
    maxFrameBytes: MAX_FRAME_BYTES,
    resumeAfter() {
      connections += 1;
      return options.position();
    },
    accepted: () => handled,
    isFull: () => waiting >= MOST_WAITING,
    waitForSpace: () => chain,
    onFrame(frame) {
      const connection = connections;
      waiting += 1;
      chain = chain
        .then(() => options.onFrame(frame, () => connection === connections))
        .finally(() => {
          waiting -= 1;
          handled += 1;
        });
    },
    onEvent(event) {
      if (event.type !== 'lost') return;
      const { why, remedy, refusal } = event;
      options.onLost({ why, remedy, isRefused: refusal === 'read-key' });
    },
    onCheck: () => undefined,
  });
  return { stop: kept.stop };
}
