// The services around the demo's daemon: a relay, the code host, the backends of the Telemetry screen, and the workers'
// files. Signed deliveries go through the relay; one that does not arrive is sent again.
import { createHmac, randomUUID } from 'node:crypto';
import { type EventLine } from '@svc/core';
import { type DemoBackends, startDemoBackends } from './backends.ts';
import { startScriptedCodehost } from './codehost.ts';
import type { DaemonAddress } from './daemon.ts';
import type { DayRecord, Delivery } from './day.ts';
import { type DemoRelay, startDemoRelay } from './relay.ts';
import { appendOutput, changeSignal } from './worker-files.ts';

const ARRIVES_WITHIN_MS = 5_000;
const ATTEMPTS = 4;

export type Clouds = {
  relay: DemoRelay;
  /** The code host's host and port. */
  codehost: string;
  backends: DemoBackends;
  channels: { codehost: string; tracker: string };
  /** Receives each event of the log: a delivery has arrived once it has one. */
  saw: (line: EventLine) => void;
  /** Resolves once it is in the log. */
  deliver: (delivery: Omit<Delivery, 'at'>) => Promise<void>;
  /** Sends or writes the record for the daemon. */
  play: (daemon: DaemonAddress, record: DayRecord) => Promise<void>;
  close: () => Promise<void>;
};

export async function openClouds(home: {
  runsDir: string;
  secrets: { codehost: string; tracker: string };
  arrivesWithinMs?: number;
}): Promise<Clouds> {
  const { arrivesWithinMs = ARRIVES_WITHIN_MS } = home;
  const relay = await startDemoRelay();
  const codehost = await startScriptedCodehost();
  const backends = await startDemoBackends();
  const channels = { codehost: relay.newChannel(), tracker: relay.newChannel() };
  const awaited = new Map<string, () => void>();

  const clouds: Clouds = {
    relay,
    codehost: codehost.host,
    backends,
    channels,
    saw: ({ deliveryId }) => awaited.get(deliveryId ?? '')?.(),
    async deliver({ kind, type, payload }) {
      const id = randomUUID();
      const body = JSON.stringify(payload);
      const signature = createHmac('sha256', home.secrets[kind]).update(body).digest('hex');
      const headers = { 'content-type': 'application/json', ...headersOf[kind](type, id, signature) };
      const arrived = new Promise<true>((resolve) => awaited.set(id, () => resolve(true)));
      try {
        for (let attempt = 0; attempt < ATTEMPTS; attempt += 1) {
          await post(channels[kind], headers, body);
          if (await within(arrived, arrivesWithinMs)) return;
        }
      } finally {
        awaited.delete(id);
      }
      throw new Error(
        `A delivery did not reach the daemon within ${(ATTEMPTS * arrivesWithinMs) / 1_000} s.`,
      );
    },
    async play(daemon, record) {
      switch (record.kind) {
        case 'codehost':
        case 'tracker':
          return clouds.deliver(record);
        case 'signal':
          return changeSignal(home, record, record.patch);
        case 'output':
          return appendOutput(home, record, record.lines);
        case 'report': {
          const { event, scope, detail } = record;
          const body = JSON.stringify({ event, scope, detail, source: 'orchestrator', via: 'local' });
          const headers = { ...daemon.headers, 'content-type': 'application/json' };
          return post(`${daemon.url}/api/events`, headers, body);
        }
        // The daemon detects ended processes and writes its own events.
        case 'died':
        case 'daemon':
        case 'scene':
      }
    },
    async close() {
      await relay.close();
      await codehost.close();
      await backends.close();
    },
  };
  return clouds;
}

const headersOf = {
  codehost: (type: string, id: string, signature: string) => ({
    'x-codehost-event': type,
    'x-codehost-delivery': id,
    'x-hub-signature-256': `sha256=${signature}`,
  }),
  tracker: (type: string, id: string, signature: string) => ({
    'tracker-event': type,
    'tracker-delivery': id,
    'tracker-signature': signature,
  }),
};

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
  const timeout = Promise.withResolvers<false>();
  const timer = setTimeout(() => timeout.resolve(false), milliseconds);
  const isInTime = await Promise.race([promise, timeout.promise]);
  clearTimeout(timer);
  return isInTime;
}
