// The engine's requests to JetStream, except publishing. Direct reads are answered by any replica, which may be a little
// behind, never out of order: it may not have yet what the leader has. The others are answered by the leader.
import {
  JetStreamApiCodes,
  JetStreamApiError,
  jetstream,
  jetstreamManager,
  type StoredMsg,
  type StreamInfo,
} from '@nats-io/jetstream';
import { messageOf } from '@svc/lib/errors';
import { checkOf } from '../protocol/frame.ts';
import type { Connection } from './connection.ts';
import { EngineUnavailable } from './engine.ts';

export type StoredMessage = {
  seq: number;
  subject: string;
  data: Uint8Array;
  /** See `Position`. */
  check: string;
  /** When it was stored, in milliseconds. */
  at: number;
};

/** What follows a sequence. */
export type Page = {
  /** The check of the message at the sequence itself, if it still exists: then nothing after it was trimmed. */
  anchor: string | null;
  messages: StoredMessage[];
  /** There are no more messages. */
  end: boolean;
};

type Found = Promise<StoredMessage | undefined>;

export type Store = Awaited<ReturnType<typeof createStore>>;

export const BODY_SIZE_HEADER = 'Svc-Body-Size';
const ANSWER_WITHIN_MS = 3000;
const CHANGE_WITHIN_MS = 10_000;
/** A silent replica still gets its share of the reads. On a retry another one may answer. */
const DIRECT_WITHIN_MS = 1000;
const DIRECT_TRIES = 2;
const PAGE_WITHIN_MS = 2000;
const PAGE_BYTES = 2 * 1024 * 1024;
const PAGE_MESSAGES = 256;
const NOT_FOUND = 404;

