// When something is missing in a log: whether the store has it, and what everybody wrote down, kept for a look.
import { cpSync, mkdtempSync, readdirSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { readDelivery } from '../../packages/monitor/src/tunnel/delivery.ts';
import { createEventStream } from '../../packages/monitor/src/tunnel/event-stream.ts';
import { WAIT_MS } from '../../packages/testkit/src/waiting.ts';
import type { World } from './world.ts';

const MAX_FRAME_BYTES = 36 * 1024 * 1024;

/** Every delivery that the relay still has, by its id, with the positions under which it is kept: until it is quiet. */
export async function readStore({ relays, channel }: World): Promise<Map<string, string[]>> {
  const stored = new Map<string, string[]>();
  const [relay] = relays;
  const enough = new AbortController();
  let timer = setTimeout(() => enough.abort(), WAIT_MS);
  const response = await fetch(`${relay?.process().url}/${channel.channel}?raw=1&since=oldest`, {
    headers: {
      accept: 'text/event-stream',
      ...(channel.readKey !== null && { authorization: `Bearer ${channel.readKey}` }),
    },
    signal: enough.signal,
  });
  const stream = createEventStream({
    maxFrameBytes: MAX_FRAME_BYTES,
    onSignOfLife: () => undefined,
    onFrame({ event, id, data }) {
      if (event !== undefined || id === undefined) return;
      clearTimeout(timer);
      timer = setTimeout(() => enough.abort(), WAIT_MS);
      const read = readDelivery(data);
      if (!read.ok) return;
      const deliveryId = String(read.delivery.headers['x-codehost-delivery']);
      stored.set(deliveryId, [...(stored.get(deliveryId) ?? []), id]);
    },
  });
  try {
    for await (const chunk of response.body ?? []) stream.feed(chunk);
  } catch (error) {
    if (!enough.signal.aborted) throw error;
  }
  return stored;
}

/** Copies the logs of all processes and subscribers to a folder that stays, and returns it. */
export function keepEvidence(world: World, stored: ReadonlyMap<string, readonly string[]>): string {
  const folder = mkdtempSync(join(tmpdir(), 'svc-chaos-relay-evidence-'));
  const lines = [...stored].map(([deliveryId, positions]) => JSON.stringify({ deliveryId, positions }));
  writeFileSync(join(folder, 'stored.jsonl'), `${lines.join('\n')}\n`);
  for (const { name, folder: from } of world.subscribers)
    cpSync(from, join(folder, name.replaceAll(/[^a-z0-9-]/g, '')), { recursive: true });
  cpSync(join(world.home.home, 'relays'), join(folder, 'relays'), { recursive: true });
  const nats = world.cluster.nodes[0]?.folder ?? folder;
  for (const file of readdirSync(nats).filter((name) => name.endsWith('.log')))
    cpSync(join(nats, file), join(folder, file));
  return folder;
}
