// A relay that misbehaves on command, and records what it received and what it delivered to whom. Like the public relay
// it stores nothing. With `ours` it behaves like our own relay: it stores, resumes, sends raw bytes, and creates
// channels with read keys; it then never drops or reorders, but everything else can still happen.
import type { IncomingHttpHeaders, IncomingMessage, OutgoingHttpHeaders, ServerResponse } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import { RELAY_HEADER } from '@svc/contract/relay/relay-headers';
import { headerValue } from '@svc/contract/vendor-names';
import { createRandom, type Random } from '../random.ts';
import {
  createHostileStream,
  type Faults,
  type Frame,
  type HostileStream,
  noFaults,
} from './hostile-stream.ts';

import { createOwnChannels } from './own-channels.ts';
import { publicLayout, streamHeaders } from './public-relay.ts';
import { rulingOn, startRelayHttp } from './relay-http.ts';

// A channel of a relay that stores deliveries: positions `<epoch>.<seq>`, and everything after a position.

type Kept<T> = { seq: number; message: T };

export type KeptChannel<T> = {
  add: (message: T) => Kept<T>;
  position: (seq: number) => string;
  newest: () => number;
  /** What follows a position; `gap` if the relay no longer has, or never had, all of it. */
  after(position: string): { from: number; gap: { requested: string; oldest: string } | null };
  since: (seq: number) => Kept<T>[];
  /** Deletes all but the newest few. */
  trim: (keep: number) => void;
};

export function createKeptChannel<T>(epoch: string): KeptChannel<T> {
  let kept: Kept<T>[] = [];
  let newest = 0;
  const position = (seq: number): string => `${epoch}.${seq}`;
  const oldest = (): number => kept[0]?.seq ?? newest + 1;
  return {
    add(message) {
      newest += 1;
      const entry = { seq: newest, message };
      kept.push(entry);
      return entry;
    },
    position,
    newest: () => newest,
    after(requested) {
      const [itsEpoch, text = ''] = requested.split('.');
      const seq = Number(text);
      if (itsEpoch === epoch && seq >= oldest() - 1 && seq <= newest) return { from: seq, gap: null };
      return { from: oldest() - 1, gap: { requested, oldest: position(oldest()) } };
    },
    since: (seq) => kept.filter((entry) => entry.seq > seq),
    trim(keep) {
      kept = kept.slice(Math.max(0, kept.length - keep));
    },
  };
}

export type Sent = { channel: string; deliveryId: string | undefined };
export type Delivered = Sent & { subscriber: number; id: string | undefined };
export type Connected = {
  channel: string;
  lastEventId: string | undefined;
  raw: boolean;
  subscriber: string | null;
  headers: IncomingHttpHeaders;
};
export type ScriptedAnswer = { status: number; headers?: OutgoingHttpHeaders; body?: string };

const HELD_MS = 200;

export type HostileRelay = {
  url: string;
  newChannel: () => string;
  /** May be changed at any time. */
  faults: Faults;
  sent: readonly Sent[];
  delivered: readonly Delivered[];
  /** Every requested subscription, also the rejected ones. */
  connected: readonly Connected[];
  subscribers: () => number;
  ping: () => void;
  cutAll: () => void;
  /** Connections stay open without any data, not even pings; new ones are accepted and ignored. */
  halfOpen: () => void;
  /** Holds everything back for a while, and then sends it. */
  stall: (milliseconds: number) => Promise<void>;
  recover: () => void;
  /** The answers to the next subscriptions, one each; then as usual. */
  answerNext: (...answers: ScriptedAnswer[]) => void;
  /** Closes everything, refuses connections for a while, and answers the first subscriptions as given. */
  restart: (options?: {
    downMs?: number;
    /** Instead of a time: until this. */
    down?: Promise<unknown>;
    answers?: ScriptedAnswer[];
  }) => Promise<void>;
  sendRaw: (bytes: Uint8Array) => void;
  /** Ours only: deletes all but the newest few of every channel. */
  forget: (keep?: number) => void;
  /** Ours only: another epoch, as after the loss of its store. */
  loseStore: () => void;
  stop: () => Promise<void>;
};

type Message = {
  headers: IncomingHttpHeaders;
  raw: Buffer;
  query: URLSearchParams;
  deliveryId: string | undefined;
};
type Subscriber = { number: number; channel: string; stream: HostileStream; raw: boolean; next: number };

