// Ends what an agent left running when nobody was there to see its end. The agent is gone and its pid proves
// nothing any more, but what it started is still in its group and carries the agent's names in its environment.
// Where the system does not show environments, nothing is touched.
import { readdir, readFile } from 'node:fs/promises';
import { systemErrorCode } from '../../errors.ts';
import { endGroup } from '../worktrees/process-group.ts';

const GRACE_MS = 5_000;

/** Not shown: there is a group, and whose it is cannot be seen. */
export type LeftBehind = 'none' | 'ended' | 'not-shown';

export async function endLeftBehind({
  pid,
  orchestrator,
  ticket,
  graceMs = GRACE_MS,
}: {
  /** Of the agent that is gone. */
  pid: number;
  orchestrator: string;
  ticket: string;
  graceMs?: number;
}): Promise<LeftBehind> {
  if (!groupIsThere(pid)) return 'none';
  const members = await membersOf(pid);
  const wanted = [`SVC_ORCHESTRATOR=${orchestrator}`, `SVC_TICKET=${ticket}`];
  for (const member of members) {
    const variables = (await textOf(`/proc/${member}/environ`))?.split('\0') ?? [];
    if (!wanted.every((one) => variables.includes(one))) continue;
    await endGroup(pid, graceMs);
    return 'ended';
  }
  return members.length === 0 ? 'none' : 'not-shown';
}

function groupIsThere(pid: number): boolean {
  try {
    return process.kill(-pid, 0);
  } catch (error) {
    if (systemErrorCode(error) === 'ESRCH') return false;
    if (systemErrorCode(error) === 'EPERM') return true;
    throw error;
  }
}

/** Those that live; one that only waits for its parent is none. */
async function membersOf(group: number): Promise<string[]> {
  const members: string[] = [];
  for (const name of await readdir('/proc').catch(noProcesses)) {
    if (!/^\d+$/.test(name)) continue;
    const text = await textOf(`/proc/${name}/stat`);
    // The name of the program is in brackets and may itself hold spaces and brackets.
    const [state, , own] = text?.slice(text.lastIndexOf(')') + 2).split(' ') ?? [];
    if (own === String(group) && state !== 'Z' && state !== 'X') members.push(name);
  }
  return members;
}

function noProcesses(error: unknown): string[] {
  if (systemErrorCode(error) !== 'ENOENT') throw error;
  return [];
}

/** Undefined when the process has gone in the meantime, or is another user's. */
async function textOf(path: string): Promise<string | undefined> {
  try {
    return await readFile(path, 'utf8');
  } catch (error) {
    if (systemErrorCode(error) === undefined) throw error;
    return undefined;
  }
}
