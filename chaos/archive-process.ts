// A process of archive.ts: `archive-process.ts <kind> <step> <arguments of svc archive…>`. It kills itself with -9 at
// the step of that kind and number; 0 is never. A step is every change of the disk, so all times between two steps are
// equivalent; every second kill is within a step. Most steps are about blobs, so one kind excludes those. At its end it
// prints the number of steps of each kind.
import { open } from 'node:fs/promises';
import { syncBuiltinESMExports } from 'node:module';
import { runCommandLine } from '../packages/monitor/src/cli/run.ts';
import { quietTerminal } from './quiet-terminal.ts';

export type Steps = { any: number; 'no-blob': number };
type Call = (...given: unknown[]) => unknown;

const [kind, killAt = '0', ...words] = process.argv.slice(2);
const steps: Steps = { any: 0, 'no-blob': 0 };
/** Open files that are blobs. */
const blobs = new WeakSet<object>();

const handle = await open('/dev/null');
countSteps(Object.getPrototypeOf(handle), ['write', 'writeFile', 'sync', 'truncate']);
await handle.close();
countSteps(process.getBuiltinModule('node:fs/promises'), [
  'appendFile',
  'mkdir',
  'open',
  'rename',
  'rm',
  'unlink',
  'writeFile',
]);
const { DatabaseSync, StatementSync } = process.getBuiltinModule('node:sqlite');
countSteps(DatabaseSync.prototype, ['exec']);
countSteps(StatementSync.prototype, ['run']);
syncBuiltinESMExports();

process.exitCode = await runCommandLine(quietTerminal, ['archive', ...words]);
process.stdout.write(JSON.stringify(steps));

function countSteps(owner: object, names: readonly string[]): void {
  for (const name of names) {
    const real = Reflect.get(owner, name) as Call;
    Reflect.set(owner, name, function (this: unknown, ...given: unknown[]): unknown {
      const isBlob = given.some(isBlobPath) || (isObject(this) && blobs.has(this));
      steps.any += 1;
      if (!isBlob) steps['no-blob'] += 1;
      const number = kind === 'any' ? steps.any : steps['no-blob'];
      const isLast = number === Number(killAt) && (kind === 'any' || !isBlob);
      if (isLast && number % 2 === 0) die();
      const result = real.apply(this, given);
      // An asynchronous step is running now.
      if (isLast) die();
      return isBlob && result instanceof Promise ? result.then(noteBlob) : result;
    });
  }
}

function noteBlob(made: unknown): unknown {
  if (isObject(made)) blobs.add(made);
  return made;
}

function isBlobPath(given: unknown): boolean {
  return typeof given === 'string' && given.includes('/blobs/');
}

function isObject(value: unknown): value is object {
  return typeof value === 'object' && value !== null;
}

function die(): void {
  process.kill(process.pid, 'SIGKILL');
  // Not one more instruction may run.
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0);
}
