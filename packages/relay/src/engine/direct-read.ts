// Reads of single messages and of pages of a subject, by direct get: any replica answers, no consumer is made.
// A replica may be a little behind, never out of order: it may say "nothing yet" for what the leader has.
import type { Msg } from '@nats-io/nats-core';
import { checkOf } from '../protocol/position.ts';
import { EngineUnavailable } from './errors.ts';
import type { Page, StoredMessage } from './page.ts';
import type { ReplyInbox } from './reply-inbox.ts';

export type DirectReads = {
  bySequence: (stream: string, seq: number) => Promise<StoredMessage | undefined>;
  last: (stream: string, subject: string) => Promise<StoredMessage | undefined>;
  /** The first at or after a sequence. */
  next: (stream: string, subject: string, from: number) => Promise<StoredMessage | undefined>;
  page: (stream: string, subject: string, after: number) => Promise<Page>;
};

const ANSWER_WITHIN_MS = 2000;
/** A replica that has fallen silent gets its share of the reads. Asked again, another one may answer. Not so the
    large parts of bodies: on a busy machine that would be much for nothing. */
const ASK_AGAIN_MS = 700;
const PAGE_BYTES = 2 * 1024 * 1024;
const PAGE_MESSAGES = 256;
const NOT_FOUND = 404;
const END_OF_BATCH = 204;

export function createDirectReads(inbox: ReplyInbox): DirectReads {
  async function get(
    stream: string,
    query: object,
    againMs = ASK_AGAIN_MS,
  ): Promise<StoredMessage | undefined> {
    const subject = `$JS.API.DIRECT.GET.${stream}`;
    const message = await inbox.request(subject, JSON.stringify(query), ANSWER_WITHIN_MS, againMs);
    if (message === undefined) throw new EngineUnavailable(`${stream} did not answer a read`);
    return storedMessage(message, stream);
  }

  const next: DirectReads['next'] = (stream, subject, from) =>
    get(stream, { seq: Math.max(1, from), next_by_subj: subject });

  function page(stream: string, subject: string, after: number): Promise<Page> {
    const query = {
      seq: Math.max(1, after),
      next_by_subj: subject,
      batch: PAGE_MESSAGES,
      max_bytes: PAGE_BYTES,
    };
    return new Promise((resolve, reject) => {
      const read: Page = { anchor: null, messages: [], end: false };
      const fail = (words: string): void => {
        inbox.forget(reply);
        reject(new EngineUnavailable(words));
      };
      const finish = (end: boolean): void => {
        inbox.forget(reply);
        resolve({ ...read, end });
      };
      const waiting = {
        due: performance.now() + ANSWER_WITHIN_MS,
        onDue: () => fail(`${stream} did not answer a read`),
        onReply(message: Msg) {
          waiting.due = performance.now() + ANSWER_WITHIN_MS;
          const code = message.headers?.code ?? 0;
          if (code === END_OF_BATCH) return finish(Number(message.headers?.get('Nats-Num-Pending')) === 0);
          if (code === NOT_FOUND) return finish(true);
          if (code !== 0) return fail(`${stream} refused a read: ${message.headers?.status}`);
          const stored = storedMessage(message, stream);
          if (stored === undefined) return finish(true);
          if (stored.seq === after) read.anchor = stored.check;
          else read.messages.push(stored);
        },
      };
      const reply = inbox.wait(waiting);
      if (!inbox.send(`$JS.API.DIRECT.GET.${stream}`, Buffer.from(JSON.stringify(query)), reply))
        fail('no connection to NATS');
    });
  }

  return {
    bySequence: (stream, seq) => get(stream, { seq }, ANSWER_WITHIN_MS),
    last: (stream, subject) => get(stream, { last_by_subj: subject }),
    next,
    page,
  };
}

/** Undefined when there is no such message. */
function storedMessage(message: Msg, stream: string): StoredMessage | undefined {
  const { headers } = message;
  const code = headers?.code ?? 0;
  if (code === NOT_FOUND) return undefined;
  if (code !== 0) throw new EngineUnavailable(`${stream} cannot be read: ${headers?.status}`);
  const seq = Number(headers?.get('Nats-Sequence'));
  const check = checkOf(headers?.get('Nats-Msg-Id') ?? '');
  return { seq, subject: headers?.get('Nats-Subject') ?? '', data: message.data, check };
}
