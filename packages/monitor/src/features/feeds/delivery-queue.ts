// Passes deliveries to the receiver: in the order of arrival, several at once. What the receiver cannot take now (the
// log is not writable) is kept and retried, and everything after it waits, so nothing is lost on our side. When too
// much is waiting, `isFull` makes the reader leave the rest in the socket.
//
// The position in a line is a promise: everything up to it is in the log. A delivery therefore carries its own position
// only if all before it are settled, and otherwise the last settled one; a crash between two writes then causes a
// repetition, which is recognised, and never loses a delivery.
import { backoffMs } from '@svc/lib/backoff';
import type { Clock } from '@svc/lib/clock';
import type { Receive, ReceiverAnswer, TunnelDelivery } from './io/delivery-service.ts';

export type Settled = 'accepted' | 'duplicate' | 'unauthorised' | 'refused' | 'failed';

export type DeliveryQueue = {
  push: (delivery: TunnelDelivery, position: string | null, onSettled: (how: Settled) => void) => void;
  /** Records a position without a delivery. */
  pass: (position: string) => void;
  isFull: () => boolean;
  /** Resolves when there is space again, or at once when the signal is aborted. */
  waitForSpace: (signal: AbortSignal) => Promise<void>;
  /** Everything up to here is settled; null if nothing is yet. */
  completeTo: () => string | null;
  waiting: () => number;
  /** Passes on what has arrived, and abandons what the receiver does not accept within the time. */
  drain: (timeoutMs: number) => Promise<void>;
};

type Entry = {
  delivery: TunnelDelivery;
  position: string | null;
  onSettled: (how: Settled) => void;
  state: 'waiting' | 'running' | 'settled';
  failures: number;
};

const nothing: TunnelDelivery = { headers: {}, body: Buffer.alloc(0) };
/** The log syncs concurrent lines together: with eight at once it mostly waited for the disk. */
const AT_ONCE = 64;
const FULL_AT_ENTRIES = 1000;
const FULL_AT_BYTES = 32 * 1024 * 1024;
/** Short, because the log is local: it should be written as soon as it is writable again. */
const LONGEST_WAIT_MS = 2000;
/** How often a delivery is tried if the receiver fails without a reason. */
const MAX_FAILURES = 3;