export type HostileOptions = {
  seed?: number;
  ours?: boolean;
  pingMs?: number;
  faults?: Partial<Faults>;
  /** How long a delivery that has to come after the next one waits for it. */
  heldMs?: number;
  /** Ours only: subscribers of a channel that was not created by `POST /new` need this key. */
  readKey?: string;
  /** Ours only: `POST /new` requires this key. */
  createKey?: string;
  /** Ours only: channels exist only if they were created by `POST /new`. */
  strict?: boolean;
};

export async function startHostileRelay(options: HostileOptions = {}): Promise<HostileRelay> {
  const { seed = 1, ours = false, pingMs = 30_000, heldMs = HELD_MS } = options;
  const { readKey, createKey, strict = false } = options;
  const own = createOwnChannels({ readKey, createKey, strict });
  const random: Random = createRandom(seed);
  const faults: Faults = { ...noFaults, ...options.faults };
  const sent: Sent[] = [];
  const delivered: Delivered[] = [];
  const connected: Connected[] = [];
  const subscribers = new Set<Subscriber>();
  const scripted: ScriptedAnswer[] = [];
  const channels = new Map<string, KeptChannel<Message>>();
  let epoch = 1;
  let isHalfOpen = false;
  let held: (() => void) | null = null;

  function channelOf(name: string): KeptChannel<Message> {
    const channel = channels.get(name) ?? createKeptChannel<Message>(`e${epoch}`);
    channels.set(name, channel);
    return channel;
  }

  function post(channel: string, request: IncomingMessage, raw: Buffer, query: URLSearchParams) {
    if (ours && !own.exists(channel)) return { status: 404, problem: 'no such channel' };
    const ruling = ours ? { ok: true as const } : rulingOn(request.headers, raw);
    if (!ruling.ok) return ruling;
    const deliveryId =
      headerValue(request.headers, 'X-Codehost-Delivery') ?? headerValue(request.headers, 'Tracker-Delivery');
    const message = { headers: request.headers, raw, query, deliveryId };
    sent.push({ channel, deliveryId });
    if (ours) channelOf(channel).add(message);
    for (const subscriber of subscribers) if (subscriber.channel === channel) pass(subscriber, message);
    return { status: 200 };
  }

  /** One delivery to one subscriber, with random faults. */
  function pass(subscriber: Subscriber, message: Message): void {
    if (ours) return catchUp(subscriber);
    if (random.chance(faults.drop)) return;
    const times = random.chance(faults.duplicate) ? 2 : 1;
    const go = (): void => {
      for (let time = 0; time < times; time += 1) deliver(subscriber, message, String(subscriber.next++));
    };
    const before = held;
    held = null;
    if (before === null && random.chance(faults.reorder)) {
      held = go;
      return void setTimeout(() => (held === go ? release() : undefined), heldMs).unref();
    }
    go();
    before?.();
  }

  function release(): void {
    held?.();
    held = null;
  }

  /** Sends what the subscriber has not had yet, in order. */
  function catchUp(subscriber: Subscriber): void {
    const channel = channelOf(subscriber.channel);
    for (const { seq, message } of channel.since(subscriber.next)) {
      if (!subscribers.has(subscriber)) return;
      subscriber.next = seq;
      const times = random.chance(faults.duplicate) ? 2 : 1;
      for (let time = 0; time < times; time += 1) deliver(subscriber, message, channel.position(seq));
    }
  }

  function deliver(subscriber: Subscriber, message: Message, id: string): void {
    const frame: Frame = { id, data: layout(message, subscriber.raw) };
    if (random.chance(faults.cut)) {
      subscribers.delete(subscriber);
      return subscriber.stream.cutWithin(frame);
    }
    const record = {
      channel: subscriber.channel,
      deliveryId: message.deliveryId,
      subscriber: subscriber.number,
      id,
    };
    void subscriber.stream.send(frame).then((whole) => (whole ? delivered.push(record) : undefined));
  }

  function layout({ headers, raw, query }: Message, asBytes: boolean): string {
    if (asBytes) return publicLayout({ ...headers, bodyB: raw.toString('base64') }, undefined, query);
    const body = jsonIn(raw);
    const text = publicLayout(headers, random.chance(faults.rewrite) ? rewritten(body) : body, query);
    return random.chance(faults.pretty) ? JSON.stringify(JSON.parse(text), null, 2) : text;
  }

  function subscribe(
    name: string,
    request: IncomingMessage,
    response: ServerResponse,
    query: URLSearchParams,
  ): void {
    const lastEventId = headerOf(request.headers['last-event-id']);
    const raw = ours && query.get('raw') === '1';
    const subscriberName = query.get('subscriber');
    connected.push({ channel: name, lastEventId, raw, subscriber: subscriberName, headers: request.headers });
    const script = scripted.shift();
    if (script !== undefined) return void response.writeHead(script.status, script.headers).end(script.body);
    if (ours && own.refuseReader(name, request, response)) return;
    const announcement = ours ? { [RELAY_HEADER]: `1; ping=${Math.max(1, Math.round(pingMs / 1000))}` } : {};
    response.writeHead(200, { ...streamHeaders, ...announcement });
    response.flushHeaders();
    const stream = createHostileStream(response, () => faults, random);
    const subscriber = { number: connected.length, channel: name, stream, raw, next: 0 };
    subscribers.add(subscriber);
    response.on('close', () => subscribers.delete(subscriber));
    if (isHalfOpen) stream.freeze();
    if (!ours) return void stream.send({ id: String(subscriber.next++), event: 'ready', data: '{}' });
    begin(subscriber, lastEventId);
  }

  function begin(subscriber: Subscriber, lastEventId: string | undefined): void {
    const channel = channelOf(subscriber.channel);
    const start =
      lastEventId === undefined ? { from: channel.newest(), gap: null } : channel.after(lastEventId);
    subscriber.next = start.from;
    const position = channel.position(start.from);
    void subscriber.stream.send({ event: 'ready', data: JSON.stringify({ position }) });
    if (start.gap !== null) void subscriber.stream.send({ event: 'gap', data: JSON.stringify(start.gap) });
    catchUp(subscriber);
  }

  function ping(): void {
    for (const subscriber of subscribers) {
      const id = ours ? undefined : String(subscriber.next++);
      void subscriber.stream.send({ event: 'ping', data: '{}', ...(id !== undefined && { id }) });
    }
  }

  const readersOf = (name: string): string[] => [
    ...new Set(
      connected.filter(({ channel }) => channel === name).flatMap(({ subscriber }) => subscriber ?? []),
    ),
  ];
  const http = await startRelayHttp({
    before: (request, response) =>
      ours && (own.answerNew(request, response) || own.answerStatus(request, response, readersOf)),
    post,
    subscribe,
  });
  const timer = setInterval(ping, pingMs).unref();
  const cutAll = (): void => {
    subscribers.clear();
    http.cutAll();
  };
  const recover = (): void => {
    isHalfOpen = false;
    for (const { stream } of subscribers) stream.thaw();
  };

  return {
    url: http.url,
    newChannel: http.newChannel,
    faults,
    sent,
    delivered,
    connected,
    subscribers: () => subscribers.size,
    ping,
    cutAll,
    halfOpen() {
      isHalfOpen = true;
      for (const { stream } of subscribers) stream.freeze();
    },
    async stall(milliseconds) {
      for (const { stream } of subscribers) stream.freeze();
      await sleep(milliseconds);
      recover();
    },
    recover,
    answerNext: (...answers) => void scripted.push(...answers),
    async restart({ downMs = 0, down, answers = [] } = {}) {
      subscribers.clear();
      await http.close();
      await (down ?? sleep(downMs));
      scripted.push(...answers);
      await http.listen();
    },
    sendRaw(bytes) {
      for (const { stream } of subscribers) stream.sendRaw(bytes);
    },
    forget(keep = 0) {
      for (const channel of channels.values()) channel.trim(keep);
    },
    loseStore() {
      epoch += 1;
      channels.clear();
      cutAll();
    },
    async stop() {
      clearInterval(timer);
      await http.close();
    },
  };
}

/** The same JSON with its keys in another order. */
function rewritten(body: unknown): unknown {
  if (typeof body !== 'object' || body === null || Array.isArray(body)) return body;
  return Object.fromEntries(Object.entries(body).toReversed());
}

/** Anything but JSON goes to old readers as text. */
function jsonIn(raw: Buffer): unknown {
  const text = raw.toString('utf8');
  try {
    return JSON.parse(text);
  } catch (error) {
    if (error instanceof SyntaxError) return text;
    throw error;
  }
}

function headerOf(value: string | string[] | undefined): string | undefined {
  return Array.isArray(value) ? value[0] : value;
}
