// How much room is left for the log. It is judged before it is used up: a full disk refuses every delivery.
import { type DoctorFinding, doctorFinding } from './finding.ts';

const MIB = 1024 * 1024;
export const LITTLE_ROOM = 1024 * MIB;
export const NO_ROOM = 100 * MIB;

export function judgeDisk(folder: string, freeBytes: number): DoctorFinding {
  const free = `${Math.floor(freeBytes / MIB)} MiB are free`;
  if (freeBytes >= LITTLE_ROOM) return doctorFinding('disk', 'ok', `${folder}: ${free}`);
  const grade = freeBytes < NO_ROOM ? 'broken' : 'warning';
  const what =
    grade === 'broken'
      ? `the disk of ${folder} is all but full: deliveries will be refused`
      : `the disk of ${folder} is filling up`;
  return doctorFinding('disk', grade, what, {
    evidence: free,
    remedy: roomRemedy(folder),
  });
}

export function roomRemedy(folder: string): string {
  return `Free disk space; what takes most: du -xh '${folder}' | sort -h | tail`;
}
