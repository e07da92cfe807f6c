// The sender and the reader of the conformance kit, on node:http and node:https. Every wait is bounded: by the time for
// one answer or frame, and by the time for one row. Any fault of a server results in `Unmet`.
import { type ClientRequest, type IncomingMessage, request as plainRequest } from 'node:http';
import { request as secureRequest } from 'node:https';
import { setTimeout as sleep } from 'node:timers/promises';
import { createParser } from 'eventsource-parser';
import type { Body } from './bodies.ts';

/** The server violates the protocol; the message is the detail of the row. */
export class Unmet extends Error {}

export function check(holds: boolean, detail: string): asserts holds {
  if (!holds) throw new Unmet(detail);
}

export type Answer = {
  /** 0: the connection ended without an answer; `body` has the reason. */
  status: number;
  header: (name: string) => string | undefined;
  body: string;
};

export type Outgoing = Partial<Pick<Body, 'headers' | 'sending'>> & {
  method?: string;
  body?: Buffer;
  /** Sends only this many bytes of the body, then cuts the connection. */
  cutAfter?: number;
};

export type Frame = { event?: string | undefined; id?: string | undefined; data: string };

export type Reader = Answer & {
  frames: readonly Frame[];
  /** The last `retry:` of the stream, in milliseconds. */
  retryMs: () => number | undefined;
  ended: () => boolean;
  /** Waits until something is found in the frames. Unmet if the time is over or the stream has ended. */
  until: <T>(
    find: (frames: readonly Frame[]) => T | undefined,
    what: string,
    withinMs?: number,
  ) => Promise<T>;
  pause: () => void;
  resume: () => void;
  close: () => void;
};

export type Wire = ReturnType<typeof createWire>;

const MOST_ANSWER_BYTES = 256 * 1024;
/** How much longer than one wait a row may take. */
const WAITS_PER_ROW = 6;

export function createWire(waitMs: number) {
  const readers = new Set<Reader>();
  let rowEnds = 0;
  const timeLeftMs = (most = waitMs): number => Math.max(1, Math.min(most, rowEnds - performance.now()));

  /** Sends again, as a sender should, if the server asks to retry later. */
  async function send(url: string, outgoing: Outgoing = {}): Promise<Answer> {
    const answer = await sendOnce(url, outgoing, timeLeftMs());
    const waitSeconds = Number(answer.header('retry-after'));
    const mayRepeat = (answer.status === 429 || answer.status === 503) && waitSeconds * 1000 < timeLeftMs();
    if (!mayRepeat) return answer;
    await sleep(waitSeconds * 1000);
    return send(url, outgoing);
  }

  /** Any answer: one that is not a stream has a body and no frames. */
  function open(url: string, headers: Record<string, string> = {}): Promise<Reader> {
    return new Promise((resolve, reject) => {
      const outgoing = dial(url, 'GET', { accept: 'text/event-stream', ...headers });
      const enough = setTimeout(
        () => outgoing.destroy(new Error('no answer to a request for a stream')),
        timeLeftMs(),
      );
      outgoing.on('error', (error) => {
        clearTimeout(enough);
        reject(new Unmet(wordsOf(error)));
      });
      outgoing.on('response', (response) => {
        clearTimeout(enough);
        const reader = readerOf(outgoing, response);
        readers.add(reader);
        if (isStream(response)) resolve(reader);
        else textOf(response).then((body) => resolve({ ...reader, body }), reject);
      });
      outgoing.end();
    });
  }

  function readerOf(outgoing: ClientRequest, response: IncomingMessage): Reader {
    const frames: Frame[] = [];
    const waiting = new Set<() => void>();
    const decoder = new TextDecoder();
    let retryMs: number | undefined;
    let ended = false;
    const wake = (): void => {
      for (const checkFrames of waiting) checkFrames();
    };
    const end = (): void => {
      ended = true;
      wake();
    };
    if (isStream(response)) {
      const parser = createParser({
        onEvent: (frame) => void frames.push(frame),
        onRetry: (value) => (retryMs = value),
      });
      response.on('data', (part: Buffer) => {
        const before = frames.length;
        parser.feed(decoder.decode(part, { stream: true }));
        if (frames.length > before) wake();
      });
    }
    response.on('close', end);
    response.on('error', end);
    return {
      ...headOf(response),
      body: '',
      frames,
      retryMs: () => retryMs,
      ended: () => ended,
      until: (find, what, withinMs) =>
        new Promise((resolve, reject) => {
          const checkFrames = (): void => {
            const found = find(frames);
            if (found !== undefined) settle(() => resolve(found));
            else if (ended) settle(() => reject(new Unmet(`the stream ended before ${what}`)));
          };
          const began = performance.now();
          const enough = setTimeout(() => {
            const seconds = ((performance.now() - began) / 1000).toFixed(1);
            settle(() => reject(new Unmet(`waited ${seconds} s for ${what}`)));
          }, timeLeftMs(withinMs));
          const settle = (how: () => void): void => {
            clearTimeout(enough);
            waiting.delete(checkFrames);
            how();
          };
          waiting.add(checkFrames);
          checkFrames();
        }),
      pause: () => void response.pause(),
      resume: () => void response.resume(),
      close: () => void outgoing.destroy(),
    };
  }

  return {
    send,
    /** Without a retry, whatever the answer. */
    sendOnce: (url: string, outgoing: Outgoing = {}) => sendOnce(url, outgoing, timeLeftMs()),
    open,
    timeLeftMs,
    beginRow: (longestMs = WAITS_PER_ROW * waitMs): void => {
      rowEnds = performance.now() + longestMs;
    },
    closeReaders(except?: Reader): void {
      for (const reader of readers) {
        if (reader === except) continue;
        reader.close();
        readers.delete(reader);
      }
    },
  };
}

