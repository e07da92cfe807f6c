// Calls to the file system that end in time. A network disk that is gone answers neither yes nor no, and every call to it
// takes one of the four threads that Node has for files. So each call has a time limit, a disk that did not answer gets no
// second call until it does, and disks that may not answer never take more than half of the threads.
import { resolve } from 'node:path';
import { createLimit, type Limit } from './limit.ts';
import { type Mount, system } from './system.ts';
import { within } from './timeout.ts';

const ANSWERS_WITHIN_MS = 2_000;
/** A disk of this machine answers, unless it is broken; a busy machine may delay it. */
const LOCAL_WITHIN_MS = 10_000;
const MOST_THREADS = 2;

/** A path that cannot be used. `reason` continues a sentence that begins with the path. */
export class Unreadable extends Error {
  readonly code: string;
  readonly reason: string;

  constructor(path: string, code: string, reason: string) {
    super(`${path} ${reason}`);
    this.name = 'Unreadable';
    this.code = code;
    this.reason = reason;
  }
}

export type DiskCalls = {
  /** Rejects with `Unreadable` if there is no answer in time. `discard` gets a result that arrives later. */
  call: <T>(path: string, work: () => Promise<T>, discard?: (late: T) => unknown) => Promise<T>;
  /** Calls that have begun and have no answer yet. */
  unanswered: () => number;
};

/** `networkDisk`: where the disk of a path is mounted, if it may not answer. */
export function createDiskCalls({
  networkDisk,
  timeoutMs = ANSWERS_WITHIN_MS,
  localTimeoutMs = LOCAL_WITHIN_MS,
}: {
  networkDisk: (path: string) => string | undefined;
  timeoutMs?: number;
  localTimeoutMs?: number;
}): DiskCalls {
  const threads = createLimit(MOST_THREADS);
  const queues = new Map<string, Limit>();
  const silent = new Set<string>();
  let unanswered = 0;

  const queueOf = (disk: string): Limit => {
    const queue = queues.get(disk) ?? createLimit(1);
    queues.set(disk, queue);
    return queue;
  };

  return {
    async call(path, work, discard) {
      const disk = networkDisk(path);
      const place = disk ?? path;
      const noAnswer = (): never => {
        throw new Unreadable(path, 'ETIMEDOUT', 'does not answer.');
      };
      if (silent.has(place)) return noAnswer();
      const waiting = new AbortController();
      let hasBegun = false;
      let isLate = false;
      const begin = async () => {
        hasBegun = true;
        unanswered += 1;
        try {
          const result = await work();
          if (isLate) await discard?.(result);
          return result;
        } finally {
          unanswered -= 1;
          silent.delete(place);
        }
      };
      const running =
        disk === undefined ? begin() : queueOf(disk)(() => threads(begin, waiting.signal), waiting.signal);
      const limitMs = disk === undefined ? localTimeoutMs : timeoutMs;
      const began = performance.now();
      const late = (): never => {
        isLate = true;
        if (hasBegun) silent.add(place);
        waiting.abort();
        return noAnswer();
      };
      return within(running, limitMs, () => {
        // If this process was late itself, the disk gets its time once more.
        const isOverdue = performance.now() - began > 1.1 * limitMs;
        return isOverdue ? within(running, limitMs, late) : late();
      });
    },
    unanswered: () => unanswered,
  };
}

const MOUNTS_COUNT_MS = 2_000;
let known: { mounts: Mount[]; until: number } | undefined;

function currentMounts(): Mount[] {
  const now = performance.now();
  if (known === undefined || now > known.until)
    known = { mounts: system.mounts(), until: now + MOUNTS_COUNT_MS };
  return known.mounts;
}

/** The mount point of the path's disk, if that disk may not answer. The last of several mounts in one place counts. */
export function networkDiskIn(mounts: readonly Mount[], path: string): string | undefined {
  const full = resolve(path);
  const isAbove = ({ at }: Mount): boolean => full === at || full.startsWith(at === '/' ? at : `${at}/`);
  let nearest: Mount | undefined;
  for (const mount of mounts)
    if (isAbove(mount) && mount.at.length >= (nearest?.at.length ?? 0)) nearest = mount;
  return nearest === undefined || nearest.isLocal ? undefined : nearest.at;
}

/** The calls of this process. */
export const diskCalls = createDiskCalls({ networkDisk: (path) => networkDiskIn(currentMounts(), path) });

/**
 * Ends the process. Node would wait for calls that a disk has not answered, without a limit; so a process with such calls is
 * replaced by one that only ends.
 */
export function exitProcess(code?: number): never {
  if (diskCalls.unanswered() === 0) return code === undefined ? process.exit() : process.exit(code);
  const last = code ?? Number(process.exitCode ?? 0);
  process.emit('exit', last);
  process.execve?.('/bin/sh', ['sh', '-c', `exit ${last}`], {});
  process.kill(process.pid, 'SIGKILL');
  throw new Error('unreachable');
}
