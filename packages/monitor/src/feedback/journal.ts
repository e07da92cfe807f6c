// The drain's notes beside the queue (`<queue>.filed`). Only the drain writes them, and only one drain runs.
import { type DrainRecord, readDrainJournal } from '@svc/core';
import { appendLines } from './append-lines.ts';
import { removeFile, textOf } from './queue.ts';

export type DrainJournal = {
  read: () => Promise<ReturnType<typeof readDrainJournal>>;
  /** Durable when it resolves. */
  note: (...records: readonly DrainRecord[]) => Promise<void>;
  remove: () => Promise<void>;
};

export function journalFile(queue: string): string {
  return `${queue}.filed`;
}

export function createDrainJournal(file: string): DrainJournal {
  return {
    read: async () => readDrainJournal(await textOf(file)),
    async note(...records) {
      if (records.length === 0) return;
      await appendLines(file, records.map((record) => `${JSON.stringify(record)}\n`).join(''));
    },
    remove: () => removeFile(file),
  };
}
