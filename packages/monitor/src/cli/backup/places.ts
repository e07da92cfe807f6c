// Where each part of a backup lies on a machine.
import { join } from 'node:path';
import type { BackupPart } from '@svc/core';
import type { Machine } from '../../config/environment.ts';

export type Places = Record<BackupPart, string>;

export function backupPlaces(machine: Machine, archiveRoot: string): Places {
  return {
    config: machine.configDir,
    events: machine.eventsDir,
    runs: machine.runsDir,
    archive: archiveRoot,
    comms: machine.commsDir,
    spool: machine.spoolDir,
    database: machine.databaseFile,
    identity: join(machine.dataDir, 'host-id'),
  };
}

/** These two are one file each; their names in a backup. */
export const singleFiles: Partial<Record<BackupPart, string>> = {
  database: 'database/svc.db',
  identity: 'identity/host-id',
};
