// Whether a disk has space for bytes and files, and what helps if it has not.
import { type DoctorFinding, doctorFinding } from '../check/finding.ts';

const MIB = 1024 * 1024;

const GIB = 1024 * MIB;

export const LOW_SPACE = GIB;

export const NO_SPACE = 100 * MIB;

/** Files can still be created; null: the file system has no limit, or does not report it. */
export type DiskSpace = { freeBytes: number; freeFiles: number | null };

const LOW_FILES = 10_000;

const NO_FILES = 1_000;

/** Why no file can be created soon, although there is space; null when there is no such problem. */
export function tooManyFiles(folder: string, { freeFiles }: DiskSpace) {
  if (freeFiles === null || freeFiles >= LOW_FILES) return null;
  const isEnd = freeFiles < NO_FILES;
  const what = `the disk of ${folder} has too many files${isEnd ? ': new ones cannot be created' : ''}`;
  return { isEnd, what, evidence: `${freeFiles} more can be created`, remedy: filesRemedy(folder) };
}

export function filesRemedy(folder: string): string {
  return `Remove files that are not needed; find the folders with the most: du -x --inodes '${folder}' | sort -n | tail`;
}

/** Warns before the disk is full, because then every delivery is rejected. */
export function judgeDisk(folder: string, space: DiskSpace): DoctorFinding {
  const { freeBytes } = space;
  const free = `${spaceWords(freeBytes)} are free`;
  const files = tooManyFiles(folder, space);
  if (files !== null && freeBytes >= NO_SPACE) {
    const { isEnd, what, evidence, remedy } = files;
    return doctorFinding('disk', isEnd ? 'broken' : 'warning', what, { evidence, remedy });
  }
  if (freeBytes >= LOW_SPACE) return doctorFinding('disk', 'ok', `${folder}: ${free}`);
  const grade = freeBytes < NO_SPACE ? 'broken' : 'warning';
  const what =
    grade === 'broken'
      ? `the disk of ${folder} is almost full: deliveries will be rejected`
      : `the disk of ${folder} is filling up`;
  return doctorFinding('disk', grade, what, {
    evidence: free,
    remedy: spaceRemedy(folder),
  });
}

/** `600 MiB`, `70.6 GiB`; rounded down, because it is what is left. */
function spaceWords(bytes: number): string {
  if (bytes < GIB) return `${Math.floor(bytes / MIB)} MiB`;
  return `${(Math.floor((bytes / GIB) * 10) / 10).toFixed(1)} GiB`;
}

export function spaceRemedy(folder: string): string {
  return `Free disk space; find the largest folders: du -xh '${folder}' | sort -h | tail`;
}
