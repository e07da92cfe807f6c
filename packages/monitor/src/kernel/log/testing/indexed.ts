import { until } from '@svc/testkit';
import type { EventLog } from '../event-log.ts';

/** Resolves when the index has every line. A query itself waits only half a second for that. */
export async function indexed(log: Pick<EventLog, 'stats' | 'lastSeq'>): Promise<void> {
  await until(() => log.stats().indexedTo === log.lastSeq());
}
