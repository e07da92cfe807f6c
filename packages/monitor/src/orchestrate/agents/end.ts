// Ends an agent with all that it started: asked first, then made to. Only a process that is proven to be the agent
// is ever touched: a pid alone may have been given to another one.
import type { ReadProcessStarts } from '../../runs/process-start.ts';
import { isSameProcess } from '../../runs/same-process.ts';
import { endGroup } from '../worktrees/process-group.ts';

const GRACE_MS = 5_000;

export type EndedAgent =
  | 'ended'
  /** It had ended before. */
  | 'gone'
  /** Another process has the pid now, or whose it is cannot be seen: nothing was touched. */
  | 'not-ours'
  /** It was told to end by all means, and is still there. */
  | 'still-there';

/** `startedAt` as launch, find-again or the signal file tells it. */
export async function endAgent({
  pid,
  startedAt,
  processStarts,
  graceMs = GRACE_MS,
}: {
  pid: number;
  startedAt: string | number;
  processStarts: ReadProcessStarts;
  graceMs?: number;
}): Promise<EndedAgent> {
  const look = async (): Promise<'ours' | 'gone' | 'not-ours'> => {
    const start = (await processStarts([pid])).get(pid);
    if (start === undefined || start.state === 'gone') return 'gone';
    return start.state === 'running' && isSameProcess(start, startedAt) === true ? 'ours' : 'not-ours';
  };
  const found = await look();
  if (found !== 'ours') return found;
  await endGroup(pid, graceMs);
  return (await look()) === 'ours' ? 'still-there' : 'ended';
}
