// What is around the daemon: the code host, the tracker and the workers, as it knows them. Signed deliveries go
// through a relay; signal files, agents' output and a helper's reports lie where they always do. A delivery that
// does not arrive is sent again.
import { createHmac, randomUUID } from 'node:crypto';
import { type EventLine } from '@svc/core';
import { signedDelivery } from '../../testkit/src/deliveries/signed-delivery.ts';
import type { JsonObject } from '../../testkit/src/payloads/example.ts';
import { type PublicRelay, startPublicRelay } from '../../testkit/src/relay/public-relay.ts';
import { startTapeBackends, type TapeBackends } from '../../testkit/src/tape/backends.ts';
import type { Fact } from '../../testkit/src/tape/fact.ts';
import { appendOutput, changeSignal } from '../../testkit/src/tape/worker-files.ts';
import { startScriptedCodehost } from './codehost.ts';
import type { DaemonAddress } from './daemon-address.ts';

const BACKENDS_SEED = 1;
const PING_MS = 5_000;
const ARRIVES_WITHIN_MS = 5_000;
const ATTEMPTS = 4;

export type Clouds = {
  relay: PublicRelay;
  /** Where the code host is. */
  codehost: string;
  /** Of figures and logs, for the Telemetry screen. */
  backends: TapeBackends;
  channels: { codehost: string; tracker: string };
  /** Lines of the log: a delivery has arrived when it has one. */
  saw: (line: EventLine) => void;
  sendCodehost: (type: string, payload: JsonObject) => Promise<void>;
  sendTracker: (type: string, payload: JsonObject) => Promise<void>;
  /** Resolves when the daemon has it. */
  tell: (daemon: DaemonAddress, fact: Fact, at: Date) => Promise<void>;
  close: () => Promise<void>;
};

export async function openClouds(home: {
  runsDir: string;
  secrets: { codehost: string; tracker: string };
  arrivesWithinMs?: number;
}): Promise<Clouds> {
  const { arrivesWithinMs = ARRIVES_WITHIN_MS } = home;
  const relay = await startPublicRelay({ pingMs: PING_MS });
  const codehost = await startScriptedCodehost();
  const backends = await startTapeBackends(BACKENDS_SEED);
  const channels = { codehost: relay.newChannel(), tracker: relay.newChannel() };
  const awaited = new Map<string, () => void>();

  async function deliver(id: string, channel: string, headers: Record<string, string>, body: string) {
    const arrived = new Promise<true>((resolve) => awaited.set(id, () => resolve(true)));
    try {
      for (let attempt = 0; attempt < ATTEMPTS; attempt += 1) {
        await post(channel, headers, body);
        if (await within(arrived, arrivesWithinMs)) return;
      }
    } finally {
      awaited.delete(id);
    }
    throw new Error(`A delivery did not reach the daemon within ${(ATTEMPTS * arrivesWithinMs) / 1_000} s.`);
  }

  const clouds: Clouds = {
    relay,
    codehost: codehost.host,
    backends,
    channels,
    saw: ({ deliveryId }) => awaited.get(deliveryId ?? '')?.(),
    sendCodehost(type, payload) {
      const deliveryId = randomUUID();
      const { headers, body } = signedDelivery(
        { name: type, type, payload, deliveryId },
        home.secrets.codehost,
      );
      return deliver(deliveryId, channels.codehost, headers, body.toString());
    },
    sendTracker(type, payload) {
      const deliveryId = randomUUID();
      const body = JSON.stringify(payload);
      const signature = createHmac('sha256', home.secrets.tracker).update(body).digest('hex');
      const headers = {
        'content-type': 'application/json',
        'tracker-event': type,
        'tracker-delivery': deliveryId,
        'tracker-signature': signature,
      };
      return deliver(deliveryId, channels.tracker, headers, body);
    },
    async tell(daemon, fact, at) {
      switch (fact.way) {
        case 'codehost':
          return clouds.sendCodehost(fact.type, fact.payload(at));
        case 'tracker':
          return clouds.sendTracker(fact.type, fact.payload(at));
        case 'signal':
          return changeSignal(home, fact, fact.patch(at));
        case 'output':
          return appendOutput(home, fact, fact.lines);
        case 'event':
          return report(daemon, fact.draft(at));
        // The daemon sees ended processes by itself, and tells its own lines.
        case 'died':
        case 'daemon':
      }
    },
    async close() {
      await relay.stop();
      await codehost.stop();
      await backends.close();
    },
  };
  return clouds;
}

/** As the orchestrator does. */
async function report({ url, headers }: DaemonAddress, draft: object): Promise<void> {
  const body = JSON.stringify({ ...draft, source: 'orchestrator', via: 'local' });
  await post(`${url}/api/events`, { ...headers, 'content-type': 'application/json' }, body);
}

export async function post(url: string, headers: Record<string, string>, body: string): Promise<void> {
  const response = await fetch(url, {
    method: 'POST',
    headers,
    body,
    signal: AbortSignal.timeout(30_000),
  });
  if (!response.ok) throw new Error(`${url}: ${response.status} ${await response.text()}`);
  await response.arrayBuffer();
}

async function within(promise: Promise<true>, milliseconds: number): Promise<boolean> {
  const enough = Promise.withResolvers<false>();
  const timer = setTimeout(() => enough.resolve(false), milliseconds);
  const answer = await Promise.race([promise, enough.promise]);
  clearTimeout(timer);
  return answer;
}
