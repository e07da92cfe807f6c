// Watches a folder for changes: by the system's notifications where they work, and by a poll every second where they do
// not (network drives, some containers, a folder that does not exist yet).
// A change between two calls of `next` is never lost: the second returns at once.
import type { FSWatcher } from 'node:fs';
import { basename } from 'node:path';
import { systemErrorCode } from '@svc/lib/errors';
import { watch } from '@svc/lib/paths';

export type FolderChanges = {
  /** Resolves at the next change, the next poll, or when closed. */
  next: () => Promise<void>;
  close: () => void;
};

export function watchFolder({ folder, pollMs = 1_000 }: { folder: string; pollMs?: number }): FolderChanges {
  let watcher: FSWatcher | null = null;
  let changed = false;
  let closed = false;
  let wake: (() => void) | null = null;

  function note(): void {
    changed = true;
    wake?.();
  }

  function stopWatching(): void {
    watcher?.close();
    watcher = null;
  }

  /** Without a watcher (no such folder, no watches left) the poll has to suffice. */
  function watchIfPossible(): void {
    if (watcher !== null || closed) return;
    try {
      watcher = watch(folder, { persistent: false }, (kind, name) => {
        // The folder itself was removed or renamed: the watcher no longer watches this path.
        if (kind === 'rename' && name === basename(folder)) stopWatching();
        note();
      });
      watcher.on('error', stopWatching);
      changed = true;
    } catch (error) {
      if (systemErrorCode(error) === undefined) throw error;
    }
  }

  return {
    async next() {
      watchIfPossible();
      if (!changed && !closed) {
        await new Promise<void>((resolve) => {
          const timer = setTimeout(resolve, pollMs);
          wake = () => {
            clearTimeout(timer);
            resolve();
          };
        });
        wake = null;
      }
      changed = false;
    },
    close() {
      closed = true;
      stopWatching();
      wake?.();
    },
  };
}
