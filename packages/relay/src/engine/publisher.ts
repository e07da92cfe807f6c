// Publishes with acknowledgement. A message is sent again with the same id until JetStream acknowledges it
// or the deadline passes:
// - no answer within a second, as when the leader died with the message: sent again;
// - "no responders" or an answer 5xx, as during an election: sent again after a short pause;
// - connection lost: sent again as soon as it is back;
// - a new leader was elected: sent again at once;
// - "duplicate message id is in process": an earlier copy waits for the quorum. It waits for that acknowledgement,
//   and sends again with growing pauses in case it was lost.
// The id makes this safe: the stream stores it once.
//
// All answers come to one subscription, so a publish costs a map entry: the library's own publish makes a promise chain
// and a timer for each, and took twice the processor time (bench/relay.ts prints both).
import { headers as createHeaders, createInbox, type Msg, type MsgHdrs } from '@nats-io/nats-core';
import type { Connection } from './connection.ts';
import { EngineUnavailable } from './engine.ts';
import { BODY_SIZE_HEADER } from './store.ts';

export type Acknowledgement = { seq: number; duplicate: boolean };

/** JetStream refused the message: it will refuse it again. */
export class PublishRefused extends Error {
  readonly code: number;
  constructor(message: string, code: number) {
    super(message);
    this.code = code;
  }
}

type PublishRequest = {
  subject: string;
  payload: Uint8Array;
  messageId: string;
  deadlineMs: number;
  /** The subject's last message must have this sequence (0: no message). */
  expectedLast?: number;
  /** The size of the body that is stored in parts. */
  bodySize?: number;
  /** Removed after this time. */
  ttlSeconds?: number;
};

export type Publisher = {
  publish: (request: PublishRequest) => Promise<Acknowledgement>;
  /** Sends again what was sent to this subject and is not acknowledged: the situation may have improved. */
  sendAgain: (subjectPrefix: string) => void;
  underWay: () => number;
  close: () => void;
};

/** Space for the headers of any of our messages; the server's limit includes them. */
export const HEADERS_BYTES = 1024;
/** Most bytes that wait for acknowledgement in one process. Above it a publish fails at once. */
const MAX_BYTES_UNDER_WAY = 256 * 1024 * 1024;
const TICK_MS = 40;
const ANSWER_WITHIN_MS = 1000;
const PAUSE_MS = 100;
const LONGEST_PAUSE_MS = 400;
/** If nothing arrives for this long while an answer is expected, the connection is checked. */
const SILENT_MS = 1500;
const IN_PROCESS = 10158;

type Sent = {
  request: PublishRequest;
  headers: MsgHdrs;
  deadline: number;
  /** When it is sent again or fails. */
  due: number;
  /** How often the answer was to wait. */
  waits: number;
  problem: string;
  resolve: (acknowledgement: Acknowledgement) => void;
  reject: (error: Error) => void;
};

