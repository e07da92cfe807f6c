// Where a registration is kept: the record in the global file, the webhook's secret in a file of its own.
import { readFile, rm } from 'node:fs/promises';
import { dirname } from 'node:path';
import type { ConfigChange, ConfigStore } from '../config/store.ts';
import { syncFolder, writeFileAtomically } from '../disk/atomic-write.ts';
import { systemErrorCode } from '../errors.ts';

const group = ['svc', 'monitor', 'linear'];

type Writing = Pick<ConfigStore, 'setMany'>;

export type RecordToWrite = {
  webhookId: string;
  webhookUrl: string;
  registeredAt: string;
  /** Absent for a webhook that was found and reused. */
  resourceTypes?: readonly string[];
};

export function writeRecord(store: Writing, record: RecordToWrite): Promise<string> {
  return store.setMany('global', changes(record));
}

export function clearRecord(store: Writing): Promise<string> {
  return store.setMany('global', changes({}));
}

/** All four fields each time: what a record does not have must not stay from the one before. */
function changes(record: Partial<RecordToWrite>): ConfigChange[] {
  return (['webhookId', 'webhookUrl', 'registeredAt', 'resourceTypes'] as const).map((name) => ({
    path: [...group, name],
    value: record[name],
  }));
}

/** The channel by which the daemon of this machine gets the tracker's deliveries. */
export function writeChannel(store: Writing, url: string): Promise<string> {
  return store.setMany('global', [{ path: [...group, 'smeeChannel'], value: url }]);
}

export async function readSecretFile(path: string): Promise<string | undefined> {
  try {
    const secret = (await readFile(path, 'utf8')).trim();
    return secret === '' ? undefined : secret;
  } catch (error) {
    if (systemErrorCode(error) === 'ENOENT') return undefined;
    throw error;
  }
}

export async function writeSecretFile(path: string, secret: string): Promise<void> {
  await writeFileAtomically(path, `${secret}\n`, { mode: 0o600, folderMode: 0o700 });
}

/** Nothing happens when it is not there. */
export async function removeSecretFile(path: string): Promise<void> {
  try {
    await rm(path);
  } catch (error) {
    if (systemErrorCode(error) === 'ENOENT') return;
    throw error;
  }
  await syncFolder(dirname(path));
}
