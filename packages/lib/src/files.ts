// Files that may not exist.
import { readdir } from 'node:fs/promises';
import { systemErrorCode } from './errors.ts';

/** Whether an error says that a file, or a folder on the way to it, does not exist. */
function isMissing(error: unknown): boolean {
  const code = systemErrorCode(error);
  return code === 'ENOENT' || code === 'ENOTDIR';
}

/** The result of work on a file; undefined when it does not exist. */
export async function ifPresent<T>(work: Promise<T>): Promise<T | undefined> {
  try {
    return await work;
  } catch (error) {
    if (isMissing(error)) return undefined;
    throw error;
  }
}

export function ifPresentSync<T>(work: () => T): T | undefined {
  try {
    return work();
  } catch (error) {
    if (isMissing(error)) return undefined;
    throw error;
  }
}

/** The names in a folder, in order; none when it does not exist. */
export async function namesIn(folder: string): Promise<string[]> {
  return ((await ifPresent(readdir(folder))) ?? []).toSorted();
}
