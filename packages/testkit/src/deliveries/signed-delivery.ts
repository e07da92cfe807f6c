// A delivery as it is sent: the exact bytes, and their signature.
import { createHmac } from 'node:crypto';
import { Agent, request } from 'node:http';
import { json } from 'node:stream/consumers';
import { setTimeout as sleep } from 'node:timers/promises';
import { codehostExamples } from '../payloads/codehost-variants.ts';
import { codehostHeaders, type Delivery, type Example, withDelivery } from '../payloads/examples.ts';
import type { Random } from '../random.ts';
import { WAIT_MS } from '../waiting.ts';

export type SignedDelivery = { deliveryId: string; headers: Record<string, string>; body: Buffer };

function codehostSignature(secret: string, body: Uint8Array): string {
  return `sha256=${createHmac('sha256', secret).update(body).digest('hex')}`;
}

export function signedDelivery(delivery: Delivery, secret: string): SignedDelivery {
  const body = Buffer.from(JSON.stringify(delivery.payload));
  return {
    deliveryId: delivery.deliveryId,
    headers: {
      'content-type': 'application/json',
      ...codehostHeaders(delivery),
      'x-hub-signature-256': codehostSignature(secret, body),
    },
    body,
  };
}

// Thousands of deliveries: the published examples of all ten types in turn, each with its own id, some of them sent
// twice, all in random order.

/** Bodies and signatures are shared by all deliveries of an example: only the id differs. */
export function exampleDeliveries(count: number, secret: string): SignedDelivery[] {
  const signed = codehostExamples().map((example) => ({
    example,
    ...signedDelivery(withDelivery(example, 0), secret),
  }));
  return Array.from({ length: count }, (_, index) => {
    const { example, body, headers } = signed[index % signed.length] ?? fail();
    const { deliveryId } = withDelivery(example, index + 1);
    return { deliveryId, body, headers: { ...headers, 'x-codehost-delivery': deliveryId } };
  });
}

/** The sends: every delivery once, the given part of them twice. */
export function sentTwice<T>(deliveries: readonly T[], part: number, random: Random): T[] {
  const again = random.shuffled(deliveries).slice(0, Math.round(deliveries.length * part));
  return random.shuffled([...deliveries, ...again]);
}

function fail(): never {
  throw new Error('no examples');
}

// Deliveries of a given size that all our receivers accept: a push with a text in it.

const push = {
  ref: 'refs/heads/main',
  before: '6113728f27ae82c7b1a177c8d03f9e96e0adf246',
  after: '0d1a26e67d8f5eaf1f6ba5c57fc3c7d91ac0fd1c',
  created: false,
  deleted: false,
  forced: false,
  repository: { id: 1296269, full_name: 'acme/web', default_branch: 'main' },
  pusher: { name: 'mona' },
  sender: { login: 'mona', type: 'User' },
  commits: [],
};

/** One for all ids: `withId(sizedDelivery(1024, secret), 7)`. */
export function sizedDelivery(bytes: number, secret: string): SignedDelivery {
  const missing = bytes - Buffer.byteLength(JSON.stringify({ ...push, padding: '' }));
  const payload = { ...push, padding: 'x'.repeat(Math.max(0, missing)) };
  const example: Example = { name: `push of ${bytes} bytes`, type: 'push', payload };
  return signedDelivery(withDelivery(example, 0), secret);
}

/** The same bytes and signature under another delivery id. */
export function withId(delivery: SignedDelivery, number: number): SignedDelivery {
  const deliveryId = `00000000-0000-4000-8000-${number.toString(16).padStart(12, '0')}`;
  return { ...delivery, deliveryId, headers: { ...delivery.headers, 'x-codehost-delivery': deliveryId } };
}

// Posts deliveries over kept-alive connections, as many at once as the caller starts.

/** A receiver's answer: `{ok, event, id}`, `{ok, duplicate, id}` or `{error, code, remedy}`. */
export type AnswerBody = { ok?: boolean; event?: string; duplicate?: boolean; id?: string; code?: string };
type DeliveryAnswer = { status: number; body: AnswerBody };

