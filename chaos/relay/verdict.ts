// Compares the logs of all subscribers with the answers to the senders: each acknowledged delivery is in each log once.
// The small subscribers' logs must also have the same order.
import { cpSync, existsSync, mkdtempSync, readdirSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import {
  createEventStream,
  readDelivery,
} from '../../packages/monitor/src/features/feeds/io/delivery-service.ts';

import { auditLog } from '../../packages/testkit/src/log/audit-log.ts';
import { WAIT_MS } from '../../packages/testkit/src/waiting.ts';
import { readSubscriberLog } from './subscriber-log.ts';
import type { World } from './world.ts';

export type Verdict = {
  acknowledged: number;
  /** Missing deliveries, summed over the logs. */
  lost: number;
  duplicated: number;
  torn: number;
  problems: string[];
};

/** The delivery ids of a log in its order, and its damage. */
export type ReadLog = { name: string; ids: string[]; torn: number; ordered: boolean };

export async function readLog(subscriber: {
  name: string;
  isDaemon: boolean;
  folder: string;
}): Promise<ReadLog> {
  const { name, isDaemon, folder } = subscriber;
  if (isDaemon) {
    const { deliveries, torn, holes } = await auditLog(folder);
    const ids = [...deliveries].flatMap(([id, lines]) => lines.map(() => id));
    // It handles several at once: their order in its log is not the order of the channel.
    return { name, ids, torn: torn + holes, ordered: false };
  }
  const { lines } = readSubscriberLog(folder);
  return { name, ids: lines.map(({ deliveryId }) => deliveryId), torn: 0, ordered: true };
}

export function judge(acknowledged: ReadonlySet<string>, logs: readonly ReadLog[]): Verdict {
  const verdict: Verdict = { acknowledged: acknowledged.size, lost: 0, duplicated: 0, torn: 0, problems: [] };
  const complain = (problem: string): void => {
    if (verdict.problems.length < 20) verdict.problems.push(problem);
  };
  for (const { name, ids, torn } of logs) {
    const distinct = new Set(ids);
    verdict.duplicated += ids.length - distinct.size;
    verdict.torn += torn;
    for (const id of acknowledged) {
      if (distinct.has(id)) continue;
      verdict.lost += 1;
      complain(`${id} was acknowledged but is not in the log of ${name}`);
    }
  }
  return verdict;
}

/** Positions where two logs differ in order. Deliveries in only one of them were never acknowledged. */
export function disorder(logs: readonly ReadLog[]): number {
  const [first, ...others] = logs.filter(({ ordered }) => ordered);
  if (first === undefined) return 0;
  const place = new Map(first.ids.map((id, index) => [id, index]));
  let wrong = 0;
  for (const { ids } of others) {
    let last = -1;
    for (const id of ids) {
      const at = place.get(id);
      if (at === undefined) continue;
      if (at < last) wrong += 1;
      last = Math.max(last, at);
    }
  }
  return wrong;
}

export function isKept({ lost, duplicated, torn }: Verdict): boolean {
  return lost + duplicated + torn === 0;
}

export function verdictLine({ acknowledged, lost, duplicated, torn }: Verdict): string {
  return `acknowledged ${acknowledged} lost ${lost} duplicated ${duplicated} torn ${torn}`;
}

// When something is missing in a log: whether the store has it, and a copy of all logs for analysis.

const MAX_FRAME_BYTES = 36 * 1024 * 1024;

/** Positions by delivery id. */
export type Stored = ReadonlyMap<string, readonly string[]>;

/** Every delivery that the relay still has: read until nothing more comes. */
export async function readStore({ relays, channel }: World): Promise<Stored> {
  const stored = new Map<string, string[]>();
  const enough = new AbortController();
  let timer = setTimeout(() => enough.abort(), WAIT_MS);
  const response = await answerOfAny(relays, `/${channel.channel}?raw=1&since=oldest`, {
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
  } finally {
    clearTimeout(timer);
  }
  return stored;
}

/** A relay that is not connected to NATS answers 503. */
async function answerOfAny(relays: World['relays'], path: string, options: RequestInit): Promise<Response> {
  const refusals: string[] = [];
  for (const relay of relays) {
    const response = await fetch(`${relay.process().url}${path}`, options);
    if (response.ok) return response;
    refusals.push(`${relay.name} answers ${response.status}: ${await response.text()}`);
  }
  throw new Error(`no relay reads its store: ${refusals.join('; ')}`);
}

/** Copies the logs and spills of all processes and subscribers to a permanent folder, and returns it. */
export function keepEvidence(world: World, stored: Stored | string): string {
  const folder = mkdtempSync(join(tmpdir(), 'svc-chaos-relay-evidence-'));
  const lines =
    typeof stored === 'string'
      ? [JSON.stringify({ unknown: stored })]
      : [...stored].map(([deliveryId, positions]) => JSON.stringify({ deliveryId, positions }));
  writeFileSync(join(folder, 'stored.jsonl'), `${lines.join('\n')}\n`);
  for (const { name, folder: from } of world.subscribers)
    cpSync(from, join(folder, name.replaceAll(/[^a-z0-9-]/g, '')), { recursive: true });
  cpSync(join(world.home.home, 'relays'), join(folder, 'relays'), { recursive: true });
  for (const { name, spill } of world.relays) {
    if (existsSync(spill)) cpSync(spill, join(folder, `${name}-spill`), { recursive: true });
  }
  const nats = world.cluster.nodes[0]?.folder ?? folder;
  for (const file of readdirSync(nats).filter((name) => name.endsWith('.log')))
    cpSync(join(nats, file), join(folder, file));
  return folder;
}
