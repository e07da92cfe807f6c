// Restores a backup: unpacked and verified beside the data root first, then moved to its places. What is there
// is never removed: it is renamed, and only when that was asked for.
import { cp, lstat, mkdir, readdir, rename, rm } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { type BackupManifest, type BackupPart, backupParts, SECRET_MARKER } from '@svc/core';
import { moveArchiveRoot } from '../../archive/move-root.ts';
import { unsetInJson, valueAt } from '../../config/edit-json.ts';
import type { Machine } from '../../config/environment.ts';
import { readJsonFile } from '../../config/read-json.ts';
import { claimInstance } from '../../daemon/instance.ts';
import { writeFileAtomically } from '../../disk/atomic-write.ts';
import { removeTree } from '../../disk/remove-tree.ts';
import { Failure, systemErrorCode } from '../../errors.ts';
import { backupPlaces, type Places, singleFiles } from './places.ts';
import { unpackBackup } from './unpack.ts';

export type RestoredBackup = { manifest: BackupManifest; places: Places; aside: string[] };

export async function restoreBackup(options: {
  file: string;
  machine: Machine;
  /** From what the restored global file says, or undefined. */
  archiveRootFrom: (configured: string | undefined) => string;
  force: boolean;
  now: Date;
}): Promise<RestoredBackup> {
  const { file, machine, force, now } = options;
  const instance = claimInstance(machine.dataDir);
  if (instance === undefined)
    throw new Failure(
      'already-running',
      'The daemon runs on the data root that would be restored.',
      'Stop it first: svc-monitor.sh stop',
    );
  const stamp = now.toISOString().replaceAll(/[:.]/g, '-');
  const unpacked = join(machine.dataDir, `restore-${stamp}`);
  try {
    await mkdir(unpacked, { recursive: true, mode: 0o700 });
    const manifest = await unpackBackup(file, unpacked);
    const configured = await readJsonFile(join(unpacked, 'config/config.json'));
    const root = configured.state === 'read' ? valueAt(configured.text, ['archive', 'root']) : undefined;
    const places = backupPlaces(
      machine,
      options.archiveRootFrom(typeof root === 'string' ? root : undefined),
    );
    const brought = await partsIn(unpacked);
    const aside = await makeRoom(places, brought, { force, stamp });
    if (brought.includes('config')) await dropMarkers(join(unpacked, 'config'));
    for (const part of brought) await put(join(unpacked, singleFiles[part] ?? part), places[part]);
    if (brought.includes('database')) moveArchiveRoot(places.database, manifest.archiveRoot, places.archive);
    return { manifest, places, aside };
  } finally {
    await removeTree(unpacked);
    instance.withdraw();
  }
}

async function partsIn(unpacked: string): Promise<BackupPart[]> {
  const names = await readdir(unpacked);
  return backupParts.filter((part) => names.includes(part));
}

/** Looks at everything before it moves the first thing. */
async function makeRoom(
  places: Places,
  brought: readonly BackupPart[],
  { force, stamp }: { force: boolean; stamp: string },
): Promise<string[]> {
  const taken: string[] = [];
  for (const part of brought) if (await hasContent(places[part])) taken.push(places[part]);
  if (taken.length > 0 && !force)
    throw new Failure(
      'not-allowed-now',
      `There is something already: ${taken.join(', ')}. Nothing was changed.`,
      'Set it aside, renamed, and restore: svc backup restore <file> --force',
    );
  const aside: string[] = [];
  for (const path of taken) {
    const to = `${path}.before-restore-${stamp}`;
    await rename(path, to);
    aside.push(to);
  }
  // What belongs to a database that has gone would be taken for part of the new one.
  if (brought.includes('database'))
    for (const end of ['-wal', '-shm']) {
      const path = places.database + end;
      if (await hasContent(path)) await rename(path, `${places.database}.before-restore-${stamp}${end}`);
    }
  return aside;
}

async function hasContent(path: string): Promise<boolean> {
  try {
    return (await lstat(path)).isDirectory() ? (await readdir(path)).length > 0 : true;
  } catch (error) {
    if (systemErrorCode(error) === 'ENOENT') return false;
    throw error;
  }
}

/** A marker must never be taken for a token. Goes by the files that are there, not by what a manifest says. */
async function dropMarkers(folder: string): Promise<void> {
  for (const name of await readdir(folder)) {
    const read = await readJsonFile(join(folder, name));
    if (read.state !== 'read') continue;
    const markers = markersIn(read.data);
    if (markers.length === 0) continue;
    const text = markers.reduce((rest, path) => unsetInJson(rest, path), read.text);
    await writeFileAtomically(join(folder, name), text, { mode: 0o600 });
  }
}

function markersIn(data: unknown, path: string[] = []): string[][] {
  if (data === SECRET_MARKER) return [path];
  if (typeof data !== 'object' || data === null || Array.isArray(data)) return [];
  return Object.entries(data).flatMap(([name, inner]) => markersIn(inner, [...path, name]));
}

async function put(from: string, to: string): Promise<void> {
  await mkdir(dirname(to), { recursive: true, mode: 0o700 });
  // An empty folder stands in the way of a rename on some systems.
  if (!(await hasContent(to))) await rm(to, { recursive: true, force: true });
  try {
    await rename(from, to);
  } catch (error) {
    if (systemErrorCode(error) !== 'EXDEV') throw error;
    await cp(from, to, { recursive: true, errorOnExist: true, force: false });
  }
}
