// The service as it is on the disk: for `status`, and for the doctor, who looks whether its programs are still there.
import { existsSync } from 'node:fs';
import { type DoctorFinding, doctorFinding, isOwnService, programOfService } from '@svc/core';
import { readService } from './install.ts';
import type { ServiceManager } from './manager.ts';

export type InstalledService = { manager: ServiceManager['name']; file: string };

export async function findService(
  manager: Pick<ServiceManager, 'name' | 'file'>,
): Promise<InstalledService | null> {
  const text = await readService(manager.file);
  return text !== undefined && isOwnService(text) ? { manager: manager.name, file: manager.file } : null;
}

/** Node and the start file of svc may move with an upgrade; the service would fail at the next login. */
export async function checkService(
  manager: Pick<ServiceManager, 'name' | 'file'>,
  exists: (path: string) => boolean = existsSync,
): Promise<DoctorFinding[]> {
  const text = await readService(manager.file);
  if (text === undefined || !isOwnService(text)) return [];
  const program = programOfService(text) ?? [];
  // What begins with a slash before the verb: node, and svc.
  const files = program.slice(0, program.indexOf('monitor')).filter((word) => word.startsWith('/'));
  const gone = files.filter((path) => !exists(path));
  if (gone.length === 0 && files.length > 0)
    return [
      doctorFinding('daemon', 'ok', `the ${manager.name} service is installed`, { evidence: manager.file }),
    ];
  return [
    doctorFinding('daemon', 'broken', 'the installed service starts a program that is gone', {
      evidence: `${gone.join(', ') || 'no program'}, named in ${manager.file}`,
      remedy: 'Write it anew with the svc of today: svc monitor install',
    }),
  ];
}
