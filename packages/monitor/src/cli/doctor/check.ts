// A check of the doctor: looks at one part for a bounded time. Whatever hinders it is told as `unknown`, with the
// reason; the other checks go on.
import { type DoctorFinding, type DoctorPart, doctorFinding } from '@svc/core';
import { messageOf } from '@svc/lib/errors';
import type { RunCommand } from '@svc/lib/process';
import type { Host } from '../../control/control.ts';
import { Failure } from '../../errors.ts';

/** A finding with what mends it, where that is safe. The fix says what it did. */
export type Found = DoctorFinding & { fix?: () => Promise<string> };

export type Check = { part: DoctorPart; look: () => Promise<Found[]> };

/** What the checks touch of the machine; tests bring others. */
export type DoctorTools = {
  host: Pick<Host, 'program'>;
  run: RunCommand;
  fetch: typeof fetch;
  freeBytes: (folder: string) => Promise<number>;
  /** Makes a small file that is not there yet. */
  writeFile: (path: string) => Promise<void>;
  /** For each check. */
  patienceMs: number;
};

export function fixableBy(finding: DoctorFinding, fix: () => Promise<string>): Found {
  return { ...finding, fixable: true, fix };
}

export async function lookWithin({ part, look }: Check, patienceMs: number): Promise<Found[]> {
  const hanging = new AbortController();
  const late = new Promise<Found[]>((resolve) => {
    const timer = setTimeout(() => resolve([tookTooLong(part, patienceMs)]), patienceMs);
    hanging.signal.addEventListener('abort', () => clearTimeout(timer));
  });
  try {
    return await Promise.race([look().catch((error: unknown) => [failed(part, error)]), late]);
  } finally {
    hanging.abort();
  }
}

function tookTooLong(part: DoctorPart, patienceMs: number): Found {
  return doctorFinding(part, 'unknown', `the check of ${part} did not end within ${patienceMs / 1000} s`, {
    remedy: 'Look again later: svc doctor',
  });
}

function failed(part: DoctorPart, error: unknown): Found {
  const remedy = error instanceof Failure ? (error.remedy ?? null) : null;
  return doctorFinding(part, 'unknown', `${part} could not be looked at`, {
    evidence: messageOf(error),
    remedy,
  });
}
