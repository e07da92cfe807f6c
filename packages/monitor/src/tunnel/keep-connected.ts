// Keeps one connection to the channel: dials, watches, and dials again, until it is stopped. The modes stand
// at the top of tunnel.ts; every step is told as an event of the pure machine in core.
import {
  backoffMs,
  isRelayPosition,
  LONGEST_AFTER_REFUSAL_MS,
  PUBLIC_PING_MS,
  type RelayTraits,
  type TunnelEvent,
} from '@svc/core';
import type { Clock } from '@svc/lib/clock';
import type { StreamFrame } from './delivery.ts';
import type { ReadKey } from './provision-channel.ts';
import {
  type Connect,
  type Ending,
  openSession,
  type Session,
  watchClock,
  wordsForError,
} from './session.ts';

export type Connection = {
  /** Whether the relay keeps deliveries, bytes and positions. */
  relayKeeps: boolean;
  /** Whether it goes on from where the last one ended, and so misses nothing. */
  resumed: boolean;
  since: number;
};

export type KeptConnection = {
  stop: () => Promise<void>;
  /** The open connection, if there is one. */
  now: () => Connection | null;
};

/** A connection that lived so long, or brought anything new, was a good one: the next failure is a first one. */
const STEADY_MS = 10_000;
/** Often enough to be back a second after waking up. */
const LOOK_MS = 1000;
const HEARTBEATS_UNTIL_SILENT = 2.5;

export function keepConnected(options: {
  channel: string;
  connect: Connect;
  clock: Clock;
  random: () => number;
  readKey: ReadKey | undefined;
  subscriber: string | undefined;
  maxFrameBytes: number | undefined;
  /** The position to go on from, if the relay keeps any. When it throws, that is a failed attempt. */
  resumeAfter: () => string | null;
  /** How many deliveries were new and genuine so far. */
  accepted: () => number;
  isFull: () => boolean;
  waitForSpace: (signal: AbortSignal) => Promise<void>;
  onFrame: (frame: StreamFrame, connection: Connection) => void;
  onEvent: (event: TunnelEvent) => void;
  /** Called regularly, so that time alone can change what is shown. */
  onLook: () => void;
}): KeptConnection {
  const { clock, onEvent } = options;
  const stopping = new AbortController();
  let session: Session | null = null;
  let connection: Connection | null = null;
  let cutPause: (() => void) | null = null;
  /** Null until there is a sign of it: a position in the log, or what the relay says. */
  let relayKeeps: boolean | null = null;
  /** In a row, with nothing else between: an outage that ends with one is not waited out for minutes. */
  let refusals = 0;
  /** By the steady clock: when the connection was opened, when the relay was last heard, how long it may be silent. */
  let openedAt: number | null = null;
  let heardAt = 0;
  let timeoutMs = 0;
  /** While the log takes nothing the rest stays in the socket, and the silence is ours. */
  let blocked = false;

  const stopWatch = watchClock({ clock, everyMs: LOOK_MS, onLook: look, onWoke: woke });
  const running = loop();

  async function loop(): Promise<void> {
    let attempt = 0;
    while (!stopping.signal.aborted) {
      onEvent({ type: 'dial', at: clock.now(), attempt });
      openedAt = null;
      const before = options.accepted();
      const ending = await connectOnce().catch(
        (error: unknown): Ending => ({ kind: 'lost', ...wordsForError(error) }),
      );
      if (ending.kind === 'woke' || wasSteady() || options.accepted() > before) attempt = 0;
      if (ending.kind === 'recognised') relayKeeps = true;
      if (ending.kind === 'silent') onEvent({ type: 'silent', at: clock.now() });
      if (ending.kind === 'lost') attempt = (await backOff(attempt, ending)) ? attempt + 1 : 0;
    }
  }

  function wasSteady(): boolean {
    return openedAt !== null && clock.monotonic() - openedAt >= STEADY_MS;
  }

  async function connectOnce(): Promise<Ending> {
    const after = options.resumeAfter();
    relayKeeps ??= isRelayPosition(after ?? undefined);
    session = openSession({
      channel: options.channel,
      connect: options.connect,
      clock,
      readKey: options.readKey,
      subscriber: options.subscriber,
      ours: relayKeeps ? { after } : null,
      ...(options.maxFrameBytes !== undefined && { maxFrameBytes: options.maxFrameBytes }),
      onOpen: (traits) => opened(traits, after),
      onFrame(frame) {
        heardAt = clock.monotonic();
        if (connection !== null) options.onFrame(frame, connection);
      },
      onSignOfLife() {
        heardAt = clock.monotonic();
        onEvent({ type: 'heard', at: clock.now() });
      },
      waitForSpace: (signal) => (options.isFull() ? whenNotFull(signal) : undefined),
    });
    const ending = await session.ended;
    session = null;
    connection = null;
    return ending;
  }

  function opened(traits: RelayTraits, after: string | null): void {
    relayKeeps = traits.ours;
    openedAt = clock.monotonic();
    refusals = 0;
    heardAt = openedAt;
    timeoutMs = HEARTBEATS_UNTIL_SILENT * Math.min(traits.pingMs, PUBLIC_PING_MS);
    connection = { relayKeeps, resumed: relayKeeps && after !== null, since: clock.now() };
  }

  async function whenNotFull(signal: AbortSignal): Promise<void> {
    blocked = true;
    await options.waitForSpace(signal);
    blocked = false;
    heardAt = clock.monotonic();
  }

  /** False when the wait was cut short, by a stop or because the machine woke up. */
  async function backOff(attempt: number, ending: Ending & { kind: 'lost' }): Promise<boolean> {
    if (stopping.signal.aborted) return false;
    const { why, remedy, refusal } = ending;
    const at = clock.now();
    const random = options.random();
    const ownWait =
      refusal === undefined
        ? backoffMs(attempt, random)
        : backoffMs(refusals, random, LONGEST_AFTER_REFUSAL_MS);
    refusals = refusal === undefined ? 0 : refusals + 1;
    const waitMs = Math.max(ownWait, ending.retryAfterMs ?? 0);
    onEvent({
      type: 'lost',
      at,
      attempt,
      until: at + waitMs,
      why,
      ...(remedy !== undefined && { remedy }),
      ...(refusal !== undefined && { refusal }),
    });
    const whole = await new Promise<boolean>((resolve) => {
      const cancel = clock.after(waitMs, () => resolve(true));
      cutPause = () => {
        cancel();
        resolve(false);
      };
    });
    cutPause = null;
    return whole;
  }

  function look(): void {
    const silentFor = clock.monotonic() - heardAt;
    if (connection !== null && !blocked && silentFor >= timeoutMs) session?.end({ kind: 'silent' });
    options.onLook();
  }

  function woke(): void {
    refusals = 0;
    onEvent({ type: 'woke', at: clock.now() });
    session?.end({ kind: 'woke' });
    cutPause?.();
  }

  return {
    async stop() {
      stopping.abort();
      stopWatch();
      session?.end({ kind: 'stopped' });
      cutPause?.();
      await running;
    },
    now: () => connection,
  };
}
