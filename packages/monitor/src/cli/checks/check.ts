// The engine of all checks. A check looks at one part and returns its findings. The doctor runs its checks together, each
// within a time limit; `check-project-setup.sh` runs its checks in order, because later ones need what earlier ones found.
import {
  type CheckFinding,
  type DoctorFinding,
  type DoctorPart,
  doctorFinding,
  type SetupFinding,
  type SetupPart,
  setupFinding,
} from '@svc/core';
import { messageOf, systemErrorCode } from '@svc/lib/errors';
import type { RunCommand } from '@svc/lib/process';
import { within } from '@svc/lib/timeout';
import type { Host } from '../../control/control.ts';
import { Failure } from '../../errors.ts';

type Check<Part extends string, Finding extends CheckFinding<Part>> = {
  part: Part;
  run: () => Promise<Finding[]>;
};

/** A finding with its fix, where that is safe. The fix returns what it did. */
export type DoctorResult = DoctorFinding & { fix?: () => Promise<string> };

export type DoctorCheck = Check<DoctorPart, DoctorResult>;
export type SetupCheck = Check<SetupPart, SetupFinding>;

/** What the doctor's checks use of the machine; tests replace it. */
export type DoctorTools = {
  host: Pick<Host, 'program'>;
  run: RunCommand;
  fetch: typeof fetch;
  freeBytes: (folder: string) => Promise<number>;
  /** Makes a small file that is not there yet. */
  writeFile: (path: string) => Promise<void>;
  /** For each check. */
  timeoutMs: number;
};

export function fixableBy(finding: DoctorFinding, fix: () => Promise<string>): DoctorResult {
  return { ...finding, fixable: true, fix };
}

/** A check that fails or takes too long is `unknown`; the others go on. */
export async function runTogether(
  checks: readonly DoctorCheck[],
  timeoutMs: number,
): Promise<DoctorResult[]> {
  return (await Promise.all(checks.map((check) => runWithin(check, timeoutMs)))).flat();
}

function runWithin({ part, run }: DoctorCheck, timeoutMs: number): Promise<DoctorResult[]> {
  const ended = run().catch((error: unknown) => [failed(part, error)]);
  return within(ended, timeoutMs, () => [tookTooLong(part, timeoutMs)]);
}

function tookTooLong(part: DoctorPart, timeoutMs: number): DoctorResult {
  return doctorFinding(part, 'unknown', `the check of ${part} did not end within ${timeoutMs / 1000} s`, {
    remedy: 'Look again later: svc doctor',
  });
}

function failed(part: DoctorPart, error: unknown): DoctorResult {
  const remedy = error instanceof Failure ? (error.remedy ?? null) : null;
  return doctorFinding(part, 'unknown', `${part} could not be looked at`, {
    evidence: messageOf(error),
    remedy,
  });
}

/** Each finding as soon as it is known. A failure of a check is that check's finding; the others still run. */
export async function* runInOrder(checks: readonly SetupCheck[]): AsyncGenerator<SetupFinding> {
  for (const { part, run } of checks) {
    yield* await run().catch((error: unknown) => {
      if (!(error instanceof Error)) throw error;
      if (!(error instanceof Failure) && systemErrorCode(error) === undefined) throw error;
      const remedy = error instanceof Failure ? (error.remedy ?? null) : null;
      return [setupFinding(part, 'broken', error.message, { remedy })];
    });
  }
}
