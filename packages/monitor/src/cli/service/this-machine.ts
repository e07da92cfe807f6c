// The service manager of the machine that svc runs on, for the person who runs it.
import { userInfo } from 'node:os';
import { runCommand } from '../../codehost/run-command.ts';
import type { Session } from '../session.ts';
import type { Terminal } from '../terminal.ts';
import { findService, type InstalledService } from './installed.ts';
import { type ServiceHost, type ServiceManager, serviceManagerOf } from './manager.ts';

export const thisMachine = (): ServiceHost => {
  const { uid, username } = userInfo();
  return { platform: process.platform, uid, user: username, run: runCommand };
};

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
