// The one decision that the day leaves to the user: what to do about TID-106, whose three deployments failed. What
// follows is in decision.jsonl:
//   acknowledge, hand over, resolve   a colleague fixes it and requests another attempt, which succeeds
//   retry                             the attempt succeeds
//   accept                            the ticket is done without a deployment
import { setTimeout as sleep } from 'node:timers/promises';
import type { EventLine } from 'svc-monitor/src/kernel/log/event-line.ts';
import { type Clouds, post } from './clouds.ts';
import type { DaemonAddress } from './daemon.ts';
import { type Delivery, openDay, readRecords, WAITS_FOR_YOU } from './day.ts';

const COLLEAGUE = 'jonas';
/** Minutes of the day from the decision until the colleague acts. */
const FIXED_AFTER = 8;

type Decision = 'taken' | 'retried' | 'accepted';

export type AwaitedDecision = {
  saw: (line: EventLine) => void;
  isMade: () => boolean;
  /** Resolves when its consequences have been played; at once without a decision. */
  settled: () => Promise<void>;
};

export function awaitDecision(given: {
  daemon: DaemonAddress;
  clouds: Pick<Clouds, 'deliver'>;
  msPerMinute: number;
  print: (text: string) => void;
  signal: AbortSignal;
}): AwaitedDecision {
  const { daemon, clouds, msPerMinute, print, signal } = given;
  let decision: Decision | undefined;
  let following: Promise<void> = Promise.resolve();

  async function playConsequences(first: Decision): Promise<void> {
    const now = new Date();
    const day = openDay({ records: readRecords('decision.jsonl'), now, nowIs: 0, pid: process.pid });
    day.goLive(now.getTime(), msPerMinute);
    const deliveries = day.records.filter((record) => isDelivery(record));
    const play = async (delivery: Delivery): Promise<void> => clouds.deliver(day.dated(delivery, new Date()));
    if (first === 'accepted') {
      print(`You accepted ${WAITS_FOR_YOU}: it is done by your decision, and its receipt records that.`);
      for (const delivery of deliveries) if (delivery.kind === 'tracker') await play(delivery);
      return;
    }
    print(
      first === 'taken'
        ? `You handled ${WAITS_FOR_YOU}. ${COLLEAGUE} gives the service more memory and requests another attempt.`
        : `You requested another attempt of ${WAITS_FOR_YOU}. ${COLLEAGUE} has given the service more memory.`,
    );
    await sleep(FIXED_AFTER * msPerMinute, undefined, { signal });
    // The user may have decided again in the meantime.
    if (first === 'taken' && decision === 'taken') await requestRetry();
    for (const delivery of deliveries) {
      await sleep(Math.max(0, day.timeOf(delivery.at).getTime() - Date.now()), undefined, { signal });
      await play(delivery);
    }
    print(`${WAITS_FOR_YOU} is in production: done.`);
  }

  function requestRetry(): Promise<void> {
    const body = JSON.stringify({ action: 'retry', by: COLLEAGUE, note: '1 GB instead of 512 MB' });
    const url = `${daemon.url}/api/workers/${WAITS_FOR_YOU}/deploy`;
    return post(url, { ...daemon.headers, 'content-type': 'application/json' }, body);
  }

  return {
    saw(line) {
      const made = decisionIn(line);
      if (made === undefined) return;
      const isFirst = decision === undefined;
      decision = made;
      if (isFirst)
        following = playConsequences(made).catch((error: unknown) => {
          if (!signal.aborted) throw error;
        });
      // The caller of `settled` gets the failure; until then it must not be unhandled.
      following.catch(() => undefined);
    },
    isMade: () => decision !== undefined,
    settled: () => following,
  };
}

function isDelivery(record: { kind: string }): record is Delivery {
  return record.kind === 'codehost' || record.kind === 'tracker';
}

/** A person's decisions come through the daemon's API, with the source `cli`. */
export function decisionIn({ event, source, scope, detail }: EventLine): Decision | undefined {
  if (source !== 'cli' || scope.ticket !== WAITS_FOR_YOU) return undefined;
  if (event === 'orchestrator.deploy.retried') return 'retried';
  if (event === 'orchestrator.deploy.accepted') return 'accepted';
  const isTaken = /^comms\.attention_(?:acknowledged|handed_over|resolved)$/.test(event);
  return isTaken && Reflect.get(detail, 'reason') === 'deploy-budget-exhausted' ? 'taken' : undefined;
}
