// Version drift, as a warning with its remedy.
import type { SetupFinding } from '@svc/core';
import type { Session } from '../session.ts';
import { findDrift } from '../start-from-terminal.ts';

export async function checkVersion(session: Session): Promise<SetupFinding> {
  const check = 'version';
  const { drift, warning, suppressed } = await findDrift(session);
  if (warning !== undefined && !suppressed)
    return { check, level: 'warning', found: warning.warning.replace(/\.$/, ''), remedy: warning.remedy };
  const { runningVersion, latestAvailableVersion: latest } = drift;
  const beside = latest === null ? 'no other is installed' : `${latest} is the newest installed`;
  const silent = warning === undefined ? '' : '; the warning is suppressed';
  return { check, level: 'ok', found: `${runningVersion}; ${beside}${silent}` };
}
