// One connection to the channel, from dialling to its end. It never throws: it always returns how it ended.
import { type IncomingMessage, Agent as PlainAgent, request as plainRequest } from 'node:http';
import { Agent as SecureAgent, request as secureRequest } from 'node:https';
import {
  isRelayPosition,
  RELAY_HEADER,
  type RelayTraits,
  relayTraits,
} from '@svc/contract/relay/relay-headers';
import { retryAfterMs } from '@svc/lib/backoff';
import type { Clock } from '@svc/lib/clock';
import { systemErrorCode } from '@svc/lib/errors';
import type { Environment } from '../../../kernel/config/resolved-value.ts';
import type { Refusal } from '../feed-grade.ts';
import { createEventStream, MAX_FRAME_BYTES, type StreamFrame } from './delivery-service.ts';
import type { ReadKey } from './provision-channel.ts';

// Checks the clocks regularly. If they disagree, or the check itself is far too late, the machine slept or its clock
// was set: every earlier connection must be treated as dead.

const JUMP_MS = 60_000;

/** Calls `onCheck` every `everyMs`, and `onWoke` first if time has jumped. Returns a function that stops it. */
export function watchClock(options: {
  clock: Clock;
  everyMs: number;
  onCheck: () => void;
  onWoke: () => void;
}): () => void {
  const { clock, everyMs, onCheck, onWoke } = options;
  let wall = clock.now();
  let steady = clock.monotonic();
  let cancel = clock.after(everyMs, check);

  function check(): void {
    const wallPassed = clock.now() - wall;
    const steadyPassed = clock.monotonic() - steady;
    wall += wallPassed;
    steady += steadyPassed;
    cancel = clock.after(everyMs, check);
    if (Math.abs(wallPassed - steadyPassed) > JUMP_MS || steadyPassed - everyMs > JUMP_MS) onWoke();
    onCheck();
  }

  return () => cancel();
}

// Opens the stream: one GET over node:http or node:https, following redirects. A failure to open is returned as a
// reason that a person can act on.

export type RelayAnswer = {
  status: number;
  header: (name: string) => string | undefined;
  body: AsyncIterable<Uint8Array>;
};

export type RelayRequest = { url: URL; headers: Record<string, string>; signal: AbortSignal };

/** Rejects if there is no answer at all. Aborting the signal also ends the body. */
export type Connect = (request: RelayRequest) => Promise<RelayAnswer>;

const MAX_REDIRECTS = 5;
const redirects: ReadonlySet<number> = new Set([301, 302, 303, 307, 308]);

/** `proxy` is an environment with HTTPS_PROXY, HTTP_PROXY and NO_PROXY, if they apply. */
export function createConnect({ proxy }: { proxy?: Environment } = {}): Connect {
  const options = { keepAlive: false, ...(proxy && { proxyEnv: proxy }) };
  const plain = new PlainAgent(options);
  const secure = new SecureAgent(options);
  return ({ url, headers, signal }) =>
    new Promise((resolve, reject) => {
      const outgoing =
        url.protocol === 'https:'
          ? secureRequest(url, { headers, signal, agent: secure })
          : plainRequest(url, { headers, signal, agent: plain });
      outgoing.on('socket', (socket) => socket.setKeepAlive(true, 30_000));
      outgoing.on('error', reject);
      outgoing.on('response', (response) => resolve(answerOf(response)));
      outgoing.end();
    });
}

function answerOf(response: IncomingMessage): RelayAnswer {
  // Without a listener, an error of an unread body would end the process.
  response.on('error', () => undefined);
  return {
    status: response.statusCode ?? 0,
    header(name) {
      const value = response.headers[name];
      return typeof value === 'string' ? value : value?.[0];
    },
    body: response,
  };
}

export type Followed = { ok: true; answer: RelayAnswer } | { ok: false; why: string };

/**
 * Follows redirects. The key is sent to no other origin, and nothing goes from https to http: the channel's address
 * is itself a secret.
 */
