// Shows whether a client waits for an event at the daemon.
import { until } from '@svc/testkit';
import type { InProcessDaemon } from './in-process-daemon.ts';

type Health = { log: { lastSeq: number; tailReaders: number }; state: { seq: number } };

/** Call it before another client starts to wait. */
export async function waitersOf(daemon: Pick<InProcessDaemon, 'get'>) {
  const health = async () => (await daemon.get('/api/health')).body as unknown as Health;
  const readers = async () => (await health()).log.tailReaders;
  // The daemon reads its own log too: once it has folded the event of its start, that reader exists.
  await until(async () => {
    const { log, state } = await health();
    return log.lastSeq > 0 && state.seq === log.lastSeq;
  });
  const before = await readers();
  return {
    waits: () => until(async () => (await readers()) > before),
    waitsNoMore: () => until(async () => (await readers()) === before),
  };
}
