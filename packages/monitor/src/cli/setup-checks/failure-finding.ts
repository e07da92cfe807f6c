// A failure on the way of a check is that check's finding; the others still run.
import type { SetupCheck, SetupFinding } from '@svc/core';
import { Failure, systemErrorCode } from '../../errors.ts';

export async function orFailure(
  check: SetupCheck,
  work: () => Promise<SetupFinding | SetupFinding[]>,
): Promise<SetupFinding[]> {
  try {
    return [await work()].flat();
  } catch (error) {
    if (!(error instanceof Error)) throw error;
    if (!(error instanceof Failure) && systemErrorCode(error) === undefined) throw error;
    const remedy = error instanceof Failure ? error.remedy : undefined;
    return [{ check, level: 'error', found: error.message, ...(remedy !== undefined && { remedy }) }];
  }
}
