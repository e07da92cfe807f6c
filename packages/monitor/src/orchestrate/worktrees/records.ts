// What is known of each worktree that was made here: `<base>/.records/<name>.json`. Written before the first thing
// is made and removed after the last is gone, so that whatever ends the process, what it left is known.

import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { WorktreeRecord } from '@svc/core';
import { namesIn } from '@svc/lib/files';
import { readJsonFile } from '../../config/read-json.ts';
import { writeFileAtomically } from '../../disk/atomic-write.ts';
import { Failure } from '../../errors.ts';

export type Records = {
  read: (name: string) => Promise<WorktreeRecord | undefined>;
  write: (record: WorktreeRecord) => Promise<void>;
  forget: (name: string) => Promise<void>;
  names: () => Promise<string[]>;
};

export function createRecords(base: string): Records {
  const folder = join(base, '.records');
  const fileOf = (name: string): string => join(folder, `${name}.json`);
  return {
    async read(name) {
      const read = await readJsonFile(fileOf(name));
      if (read.state === 'absent') return undefined;
      const parsed = read.state === 'read' ? WorktreeRecord.safeParse(read.data) : undefined;
      if (parsed?.success && parsed.data.name === name) return parsed.data;
      throw new Failure(
        'file-unusable',
        `${fileOf(name)} is not a record of a worktree.`,
        'Look what is in the folder of that worktree; then remove the file.',
      );
    },
    write: (record) => writeFileAtomically(fileOf(record.name), `${JSON.stringify(record, null, 2)}\n`),
    forget: (name) => rm(fileOf(name), { force: true }),
    async names() {
      return (await namesIn(folder)).filter((file) => /^[^.].*\.json$/.test(file)).map((f) => f.slice(0, -5));
    },
  };
}
