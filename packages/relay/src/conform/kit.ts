// What a row of the conformance kit works with: channels of the server under test, numbered deliveries with a unique
// tag, readers. And how rows become results.
import { randomUUID } from 'node:crypto';
import { NewRelayChannel } from '@svc/contract/relay/new-relay-channel';
import { RELAY_HEADER, relayTraits } from '@svc/contract/relay/relay-headers';
import { readRelayMessage } from '@svc/contract/relay/relay-message';
import {
  type Answer,
  check,
  createWire,
  type Frame,
  type Outgoing,
  type Reader,
  Unmet,
  type Wire,
} from './wire.ts';

/** The server does not offer this, in a way that the protocol allows. */
export class NotOffered extends Error {}

export type Row = {
  /** The number of the clause in docs/relay/protocol.md. */
  id: string;
  /** What is checked, briefly. */
  text: string;
  /** A server that does not announce the extension need not have it. */
  part: 'public' | 'extension';
  /** Returns the detail for the table; throws `Unmet` or `NotOffered`. */
  run: (kit: Kit) => Promise<string | undefined>;
};

export type Result = { row: Row; outcome: 'pass' | 'fail' | 'not offered'; detail: string };

export type Channel = {
  url: string;
  /** Null: anyone with the address can read it. */
  key: string | null;
  /** The headers of a request for reading. */
  access: Record<string, string>;
};

/** Deliveries of one row: `{"conform": "<tag>", "number": 1}` and so on. */
export type Series = {
  channel: Channel;
  tag: string;
  post: (from: number, to?: number) => Promise<string[]>;
  /** The numbers that a reader has received, in the order of the stream. */
  numbersIn: (reader: Reader) => number[];
  /** Waits until the reader has this number, and returns all numbers that it has received. */
  upTo: (reader: Reader, number: number) => Promise<number[]>;
  frameOf: (reader: Reader, number: number) => Frame | undefined;
};

export type Kit = Wire & {
  base: string;
  createKey: string | null;
  /** The first answer to `POST /new`. */
  made: Answer;
  /** A stream of the channel `main` that is open from the start. */
  quiet: Reader;
  pingSeconds: number;
  /** A channel of this name, made on the first call. */
  channel: (name: string) => Promise<Channel>;
  /** A channel with a read key; unmet if the server has none. */
  keyed: (name: string) => Promise<Channel & { key: string }>;
  makeChannel: (request: object, headers?: Record<string, string>) => Promise<Answer>;
  listen: (channel: Channel, query?: string, headers?: Record<string, string>) => Promise<Reader>;
  series: (channel: Channel) => Series;
  /** Runs it for the first row that calls it, and returns the same result to the others. */
  once: <T>(name: string, work: () => Promise<T>) => Promise<T>;
};

export type ConformOptions = {
  base: string;
  createKey: string | null;
  /** The longest wait for one answer or one frame. */
  waitMs: number;
  onResult?: (result: Result) => void;
};

/** Unmet if no channel can be made. */
export async function runRows(rows: readonly Row[], options: ConformOptions): Promise<Result[]> {
  const wire = createWire(options.waitMs);
  wire.beginRow();
  const { kit, announced } = await createKit(wire, options);
  const results: Result[] = [];
  try {
    for (const row of rows) {
      wire.beginRow();
      const result = await resultOf(row, kit, announced);
      wire.closeReaders(kit.quiet);
      results.push(result);
      options.onResult?.(result);
    }
  } finally {
    wire.closeReaders();
  }
  return results;
}

async function resultOf(row: Row, kit: Kit, announced: boolean): Promise<Result> {
  try {
    return { row, outcome: 'pass', detail: (await row.run(kit)) ?? '' };
  } catch (error) {
    if (error instanceof NotOffered) return { row, outcome: 'not offered', detail: error.message };
    if (!(error instanceof Unmet)) throw error;
    const excused = row.part === 'extension' && !announced;
    return { row, outcome: excused ? 'not offered' : 'fail', detail: error.message };
  }
}

