// Posts deliveries at a pace, whether or not earlier ones are answered, as senders do. Only 2xx is an
// acknowledgement; what got another answer, or none, is posted again under the same id, as no real sender would,
// so that all of them count in the end.
import { Agent, request } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import type { SignedDelivery } from '../../packages/testkit/src/deliveries/signed-delivery.ts';
import { WAIT_MS } from '../../packages/testkit/src/waiting.ts';

export type PhaseFigures = {
  name: string;
  /** Posts that were made, also in vain. */
  posts: number;
  acknowledged: number;
  /** Answers by status, and `none` for a connection that broke. */
  answers: Map<string, number>;
  /** Posts that took longer than `slowMs`. */
  slow: number;
  slowMs: number;
  slowestMs: number;
};

export type Senders = {
  /** By delivery id: acknowledged with 2xx. */
  acknowledged: ReadonlySet<string>;
  /** Deliveries that were begun in this phase. */
  begun: () => number;
  run: (phase: {
    name: string;
    deliveries: readonly SignedDelivery[];
    rate: () => number;
    slowMs: number;
  }) => Promise<PhaseFigures>;
  close: () => void;
};

const MOST_AT_ONCE = 3000;
const PAUSE_MS = 250;

export function createSenders({
  port,
  path,
  deadlineMs,
}: {
  port: number;
  path: string;
  deadlineMs: number;
}): Senders {
  const agent = new Agent({ keepAlive: true, maxSockets: MOST_AT_ONCE });
  const acknowledged = new Set<string>();
  const deadline = performance.now() + deadlineMs;
  let begun = 0;

  /** The status; rejects when there was no whole answer. */
  function post({ headers, body }: SignedDelivery): Promise<number> {
    return new Promise((resolve, reject) => {
      const options = { host: '127.0.0.1', port, path, method: 'POST', agent, timeout: WAIT_MS };
      const outgoing = request(options, (response) => {
        response.on('error', reject);
        response.on('end', () => resolve(response.statusCode ?? 0));
        response.resume();
      });
      outgoing.on('error', reject);
      outgoing.on('timeout', () => outgoing.destroy(new Error(`no answer after ${WAIT_MS} ms`)));
      for (const [name, value] of Object.entries(headers)) outgoing.setHeader(name, value);
      outgoing.setHeader('content-length', body.length);
      outgoing.end(body);
    });
  }

  async function insist(delivery: SignedDelivery, figures: PhaseFigures): Promise<void> {
    while (performance.now() < deadline) {
      const started = performance.now();
      // Whatever broke the connection: not acknowledged.
      const status = await post(delivery).catch(() => undefined);
      note(figures, status, performance.now() - started);
      if (status !== undefined && status >= 200 && status < 300) {
        acknowledged.add(delivery.deliveryId);
        figures.acknowledged += 1;
        return;
      }
      if (status !== undefined && status < 500 && status !== 408 && status !== 429)
        throw new Error(`${delivery.deliveryId} was refused with ${status}`);
      await sleep(PAUSE_MS);
    }
    throw new Error(`not acknowledged before the end of the run: ${delivery.deliveryId}`);
  }

  return {
    acknowledged,
    begun: () => begun,
    async run({ name, deliveries, rate, slowMs }) {
      const figures = { name, posts: 0, acknowledged: 0, answers: new Map(), slow: 0, slowMs, slowestMs: 0 };
      const underWay = new Set<Promise<void>>();
      let failed: Error | undefined;
      begun = 0;
      let due = performance.now();
      for (const delivery of deliveries) {
        if (failed !== undefined) break;
        const one = insist(delivery, figures)
          .catch((error: unknown) => void (failed ??= asError(error)))
          .finally(() => underWay.delete(one));
        underWay.add(one);
        begun += 1;
        due = Math.max(due + 1000 / rate(), performance.now() - 100);
        const early = due - performance.now();
        if (early > 1) await sleep(early);
        if (underWay.size >= MOST_AT_ONCE) await Promise.race(underWay);
      }
      await Promise.all(underWay);
      if (failed !== undefined) throw failed;
      return figures;
    },
    close: () => agent.destroy(),
  };
}

function note(figures: PhaseFigures, status: number | undefined, milliseconds: number): void {
  const answer = String(status ?? 'none');
  figures.posts += 1;
  figures.answers.set(answer, (figures.answers.get(answer) ?? 0) + 1);
  if (milliseconds > figures.slowMs) figures.slow += 1;
  figures.slowestMs = Math.max(figures.slowestMs, milliseconds);
}

function asError(error: unknown): Error {
  return error instanceof Error ? error : new Error(String(error));
}
