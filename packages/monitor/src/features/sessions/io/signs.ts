// Signs that a session went on although no hook reported it. A person who rejects a request or interrupts a turn is
// reported by few agents, but is in the transcript. A command that was allowed is reported when it has ended, but is a new
// process of the agent. With a sign the state is unknown until the next report.
import { systemErrorCode } from '@svc/lib/errors';
import { openFile, stat } from '@svc/lib/paths';
import { system } from '@svc/lib/system';
import type { HookedAgent } from '../hook-event.ts';
import { isAnsweredIn } from '../hooks.ts';
import type { Session } from '../session.ts';

const MOST_BYTES = 1024 * 1024;
/** Longer than any sign, which may be read in two parts. */
const OVERLAP = 200;

export type Signs = {
  /** Called about once a second. */
  look: (agent: HookedAgent, state: Session['state']) => Promise<string | null>;
};

/** From a report on. `pid` is that of an agent that asks for permission. */
export async function watchSigns(transcript: string | undefined, pid: number | undefined): Promise<Signs> {
  let readTo = transcript === undefined ? 0 : await sizeOf(transcript);
  let found: string | null = null;
  /** Undefined: not known, so there is no such sign. */
  const children = pid === undefined ? undefined : await system.childrenOf(pid);
  let newChildren: readonly number[] = [];

  async function isAnswered(agent: HookedAgent, state: Session['state']): Promise<boolean> {
    if (transcript === undefined) return false;
    const size = await sizeOf(transcript);
    if (size <= readTo) return false;
    const from = Math.max(0, readTo - OVERLAP, size - MOST_BYTES);
    readTo = size;
    return isAnsweredIn(agent, state, await textOf(transcript, from, size));
  }

  /** A process that is new since the request, and was there a look earlier: a command takes longer than a notifier. */
  async function hasStartedCommand(agentPid: number, earlier: readonly number[]): Promise<boolean> {
    const fresh = ((await system.childrenOf(agentPid)) ?? []).filter((child) => !earlier.includes(child));
    const isSame = fresh.some((child) => newChildren.includes(child));
    newChildren = fresh;
    return isSame;
  }

  return {
    async look(agent, state) {
      if (found === null && (await isAnswered(agent, state)))
        found = 'a person answered or interrupted it, and it has not reported since';
      if (found !== null || pid === undefined || children === undefined) return found;
      // It may also be another program, so this is withdrawn when the process ends.
      return (await hasStartedCommand(pid, children))
        ? 'it may have been answered: it runs another program'
        : null;
    },
  };
}

async function sizeOf(file: string): Promise<number> {
  return present(
    stat(file).then(({ size }) => size),
    0,
  );
}

async function textOf(file: string, from: number, to: number): Promise<string> {
  const handle = await present(openFile(file), null);
  if (handle === null) return '';
  try {
    const { buffer, bytesRead } = await handle.read(Buffer.alloc(to - from), 0, to - from, from);
    return buffer.subarray(0, bytesRead).toString('utf8');
  } finally {
    await handle.close();
  }
}

/** The file may be gone, or belong to somebody else. */
async function present<T, Other>(work: Promise<T>, other: Other): Promise<T | Other> {
  try {
    return await work;
  } catch (error) {
    if (systemErrorCode(error) === undefined) throw error;
    return other;
  }
}
