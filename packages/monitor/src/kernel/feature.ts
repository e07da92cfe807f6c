// How a feature takes part in the daemon. What it needs it gets from the parts that are always there; features that give
// parts to others add them here, in their own files.
import type { Logger } from 'pino';
import type { StateFollower } from './board/state-follower.ts';
import type { Config } from './config/configuration.ts';
import type { Machine } from './config/environment.ts';
import type { LiveConfig } from './config/live.ts';
import type { FileLocks } from './disk/lock.ts';
import type { Routes } from './http/route.ts';
import type { EventLog } from './log/event-log.ts';
import type { OutboxFigures, OutboxRow } from './outbox/outbox-store.ts';

/**
 * The finished parts of the daemon.
 * @public
 */
export interface DaemonParts {
  machine: Machine;
  live: Pick<LiveConfig, 'current'>;
  /** The values of the global file. */
  machineWide: () => Config;
  state: StateFollower;
  log: EventLog;
  outbox: {
    list: () => OutboxRow[];
    figures: () => OutboxFigures;
    /** False when there is no such effect, or it was not given up. */
    tryAgain: (key: string) => boolean;
  };
  locks: FileLocks;
  logger: Logger;
  now: () => Date;
}

export type OpenedFeature = {
  routes?: Routes;
  start?: () => void;
  stop?: () => Promise<void> | void;
};

export type OpenFeature = (parts: DaemonParts) => OpenedFeature;
