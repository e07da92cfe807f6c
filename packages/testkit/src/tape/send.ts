// Sends records of the day, and single deliveries, to a running daemon: a signed delivery, a changed signal file, a
// line of an agent's output, a report of the orchestrator.
import { createHmac, randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import type { DayRecord } from '../../../demo/src/day.ts';
import { appendOutput, changeSignal } from '../../../demo/src/worker-files.ts';
import { codehostSecret, trackerSecret } from '../daemon/start-daemon.ts';
import { signedDelivery } from '../deliveries/signed-delivery.ts';
import { publishedExamples } from '../payloads/codehost-variants.ts';
import { type Example, type JsonObject, patched } from '../payloads/examples.ts';
import { WAIT_MS } from '../waiting.ts';
import { type Moment, momentOf, type TapeDaemon } from './tape-daemon.ts';

export type Target = {
  url: string;
  runsDir: string;
  /** The code host must have what it reports. */
  applyDelivery?: (type: string, payload: JsonObject) => void;
};

/**
 * Plays the rest of the day. `pace` is the milliseconds that a minute of the day takes: with 600 an afternoon takes
 * three minutes, with 0 everything is sent at once. Each record is sent after the previous one was accepted.
 *
 *     await playTeamDay(daemon, { upTo: 'end', pace: 600 });
 */
export async function playTeamDay(
  daemon: TapeDaemon,
  { upTo = 'end', pace = 0, signal }: { upTo?: Moment; pace?: number; signal?: AbortSignal } = {},
): Promise<{ played: number }> {
  const { day } = daemon;
  const records = day.records.filter(({ at }) => at > day.nowIs && at <= momentOf[upTo]);
  day.goLive(Date.now(), pace);
  let played = 0;
  for (const record of records) {
    if (signal?.aborted) break;
    const wait = day.timeOf(record.at).getTime() - Date.now();
    if (wait > 0) await sleep(wait, undefined, { signal }).catch(() => undefined);
    await sendRecord(daemon, day.dated(record, new Date()));
    played += 1;
  }
  return { played };
}

/** Resolves when the daemon has it: for a delivery, when it is answered. */
export async function sendRecord(target: Target, record: DayRecord): Promise<void> {
  switch (record.kind) {
    case 'codehost':
      return void (await sendCodehost(target, record.type, record.payload));
    case 'tracker':
      return void (await sendTracker(target, record.type, record.payload));
    case 'signal':
      return changeSignal(target, record, record.patch);
    case 'output':
      return appendOutput(target, record, record.lines);
    case 'report': {
      const { event, scope, detail } = record;
      return void (await post(`${target.url}/api/events`, {
        body: JSON.stringify({ event, scope, detail, source: 'orchestrator', via: 'local' }),
        headers: { 'content-type': 'application/json' },
      }));
    }
    // The daemon detects ended processes itself, and writes its own lines.
    case 'died':
    case 'daemon':
    case 'scene':
  }
}

// A full payload of the code host: the published example of its type, with the given values in it.

const first = new Map<string, Example>();

function example(type: string): Example {
  const known = first.get(type) ?? publishedExamples().find((one) => one.type === type);
  if (known === undefined) throw new Error(`no published example of ${type}`);
  first.set(type, known);
  return known;
}

export type Accepted = { ok: boolean; id?: string; event?: string; duplicate?: boolean };

/** The answer of the receiver: the line is durable then. */
export function sendCodehost(
  { url, applyDelivery }: Pick<Target, 'url' | 'applyDelivery'>,
  type: string,
  values: JsonObject,
  deliveryId: string = randomUUID(),
): Promise<Accepted> {
  applyDelivery?.(type, values);
  const { payload } = patched(example(type), type, values);
  const { headers, body } = signedDelivery({ name: type, type, payload, deliveryId }, codehostSecret);
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
