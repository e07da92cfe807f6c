// Runs checks. A check examines one part and returns its findings. The doctor runs its checks in parallel, each with a
// timeout; `check-project-setup.sh` runs them in order, because later ones need what earlier ones found.
import { messageOf, systemErrorCode } from '@svc/lib/errors';
import type { RunCommand } from '@svc/lib/process';
import { within } from '@svc/lib/timeout';
import type { DiskSpace } from '../disk/judge-disk.ts';
import { Failure } from '../failure.ts';
import type { Host } from '../instance/control.ts';
import {
  type CheckFinding,
  type DoctorFinding,
  type DoctorPart,
  doctorFinding,
  type SetupFinding,
  type SetupPart,
  setupFinding,
} from './finding.ts';

type Check<Part extends string, Finding extends CheckFinding<Part>> = {
  part: Part;
  run: () => Promise<Finding[]>;
};

/** A finding with its fix, if that is safe. The fix returns what it did. */
export type DoctorResult = DoctorFinding & { fix?: () => Promise<string> };

export type DoctorCheck = Check<DoctorPart, DoctorResult>;
export type SetupCheck = Check<SetupPart, SetupFinding>;

/** What the doctor's checks use of the machine; tests replace it. */
export type DoctorTools = {
  host: Pick<Host, 'program'>;
  run: RunCommand;
  fetch: typeof fetch;
  diskSpace: (folder: string) => Promise<DiskSpace>;
  /** Creates a small new file. */
  writeFile: (path: string) => Promise<void>;
  /** For each check. */
  timeoutMs: number;
};

export function fixableBy(finding: DoctorFinding, fix: () => Promise<string>): DoctorResult {
  return { ...finding, fixable: true, fix };
}

/** A check that fails or takes too long is `unknown`; the others continue. */
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
  return doctorFinding(part, 'unknown', `the check of ${part} took longer than ${timeoutMs / 1000} s`, {
    remedy: 'Try again later: svc doctor',
  });
}

function failed(part: DoctorPart, error: unknown): DoctorResult {
  const remedy = error instanceof Failure ? (error.remedy ?? null) : null;
  return doctorFinding(part, 'unknown', `${part} could not be checked`, {
    evidence: messageOf(error),
    remedy,
  });
}

/** Yields each finding as soon as it is known. A check that fails becomes a finding; the others still run. */
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
