// Keeps one connection to the channel: dials, watches, and dials again, until it is stopped. The modes are described
// at the top of tunnel.ts; every step is an event for the pure state machine in core.
import { isRelayPosition, PUBLIC_PING_MS, type RelayTraits } from '@svc/contract/relay/relay-headers';
import { backoffMs, LONGEST_AFTER_REFUSAL_MS } from '@svc/lib/backoff';
import type { Clock } from '@svc/lib/clock';
import type { TunnelEvent } from '../feed-grade.ts';
import type { StreamFrame } from './delivery-service.ts';
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
  /** Whether it resumes where the last one ended, and so misses nothing. */
  resumed: boolean;
  since: number;
};

export type KeptConnection = {
  stop: () => Promise<void>;
  /** The open connection, if there is one. */
  now: () => Connection | null;
};

/** After a connection that lasted this long, or delivered anything new, the backoff starts from the beginning. */
const STEADY_MS = 10_000;
/** Often enough to reconnect a second after waking up. */
const CHECK_MS = 1000;
const SILENT_HEARTBEATS = 2.5;

export function keepConnected(options: {
  channel: string;
  connect: Connect;
  clock: Clock;
  random: () => number;
  readKey: ReadKey | undefined;
  subscriber: string | undefined;
  maxFrameBytes: number | undefined;
  /** The position to resume from, if the relay has positions. If it throws, the attempt has failed. */
  resumeAfter: () => string | null;
  /** How many deliveries were new and genuine so far. */
  accepted: () => number;
  isFull: () => boolean;
  waitForSpace: (signal: AbortSignal) => Promise<void>;
  onFrame: (frame: StreamFrame, connection: Connection) => void;
  onEvent: (event: TunnelEvent) => void;
  /** Called regularly, because the passing of time alone can change the grade. */
  onCheck: () => void;
}): KeptConnection {
  const { clock, onEvent } = options;
  const stopping = new AbortController();
  let session: Session | null = null;
  let connection: Connection | null = null;
  let cutPause: (() => void) | null = null;
  /** Null until known: from a position in the log, or from the relay's answer. */
  let relayKeeps: boolean | null = null;
  /** Refusals in a row, without other failures in between: a refusal after an outage does not start with minutes. */
  let refusals = 0;
  /** By the monotonic clock: when the connection was opened, when the relay last sent, how long it may be silent. */
  let openedAt: number | null = null;
  let heardAt = 0;
  let silenceLimitMs = 0;
  /** While the log is not writable the rest stays in the socket, so silence is not the relay's fault. */
  let blocked = false;

  const stopWatch = watchClock({ clock, everyMs: CHECK_MS, onCheck: check, onWoke: woke });
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
      waitForSpace: (signal) => (options.isFull() ? pauseReading(signal) : undefined),
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
    silenceLimitMs = SILENT_HEARTBEATS * Math.min(traits.pingMs, PUBLIC_PING_MS);
    connection = { relayKeeps, resumed: relayKeeps && after !== null, since: clock.now() };
  }

  async function pauseReading(signal: AbortSignal): Promise<void> {
    blocked = true;
    await options.waitForSpace(signal);
    blocked = false;
    heardAt = clock.monotonic();
  }

  /** False if the wait was cut short, by a stop or because the machine woke up. */
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

  function check(): void {
    const silentFor = clock.monotonic() - heardAt;
    if (connection !== null && !blocked && silentFor >= silenceLimitMs) session?.end({ kind: 'silent' });
    options.onCheck();
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
