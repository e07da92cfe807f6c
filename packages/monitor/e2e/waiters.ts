// Sees at the daemon whether somebody waits for a line of the log.
import { until } from '@svc/testkit';
import type { InProcessDaemon } from './in-process-daemon.ts';

type Health = { log: { lastSeq: number; tailReaders: number }; state: { seq: number } };

/** To be called before somebody more begins to wait. */
export async function waitersOf(daemon: Pick<InProcessDaemon, 'get'>) {
  const health = async () => (await daemon.get('/api/health')).body as unknown as Health;
  const readers = async () => (await health()).log.tailReaders;
  // The daemon reads its own log too: once it has folded the line of its start, that reader is there.
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
