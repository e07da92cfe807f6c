// The disk under the data root: room, whether it can be written, and what helpers left that nobody could take.
import { randomUUID } from 'node:crypto';
import { readdir, rm, stat, statfs, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { type DoctorFinding, doctorFinding, judgeDisk, roomRemedy } from '@svc/core';
import { messageOf, systemErrorCode } from '@svc/lib/errors';
import type { Machine } from '../../config/environment.ts';
import type { DoctorTools } from './check.ts';

export async function checkDisk(
  machine: Machine,
  { freeBytes, writeFile: write }: DoctorTools,
): Promise<DoctorFinding[]> {
  const { dataDir, eventsDir, runsDir, databaseFile } = machine;
  const byDisk = new Map<number, string>();
  const written: DoctorFinding[] = [];
  for (const folder of new Set([dataDir, eventsDir, runsDir, dirname(databaseFile)])) {
    const stats = await statIfThere(folder);
    if (stats === undefined) continue;
    if (!byDisk.has(stats.dev)) byDisk.set(stats.dev, folder);
    const problem = await cannotWrite(folder, write);
    if (problem !== undefined)
      written.push(doctorFinding('disk', 'broken', `${folder} cannot be written`, problem));
  }
  const rooms = await Promise.all(
    [...byDisk.values()].map(async (folder) => judgeDisk(folder, await freeBytes(folder))),
  );
  return [...written, ...rooms];
}

export async function freeBytesOf(folder: string): Promise<number> {
  const { bavail, bsize } = await statfs(folder);
  return bavail * bsize;
}

export function writeSmallFile(path: string): Promise<void> {
  return writeFile(path, 'written by svc doctor\n', { mode: 0o600, flag: 'wx' });
}

export async function checkSpool({ spoolDir }: Machine): Promise<DoctorFinding[]> {
  const folder = join(spoolDir, 'rejected');
  const names = await readdir(folder).catch((error: unknown) => {
    if (systemErrorCode(error) === 'ENOENT') return [];
    throw error;
  });
  if (names.length === 0) return [doctorFinding('spool', 'ok', 'nothing was rejected')];
  return [
    doctorFinding('spool', 'warning', 'helpers left facts that could not be taken', {
      evidence: `${names.length} in ${folder}`,
      remedy: `Look at them, then remove them: ls '${folder}'`,
    }),
  ];
}

async function cannotWrite(
  folder: string,
  write: DoctorTools['writeFile'],
): Promise<{ evidence: string; remedy: string } | undefined> {
  const file = join(folder, `.doctor-${randomUUID()}`);
  try {
    await write(file);
    return undefined;
  } catch (error) {
    const isFull = ['ENOSPC', 'EDQUOT'].includes(systemErrorCode(error) ?? '');
    return {
      evidence: messageOf(error),
      remedy: isFull
        ? roomRemedy(folder)
        : `Look at it: ls -ld '${folder}'; it must be a folder of yours with mode 700`,
    };
  } finally {
    // A full disk makes the file and takes nothing into it. Where none could be made, there is none to remove.
    await rm(file, { force: true }).catch(() => undefined);
  }
}

/** What is not there yet is made by the daemon. */
async function statIfThere(folder: string) {
  try {
    return await stat(folder);
  } catch (error) {
    if (systemErrorCode(error) === 'ENOENT') return undefined;
    throw error;
  }
}