function sendOnce(url: string, outgoing: Outgoing, withinMs: number): Promise<Answer> {
  const { method = 'POST', headers = {}, body = Buffer.alloc(0), sending = 'whole', cutAfter } = outgoing;
  return new Promise((resolve) => {
    const request = dial(url, method, {
      ...(sending === 'chunked'
        ? { 'transfer-encoding': 'chunked' }
        : { 'content-length': String(body.length) }),
      ...(sending === 'awaited' && { expect: '100-continue' }),
      ...headers,
    });
    const settle = (answer: Answer): void => {
      clearTimeout(enough);
      resolve(answer);
      request.destroy();
    };
    const enough = setTimeout(() => settle(noAnswer('no answer in time')), withinMs);
    request.on('error', (error) => settle(noAnswer(wordsOf(error))));
    request.on('response', (response) => {
      textOf(response).then(
        (text) => settle({ ...headOf(response), body: text }),
        (error: unknown) => settle(noAnswer(wordsOf(error))),
      );
    });
    if (cutAfter !== undefined)
      request.write(body.subarray(0, cutAfter), () => settle(noAnswer('cut on purpose')));
    else if (sending === 'awaited') request.on('continue', () => request.end(body)).flushHeaders();
    else if (sending === 'slowly') void inPieces(request, body);
    else request.end(body);
  });
}

/** On a new connection: how a kept-alive one reacts when its server closes it is not part of the protocol. */
function dial(url: string, method: string, headers: Record<string, string>): ClientRequest {
  const request = url.startsWith('https:') ? secureRequest : plainRequest;
  return request(url, { method, headers, agent: false });
}

async function inPieces(request: ClientRequest, body: Buffer): Promise<void> {
  for (const byte of body) {
    if (request.destroyed) return;
    await new Promise((sent) => request.write(Buffer.from([byte]), sent));
  }
  request.end();
}

async function textOf(response: IncomingMessage): Promise<string> {
  const parts: Buffer[] = [];
  let length = 0;
  for await (const part of response as AsyncIterable<Buffer>) {
    parts.push(part);
    length += part.length;
    if (length > MOST_ANSWER_BYTES) break;
  }
  return Buffer.concat(parts).toString();
}

function isStream({ statusCode, headers }: IncomingMessage): boolean {
  return statusCode === 200 && /^text\/event-stream\b/i.test(headers['content-type'] ?? '');
}

function headOf({ statusCode, headers }: IncomingMessage): Pick<Answer, 'status' | 'header'> {
  return {
    status: statusCode ?? 0,
    header(name) {
      const value = headers[name];
      return typeof value === 'string' ? value : value?.[0];
    },
  };
}

function noAnswer(why: string): Answer {
  return { status: 0, header: () => undefined, body: why };
}

function wordsOf(error: unknown): string {
  return error instanceof Error ? ('code' in error ? String(error.code) : error.message) : String(error);
}
