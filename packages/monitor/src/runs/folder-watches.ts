// The system's notices for a set of folders that come and go. A notice is only a hint: folders that cannot be
// watched (no more watches to be had, a file system without notices) are left to whoever polls.
import { type FSWatcher, watch } from 'node:fs';
import { basename } from 'node:path';
import { systemErrorCode } from '../errors.ts';

/** Watches are shared by all programs of a user; a run without one is found by the rescan. */
const MAX_WATCHES = 2_000;

export type FolderWatches = {
  /**
   * Watches exactly these folders, each as it is now: a folder with another identity is watched anew. Returns
   * whether a watch began: what happened before it began has to be looked for.
   */
  keep: (folders: ReadonlyMap<string, string>) => boolean;
  /** How many of the folders have no watch, and why. */
  missing: () => { folders: number; reason: string | null };
  close: () => void;
};

export function createFolderWatches({
  onNotice,
}: {
  /** `name` is what changed in the folder; null when the system does not say, or when the folder itself did. */
  onNotice: (folder: string, name: string | null) => void;
}): FolderWatches {
  const watches = new Map<string, { identity: string; watcher: FSWatcher }>();
  let unwatched = 0;
  let reason: string | null = null;

  function letGo(folder: string): void {
    watches.get(folder)?.watcher.close();
    watches.delete(folder);
  }

  function begin(folder: string, identity: string): boolean {
    if (watches.size >= MAX_WATCHES) {
      reason = `more than ${MAX_WATCHES} folders`;
      return false;
    }
    try {
      const watcher = watch(folder, { persistent: false }, (kind, name) => {
        if (watches.get(folder)?.watcher !== watcher) return;
        // The folder itself was removed or renamed: what is watched is no longer what is there.
        const itself = kind === 'rename' && name === basename(folder);
        if (itself) letGo(folder);
        onNotice(folder, itself ? null : name);
      });
      watcher.on('error', (error) => {
        reason = error.message;
        if (watches.get(folder)?.watcher === watcher) letGo(folder);
        onNotice(folder, null);
      });
      watches.set(folder, { identity, watcher });
      return true;
    } catch (error) {
      const code = systemErrorCode(error);
      if (code === undefined) throw error;
      // Gone again already: the next look finds that out.
      if (code !== 'ENOENT') reason = code;
      return false;
    }
  }

  return {
    keep(folders) {
      let began = false;
      unwatched = 0;
      reason = null;
      for (const [folder, { identity }] of watches) {
        if (folders.get(folder) !== identity) letGo(folder);
      }
      for (const [folder, identity] of folders) {
        if (watches.has(folder)) continue;
        if (begin(folder, identity)) began = true;
        else unwatched += 1;
      }
      return began;
    },
    missing: () => ({ folders: unwatched, reason }),
    close() {
      for (const folder of watches.keys()) letGo(folder);
    },
  };
}
