// Plays what is left of the day into a running daemon.
import { setTimeout as sleep } from 'node:timers/promises';
import { sendFact } from './send.ts';
import type { TapeDaemon } from './tape-daemon.ts';
import { type Moment, momentOf } from './team-day.ts';

/**
 * `pace` is the milliseconds that a minute of the day takes: with 600 an afternoon takes three minutes, with 0 all
 * is told at once. Each fact is sent after the one before was taken.
 *
 *     await playTeamDay(daemon, { upTo: 'end', pace: 600 });
 */
export async function playTeamDay(
  daemon: TapeDaemon,
  { upTo = 'end', pace = 0, signal }: { upTo?: Moment; pace?: number; signal?: AbortSignal } = {},
): Promise<{ told: number }> {
  const { day } = daemon;
  const facts = day.facts.filter(({ at }) => at > day.nowIs && at <= momentOf[upTo]);
  day.goLive(Date.now(), pace);
  let told = 0;
  for (const fact of facts) {
    if (signal?.aborted) break;
    const wait = day.timeOf(fact.at).getTime() - Date.now();
    if (wait > 0) await sleep(wait, undefined, { signal }).catch(() => undefined);
    await sendFact(daemon, fact, new Date());
    told += 1;
  }
  return { told };
}