export async function follow(connect: Connect, request: RelayRequest): Promise<Followed> {
  let { url, headers } = request;
  for (let step = 0; step <= MAX_REDIRECTS; step += 1) {
    const answer = await connect({ url, headers, signal: request.signal });
    const location = answer.header('location');
    if (!redirects.has(answer.status) || location === undefined) return { ok: true, answer };
    if (!URL.canParse(location, url.href)) return { ok: false, why: 'it redirects to an invalid URL' };
    const next = new URL(location, url);
    if (next.protocol !== 'https:' && next.protocol !== url.protocol)
      return { ok: false, why: 'it redirects from https to an insecure address' };
    if (next.origin !== url.origin) headers = without(headers, 'authorization');
    url = next;
  }
  return { ok: false, why: 'it redirects too many times' };
}

function without(headers: Record<string, string>, name: string): Record<string, string> {
  return Object.fromEntries(Object.entries(headers).filter(([header]) => header !== name));
}

export type Ending =
  | { kind: 'stopped' }
  | { kind: 'woke' }
  | { kind: 'silent' }
  /** The relay is a svc-relay, so a better request is possible. */
  | { kind: 'recognised' }
  | { kind: 'lost'; why: string; remedy?: string; refusal?: Refusal; retryAfterMs?: number };

export type Session = {
  ended: Promise<Ending>;
  end: (ending: Ending) => void;
};

const DIAL_TIMEOUT_MS = 15_000;

export function openSession(options: {
  channel: string;
  connect: Connect;
  clock: Clock;
  readKey: ReadKey | undefined;
  /** Our name in the status of a svc-relay. */
  subscriber: string | undefined;
  /** Request raw bytes, and what came after this position. Null: the relay is not known to be a svc-relay. */
  ours: { after: string | null } | null;
  maxFrameBytes?: number;
  onOpen: (traits: RelayTraits) => void;
  onFrame: (frame: StreamFrame) => void;
  onSignOfLife: () => void;
  /** Resolves when more can be read. */
  waitForSpace: (signal: AbortSignal) => Promise<void> | undefined;
}): Session {
  const { connect, clock, ours } = options;
  const abort = new AbortController();
  let ending: Ending | null = null;
  const end = (given: Ending): void => {
    ending ??= given;
    abort.abort();
  };

  async function run(): Promise<Ending> {
    const cancelTimeout = clock.after(DIAL_TIMEOUT_MS, () =>
      end({ kind: 'lost', why: 'the relay does not answer' }),
    );
    try {
      const opened = await follow(connect, { ...requestOf(options), signal: abort.signal });
      cancelTimeout();
      if (ending !== null) return ending;
      if (!opened.ok) return { kind: 'lost', why: `the relay cannot be used: ${opened.why}` };
      const refused = refusalIn(opened.answer, options.readKey, clock.now());
      if (refused !== undefined) return refused;
      const traits = relayTraits(opened.answer.header(RELAY_HEADER));
      if (traits.ours && ours === null) return { kind: 'recognised' };
      options.onOpen(traits);
      return await read(opened.answer.body);
    } catch (error) {
      return ending ?? { kind: 'lost', ...wordsForError(error) };
    } finally {
      cancelTimeout();
      end({ kind: 'stopped' });
    }
  }

  async function read(body: AsyncIterable<Uint8Array>): Promise<Ending> {
    const maxFrameBytes = options.maxFrameBytes ?? MAX_FRAME_BYTES;
    const stream = createEventStream({
      maxFrameBytes,
      onFrame(frame) {
        if (ending === null) options.onFrame(frame);
      },
      onSignOfLife: options.onSignOfLife,
    });
    for await (const chunk of body) {
      if (!stream.feed(chunk))
        return { kind: 'lost', why: `the relay sent more than ${maxFrameBytes} bytes in one frame` };
      await options.waitForSpace(abort.signal);
      if (ending !== null) return ending;
    }
    return ending ?? { kind: 'lost', why: 'the relay closed the connection' };
  }

  return { ended: run(), end };
}

function requestOf(options: Parameters<typeof openSession>[0]): {
  url: URL;
  headers: Record<string, string>;
} {
  const { ours, readKey, subscriber } = options;
  const url = new URL(options.channel);
  const headers: Record<string, string> = {
    // The public relay sends the stream only for exactly this value.
    accept: 'text/event-stream',
    'cache-control': 'no-store',
    'user-agent': 'svc',
  };
  if (readKey?.value !== undefined) headers['authorization'] = `Bearer ${readKey.value}`;
  if (ours !== null) url.searchParams.set('raw', '1');
  if (ours !== null && subscriber !== undefined) url.searchParams.set('subscriber', subscriber);
  const after = ours?.after ?? undefined;
  if (isRelayPosition(after)) headers['last-event-id'] = after;
  return { url, headers };
}

