// Where a registration is kept: the record in the global file. The webhook's secret has a file of its own.
import type { ConfigChange, ConfigStore } from '../config/store.ts';

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