export function createPublisher(connection: Connection): Publisher {
  const { nats } = connection;
  const base = `${createInbox()}.`;
  const underWay = new Map<string, Sent>();
  let outgoing: string[] = [];
  let counter = 0;
  let bytes = 0;
  let lastHeard = 0;
  let timer: NodeJS.Timeout | undefined;

  nats.subscribe(`${base}*`, {
    callback(error, message) {
      lastHeard = performance.now();
      const sent = error === null ? underWay.get(message.subject) : undefined;
      if (sent !== undefined) answered(message.subject, sent, readAnswer(message));
    },
  });
  connection.onChange((connected) => {
    if (connected) sendAgain('');
  });

  function sendAgain(subjectPrefix: string): void {
    const now = performance.now();
    for (const [reply, sent] of underWay)
      if (sent.request.subject.startsWith(subjectPrefix)) send(reply, sent, now);
  }

  /** Posts arrive one by one; what is published in one turn of the event loop is sent in one write. */
  function send(reply: string, sent: Sent, now: number): void {
    sent.due = Math.min(sent.deadline, now + ANSWER_WITHIN_MS);
    sent.problem = connection.state().connected ? 'no acknowledgement' : 'no connection to NATS';
    if (outgoing.push(reply) === 1) setImmediate(sendOutgoing);
  }

  function sendOutgoing(): void {
    const replies = outgoing;
    outgoing = [];
    // Without a connection the library would buffer it without a limit; it is sent again after the reconnect.
    if (!connection.state().connected || nats.isClosed()) return;
    for (const reply of replies) {
      const sent = underWay.get(reply);
      if (sent === undefined) continue;
      const { subject, payload } = sent.request;
      // The library may have switched to a server with a lower limit, which would cut the connection.
      if (payload.length + HEADERS_BYTES > (nats.info?.max_payload ?? Number.POSITIVE_INFINITY))
        sent.problem = 'larger than this server accepts';
      else nats.publish(subject, payload, { reply, headers: sent.headers });
    }
  }

  function answered(reply: string, sent: Sent, answer: Answer): void {
    if (answer.seq !== undefined) {
      settle(reply, sent);
      return sent.resolve({ seq: answer.seq, duplicate: answer.duplicate });
    }
    sent.problem = answer.problem;
    if (!answer.again) {
      settle(reply, sent);
      return sent.reject(new PublishRefused(answer.problem, answer.code));
    }
    sent.waits += 1;
    const pause =
      answer.code === IN_PROCESS
        ? ANSWER_WITHIN_MS * 2 ** sent.waits
        : Math.min(LONGEST_PAUSE_MS, PAUSE_MS * sent.waits);
    sent.due = Math.min(sent.deadline, performance.now() + pause);
  }

  function settle(reply: string, { request }: Sent): void {
    underWay.delete(reply);
    bytes -= request.payload.length;
  }

  function tick(): void {
    const now = performance.now();
    if (now - lastHeard > SILENT_MS) void connection.checkAlive();
    for (const [reply, sent] of underWay) {
      if (sent.due > now) continue;
      if (now < sent.deadline) send(reply, sent, now);
      else {
        settle(reply, sent);
        const message = `not acknowledged within ${sent.request.deadlineMs} ms: ${sent.problem}`;
        sent.reject(new EngineUnavailable(message));
      }
    }
    if (underWay.size === 0) stopTicking();
  }

  function stopTicking(): void {
    clearInterval(timer);
    timer = undefined;
  }

  return {
    publish(request) {
      if (bytes + request.payload.length > MAX_BYTES_UNDER_WAY)
        return Promise.reject(new EngineUnavailable('too much is waiting to be acknowledged'));
      return new Promise((resolve, reject) => {
        const now = performance.now();
        if (underWay.size === 0) lastHeard = now;
        const reply = base + (counter += 1).toString(36);
        const deadline = now + request.deadlineMs;
        const headers = headersOf(request);
        const sent = { request, headers, deadline, due: 0, waits: 0, problem: '', resolve, reject };
        underWay.set(reply, sent);
        bytes += request.payload.length;
        timer ??= setInterval(tick, TICK_MS);
        send(reply, sent, now);
      });
    },
    sendAgain,
    underWay: () => underWay.size,
    close: stopTicking,
  };
}

function headersOf({ messageId, expectedLast, bodySize, ttlSeconds }: PublishRequest): MsgHdrs {
  const headers = createHeaders();
  headers.set('Nats-Msg-Id', messageId);
  if (expectedLast !== undefined) headers.set('Nats-Expected-Last-Subject-Sequence', String(expectedLast));
  if (bodySize !== undefined) headers.set(BODY_SIZE_HEADER, String(bodySize));
  if (ttlSeconds !== undefined) headers.set('Nats-TTL', `${ttlSeconds}s`);
  return headers;
}

type Answer =
  | { seq: number; duplicate: boolean }
  | { seq?: never; problem: string; code: number; again: boolean };

function readAnswer(message: Msg): Answer {
  if (message.data.length === 0) {
    const status = message.headers?.code ?? 0;
    const problem = status === 503 ? 'no stream accepts it at the moment' : `empty answer ${status}`;
    return { problem, code: status, again: true };
  }
  const answer: { seq?: number; duplicate?: boolean; error?: ApiError } = message.json();
  if (typeof answer.seq === 'number' && answer.error === undefined)
    return { seq: answer.seq, duplicate: answer.duplicate === true };
  const { code = 500, err_code = 0, description = 'unknown' } = answer.error ?? {};
  return { problem: description, code: err_code, again: code >= 500 || err_code === IN_PROCESS };
}

type ApiError = { code?: number; err_code?: number; description?: string };
