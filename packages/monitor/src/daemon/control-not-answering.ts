// A daemon that holds the data root and cannot be talked to: what to say of it, and the remedy.
import { Failure } from '../errors.ts';
import type { FoundDaemon } from './status.ts';

export function notAnswering(found: FoundDaemon, dataDir: string): Failure {
  const what = found.state === 'not-answering' ? 'does not answer' : `is ${found.state}`;
  const who = 'record' in found ? ` (pid ${found.record.pid})` : '';
  return new Failure('not-answering', `The daemon of ${dataDir}${who} ${what}.`, remedyFor(found, dataDir));
}

export function remedyFor(found: FoundDaemon, dataDir: string): string {
  const look = 'See what it does: svc monitor logs';
  if (!('record' in found)) return `${look}. Who holds the data root: fuser -v '${dataDir}/daemon.lock'`;
  const { pid } = found.record;
  return `${look}. If it hangs, make sure that it is svc (ps -p ${pid}), then: kill -9 ${pid}`;
}
