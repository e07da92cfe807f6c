// The service manager of the machine that svc runs on, for the person who runs it.
import { userInfo } from 'node:os';
import { systemErrorCode } from '@svc/lib/errors';
import { runCommand } from '@svc/lib/process';
import type { Session } from '../session.ts';
import type { Terminal } from '../terminal.ts';
import { findService, type InstalledService } from './installed.ts';
import { type ServiceHost, type ServiceManager, serviceManagerOf } from './manager.ts';

export const thisMachine = (read: typeof userInfo = userInfo): ServiceHost => {
  const { uid, username } = whoRuns(read);
  return { platform: process.platform, uid, user: username, run: runCommand };
};

/** A user of a container may have a number and no name: a service manager takes the number too. */
function whoRuns(read: typeof userInfo): { uid: number; username: string } {
  try {
    return read();
  } catch (error) {
    if (!(error instanceof Error) || systemErrorCode(error) !== 'ERR_SYSTEM_ERROR') throw error;
    const uid = process.getuid?.() ?? -1;
    return { uid, username: String(uid) };
  }
}

export function managerFor(terminal: Terminal, { machine }: Session, host: ServiceHost): ServiceManager {
  return serviceManagerOf(host, {
    home: terminal.home,
    environment: terminal.environment,
    dataDir: machine.dataDir,
  });
}

/** Undefined where there is no service manager that svc knows. */
export function managerIfAny(terminal: Terminal, session: Session): ServiceManager | undefined {
  const host = thisMachine();
  return host.platform === 'linux' || host.platform === 'darwin'
    ? managerFor(terminal, session, host)
    : undefined;
}

export async function installedService(
  terminal: Terminal,
  session: Session,
): Promise<InstalledService | null> {
  const manager = managerIfAny(terminal, session);
  return manager === undefined ? null : findService(manager);
}
