// What the engine asks of JetStream, publishing apart. Direct reads are answered by any replica, which may be a little
// behind, never out of order: it may say "nothing yet" of what the leader has. The others are answered by the leader.

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
  /** The message at the sequence itself, by its check, when it is still there: then nothing after it was trimmed. */
  anchor: string | null;
  messages: StoredMessage[];
  /** There was nothing more. */
  end: boolean;
};

type Found = Promise<StoredMessage | undefined>;

export type Store = Awaited<ReturnType<typeof createStore>>;

export const BODY_SIZE_HEADER = 'Svc-Body-Size';
const ANSWER_WITHIN_MS = 3000;
const CHANGE_WITHIN_MS = 10_000;
/** A replica that has fallen silent gets its share of the reads. Asked again, another one may answer. */
const DIRECT_WITHIN_MS = 1000;
const DIRECT_TRIES = 2;
const PAGE_WITHIN_MS = 2000;
const PAGE_BYTES = 2 * 1024 * 1024;
const PAGE_MESSAGES = 256;
const NOT_FOUND = 404;

export async function createStore(connection: Connection) {
  const { nats } = connection;
  // Without asking for the account's figures: the login of a relay may not.
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
      // What JetStream itself refuses was answered.
      if (!(error instanceof JetStreamApiError)) void connection.doubt();
      const why = messageOf(error);
      throw new EngineUnavailable(`${what}: ${why}`, { cause: error });
    }
  }

  async function get(stream: string, query: Parameters<typeof direct.direct.getMessage>[1]): Found {
    for (let tries = 1; ; tries += 1) {
      try {
        return found(await read(`${stream} was not read`, () => direct.direct.getMessage(stream, query)));
      } catch (error) {
        if (tries === DIRECT_TRIES || !connection.state().connected) throw error;
      }
    }
  }

  /** In one request. The library says when a batch ends or fails, and the timer that it stalls. */
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
    // Stopped in any case: its subscription goes with it.
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
    const [first] = await read(`${stream} was not counted`, () => batch(stream, query));
    return first === undefined ? 0 : first.pending + 1;
  }

  const leaderRead = async (
    stream: string,
    query: { last_by_subj: string } | { seq: number; next_by_subj: string },
  ) => found(await read(`${stream} was not read`, () => leader.streams.getMessage(stream, query)));

  return {
    /** Undefined when there is no such stream. */
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
    /** By the leader: the first of a subject at or after a sequence, and the last. */
    leaderNext: (stream: string, subject: string, from: number): Found =>
      leaderRead(stream, { seq: Math.max(1, from), next_by_subj: subject }),
    leaderLast: (stream: string, subject: string): Found => leaderRead(stream, { last_by_subj: subject }),
    /** By any replica. */
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
      const batched = await read(`${stream} was not read`, () => batch(stream, query));
      const messages = batched.map(stored);
      const anchor = messages[0]?.seq === after ? (messages.shift()?.check ?? null) : null;
      return { anchor, messages, end: (batched.at(-1)?.pending ?? 0) === 0 };
    },
    count,
    /** What so many messages weigh, from the oldest that is kept, bodies in parts included. */
    async weigh(stream: string, subject: string, messages: number): Promise<number> {
      if (messages === 0) return 0;
      return read(`${stream} was not weighed`, async () => {
        const options = { filter_subjects: subject, headers_only: true };
        const consumer = await jetstream(nats, { timeout: ANSWER_WITHIN_MS }).consumers.get(stream, options);
        let bytes = 0;
        // Fewer than were counted, when some have aged since.
        for await (const { headers } of await consumer.fetch({
          max_messages: messages,
          expires: ANSWER_WITHIN_MS,
        }))
          bytes += Number(headers?.get('Nats-Msg-Size')) + Number(headers?.get(BODY_SIZE_HEADER));
        await consumer.delete();
        return bytes;
      });
    },
    /** Removes the messages of a subject, all or those below a sequence. */
    async purge(stream: string, subject: string, below?: number): Promise<void> {
      const options = below === undefined ? { filter: subject } : { filter: subject, seq: below };
      await read(`${stream} was not purged`, () => changes.streams.purge(stream, options));
    },
    /** For `provision`, which asks for more. */
    manager: changes,
  };
}

const found = (message: StoredMsg | null): StoredMessage | undefined =>
  message === null ? undefined : stored(message);

function stored({ seq, subject, data, header, time }: StoredMsg): StoredMessage {
  return { seq, subject, data, check: checkOf(header.get('Nats-Msg-Id')), at: time.getTime() };
}
