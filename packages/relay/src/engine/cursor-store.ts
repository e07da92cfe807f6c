// Named cursors: how far a subscriber of a channel has come, kept by the server. One message for each, the
// newest is the value; one that is not written for 30 days goes.
import type { DirectReads } from './direct-read.ts';
import type { Position, SavedCursor } from './engine.ts';
import { createGate } from './gate.ts';
import type { Names } from './names.ts';
import type { Publisher } from './publisher.ts';
import type { StreamApi } from './stream-api.ts';

export type CursorStore = {
  save: (channelId: string, subscriber: string, position: Position) => Promise<void>;
  find: (channelId: string, subscriber: string) => Promise<SavedCursor | undefined>;
  all: (channelId: string) => Promise<SavedCursor[]>;
};

const SAVE_WITHIN_MS = 8000;
/** Of one channel; the others are not told. */
const MAX_TOLD = 1000;
const READS_AT_ONCE = 32;

export function createCursorStore(
  {
    publisher,
    reads,
    api,
    names,
  }: { publisher: Publisher; reads: DirectReads; api: StreamApi; names: Names },
  now: () => number = Date.now,
): CursorStore {
  const stream = names.cursorStream;

  return {
    async save(channelId, subscriber, position) {
      const at = now();
      const { epoch, seq, check } = position;
      const token = tokenOf(subscriber);
      await publisher.publish({
        subject: names.cursor(channelId, token),
        payload: Buffer.from(JSON.stringify({ subscriber, epoch, seq, check, at })),
        messageId: `cursor:${channelId}:${token}:${epoch}.${seq}:${at}`,
        deadlineMs: SAVE_WITHIN_MS,
      });
    },
    find: (channelId, subscriber) => read(names.cursor(channelId, tokenOf(subscriber))),
    async all(channelId) {
      const info = await api.info(stream, names.cursor(channelId, '*'));
      const subjects = Object.keys(info?.state.subjects ?? {}).slice(0, MAX_TOLD);
      const gate = createGate(READS_AT_ONCE);
      const found = await Promise.all(subjects.map((subject) => gate(() => read(subject))));
      return found.filter((cursor) => cursor !== undefined);
    },
  };

  /** Of the leader, when the replica that was asked does not have it yet. */
  async function read(subject: string): Promise<SavedCursor | undefined> {
    const message =
      (await reads.last(stream, subject)) ?? (await api.read(stream, { last_by_subj: subject }));
    return message === undefined ? undefined : readCursor(message.data);
  }
}

/** Any name, as one token of a subject. */
const tokenOf = (subscriber: string): string => Buffer.from(subscriber).toString('base64url');

function readCursor(data: Uint8Array): SavedCursor {
  const { subscriber, at, ...position }: Position & { subscriber: string; at: number } = JSON.parse(
    Buffer.from(data).toString(),
  );
  return { subscriber, position, at };
}
