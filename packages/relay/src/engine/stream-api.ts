// JetStream's API as far as the engine asks it: JSON requests that the leader of a stream answers.
import type { StreamConfig } from '@nats-io/jetstream';
import { checkOf } from '../protocol/position.ts';
import { EngineUnavailable } from './errors.ts';
import type { StoredMessage } from './page.ts';
import type { ReplyInbox } from './reply-inbox.ts';

type ApiFailure = { code: number; errCode: number; description: string };
export type ApiAnswer<T> = { ok: true; value: T } | { ok: false; failure: ApiFailure };

export type StreamInfo = {
  config: StreamConfig;
  created: string;
  state: {
    messages: number;
    bytes: number;
    first_seq: number;
    last_seq: number;
    subjects?: Record<string, number>;
  };
  cluster?: { leader?: string; replicas?: { name: string; current: boolean; offline?: boolean }[] };
};

type LeaderMessage = StoredMessage & {
  data: Buffer;
  /** When it was stored, in milliseconds. */
  at: number;
};

export type StreamApi = {
  ask: <T>(subject: string, request: unknown, timeoutMs?: number) => Promise<ApiAnswer<T>>;
  /** Undefined when there is no such stream. */
  info: (stream: string, subjectsFilter?: string) => Promise<StreamInfo | undefined>;
  /** A read that only the leader answers: never behind. Undefined when there is no such message. */
  read: (stream: string, which: MessageQuery) => Promise<LeaderMessage | undefined>;
  /** Removes messages of a subject, all or those below a sequence. */
  purge: (stream: string, subject: string, below?: number) => Promise<void>;
};

type MessageQuery = { last_by_subj: string } | { seq: number; next_by_subj: string };

const ANSWER_WITHIN_MS = 3000;
const PURGE_WITHIN_MS = 10_000;
const STREAM_NOT_FOUND = 10059;
const NO_MESSAGE_FOUND = 10037;

export function createStreamApi(inbox: ReplyInbox): StreamApi {
  async function ask<T>(
    subject: string,
    request: unknown,
    timeoutMs = ANSWER_WITHIN_MS,
  ): Promise<ApiAnswer<T>> {
    const payload = request === undefined ? '' : JSON.stringify(request);
    const message = await inbox.request(`$JS.API.${subject}`, payload, timeoutMs);
    if (message === undefined) throw new EngineUnavailable(`JetStream did not answer ${subject}`);
    if (message.data.length === 0) throw new EngineUnavailable(`JetStream is not there to answer ${subject}`);
    const answer: { error?: { code: number; err_code?: number; description?: string } } = message.json();
    if (answer.error === undefined) return { ok: true, value: answer as T };
    const { code, err_code = 0, description = 'unknown' } = answer.error;
    return { ok: false, failure: { code, errCode: err_code, description } };
  }

  return {
    ask,
    async info(stream, subjectsFilter) {
      const request = subjectsFilter === undefined ? undefined : { subjects_filter: subjectsFilter };
      const answer = await ask<StreamInfo>(`STREAM.INFO.${stream}`, request);
      if (answer.ok) return answer.value;
      if (answer.failure.errCode === STREAM_NOT_FOUND) return undefined;
      throw unexpected(`STREAM.INFO.${stream}`, answer.failure);
    },
    async read(stream, which) {
      type Answer = { message: { subject: string; seq: number; data?: string; hdrs?: string; time: string } };
      const answer = await ask<Answer>(`STREAM.MSG.GET.${stream}`, which);
      if (answer.ok) {
        const { subject, seq, data = '', hdrs = '', time } = answer.value.message;
        const id = /^Nats-Msg-Id: ?(.*)$/m.exec(Buffer.from(hdrs, 'base64').toString())?.[1]?.trim() ?? '';
        return { subject, seq, data: Buffer.from(data, 'base64'), check: checkOf(id), at: Date.parse(time) };
      }
      if (answer.failure.errCode === NO_MESSAGE_FOUND) return undefined;
      throw unexpected(`STREAM.MSG.GET.${stream}`, answer.failure);
    },
    async purge(stream, subject, below) {
      const request = { filter: subject, ...(below !== undefined && { seq: below }) };
      const answer = await ask(`STREAM.PURGE.${stream}`, request, PURGE_WITHIN_MS);
      if (!answer.ok) throw unexpected(`STREAM.PURGE.${stream}`, answer.failure);
    },
  };
}

/** A failure that is not the one to be expected. */
function unexpected(subject: string, { description }: ApiFailure): EngineUnavailable {
  return new EngineUnavailable(`${subject}: ${description}`);
}