function refusalIn(answer: RelayAnswer, key: ReadKey | undefined, now: number): Ending | undefined {
  if (answer.status !== 200) {
    const wait = retryAfterMs(answer.header('retry-after'), now);
    return {
      kind: 'lost',
      ...wordsForStatus(answer.status, key),
      ...(wait !== undefined && { retryAfterMs: wait }),
    };
  }
  const type = answer.header('content-type') ?? '';
  if (/^text\/event-stream\b/i.test(type)) return undefined;
  return {
    kind: 'lost',
    why: 'the relay answered with a page instead of a stream',
    remedy: 'Check the network (a login page?) and the channel: svc config',
  };
}

// Why the relay could not be reached, and what to do if a person can do something.

export type Failure = { why: string; remedy?: string; refusal?: Refusal };

const byCode: Readonly<Record<string, Failure>> = {
  ENOTFOUND: {
    why: "the relay's host name cannot be resolved (DNS)",
    remedy: 'Check the network and the channel: svc config',
  },
  EAI_AGAIN: { why: 'no name server answers (DNS)', remedy: 'Check the network' },
  ECONNREFUSED: { why: 'the relay refuses connections' },
  ECONNRESET: { why: 'the connection was reset' },
  EPIPE: { why: 'the connection was reset' },
  ETIMEDOUT: { why: 'the relay does not answer' },
  EHOSTUNREACH: { why: 'no route to the relay', remedy: 'Check the network' },
  ENETUNREACH: { why: 'there is no network', remedy: 'Check the network' },
  ENETDOWN: { why: 'there is no network', remedy: 'Check the network' },
};

const trust = 'Check the date of this machine, and NODE_EXTRA_CA_CERTS if a proxy signs for the relay';

export function wordsForError(error: unknown): Failure {
  const code = systemErrorCode(error) ?? '';
  const known = byCode[code];
  if (known !== undefined) return known;
  if (/CERT|SIGNED|SSL|TLS|ALTNAME|UNABLE_TO/.test(code))
    return { why: `the relay's certificate is not trusted (${code})`, remedy: trust };
  if (code !== '') return { why: `the connection failed (${code})` };
  return { why: `the connection failed: ${error instanceof Error ? error.message : 'unknown reason'}` };
}

const channelIsGone = 'Check the channel: svc config, or make a new one: svc setup-webhooks --force';
const byStatus: Readonly<Record<number, Failure>> = {
  403: { why: 'the relay refuses the channel (403)', remedy: channelIsGone, refusal: 'channel' },
  404: { why: 'the relay does not know the channel (404)', remedy: channelIsGone, refusal: 'channel' },
  410: { why: 'the channel is gone (410)', remedy: channelIsGone, refusal: 'channel' },
  429: { why: 'the relay is overloaded, or the channel has too many readers (429)' },
};

/** `key` is the read key that was sent, if the channel may have one. */
export function wordsForStatus(status: number, key?: ReadKey): Failure {
  const isSent = key?.value !== undefined;
  if (status === 401 || (status === 403 && isSent)) return wordsForReadKey(status, key);
  return byStatus[status] ?? { why: `the relay answered ${status}` };
}

function wordsForReadKey(status: number, key: ReadKey | undefined): Failure {
  const variable = key?.variable ?? 'its variable';
  const file = key === undefined ? 'its file' : `the file ${key.fileName} next to the global configuration`;
  const where = `Put the channel's read key into ${variable}, or into ${file} (mode 600)`;
  const restart = 'and run: svc monitor restart';
  if (key?.value === undefined)
    return {
      why: `the relay wants a read key (${status}), and ${variable} is not set`,
      remedy: `${where}, ${restart}`,
      refusal: 'read-key',
    };
  return {
    why: `the relay does not accept the read key in ${variable} (${status})`,
    remedy: `${where}, ${restart}; if it is lost, make a new channel: svc setup-webhooks --force`,
    refusal: 'read-key',
  };
}
