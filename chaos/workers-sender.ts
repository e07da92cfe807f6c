// What the code host sends goes through the relay, straight to the daemon, or nowhere; some of it twice.
import { codehostSecret } from '../packages/testkit/src/daemon/start-daemon.ts';
import { createPost } from '../packages/testkit/src/deliveries/post-delivery.ts';
import { signedDelivery } from '../packages/testkit/src/deliveries/signed-delivery.ts';
import { until } from '../packages/testkit/src/waiting.ts';
import type { Sending } from './workers-payloads.ts';
import type { World } from './workers-world.ts';

export type Stage = {
  world: World;
  /** The longest rest before a step. */
  paceMs: number;
  /** Whether the daemon will be started again: what is lost now is found then. */
  mayLose: () => boolean;
  /** What was done so far. */
  done: { steps: number; relay: number; direct: number; lost: number; twice: number };
};

/** The daemon did not get where the path expects it to. */
export class Stuck extends Error {}

export type Sender = { send: (sending: Sending) => Promise<void>; close: () => void };

export function createSender(stage: Stage, repo: string): Sender {
  const { done, world } = stage;
  const { codehost, daemon, random } = world;
  const post = createPost(Number(new URL(daemon.url).port));

  async function hooked(): Promise<void> {
    await until(() => codehost.cloud.repoOf(repo).hooks.length > 0).catch(() => {
      throw new Stuck(`${repo} has no hook`);
    });
  }

  /** A delivery that fails is one that nobody heard: the code host does not repeat it. */
  async function direct({ type, payload }: Sending, guid: string): Promise<void> {
    const delivery = signedDelivery({ name: type, type, payload, deliveryId: guid }, codehostSecret);
    await post.post(delivery).catch(() => undefined);
  }

  async function send(sending: Sending): Promise<void> {
    await hooked();
    const guid = crypto.randomUUID();
    const emit = (unheard: boolean) => codehost.emit(repo, sending.type, sending.payload, { guid, unheard });
    const way = random.next();
    if (way < 0.2 && stage.mayLose()) {
      done.lost += 1;
      await emit(true);
      return;
    }
    if (way < 0.4) {
      done.direct += 1;
      await emit(true);
      await direct(sending, guid);
    } else {
      done.relay += 1;
      await emit(false);
    }
    if (!random.chance(0.25)) return;
    done.twice += 1;
    await direct(sending, guid);
  }

  return { send, close: post.close };
}
