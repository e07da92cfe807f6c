// Process ids that come from outside: a file, a report, the output of a program. A signal to 0 reaches the own group, to
// -1 every process of the user, and an empty file read as a number is 0. So nothing is signalled, and nothing counts as
// running, unless it is the id of a single process other than the first one of the system.
import { systemErrorCode } from './errors.ts';

export function isPid(value: unknown): value is number {
  return Number.isSafeInteger(value) && Number(value) > 1;
}

/** `readPid('4711\n')` is 4711; undefined for anything but one process id. */
export function readPid(text: string): number | undefined {
  const [, digits] = /^\s*(\d{1,10})\s*$/.exec(text) ?? [];
  const pid = Number(digits);
  return isPid(pid) ? pid : undefined;
}

/** Throws for anything but one process id. */
export function needPid(text: string): number {
  const pid = readPid(text);
  if (pid === undefined) throw new Error(`${JSON.stringify(text)} is not the id of a process.`);
  return pid;
}

/** Processes of other users exist too. */
export function processExists(pid: number): boolean {
  return isPid(pid) && canReach(pid);
}

export function groupExists(leader: number): boolean {
  return isPid(leader) && canReach(-leader);
}

function canReach(target: number): boolean {
  try {
    process.kill(target, 0);
    return true;
  } catch (error) {
    return systemErrorCode(error) !== 'ESRCH';
  }
}

/** False when no process of the group is left. */
export function signalGroup(leader: number, signal: NodeJS.Signals | 0): boolean {
  const name = String(leader);
  if (!isPid(leader)) throw new Error(`${name} is not the id of a process, so its group is not signalled.`);
  try {
    process.kill(-leader, signal);
    return true;
  } catch (error) {
    if (systemErrorCode(error) === 'ESRCH') return false;
    throw error;
  }
}
