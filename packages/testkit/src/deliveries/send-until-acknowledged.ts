// A correct sender: many deliveries at once, each repeated until it is answered with 2xx. It records the answers, so
// that the log can be compared with them.
import { setTimeout as sleep } from 'node:timers/promises';
import type { DeliveryAnswer, Post } from './post-delivery.ts';
import type { SignedDelivery } from './signed-delivery.ts';

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

export type SendOptions = {
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
