// Rebuilds the index while no daemon is running: holds the data root's lock for that time.
import type { Machine } from '../config/environment.ts';
import { refuseNewerData } from '../disk/data-format.ts';
import { Failure } from '../errors.ts';
import { openEventLog } from '../log/event-log.ts';
import { identifyHost } from '../log/host.ts';
import { claimInstance } from './instance.ts';

export async function reindexAlone(
  machine: Machine,
  now: () => Date,
  { acceptMissing }: { acceptMissing: boolean },
): Promise<{ lines: number; seconds: number }> {
  refuseNewerData(machine.dataDir);
  const instance = claimInstance(machine.dataDir);
  if (instance === undefined) {
    throw new Failure(
      'not-answering',
      'A daemon holds the data folder but does not answer.',
      'See: svc monitor status',
    );
  }
  const started = performance.now();
  const log = openEventLog({
    eventsFolder: machine.eventsDir,
    databaseFile: machine.databaseFile,
    clock: { now: () => now().getTime() },
    host: await identifyHost(machine.dataDir),
    newId: () => crypto.randomUUID(),
  });
  try {
    await log.reindex({ acceptMissing });
    return { lines: log.lastSeq(), seconds: Math.round((performance.now() - started) / 100) / 10 };
  } finally {
    await log.close();
    instance.withdraw();
  }
}
