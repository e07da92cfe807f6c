// What the policy may remove: where it comes from, what is known about it, and how it is removed.
import type { Board, Config, RetentionFacts, RetentionItem } from '@svc/core';
import type { ReadProcessStarts } from '@svc/lib/system';
import type { Machine } from '../config/environment.ts';
import type { FileLocks } from '../disk/lock.ts';
import type { Orchestrator } from '../orchestrate/runs/orchestrator.ts';
import type { RunProjects } from '../orchestrate/runs/run-project.ts';

/** Something that may be removed. */
export type Candidate = Pick<RetentionItem, 'kind' | 'name' | 'path'> & {
  /** What the board knows at this moment. Whether something would be lost, `look` finds out. */
  facts: () => Omit<RetentionFacts, 'unsaved'>;
  /** What only the disk knows; asked only if nothing else keeps it. */
  look: () => Promise<Pick<RetentionFacts, 'inUse' | 'unsaved'>>;
  /** Bytes, if they are known without reading the disk. */
  bytes?: number;
  /** Rejects with the reason when it was not removed. `isDue` is asked at the last moment. */
  remove: (isDue: () => boolean) => Promise<void>;
};

export type Sources = {
  machine: Pick<Machine, 'home' | 'dataDir' | 'runsDir' | 'eventsDir' | 'databaseFile'>;
  config: () => Config;
  /** Of a log that was read completely. Rejects otherwise. */
  board: () => Board;
  folders: () => readonly string[];
  projects: RunProjects;
  cleanUp: Orchestrator['cleanUp'];
  locks: FileLocks;
  processStarts: ReadProcessStarts;
  now: () => Date;
};