export function createDeliveryQueue(options: {
  channel: string;
  receive: Receive;
  clock: Clock;
  random: () => number;
  atOnce?: number;
  /** Called with the reason when deliveries have to wait, and with null when they continue. */
  onWaiting: (why: string | null) => void;
  onFailed: (error: unknown) => void;
}): DeliveryQueue {
  const { channel, receive, clock, random, atOnce = AT_ONCE, onWaiting, onFailed } = options;
  const entries: Entry[] = [];
  const waitingForSpace = new Set<() => void>();
  let bytes = 0;
  let running = 0;
  let completeTo: string | null = null;
  /** Refusals in a row, while deliveries are held; 0 if they are not. */
  let refusals = 0;
  let cancelRetry: (() => void) | null = null;
  let draining = false;
  let abandoned = false;
  let drained: (() => void) | null = null;

  function fill(): void {
    if (cancelRetry !== null || abandoned) return;
    const limit = refusals > 0 ? 1 : atOnce;
    for (const entry of entries) {
      if (running >= limit) break;
      if (entry.state === 'waiting') void run(entry, entry.delivery);
    }
  }

  async function run(entry: Entry, delivery: TunnelDelivery): Promise<void> {
    running += 1;
    entry.state = 'running';
    const answer = await answerTo(withPosition(delivery, entry));
    running -= 1;
    if (hasFailed(answer)) entry.failures += 1;
    const verdict = verdictOn(answer, entry.failures);
    if (verdict.again) keep(entry, verdict.why);
    else settle(entry, verdict.how);
    fill();
  }

  async function answerTo(delivery: TunnelDelivery): Promise<ReceiverAnswer | null> {
    try {
      return await receive(delivery);
    } catch (error) {
      onFailed(error);
      return null;
    }
  }

  function withPosition(delivery: TunnelDelivery, entry: Entry): TunnelDelivery {
    const id = entries[0] === entry ? entry.position : completeTo;
    return entry.position === null || id === null ? delivery : { ...delivery, relay: { channel, id } };
  }

  /** While draining there is no second attempt: nothing after it may be written either. */
  function keep(entry: Entry, why: string): void {
    entry.state = 'waiting';
    if (draining) return abandon();
    if (refusals === 0) onWaiting(why);
    if (cancelRetry !== null) return;
    cancelRetry = clock.after(Math.min(backoffMs(refusals, random()), LONGEST_WAIT_MS), () => {
      cancelRetry = null;
      fill();
    });
    refusals += 1;
  }

  function settle(entry: Entry, how: Settled): void {
    entry.state = 'settled';
    bytes -= entry.delivery.body.length;
    sweep();
    entry.onSettled(how);
    const works = how === 'accepted' || how === 'duplicate' || entries.length === 0;
    if (refusals > 0 && works) release();
    if (!isFull()) for (const notify of waitingForSpace) notify();
    if (entries.length === 0) drained?.();
  }

  function sweep(): void {
    while (entries[0]?.state === 'settled') completeTo = entries.shift()?.position ?? completeTo;
  }

  function release(): void {
    refusals = 0;
    onWaiting(null);
  }

  function abandon(): void {
    abandoned = true;
    drained?.();
  }

  const isFull = (): boolean => entries.length >= FULL_AT_ENTRIES || bytes >= FULL_AT_BYTES;

  return {
    push(delivery, position, onSettled) {
      bytes += delivery.body.length;
      entries.push({ delivery, position, onSettled, state: 'waiting', failures: 0 });
      fill();
    },
    pass(position) {
      entries.push({
        delivery: nothing,
        position,
        onSettled: () => undefined,
        state: 'settled',
        failures: 0,
      });
      sweep();
    },
    isFull,
    async waitForSpace(signal) {
      if (!isFull() || signal.aborted) return;
      await new Promise<void>((resolve) => {
        const notify = (): void => {
          waitingForSpace.delete(notify);
          signal.removeEventListener('abort', notify);
          resolve();
        };
        waitingForSpace.add(notify);
        signal.addEventListener('abort', notify);
      });
    },
    completeTo: () => completeTo,
    waiting: () => entries.length,
    async drain(timeoutMs) {
      draining = true;
      if (entries.length === 0) return;
      await new Promise<void>((resolve) => {
        const cancel = clock.after(timeoutMs, abandon);
        drained = () => {
          cancel();
          resolve();
        };
        if (cancelRetry === null) fill();
        else abandon();
      });
      cancelRetry?.();
    },
  };
}

function hasFailed(answer: ReceiverAnswer | null): answer is null {
  return answer === null || (answer.status >= 500 && answer.status !== 503);
}

type Verdict = { again: true; why: string } | { again: false; how: Settled };

/** The log may become writable at any time; a failure without a reason is retried only a few times. */
function verdictOn(answer: ReceiverAnswer | null, failures: number): Verdict {
  if (hasFailed(answer)) {
    if (failures < MAX_FAILURES) return { again: true, why: 'the receiver is failing' };
    return { again: false, how: 'failed' };
  }
  if (answer.status === 503 && answer.outcome !== 'no-secret') {
    const log = answer.outcome === 'log-not-writable';
    return { again: true, why: log ? 'the event log is not writable' : 'the receiver is busy' };
  }
  if (answer.status === 401) return { again: false, how: 'unauthorised' };
  if (answer.status < 300)
    return { again: false, how: answer.outcome === 'duplicate' ? 'duplicate' : 'accepted' };
  return { again: false, how: 'refused' };
}
