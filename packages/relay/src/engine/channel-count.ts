// How many deliveries of a channel are kept, and how many bytes: asked of a consumer that lives for the
// question. It tells the number at once, and sizes without the bodies.
import { createInbox } from '@nats-io/nats-core';
import type { Connection } from './connection.ts';
import { EngineUnavailable } from './errors.ts';
import { BODY_SIZE_HEADER } from './publisher.ts';
import type { StreamApi } from './stream-api.ts';

export type ChannelCount = {
  /** After a sequence. */
  countAfter: (stream: string, subject: string, seq: number) => Promise<number>;
  /** The last sequence that was stored before a time, in milliseconds. */
  sequenceBefore: (stream: string, subject: string, time: number) => Promise<number>;
  /** Exact bytes for up to `MAX_WEIGHED` deliveries; null for more. */
  weigh: (stream: string, subject: string) => Promise<{ stored: number; bytes: number | null }>;
};

const MAX_WEIGHED = 1000;
const ANSWER_WITHIN_MS = 5000;
/** The server removes the consumer after it, should nobody do so. */
const INACTIVE_NS = 10_000_000_000;

type ConsumerInfo = { name: string; num_pending: number; delivered: { stream_seq: number } };

export function createChannelCount(api: StreamApi, { nats }: Connection): ChannelCount {
  async function withConsumer<T>(
    stream: string,
    subject: string,
    start: object,
    work: (consumer: ConsumerInfo) => Promise<T>,
  ): Promise<T> {
    const config = {
      ack_policy: 'none',
      replay_policy: 'instant',
      filter_subject: subject,
      headers_only: true,
      mem_storage: true,
      num_replicas: 1,
      inactive_threshold: INACTIVE_NS,
      max_deliver: 1,
      ...start,
    };
    const request = { stream_name: stream, config };
    const answer = await api.ask<ConsumerInfo>(`CONSUMER.CREATE.${stream}`, request);
    if (!answer.ok) throw new EngineUnavailable(`${stream} cannot be counted: ${answer.failure.description}`);
    try {
      return await work(answer.value);
    } finally {
      await api.ask(`CONSUMER.DELETE.${stream}.${answer.value.name}`, undefined);
    }
  }

  /** Headers of so many deliveries, summed up. They come under their own subject, so not to the shared inbox. */
  function sizes(stream: string, consumer: string, count: number): Promise<number> {
    return new Promise((resolve, reject) => {
      let left = count;
      let bytes = 0;
      const reply = createInbox();
      const subscription = nats.subscribe(reply, {
        callback(error, { headers }) {
          if (error !== null) return finish(error);
          // Fewer than there were when it was asked: some have aged since.
          if ((headers?.code ?? 0) !== 0) return finish(null);
          bytes += Number(headers?.get('Nats-Msg-Size') ?? 0) + Number(headers?.get(BODY_SIZE_HEADER) ?? 0);
          left -= 1;
          if (left === 0) finish(null);
        },
      });
      const late = new EngineUnavailable(`${stream} did not answer how much it holds`);
      const timer = setTimeout(() => finish(late), ANSWER_WITHIN_MS);
      function finish(error: Error | null): void {
        clearTimeout(timer);
        if (!nats.isClosed()) subscription.unsubscribe();
        if (error === null) resolve(bytes);
        else reject(error);
      }
      const request = JSON.stringify({ batch: count, no_wait: true });
      nats.publish(`$JS.API.CONSUMER.MSG.NEXT.${stream}.${consumer}`, request, { reply });
    });
  }

  return {
    countAfter: (stream, subject, seq) =>
      withConsumer(stream, subject, fromSequence(seq + 1), async ({ num_pending }) => num_pending),
    sequenceBefore: (stream, subject, time) =>
      withConsumer(stream, subject, fromTime(time), async ({ delivered }) => delivered.stream_seq),
    weigh: (stream, subject) =>
      withConsumer(stream, subject, fromSequence(1), async ({ name, num_pending }) => {
        if (num_pending === 0) return { stored: 0, bytes: 0 };
        if (num_pending > MAX_WEIGHED) return { stored: num_pending, bytes: null };
        return { stored: num_pending, bytes: await sizes(stream, name, num_pending) };
      }),
  };
}

const fromSequence = (seq: number): object => ({ deliver_policy: 'by_start_sequence', opt_start_seq: seq });

const fromTime = (time: number): object => ({
  deliver_policy: 'by_start_time',
  opt_start_time: new Date(time).toISOString(),
});
