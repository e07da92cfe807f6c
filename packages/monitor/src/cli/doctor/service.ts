// The service that runs the daemon, where one is installed.
import type { DoctorFinding } from '@svc/core';
import { checkService } from '../service/installed.ts';
import { managerIfAny } from '../service/this-machine.ts';
import type { Session } from '../session.ts';
import type { Terminal } from '../terminal.ts';

export async function checkInstalledService(terminal: Terminal, session: Session): Promise<DoctorFinding[]> {
  const manager = managerIfAny(terminal, session);
  return manager === undefined ? [] : checkService(manager);
}