async function createKit(
  wire: Wire,
  { base, createKey }: ConformOptions,
): Promise<{ kit: Kit; announced: boolean }> {
  const creator: Record<string, string> = createKey === null ? {} : { authorization: `Bearer ${createKey}` };
  const channels = new Map<string, Promise<Channel>>();
  const shared = new Map<string, Promise<unknown>>();

  function makeChannel(request: object, headers = creator): Promise<Answer> {
    const body = Buffer.from(JSON.stringify(request));
    return wire.send(`${base}/new`, { headers: { 'content-type': 'application/json', ...headers }, body });
  }

  /** The given address is checked, whatever public address the server returns. */
  async function newChannel(answer: Promise<Answer>): Promise<Channel> {
    const { status, body } = await answer;
    const made = status === 201 ? NewRelayChannel.safeParse(parsed(body)) : undefined;
    if (made?.success === true) {
      const { channel: id, readKey } = made.data;
      const access: Record<string, string> = readKey === null ? {} : { authorization: `Bearer ${readKey}` };
      return { url: `${base}/${id}`, key: readKey, access };
    }
    const redirect = await wire.send(`${base}/new`, { method: 'GET', headers: creator });
    const id = channelIn(redirect.header('location'));
    check(
      id !== undefined,
      `the server makes no channel: POST /new answered ${status || body}, GET /new ${redirect.status || redirect.body}`,
    );
    return { url: `${base}/${id}`, key: null, access: {} };
  }

  function channel(name: string): Promise<Channel> {
    const known = channels.get(name) ?? newChannel(makeChannel({}));
    channels.set(name, known);
    return known;
  }

  async function listen(
    { url, access }: Channel,
    query = '',
    headers: Record<string, string> = {},
  ): Promise<Reader> {
    const reader = await wire.open(`${url}${query}`, { ...access, ...headers });
    check(reader.status === 200, `a request for a stream was answered ${reader.status}`);
    check(
      /^text\/event-stream\b/i.test(reader.header('content-type') ?? ''),
      `a request for a stream was answered with ${reader.header('content-type') ?? 'no content type'}`,
    );
    await reader.until(([first]) => first, 'the first frame');
    return reader;
  }

  const made = await makeChannel({});
  const first = newChannel(Promise.resolve(made));
  channels.set('main', first);
  const main = await first;
  const quiet = await wire.open(main.url, main.access);
  const traits = relayTraits(quiet.header(RELAY_HEADER));
  const kit: Kit = {
    ...wire,
    base,
    createKey,
    made,
    quiet,
    pingSeconds: traits.pingMs / 1000,
    channel,
    async keyed(name) {
      const { key, ...rest } = await channel(name);
      check(key !== null, 'the server gives no read key');
      return { ...rest, key };
    },
    makeChannel,
    listen,
    series: (of) => createSeries(wire, of),
    once<T>(name: string, work: () => Promise<T>): Promise<T> {
      const known = (shared.get(name) as Promise<T> | undefined) ?? work();
      shared.set(name, known);
      return known;
    },
  };
  return { kit, announced: quiet.header(RELAY_HEADER) !== undefined };
}

function createSeries(wire: Wire, channel: Channel): Series {
  const tag = randomUUID();
  /** Each frame is parsed once. */
  const numbers = new WeakMap<Frame, number>();
  const numberOf = (frame: Frame): number => {
    const known = numbers.get(frame) ?? numberIn(frame, tag);
    numbers.set(frame, known);
    return known;
  };
  const numbersIn = ({ frames }: Reader): number[] => frames.map(numberOf).filter((number) => number > 0);
  return {
    channel,
    tag,
    numbersIn,
    async post(from, to = from) {
      const ids: string[] = [];
      for (let number = from; number <= to; number += 1) {
        const body = Buffer.from(JSON.stringify({ conform: tag, number }));
        const answer = await wire.send(channel.url, { headers: deliveryHeaders(), body });
        check(isTaken(answer), `a delivery was answered ${answer.status || answer.body}`);
        ids.push(textIn(parsed(answer.body), 'id') ?? '');
      }
      return ids;
    },
    async upTo(reader, number) {
      await reader.until(
        () => numbersIn(reader).includes(number) || undefined,
        `delivery ${number} of this row`,
      );
      return numbersIn(reader);
    },
    frameOf: ({ frames }, number) => frames.find((frame) => numberOf(frame) === number),
  };
}

