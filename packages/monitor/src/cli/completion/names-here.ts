// Asks the daemon of this machine. A setting that cannot be read is told, and then there are no names: the scripts
// drop what is told, and every other verb says it again.
import type { Environment } from '@svc/core';
import { readMachine } from '../../config/environment.ts';
import { Failure } from '../../errors.ts';
import { askDaemon } from './ask-daemon.ts';
import type { Offered } from './find-place.ts';
import type { DaemonKind } from './value-kinds.ts';

export async function namesHere(
  environment: Environment,
  home: string,
  kind: DaemonKind,
  tell: (problem: string) => void,
): Promise<Offered[]> {
  try {
    return await askDaemon(readMachine(environment, home).dataDir, kind);
  } catch (error) {
    if (!(error instanceof Failure)) throw error;
    tell(error.message);
    return [];
  }
}
