// Installs and removes the daemon as a service. Both may be repeated; neither touches a file that is not ours.

import { readFile, unlink } from 'node:fs/promises';
import { dirname } from 'node:path';
import { isOwnService, type ServiceFacts, servicePath, serviceProblem } from '@svc/core';
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
export function readService(file: string): Promise<string | undefined> {
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
