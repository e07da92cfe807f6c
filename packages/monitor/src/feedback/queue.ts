// The findings queue: a file that many processes add lines to, and that one drain empties. It only ever grows,
// until it goes as a whole. Adding and removing exclude each other, so that no line is lost in between.
//
//   const queue = createFindingsQueue({ file, locks });
//   await queue.append(finding);

import { constants } from 'node:fs';
import { open, unlink, writeFile } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { type Finding, findingLine, type ReadFinding, readFindingLine } from '@svc/core';
import { systemErrorCode } from '@svc/lib/errors';
import { ifPresent } from '@svc/lib/files';
import { syncFolder } from '../disk/atomic-write.ts';
import type { FileLocks } from '../disk/lock.ts';
import { makeFolder } from '../disk/make-folder.ts';
import { Failure } from '../errors.ts';
import { appendLines } from './append-lines.ts';
import { ticketKey } from './ticket-key.ts';

const LARGEST_FILE = 256 * 1024 * 1024;

/** The key is made of what the line says and how many lines before it say the same. */
export type QueueLine = { key: string; text: string; read: ReadFinding };

export type FindingsQueue = {
  file: string;
  /** Adds a line, durably; with `unless`, not when a line holds that text already. */
  append: (finding: Finding, unless?: string) => Promise<void>;
  /** All lines, oldest first; none when there is no file. */
  lines: () => Promise<QueueLine[]>;
  /** Removes the file if every line of it is settled by then; `rescue` gets the lines first. */
  removeIfSettled: (
    isSettled: (line: QueueLine) => boolean,
    rescue: (lines: readonly QueueLine[]) => Promise<void>,
  ) => Promise<boolean>;
};

export function createFindingsQueue({ file, locks }: { file: string; locks: FileLocks }): FindingsQueue {
  const lines = async (): Promise<QueueLine[]> => linesIn(await textOf(file));
  return {
    file,
    lines,
    append: (finding, unless) =>
      locks.withLock(file, async () => {
        try {
          await prepareFolder(file);
          if (unless !== undefined && (await textOf(file)).includes(unless)) return;
          await appendLines(file, findingLine(finding));
        } catch (error) {
          throw notWritable(file, error);
        }
      }),
    removeIfSettled: (isSettled, rescue) =>
      locks.withLock(file, async () => {
        const left = await lines();
        if (!left.every(isSettled)) return false;
        await rescue(left);
        await removeFile(file);
        return true;
      }),
  };
}

function notWritable(file: string, error: unknown): unknown {
  const code = systemErrorCode(error);
  if (error instanceof Failure || code === undefined) return error;
  const remedy = 'See that there is room on the disk and that the folder may be written, then add it again.';
  return new Failure('file-unusable', `${file} cannot be written (${code}).`, remedy, { cause: error });
}

/** Gone for good when this resolves, also after a power cut. */
export async function removeFile(file: string): Promise<void> {
  await ifPresent(unlink(file).then(() => syncFolder(dirname(file))));
}

export async function textOf(file: string): Promise<string> {
  const handle = await ifPresent(open(file, constants.O_RDONLY | constants.O_NOFOLLOW));
  if (handle === undefined) return '';
  try {
    const { size } = await handle.stat();
    if (size > LARGEST_FILE)
      throw new Failure(
        'file-unusable',
        `${file} has ${size} bytes.`,
        'Move it away, and look what filled it.',
      );
    return await handle.readFile('utf8');
  } finally {
    await handle.close();
  }
}

function linesIn(text: string): QueueLine[] {
  const seen = new Map<string, number>();
  return text
    .split('\n')
    .filter((line) => line.trim() !== '')
    .map((line) => {
      const before = seen.get(line) ?? 0;
      seen.set(line, before + 1);
      return { key: ticketKey(line, String(before)), text: line, read: readFindingLine(line) };
    });
}

/** Findings are this worktree's own: git leaves the project's folder of them alone. */
async function prepareFolder(file: string): Promise<void> {
  const folder = dirname(file);
  makeFolder(folder, 0o777);
  if (basename(folder) !== 'findings' || basename(dirname(folder)) !== '.svc') return;
  try {
    await writeFile(join(folder, '.gitignore'), '*\n', { flag: 'wx' });
  } catch (error) {
    if (systemErrorCode(error) !== 'EEXIST') throw error;
  }
}
