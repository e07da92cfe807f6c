// Installs and removes the daemon as a service. Both may be repeated; neither touches a file that is not ours.

import { existsSync } from 'node:fs';
import { readFile, unlink } from 'node:fs/promises';
import { dirname } from 'node:path';
import {
  type DoctorFinding,
  doctorFinding,
  isOwnService,
  programOfService,
  type ServiceFacts,
  servicePath,
  serviceProblem,
} from '@svc/core';
import { ifPresent } from '@svc/lib/files';
import type { Machine } from '../../config/environment.ts';
import { logFileOf } from '../../control/log-file.ts';
import { writeFileAtomically } from '../../disk/atomic-write.ts';
import { Failure } from '../../errors.ts';
import type { ServiceManager } from './manager.ts';

/** Of one start, or for tests: they are not this machine's. */
const passing = new Set(['SVC_ORCHESTRATE_PATIENCE']);

export function factsFor(
  program: readonly string[],
  machine: Machine,
  given: { path: string | undefined; platform: string },
): ServiceFacts {
  const [node = ''] = program;
  const facts = {
    program: [...program, 'monitor', 'run', '--log-file', logFileOf(machine.dataDir)],
    path: servicePath(given.path, { nodeFolder: dirname(node), platform: given.platform }),
    settings: machine.settings.filter(
      ({ fromEnvironment, variable }) => fromEnvironment && !passing.has(variable),
    ),
  };
  const problem = serviceProblem(facts);
  if (problem === undefined) return facts;
  throw new Failure('usage', `The service cannot be written: ${problem}.`);
}

/** The file of the service, when it is there. */
function readService(file: string): Promise<string | undefined> {
  return ifPresent(readFile(file, 'utf8'));
}

export type Installed = { changed: boolean; wasActive: boolean };

export async function installService(
  manager: ServiceManager,
  facts: ServiceFacts,
  /** Ends a daemon that was started by hand: two cannot have one data root. */
  stopOther: () => Promise<void>,
): Promise<Installed> {
  const before = await readService(manager.file);
  demandOwn(manager, before);
  const content = manager.contentFor(facts);
  const changed = content !== before;
  const wasActive = before !== undefined && (await manager.isActive());
  if (changed) await writeFileAtomically(manager.file, content, { mode: 0o644 });
  if (!wasActive) await stopOther();
  await manager.start({ changed, wasActive });
  return { changed, wasActive };
}

/** False when there was nothing to remove. */
export async function uninstallService(manager: ServiceManager): Promise<boolean> {
  const before = await readService(manager.file);
  if (before === undefined) return false;
  demandOwn(manager, before);
  await manager.stop();
  await unlink(manager.file);
  await manager.forget();
  return true;
}

function demandOwn({ file }: ServiceManager, text: string | undefined): void {
  if (text === undefined || isOwnService(text)) return;
  throw new Failure(
    'not-allowed-now',
    `${file} was not made by svc, so that it is left alone.`,
    'If it is not needed, remove it by hand and run this again.',
  );
}

// The service as it is on the disk: for `status`, and for the doctor, who looks whether its programs are still there.

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