export async function createStore(connection: Connection) {
  const { nats } = connection;
  // Without the account's figures: the login of a relay may not read them.
  const managerWith = (timeout: number) => jetstreamManager(nats, { timeout, checkAPI: false });
  const leader = await managerWith(ANSWER_WITHIN_MS);
  const direct = await managerWith(DIRECT_WITHIN_MS);
  const changes = await managerWith(CHANGE_WITHIN_MS);

  /** Without a connection the library would keep the request until it is too late to answer. */
  async function read<T>(what: string, work: () => Promise<T>): Promise<T> {
    if (!connection.state().connected) throw new EngineUnavailable('no connection to NATS');
    try {
      return await work();
    } catch (error) {
      // A refusal by JetStream is an answer, so the connection works.
      if (!(error instanceof JetStreamApiError)) void connection.checkAlive();
      const why = messageOf(error);
      throw new EngineUnavailable(`${what}: ${why}`, { cause: error });
    }
  }

  async function get(stream: string, query: Parameters<typeof direct.direct.getMessage>[1]): Found {
    for (let tries = 1; ; tries += 1) {
      try {
        return found(
          await read(`${stream} could not be read`, () => direct.direct.getMessage(stream, query)),
        );
      } catch (error) {
        if (tries === DIRECT_TRIES || !connection.state().connected) throw error;
      }
    }
  }

  /** In one request. The library reports when a batch ends or fails, and the timer detects a stall. */
  async function batch(stream: string, query: { seq: number; next_by_subj: string; batch: number }) {
    const messages: StoredMsg[] = [];
    const over = Promise.withResolvers<void>();
    const callback = (done: { err?: Error } | null, message: StoredMsg): void => {
      timer.refresh();
      const code = done?.err !== undefined && 'code' in done.err ? done.err.code : undefined;
      if (done === null) messages.push(message);
      else if (done.err === undefined || code === NOT_FOUND) over.resolve();
      else over.reject(done.err);
    };
    // Always stopped, which also removes its subscription.
    const batched = await direct.direct.getBatch(stream, { ...query, max_bytes: PAGE_BYTES, callback });
    const timer = setTimeout(() => over.reject(new Error('no answer')), PAGE_WITHIN_MS);
    try {
      await over.promise;
      return messages;
    } finally {
      clearTimeout(timer);
      batched.stop();
    }
  }

  /** How many are kept after a sequence. */
  async function count(stream: string, subject: string, after: number): Promise<number> {
    const query = { seq: after + 1, next_by_subj: subject, batch: 1 };
    const [first] = await read(`${stream} could not be counted`, () => batch(stream, query));
    return first === undefined ? 0 : first.pending + 1;
  }

  const leaderRead = async (
    stream: string,
    query: { last_by_subj: string } | { seq: number; next_by_subj: string },
  ) => found(await read(`${stream} could not be read`, () => leader.streams.getMessage(stream, query)));

  return {
    /** Undefined if there is no such stream. */
    info(stream: string, subjectsFilter?: string): Promise<StreamInfo | undefined> {
      const filter = subjectsFilter === undefined ? undefined : { subjects_filter: subjectsFilter };
      return read(`${stream} does not answer`, () =>
        leader.streams.info(stream, filter).catch((error: unknown) => {
          const isMissing =
            error instanceof JetStreamApiError && error.code === JetStreamApiCodes.StreamNotFound;
          if (!isMissing) throw error;
          return undefined;
        }),
      );
    },
    /** From the leader: the first of a subject at or after a sequence, and the last. */
    leaderNext: (stream: string, subject: string, from: number): Found =>
      leaderRead(stream, { seq: Math.max(1, from), next_by_subj: subject }),
    leaderLast: (stream: string, subject: string): Found => leaderRead(stream, { last_by_subj: subject }),
    /** From any replica. */
    next: (stream: string, subject: string, from: number): Found =>
      get(stream, { seq: Math.max(1, from), next_by_subj: subject }),
    last: (stream: string, subject: string): Found => get(stream, { last_by_subj: subject }),
    since(stream: string, subject: string, time: number): Found {
      const query = { start_time: new Date(time).toISOString(), next_by_subj: subject };
      return get(stream, query);
    },
    bySequence: (stream: string, seq: number): Found => get(stream, { seq }),
    async page(stream: string, subject: string, after: number): Promise<Page> {
      const query = { seq: Math.max(1, after), next_by_subj: subject, batch: PAGE_MESSAGES };
      const batched = await read(`${stream} could not be read`, () => batch(stream, query));
      const messages = batched.map(stored);
      const anchor = messages[0]?.seq === after ? (messages.shift()?.check ?? null) : null;
      return { anchor, messages, end: (batched.at(-1)?.pending ?? 0) === 0 };
    },
    count,
    /** The size of this many messages, starting with the oldest, including bodies in parts. */
    async weigh(stream: string, subject: string, messages: number): Promise<number> {
      if (messages === 0) return 0;
      return read(`the size of ${stream} could not be read`, async () => {
        const options = { filter_subjects: subject, headers_only: true };
        const consumer = await jetstream(nats, { timeout: ANSWER_WITHIN_MS }).consumers.get(stream, options);
        let bytes = 0;
        const fetched = await consumer.fetch({ max_messages: messages, expires: ANSWER_WITHIN_MS });
        for await (const { headers, info } of fetched) {
          bytes += Number(headers?.get('Nats-Msg-Size')) + Number(headers?.get(BODY_SIZE_HEADER));
          // There are fewer than counted if some were removed since.
          if (info.pending === 0) break;
        }
        await consumer.delete();
        return bytes;
      });
    },
    /** Removes the messages of a subject, all or those below a sequence. */
    async purge(stream: string, subject: string, below?: number): Promise<void> {
      const options = below === undefined ? { filter: subject } : { filter: subject, seq: below };
      await read(`${stream} could not be purged`, () => changes.streams.purge(stream, options));
    },
    /** For `provision`, which needs more. */
    manager: changes,
  };
}

const found = (message: StoredMsg | null): StoredMessage | undefined =>
  message === null ? undefined : stored(message);

function stored({ seq, subject, data, header, time }: StoredMsg): StoredMessage {
  return { seq, subject, data, check: checkOf(header.get('Nats-Msg-Id')), at: time.getTime() };
}
