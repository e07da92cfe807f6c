// The sender and the reader of the conformance kit, on node:http and node:https. Every wait is bounded: by the time for
// one answer or frame, and by the time for one row. Any fault of a server results in `Unmet`.
import { type ClientRequest, type IncomingMessage, request as plainRequest } from 'node:http';
import { request as secureRequest } from 'node:https';
import { setTimeout as sleep } from 'node:timers/promises';
import { gzipSync } from 'node:zlib';
import { createParser } from 'eventsource-parser';

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

// The 40 bodies of the conformance kit: JSON whose signature no longer matches after it was parsed and serialised again,
// bodies that are not JSON, and ways of sending that relays get wrong. Each is sent exactly as written here.

export type Body = {
  name: string;
  body: Buffer;
  headers?: Record<string, string>;
  /** How it is sent; `whole` with its length. */
  sending?: 'whole' | 'chunked' | 'awaited' | 'slowly';
};

const text = (name: string, body: string, more: Partial<Body> = {}): Body => ({
  name,
  body: Buffer.from(body),
  ...more,
});
const MIB = 1024 * 1024;
const byteOrderMark = '\uFEFF';

export const bodies: readonly Body[] = [
  text('compact', '{"a":1,"b":[true,null]}'),
  text('raw Unicode', '{"a":"é 漢 😀"}'),
  text('escaped Unicode, lower case', '{"a":"\\u00e9\\u001b"}'),
  text('escaped Unicode, upper case', '{"a":"\\u00E9\\u001B"}'),
  text('escaped surrogates', '{"a":"\\ud83d\\ude00"}'),
  text('a lone surrogate', '{"a":"\\ud83d"}'),
  text('escaped slash', '{"a":"<\\/script>"}'),
  text('escaped angle', '{"a":"\\u003cb\\u003e"}'),
  text('escaped line separators', '{"a":"\\u2028\\u2029"}'),
  text('raw line separators', '{"a":"\u2028\u2029"}'),
  text('1.0', '{"a":1.0}'),
  text('1e3', '{"a":1e3,"b":1E+3}'),
  text('minus zero', '{"a":-0}'),
  text('integers over 2^53', '{"a":9007199254740993,"b":12345678901234567890}'),
  text('many digits', '{"a":0.1000000000000000055511151231257827}'),
  text('pretty-printed', '{\n  "a": 1,\n  "b": [\n    2\n  ]\n}'),
  text('pretty-printed with CRLF', '{\r\n\t"a": 1\r\n}\r\n'),
  text('a line feed at the end', '{"a":1}\n'),
  text('spaces after separators', '{"a": 1, "b": 2}'),
  text('integer-like keys', '{"2":"b","1":"a","x":0}'),
  text('duplicate keys', '{"a":1,"a":2}'),
  text('a byte order mark', `${byteOrderMark}{"a":1}`),
  text('__proto__', '{"__proto__":{"x":1},"constructor":{"prototype":{"y":2}}}'),
  text('an array', '[1,{"a":2}]'),
  text('a bare string', '"hello"'),
  text('nothing', ''),
  text('a form', 'payload=%7B%22a%22%3A1%7D&x=+y', {
    headers: { 'content-type': 'application/x-www-form-urlencoded' },
  }),
  text('JSON of another type', '{"a":1}', { headers: { 'content-type': 'application/cloudevents+json' } }),
  text('plain text that looks like a stream', 'data: x\n\nid: 7\n\nevent: gap\r\r', {
    headers: { 'content-type': 'text/plain' },
  }),
  { name: 'bytes that are no text', body: Buffer.from(Array.from({ length: 256 }, (_, byte) => byte)) },
  { name: 'gzip', body: gzipSync('{"a":1}'), headers: { 'content-encoding': 'gzip' } },
  text('chunked', '{"chunked":true}', { sending: 'chunked' }),
  text('in small pieces', '{"slowly":"in pieces"}', { sending: 'slowly' }),
  text('Expect: 100-continue', '{"awaited":true}', { sending: 'awaited' }),
  text('a delivery id that is no UUID', '{"a":1}', { headers: { 'x-github-delivery': 'build/42:retry' } }),
  text('a header named body', '{"a":1}', {
    headers: { body: 'no', query: 'no', timestamp: '1', bodyb: 'no' },
  }),
  text('Keep-Alive', '{"a":1}', { headers: { 'keep-alive': 'timeout=5' } }),
  { name: '2 MiB', body: Buffer.from(JSON.stringify({ large: 'é'.repeat(MIB) })) },
  { name: '24 MiB', body: Buffer.from(JSON.stringify({ large: 'x'.repeat(24 * MIB) })) },
  { name: '24 MiB, chunked', body: Buffer.alloc(24 * MIB, 0xc3), sending: 'chunked' },
];