export type Post = {
  /** Rejects without a complete answer: refused, reset, cut off. */
  post: (delivery: SignedDelivery) => Promise<DeliveryAnswer>;
  close: () => void;
};

export function createPost(port: number, path = '/api/webhook'): Post {
  const agent = new Agent({ keepAlive: true });
  return {
    post: ({ headers, body }) =>
      new Promise((resolve, reject) => {
        const outgoing = request(
          { host: '127.0.0.1', port, path, method: 'POST', agent, timeout: WAIT_MS },
          (response) => {
            json(response).then(
              (answer) => resolve({ status: response.statusCode ?? 0, body: answer as AnswerBody }),
              reject,
            );
          },
        );
        outgoing.on('error', reject);
        outgoing.on('timeout', () => outgoing.destroy(new Error(`no answer after ${WAIT_MS} ms`)));
        for (const [name, value] of Object.entries(headers)) outgoing.setHeader(name, value);
        outgoing.setHeader('content-length', body.length);
        outgoing.end(body);
      }),
    close: () => agent.destroy(),
  };
}

// A correct sender: many deliveries at once, each repeated until it is answered with 2xx. It records the answers, so
// that the log can be compared with them.

type Acknowledged = { lineId: string; event?: string };

export type SendReport = {
  /** By delivery id: the line that the receiver reported. */
  acknowledged: Map<string, Acknowledged>;
  /** Answers by status, and `none` for a broken connection. */
  answers: Map<string, number>;
  /** Deliveries that were finally acknowledged. */
  sends: number;
  duplicates: number;
  /** Impossible answers: two ids for one delivery, two acceptances, the rejection of a valid one. */
  contradictions: string[];
};

type SendOptions = {
  sends: readonly SignedDelivery[];
  atOnce: number;
  post: Post['post'];
  onAnswer?: (status: string) => void;
  deadlineMs: number;
};

const PAUSE_MS = 20;

export function createReport(): SendReport {
  return { acknowledged: new Map(), answers: new Map(), sends: 0, duplicates: 0, contradictions: [] };
}

/** `report` may be read while it grows. */
export async function sendUntilAcknowledged(options: SendOptions, report: SendReport): Promise<void> {
  const waiting = options.sends.values();
  const deadline = performance.now() + options.deadlineMs;

  async function insist(delivery: SignedDelivery): Promise<void> {
    while (performance.now() < deadline) {
      const answer = await attempt(options.post, delivery);
      const status = answer === undefined ? 'none' : String(answer.status);
      report.answers.set(status, (report.answers.get(status) ?? 0) + 1);
      options.onAnswer?.(status);
      if (answer !== undefined && note(report, delivery, answer)) return;
      await sleep(PAUSE_MS);
    }
    throw new Error(`not acknowledged within ${options.deadlineMs} ms: ${delivery.deliveryId}`);
  }

  async function sendOneAfterAnother(): Promise<void> {
    for (const delivery of waiting) {
      await insist(delivery);
      report.sends += 1;
    }
  }

  await Promise.all(Array.from({ length: options.atOnce }, sendOneAfterAnother));
}

async function attempt(post: Post['post'], delivery: SignedDelivery): Promise<DeliveryAnswer | undefined> {
  try {
    return await post(delivery);
  } catch {
    // Whatever broke the connection: not acknowledged, so send it again.
    return undefined;
  }
}

/** Whether it was acknowledged. */
function note(report: SendReport, { deliveryId }: SignedDelivery, { status, body }: DeliveryAnswer): boolean {
  if (status < 200 || status > 299) {
    if (status < 500 || status === 500)
      report.contradictions.push(`${deliveryId} refused with ${status} ${body.code}`);
    return false;
  }
  const lineId = body.id ?? '';
  const before = report.acknowledged.get(deliveryId);
  if (before !== undefined && before.lineId !== lineId) {
    report.contradictions.push(`${deliveryId} was line ${before.lineId}, now ${lineId}`);
  }
  if (body.duplicate === true) report.duplicates += 1;
  else if (before?.event !== undefined) report.contradictions.push(`${deliveryId} was accepted twice`);
  const event = body.event ?? before?.event;
  report.acknowledged.set(deliveryId, { lineId, ...(event !== undefined && { event }) });
  return true;
}
