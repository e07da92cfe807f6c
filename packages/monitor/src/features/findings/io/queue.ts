// The findings queue: a file that many processes append to, and that one drain empties. It only grows, until it is
// removed as a whole. Appending and removing exclude each other, so no line is lost in between.
//
//   const queue = createFindingsQueue({ file, locks });
//   await queue.append(finding);
import { createHash } from 'node:crypto';
import { constants } from 'node:fs';
import type { FileHandle } from 'node:fs/promises';
import { basename, dirname, join, resolve } from 'node:path';
import { safeSegment } from '@svc/contract/signal-file';
import { diskCalls } from '@svc/lib/disk-calls';
import { systemErrorCode } from '@svc/lib/errors';
import { ifPresent } from '@svc/lib/files';
import { close, openFile, readText, syncFolder, Unreadable, unlink, writeNewFile } from '@svc/lib/paths';
import { locateProject } from '../../../kernel/config/locate.ts';
import type { Environment } from '../../../kernel/config/resolved-value.ts';
import { makeDurableFolder } from '../../../kernel/disk/atomic-write.ts';
import { worktreeRoot } from '../../../kernel/disk/git-folder.ts';
import type { FileLocks } from '../../../kernel/disk/lock.ts';
import { refuseLeadingOut } from '../../../kernel/disk/private-file.ts';
import { Failure } from '../../../kernel/failure.ts';
import {
  type DrainRecord,
  type Finding,
  findingLine,
  type ReadFinding,
  readDrainJournal,
  readFindingLine,
} from '../findings.ts';

const LARGEST_FILE = 256 * 1024 * 1024;

/** The key is made of the line's content and how many earlier lines have the same content. */
export type QueueLine = { key: string; text: string; read: ReadFinding };

export type FindingsQueue = {
  file: string;
  /** Appends a line, durably; with `unless`, only if no line contains that text. */
  append: (finding: Finding, unless?: string) => Promise<void>;
  /** All lines, oldest first; none if there is no file. */
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
  const remedy = 'Check that the disk has free space and the folder is writable, then add it again.';
  return new Failure('file-unusable', `${file} cannot be written (${code}).`, remedy, { cause: error });
}

/** Removed durably when this resolves, also after a power cut. */
async function removeFile(file: string): Promise<void> {
  await ifPresent(unlink(file).then(() => syncFolder(dirname(file))));
}

export async function textOf(file: string): Promise<string> {
  try {
    return (await ifPresent(readText(file, { most: LARGEST_FILE, links: 'keep' }))) ?? '';
  } catch (error) {
    if (!(error instanceof Unreadable)) throw error;
    throw new Failure('file-unusable', error.message, 'Move it aside and check who wrote it.', {
      cause: error,
    });
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

/** Findings belong to this worktree: git ignores the project's folder of them. */
async function prepareFolder(file: string): Promise<void> {
  const folder = dirname(file);
  await makeDurableFolder(folder, 0o777);
  if (basename(folder) !== 'findings' || basename(dirname(folder)) !== '.svc') return;
  try {
    await writeNewFile(join(folder, '.gitignore'), '*\n', 0o666);
  } catch (error) {
    if (systemErrorCode(error) !== 'EEXIST') throw error;
  }
}

// The queue file of a run. First match wins: SVC_FINDINGS_FILE; the session's file; the current one.

export async function findingsFile({
  environment,
  folder,
  home,
}: {
  environment: Environment;
  /** Where the helper script was started: the project is searched from here upwards. */
  folder: string;
  home: string;
}): Promise<string> {
  const { SVC_FINDINGS_FILE: file = '', SVC_SESSION_ID: session = '' } = environment;
  const root = (await locateProject(folder, home)).folder ?? (await worktreeRoot(folder));
  if (file !== '') return resolve(root, file);
  if (session === '' || safeSegment(session)) {
    const own =
      session === '' ? projectFindingsFile(root) : join(root, '.svc', 'findings', `${session}.jsonl`);
    await refuseLeadingOut(await worktreeRoot(root), own);
    return own;
  }
  throw new Failure(
    'usage',
    `SVC_SESSION_ID must be usable as a file name: at most 120 letters, digits, ".", "_" and "-"; found ${JSON.stringify(session.slice(0, 200))}.`,
    'Set another SVC_SESSION_ID, or name the file: SVC_FINDINGS_FILE=<path>',
  );
}

/** The queue of a project for processes without a session. */
export function projectFindingsFile(project: string): string {
  return join(project, '.svc', 'findings', 'current.jsonl');
}

// Appends whole lines to a file in one write. A torn last line, left by a crash or a full disk, is terminated first, so
// it does not swallow the next one.

const FLAGS = constants.O_RDWR | constants.O_APPEND | constants.O_CREAT;
const LINE_BREAK = 0x0a;

/** The lines survive a power cut when this resolves. `text` ends with a line break. */
export async function appendLines(file: string, text: string): Promise<void> {
  const onDisk = <T>(work: () => Promise<T>): Promise<T> => diskCalls.call(file, work);
  const handle = await openFile(file, { flags: FLAGS, mode: 0o600, links: 'keep' });
  try {
    const { size } = await onDisk(() => handle.stat());
    const bytes = Buffer.from((await onDisk(() => isTorn(handle, size))) ? `\n${text}` : text);
    const { bytesWritten } = await onDisk(() => handle.write(bytes));
    if (bytesWritten < bytes.length)
      throw new Failure(
        'file-unusable',
        `${file} took only ${bytesWritten} of ${bytes.length} bytes.`,
        'Free disk space, then add the finding again.',
      );
    await onDisk(() => handle.datasync());
    if (size === 0) await syncFolder(dirname(file));
  } finally {
    await close(file, handle);
  }
}

async function isTorn(handle: FileHandle, size: number): Promise<boolean> {
  if (size === 0) return false;
  const { buffer, bytesRead } = await handle.read(Buffer.alloc(1), 0, 1, size - 1);
  return bytesRead === 1 && buffer[0] !== LINE_BREAK;
}

// The drain's journal next to the queue (`<queue>.filed`). Only the drain writes it, and only one drain runs.

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

// The key of a ticket: the same for the same words, in the form of a UUID, which the tracker accepts as an id.

/** A UUID (version 4 in form) made of the words. */
export function ticketKey(...words: readonly string[]): string {
  const bytes = createHash('sha256').update(JSON.stringify(words)).digest().subarray(0, 16);
  bytes[6] = ((bytes[6] ?? 0) & 0x0f) | 0x40;
  bytes[8] = ((bytes[8] ?? 0) & 0x3f) | 0x80;
  const hex = bytes.toString('hex');
  return [hex.slice(0, 8), hex.slice(8, 12), hex.slice(12, 16), hex.slice(16, 20), hex.slice(20)].join('-');
}

// Findings of the daemon itself: they are added to the queue of the project, for its next drain.

/** Appends a finding to a project's queue, unless a line contains the text `unless`. */
export type AppendFinding = (project: string, finding: Finding, unless: string) => Promise<void>;

export function projectFindings(locks: FileLocks): AppendFinding {
  return (project, finding, unless) =>
    createFindingsQueue({ file: projectFindingsFile(project), locks }).append(finding, unless);
}
