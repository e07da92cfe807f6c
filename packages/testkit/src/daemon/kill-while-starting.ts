// Kills daemons in the midst of their start: after they have taken the data root, before they answer. How long that
// takes depends on the machine, so it is found out by trying.
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Random } from '../random.ts';
import { until } from '../waiting.ts';
import type { ServerProcess } from './server-process.ts';
import type { DaemonHome } from './start-daemon.ts';

const FIRST_GUESS_MS = 300;

/** One for all daemons of a home: `const killWhileStarting = createStartKiller(home, random)`. */
export function createStartKiller({ dataDir }: DaemonHome, random: Random) {
  const record = join(dataDir, 'daemon.json');
  /** From the data root to the first answer. */
  let startMs = FIRST_GUESS_MS;

  /**
   * Starts daemons until one was killed before it answered. The daemon before must have been killed too: the record
   * that it left goes when the next one takes the data root.
   */
  return async (start: () => ServerProcess): Promise<void> => {
    for (let isInTime = false; !isInTime; ) {
      const daemon = start();
      let isReady = false;
      const ready = daemon.ready.then(() => (isReady = true));
      await until(() => isReady || !existsSync(record));
      const began = performance.now();
      await Promise.race([ready, sleep(random.next() * startMs)]);
      isInTime = !isReady;
      startMs = isInTime ? startMs * 1.3 : Math.max(10, performance.now() - began);
      await daemon.kill();
    }
  };
}
