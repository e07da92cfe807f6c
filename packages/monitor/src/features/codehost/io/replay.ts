// Proves that no delivery was missed, and repairs gaps. The code host's list of what it sent is compared with the log;
// what the log does not have is fetched, signed with our secret and passed to the live receiver, oldest first. Only the
// log counts, not the delivery status of the code host or the relay.
//
//   const replay = createReplay({ hooks, subscriptions, receiver, hasDelivery, secretFor, now });
//   await replay.compareDeliveries({ withinMs: REPLAY_WINDOW_MS, repair: true });
import { createLimit } from '@svc/lib/limit';
import { sign } from '../../feeds/io/feed.ts';
import type { Receiver } from '../../feeds/io/receiver.ts';
import { type HookDelivery, missingDeliveries, REPLAY_WINDOW_MS } from '../missing-deliveries.ts';
import type { CodehostProblem } from '../problem.ts';
import type { HookApi } from './hooks.ts';
import type { Coverage, Subscriptions } from './subscribe.ts';

export type DeliveryReport = {
  repo: string;
  /** Events that the code host sent in that time. */
  sent: number;
  /** How many of those were in the log at that time. */
  received: number;
  missing: number;
  /** How many of the missing were added now. */
  repaired: number;
  /** Missing events that our receiver rejects or the code host no longer has. */
  refused: number;
  /** Why the comparison or the repair is incomplete; null if it is complete. */
  problem: CodehostProblem | null;
};

export type Replay = {
  /**
   * Compares and repairs the last hour: at start after subscribing, and after every reconnect. After a complete
   * replay, the next one also goes back to where that one started, so no time between the two is skipped.
   */
  replay: () => Promise<DeliveryReport[]>;
  /** One report per subscribed repository. */
  compareDeliveries: (options: { withinMs: number; repair: boolean }) => Promise<DeliveryReport[]>;
};

export type ReplayOptions = {
  hooks: Pick<HookApi, 'deliveries' | 'payload'>;
  subscriptions: Pick<Subscriptions, 'coverage' | 'forget'>;
  receiver: Pick<Receiver, 'receive'>;
  /** Whether the log has a line for this delivery. */
  hasDelivery: (feed: 'codehost', deliveryId: string) => boolean | Promise<boolean>;
  secretFor: (repo: string) => string | undefined;
  now: () => number;
};

type Covered = Extract<Coverage, { by: 'webhook' }>;
type Repair = Pick<DeliveryReport, 'repaired' | 'refused' | 'problem'>;

/** Deliveries that will never become lines are remembered, so they are not fetched repeatedly. */
const MOST_UNUSABLE = 10_000;
/** How long the code host keeps deliveries. */
const KEPT_MS = 3 * 86_400_000;

export function createReplay(options: ReplayOptions): Replay {
  const { hooks, subscriptions, receiver, hasDelivery, secretFor, now } = options;
  const unusable = new Set<string>();
  const oneAtATime = createLimit(1);
  /** When the newest complete replay started. */
  let wholeAt: number | null = null;

  async function receivedOf(sent: readonly HookDelivery[]): Promise<Set<string>> {
    const received = new Set<string>();
    for (const { guid } of sent) if (await hasDelivery('codehost', guid)) received.add(guid);
    return received;
  }

  function giveUp(guid: string): void {
    if (unusable.size >= MOST_UNUSABLE) unusable.clear();
    unusable.add(guid);
  }

  async function repair({ repo, hookId }: Covered, missing: readonly HookDelivery[]): Promise<Repair> {
    const tally: Repair = { repaired: 0, refused: 0, problem: null };
    const secret = secretFor(repo);
    if (secret === undefined) return tally;
    for (const delivery of missing) {
      if (unusable.has(delivery.guid)) {
        tally.refused += 1;
        continue;
      }
      const fetched = await hooks.payload(repo, hookId, delivery.id);
      if (!fetched.ok && fetched.problem.kind !== 'not-found') return { ...tally, problem: fetched.problem };
      const status = fetched.ok ? await put(delivery, fetched.value, secret) : 404;
      if (status === 503) return { ...tally, problem: logIsFull };
      if (status === 200) tally.repaired += 1;
      else {
        tally.refused += 1;
        giveUp(delivery.guid);
      }
    }
    return tally;
  }

  async function put({ guid, event }: HookDelivery, payload: object, secret: string): Promise<number> {
    const body = Buffer.from(JSON.stringify(payload));
    const headers = {
      'content-type': 'application/json',
      'x-codehost-event': event,
      'x-codehost-delivery': guid,
      'x-hub-signature-256': `sha256=${sign(secret, body)}`,
    };
    return (await receiver.receive({ headers, body, via: 'replay' })).status;
  }

  async function compareRepo(
    covered: Covered,
    given: { withinMs: number; repair: boolean },
  ): Promise<DeliveryReport> {
    const { repo, hookId } = covered;
    const nothing = { repo, sent: 0, received: 0, missing: 0, repaired: 0, refused: 0, problem: null };
    const listed = await hooks.deliveries(repo, hookId, given.withinMs);
    if (!listed.ok) {
      // The hook was removed: subscribing again creates a new one.
      if (listed.problem.kind === 'not-found') subscriptions.forget(repo);
      return { ...nothing, problem: listed.problem };
    }
    const received = await receivedOf(listed.value);
    const missing = missingDeliveries(listed.value, received);
    const figures = { sent: listed.value.length, received: received.size, missing: missing.length };
    return { ...nothing, ...figures, ...(given.repair && (await repair(covered, missing))) };
  }

  async function compareAll(given: { withinMs: number; repair: boolean }): Promise<DeliveryReport[]> {
    const covered = subscriptions.coverage().filter((one): one is Covered => one.by === 'webhook');
    return Promise.all(covered.map((one) => compareRepo(one, given)));
  }

  /** One at a time, so a second comparison sees what the first has repaired. */
  const compareDeliveries: Replay['compareDeliveries'] = (given) => oneAtATime(() => compareAll(given));

  async function replay(): Promise<DeliveryReport[]> {
    const startedAt = now();
    const sinceWhole = wholeAt === null ? 0 : Math.max(startedAt - wholeAt, 0);
    const withinMs = Math.min(REPLAY_WINDOW_MS + sinceWhole, KEPT_MS);
    const reports = await compareDeliveries({ withinMs, repair: true });
    if (reports.every(({ problem }) => problem === null)) wholeAt = startedAt;
    return reports;
  }

  return { compareDeliveries, replay };
}

const logIsFull: CodehostProblem = { kind: 'unavailable', message: 'the event log is not writable' };