/** 0 for a frame that is not a delivery of this series. */
function numberIn(frame: Frame, tag: string): number {
  if (frame.event !== undefined) return 0;
  const read = readRelayMessage(frame.data);
  if (!read.ok) return 0;
  const { data, encoding } = read.message.body;
  const body = parsed(Buffer.from(data, encoding).toString());
  return textIn(body, 'conform') === tag ? Number(fieldIn(body, 'number')) : 0;
}

export function deliveryHeaders(): Record<string, string> {
  return {
    'content-type': 'application/json',
    'x-github-event': 'push',
    'x-github-delivery': randomUUID(),
  };
}

export function isTaken({ status }: Answer): boolean {
  return status >= 200 && status < 300;
}

/** The id at the end of a channel's address. */
export function channelIn(location: string | undefined): string | undefined {
  const id = location?.split('/').at(-1) ?? '';
  return /^[A-Za-z0-9_-]{1,128}$/.test(id) ? id : undefined;
}

export function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    if (error instanceof SyntaxError) return undefined;
    throw error;
  }
}

export function fieldIn(value: unknown, name: string): unknown {
  return typeof value === 'object' && value !== null ? Reflect.get(value, name) : undefined;
}

export function textIn(value: unknown, name: string): string | undefined {
  const field = fieldIn(value, name);
  return typeof field === 'string' ? field : undefined;
}

// What several rows of the conformance kit send and check.

export const MIB = 1024 * 1024;
export const range = (from: number, to: number): number[] =>
  Array.from({ length: to - from + 1 }, (_, index) => from + index);

export function jsonDelivery(body: object): Outgoing {
  return {
    headers: { ...deliveryHeaders(), 'X-Mixed-Case': 'Kept' },
    body: Buffer.from(JSON.stringify(body)),
  };
}

/** The frame of one delivery, as a reader without `raw=1` gets it. */
export async function frameOf(kit: Kit, outgoing: Outgoing & { query?: string }): Promise<Frame> {
  const channel = await kit.channel('main');
  const reader = await kit.listen(channel);
  const mark = randomUUID();
  const headers = { 'x-conform': mark, ...outgoing.headers };
  const answer = await kit.send(`${channel.url}${outgoing.query ?? ''}`, { ...outgoing, headers });
  check(isTaken(answer), `the delivery was answered ${answer.status || answer.body}`);
  const frame = await reader.until(
    (frames) => frames.find(({ data }) => data.includes(mark)),
    'the delivery',
  );
  reader.close();
  return frame;
}

export async function layoutOf(
  kit: Kit,
  outgoing: Outgoing & { query?: string },
): Promise<Record<string, unknown>> {
  const layout = parsed((await frameOf(kit, outgoing)).data);
  check(isObject(layout), 'the data of a delivery is not a JSON object');
  return layout;
}

export function deliveriesIn(reader: Reader): Frame[] {
  return reader.frames.filter(({ event }) => event === undefined);
}

export function checkNumbers(got: readonly number[], expected: readonly number[], where = ''): void {
  if (got.join() === expected.join()) return;
  const lost = expected.filter((number) => !got.includes(number)).length;
  const strange = got.filter((number) => !expected.includes(number)).length;
  const repeated = got.length - new Set(got).size;
  const faults = [
    lost > 0 && `${lost} of ${expected.length} lost`,
    strange > 0 && `${strange} too many`,
    repeated > 0 && `${repeated} came twice`,
  ].filter((part) => part !== false);
  check(false, `${where} ${faults.length === 0 ? 'out of order' : faults.join(', ')}`.trim());
}

export function checkCode({ status, body }: Answer, expected: number, code: string): void {
  check(status === expected, `answered ${status || body} instead of ${expected}`);
  check(textIn(parsed(body), 'code') === code, `the ${status} has not the code ${code}`);
}

export function checkRefused({ status, body }: Answer, what: string): void {
  check(status >= 400 && status < 500, `${what} was answered ${status || body}`);
}

export function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
