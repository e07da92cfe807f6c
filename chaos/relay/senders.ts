// Posts deliveries at a fixed rate, whether or not earlier ones are answered, as senders do. Only 2xx is an
// acknowledgement; after another answer, or none, the delivery is posted again with the same id, unlike real senders,
// so that all of them count at the end.
import { setTimeout as sleep } from 'node:timers/promises';
import { createPost, type SignedDelivery } from '../../packages/testkit/src/deliveries/signed-delivery.ts';

export type PhaseFigures = ReturnType<typeof noFigures>;

const MOST_AT_ONCE = 3000;
/** Twice as long after each refusal: thousands that come back at once would keep a slow machine from recovering. */
const PAUSE_MS = 250;
const LONGEST_PAUSE_MS = 8000;

export function createSenders(given: { port: number; path: string; deadlineMs: number }) {
  const { post, close } = createPost(given.port, given.path);
  const acknowledged = new Set<string>();
  const deadline = performance.now() + given.deadlineMs;
  let begun = 0;

  async function insist(delivery: SignedDelivery, figures: PhaseFigures): Promise<void> {
    for (
      let pauseMs = PAUSE_MS;
      performance.now() < deadline;
      pauseMs = Math.min(2 * pauseMs, LONGEST_PAUSE_MS)
    ) {
      const started = performance.now();
      // However the connection broke: not acknowledged.
      const status = await post(delivery).then(
        (answer) => answer.status,
        () => undefined,
      );
      note(figures, status, performance.now() - started);
      if (status !== undefined && status >= 200 && status < 300) {
        acknowledged.add(delivery.deliveryId);
        figures.acknowledged += 1;
        return;
      }
      if (status !== undefined && status < 500 && status !== 408 && status !== 429)
        throw new Error(`${delivery.deliveryId} was rejected with ${status}`);
      await sleep(pauseMs);
    }
    throw new Error(`not acknowledged before the end of the run: ${delivery.deliveryId}`);
  }

  return {
    /** By delivery id: acknowledged with 2xx. */
    acknowledged,
    /** Deliveries that were started in this phase. */
    begun: () => begun,
    async run(phase: {
      name: string;
      deliveries: readonly SignedDelivery[];
      rate: () => number;
      slowMs: number;
    }): Promise<PhaseFigures> {
      const { name, deliveries, rate, slowMs } = phase;
      const figures = noFigures(name, slowMs);
      const underWay = new Set<Promise<void>>();
      let oneEnded = (): void => {};
      let failed: Error | undefined;
      begun = 0;
      let due = performance.now();
      for (const delivery of deliveries) {
        if (failed !== undefined) break;
        const one = insist(delivery, figures)
          .catch((error: unknown) => void (failed ??= asError(error)))
          .finally(() => {
            underWay.delete(one);
            oneEnded();
          });
        underWay.add(one);
        begun += 1;
        due = Math.max(due + 1000 / rate(), performance.now() - 100);
        const early = due - performance.now();
        if (early > 1) await sleep(early);
        // Not Promise.race, which adds a reaction to each of the thousands for each delivery: gigabytes on a slow machine.
        if (underWay.size >= MOST_AT_ONCE) await new Promise<void>((resolve) => (oneEnded = resolve));
      }
      await Promise.all(underWay);
      if (failed !== undefined) throw failed;
      return figures;
    },
    close,
  };
}

/** `posts` includes failed ones; `slow` are those that took longer than `slowMs`. */
function noFigures(name: string, slowMs: number) {
  /** By status, and `none` for a broken connection. */
  const answers = new Map<string, number>();
  return { name, posts: 0, acknowledged: 0, answers, slow: 0, slowMs, slowestMs: 0 };
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
