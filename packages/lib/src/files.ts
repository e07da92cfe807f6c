// Files that may not exist.
import { systemErrorCode } from './errors.ts';

/** Whether an error means that a file, or a folder in its path, does not exist. */
export function isMissing(error: unknown): boolean {
  const code = systemErrorCode(error);
  return code === 'ENOENT' || code === 'ENOTDIR';
}

/** The result of work on a file; undefined if it does not exist. */
export function ifPresent<T>(work: Promise<T>): Promise<T | undefined> {
  return work.catch((error: unknown) => {
    if (isMissing(error)) return undefined;
    throw error;
  });
}

/** The same; undefined also if the system refuses it, because it belongs to somebody else for example. */
export function ifAllowed<T>(work: Promise<T>): Promise<T | undefined> {
  return work.catch((error: unknown) => {
    if (systemErrorCode(error) !== undefined) return undefined;
    throw error;
  });
}

export function ifPresentSync<T>(work: () => T): T | undefined {
  try {
    return work();
  } catch (error) {
    if (isMissing(error)) return undefined;
    throw error;
  }
}
