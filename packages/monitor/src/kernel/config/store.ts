// Changes configuration files: one locked read-modify-write, atomic, format kept, mode 600 for files with secrets.
import { writeFileAtomically } from '../disk/atomic-write.ts';
import { worktreeRoot } from '../disk/git-folder.ts';
import type { FileLocks } from '../disk/lock.ts';
import { refuseLeadingOut } from '../disk/private-file.ts';
import { Failure } from '../failure.ts';
import { setInJson, unsetInJson, valueAt } from './edit-json.ts';
import type { Layer } from './field.ts';
import type { ConfigFiles } from './load.ts';
import { readJsonFile } from './read-json.ts';

const NEW_FILE = '{}\n';

/** A value to set; undefined removes the existing one. */
export type ConfigChange = { path: readonly string[]; value: unknown };

export type ConfigStore = {
  /** Sets one value and returns the file that contains it now. */
  set: (layer: Layer, path: readonly string[], value: unknown) => Promise<string>;
  /** Makes several changes to one file in one write: all or none. Returns the file. */
  setMany: (layer: Layer, changes: readonly ConfigChange[]) => Promise<string>;
  /** Computes the value from the existing one, in one locked step. The same value again changes nothing. */
  update: (
    layer: Layer,
    path: readonly string[],
    next: (current: unknown) => unknown,
  ) => Promise<{ file: string; changed: boolean }>;
  /** Removes one value; `removed` is false if it did not exist. */
  unset: (layer: Layer, path: readonly string[]) => Promise<{ file: string; removed: boolean }>;
};

export function createConfigStore({ locks, files }: { locks: FileLocks; files: ConfigFiles }): ConfigStore {
  const change = async (
    layer: Layer,
    edit: (text: string) => string,
  ): Promise<{ file: string; changed: boolean }> => {
    const file = fileOf(files, layer);
    const { folder } = files.project;
    if (layer === 'project' && folder !== undefined) await refuseLeadingOut(await worktreeRoot(folder), file);
    return locks.withLock(file, async () => {
      const text = await currentText(file);
      const next = edit(text);
      if (next === text) return { file, changed: false };
      await writeFileAtomically(file, next, layer === 'project' ? {} : { mode: 0o600, folderMode: 0o700 });
      return { file, changed: true };
    });
  };
  return {
    async set(layer, path, value) {
      return (await change(layer, (text) => setInJson(text, path, value))).file;
    },
    async setMany(layer, changes) {
      return (await change(layer, (text) => changes.reduce(withChange, text))).file;
    },
    update: (layer, path, next) =>
      change(layer, (text) => {
        const current = valueAt(text, path);
        const value = next(current);
        return value === current ? text : setInJson(text, path, value);
      }),
    async unset(layer, path) {
      const { file, changed } = await change(layer, (text) => unsetInJson(text, path));
      return { file, removed: changed };
    },
  };
}

function withChange(text: string, { path, value }: ConfigChange): string {
  return value === undefined ? unsetInJson(text, path) : setInJson(text, path, value);
}

function fileOf(files: ConfigFiles, layer: Layer): string {
  if (layer === 'project') return files.project.file;
  if (layer === 'global') return files.global;
  // Without a project key the project has no file for secrets; the global one is the fallback.
  return files.secrets.ownFile ?? files.global;
}

async function currentText(file: string): Promise<string> {
  const read = await readJsonFile(file);
  if (read.state === 'absent') return NEW_FILE;
  if (read.state === 'read') return read.text;
  throw new Failure(
    'config-invalid',
    `${file} ${read.problem.message}`,
    'Fix the file by hand first; nothing was changed.',
  );
}
