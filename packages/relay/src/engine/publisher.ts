// Publishes with acknowledgement. A message is sent again with the same id until JetStream acknowledges it
// or the deadline passes:
// - no answer within a second, as when the leader died with the message: sent again;
// - "no responders" or an answer 5xx, as during an election: sent again after a short pause;
// - connection lost: sent again as soon as it is back;
// - a new leader was elected: sent again at once;
// - "duplicate message id is in process": an earlier copy waits for the quorum. Its acknowledgement is waited for,
//   and asked for again with growing pauses, should it have been lost.
// The same id makes it safe: the stream stores it once.
import type { Msg } from '@nats-io/nats-core';
import type { Connection } from './connection.ts';
import { EngineUnavailable } from './errors.ts';
import { headerLine, type Payload } from './outgoing.ts';
import type { ReplyInbox } from './reply-inbox.ts';

export type Acknowledgement = { seq: number; duplicate: boolean };

/** JetStream took the message and said no: it will say so again. */
export class PublishRefused extends Error {
  readonly code: number;
  constructor(message: string, code: number) {
    super(message);
    this.code = code;
  }
}

type PublishRequest = {
  subject: string;
  payload: Payload;
  messageId: string;
  deadlineMs: number;
  /** The subject's last message must have this sequence (0: there is none). */
  expectedLast?: number;
  /** The size of the body that lies in parts. */
  bodySize?: number;
};

export type Publisher = {
  publish: (request: PublishRequest) => Promise<Acknowledgement>;
  /** Sends again what was sent to this subject and waits: something has changed for the better. */
  sendAgain: (subjectPrefix: string) => void;
  underWay: () => { messages: number; bytes: number };
};

export const BODY_SIZE_HEADER = 'Svc-Body-Size';
/** What waits for acknowledgement in one process, at most. Beyond it a publish fails at once. */
const MAX_BYTES_UNDER_WAY = 256 * 1024 * 1024;
const ANSWER_WITHIN_MS = 1000;
const PAUSE_MS = 100;
const LONGEST_PAUSE_MS = 400;
const IN_PROCESS = 10158;

export function createPublisher(connection: Connection, inbox: ReplyInbox): Publisher {
  const underWay = new Map<string, { subject: string; again: (now: number) => void }>();
  let bytes = 0;

  connection.onChange((connected) => {
    if (connected) sendAgain('');
  });

  function sendAgain(subjectPrefix: string): void {
    const now = performance.now();
    for (const { subject, again } of underWay.values()) if (subject.startsWith(subjectPrefix)) again(now);
  }

  function publish(request: PublishRequest): Promise<Acknowledgement> {
    const { subject, payload, deadlineMs } = request;
    if (bytes + payload.length > MAX_BYTES_UNDER_WAY)
      return Promise.reject(new EngineUnavailable('too much waits to be acknowledged'));
    const headers = headersOf(request);
    return new Promise((resolve, reject) => {
      const deadline = performance.now() + deadlineMs;
      let pauses = 0;
      let asks = 0;
      let lastProblem = '';

      const waiting = { due: 0, onReply, onDue };
      const reply = inbox.wait(waiting);
      underWay.set(reply, { subject, again: attempt });
      bytes += payload.length;
      attempt(performance.now());

      function attempt(now: number): void {
        const sent = inbox.send(subject, payload, reply, headers);
        lastProblem = sent ? 'no acknowledgement' : 'no connection to NATS';
        waiting.due = Math.min(deadline, now + ANSWER_WITHIN_MS);
      }

      function onDue(now: number): void {
        if (now < deadline) return attempt(now);
        settle();
        reject(new EngineUnavailable(`not acknowledged within ${deadlineMs} ms: ${lastProblem}`));
      }

      function onReply(message: Msg): void {
        const answer = readAnswer(message);
        if (answer.seq !== undefined) {
          settle();
          return resolve({ seq: answer.seq, duplicate: answer.duplicate === true });
        }
        lastProblem = answer.problem;
        if (answer.code === IN_PROCESS) {
          asks += 1;
          waiting.due = Math.min(deadline, performance.now() + ANSWER_WITHIN_MS * 2 ** asks);
          return undefined;
        }
        if (!answer.again) {
          settle();
          return reject(new PublishRefused(answer.problem, answer.code));
        }
        const pause = Math.min(LONGEST_PAUSE_MS, PAUSE_MS * 2 ** pauses);
        pauses += 1;
        waiting.due = Math.min(deadline, performance.now() + pause);
        return undefined;
      }

      function settle(): void {
        inbox.forget(reply);
        underWay.delete(reply);
        bytes -= payload.length;
      }
    });
  }

  return { publish, sendAgain, underWay: () => ({ messages: underWay.size, bytes }) };
}

function headersOf({ messageId, expectedLast, bodySize }: PublishRequest): string {
  const id = headerLine('Nats-Msg-Id', messageId);
  if (expectedLast === undefined && bodySize === undefined) return id;
  const expected =
    expectedLast === undefined ? '' : headerLine('Nats-Expected-Last-Subject-Sequence', expectedLast);
  return id + expected + (bodySize === undefined ? '' : headerLine(BODY_SIZE_HEADER, bodySize));
}

type Answer =
  | { seq: number; duplicate?: boolean }
  | { seq?: never; problem: string; code: number; again: boolean };

function readAnswer(message: Msg): Answer {
  if (message.data.length === 0) {
    const status = message.headers?.code ?? 0;
    const problem = status === 503 ? 'no stream takes it at the moment' : `empty answer ${status}`;
    return { problem, code: status, again: true };
  }
  const answer: { seq?: number; duplicate?: boolean; error?: ApiError } = message.json();
  if (typeof answer.seq === 'number' && answer.error === undefined)
    return { seq: answer.seq, duplicate: answer.duplicate === true };
  const { code = 500, err_code = 0, description = 'unknown' } = answer.error ?? {};
  return { problem: description, code: err_code, again: code >= 500 };
}

type ApiError = { code?: number; err_code?: number; description?: string };
