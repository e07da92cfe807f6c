// Version drift, in the words of the setup check.
import { type DoctorFinding, doctorFinding } from '@svc/core';
import type { Session } from '../session.ts';
import { checkVersion } from '../setup-checks/version.ts';

export async function checkDrift(session: Session): Promise<DoctorFinding[]> {
  const { level, found, remedy = null } = await checkVersion(session);
  return [doctorFinding('version', level === 'ok' ? 'ok' : 'warning', found, { remedy })];
}
