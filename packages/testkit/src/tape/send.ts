// Puts one fact into a running daemon on the way on which the world would: a signed delivery, a changed signal
// file, a line of an agent's output, a helper's report.

import { createHmac, randomUUID } from 'node:crypto';
import { codehostSecret, trackerSecret } from '../daemon/start-daemon.ts';
import { signedDelivery } from '../deliveries/signed-delivery.ts';
import { publishedExamples } from '../payloads/codehost-examples.ts';
import { type Example, type JsonObject, patched } from '../payloads/example.ts';
import { WAIT_MS } from '../waiting.ts';
import type { Fact } from './fact.ts';
import { appendOutput, changeSignal } from './worker-files.ts';

// A payload of the code host in its full size: the published example of its type, with the tape's values in it.

const first = new Map<string, Example>();

function example(type: string): Example {
  const known = first.get(type) ?? publishedExamples().find((one) => one.type === type);
  if (known === undefined) throw new Error(`There is no published example of ${type}`);
  first.set(type, known);
  return known;
}

function publishedPayload(type: string, values: JsonObject): JsonObject {
  return patched(example(type), type, values).payload;
}

export type Target = {
  url: string;
  runsDir: string;
  /** The code host is to know what it sends. */
  hear?: (type: string, payload: JsonObject) => void;
};

/** Resolves when the daemon has it: for a delivery, when it was answered. */
export async function sendFact(target: Target, fact: Fact, at: Date): Promise<void> {
  switch (fact.way) {
    case 'codehost':
      return void (await sendCodehost(target, fact.type, fact.payload(at)));
    case 'tracker':
      return void (await sendTracker(target, fact.type, fact.payload(at)));
    case 'signal':
      return changeSignal(target, fact, fact.patch(at));
    case 'output':
      return appendOutput(target, fact, fact.lines);
    case 'event':
      return void (await post(`${target.url}/api/events`, {
        body: JSON.stringify({ ...fact.draft(at), source: 'orchestrator', via: 'local' }),
        headers: { 'content-type': 'application/json' },
      }));
    // The daemon sees ended processes by itself, and tells its own lines.
    case 'died':
    case 'daemon':
  }
}

export type Accepted = { ok: boolean; id?: string; event?: string; duplicate?: boolean };

/** The answer of the receiver: the line is durable then. */
export function sendCodehost(
  { url, hear }: Pick<Target, 'url' | 'hear'>,
  type: string,
  payload: JsonObject,
  deliveryId: string = randomUUID(),
): Promise<Accepted> {
  hear?.(type, payload);
  const delivery = { name: type, type, payload: publishedPayload(type, payload), deliveryId };
  const { headers, body } = signedDelivery(delivery, codehostSecret);
  return post(`${url}/api/webhook`, { headers, body: new Uint8Array(body) });
}

export function sendTracker(
  { url }: Pick<Target, 'url'>,
  type: string,
  payload: JsonObject,
): Promise<Accepted> {
  const body = JSON.stringify(payload);
  const headers = {
    'content-type': 'application/json',
    'tracker-event': type,
    'tracker-delivery': randomUUID(),
    'tracker-signature': createHmac('sha256', trackerSecret).update(body).digest('hex'),
  };
  return post(`${url}/api/webhook/tracker`, { headers, body });
}

async function post(
  url: string,
  { headers, body }: { headers: Record<string, string>; body: string | Uint8Array<ArrayBuffer> },
): Promise<Accepted> {
  const response = await fetch(url, { method: 'POST', headers, body, signal: AbortSignal.timeout(WAIT_MS) });
  if (!response.ok) throw new Error(`${url}: ${response.status} ${await response.text()}`);
  return (await response.json()) as Accepted;
}
