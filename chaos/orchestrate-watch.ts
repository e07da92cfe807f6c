// Watches the agents from outside, as the kernel shows them: every process with the mark of a run in its environment.
// The leader of a group is an agent; the others are what it started.
import { readdirSync, readFileSync } from 'node:fs';
import { RUN } from './orchestrate-world.ts';

const MARK = `SVC_ORCHESTRATOR=${RUN}`;
const SAMPLE_MS = 50;

export type Seen = { pid: number; group: number; ticket: string };

/** Of one home: other runs of this script may be under way. */
export function agentProcesses(root: string): Seen[] {
  return readdirSync('/proc').flatMap((name) => {
    if (!/^\d+$/.test(name)) return [];
    try {
      const environment = readFileSync(`/proc/${name}/environ`, 'latin1');
      if (!environment.includes(MARK) || !environment.includes(root)) return [];
      const stat = readFileSync(`/proc/${name}/stat`, 'latin1');
      const [state, , group] = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
      if (state === 'Z' || state === 'X') return [];
      const [, ticket = ''] = /(?:^|\0)SVC_TICKET=([^\0]*)/.exec(environment) ?? [];
      return [{ pid: Number(name), group: Number(group), ticket }];
    } catch {
      // It ended while it was looked at, or is somebody else's.
      return [];
    }
  });
}

export type Watch = ReturnType<typeof watchAgents>;

export function watchAgents(root: string) {
  const found = { samples: 0, most: 0, twice: new Set<string>(), longestGapMs: 0 };
  let last = performance.now();
  const timer = setInterval(() => {
    const now = performance.now();
    found.longestGapMs = Math.max(found.longestGapMs, now - last);
    last = now;
    note(agentProcesses(root));
  }, SAMPLE_MS);

  function note(seen: readonly Seen[]): void {
    const tickets = seen.filter(({ pid, group }) => pid === group).map(({ ticket }) => ticket);
    found.samples += 1;
    found.most = Math.max(found.most, tickets.length);
    for (const ticket of tickets)
      if (tickets.filter((one) => one === ticket).length > 1) found.twice.add(ticket);
  }

  return { found, note, stop: (): void => clearInterval(timer) };
}

/** Only groups that carry the mark are ended. */
export function endAgents(root: string): void {
  for (const { pid } of agentProcesses(root)) {
    try {
      process.kill(pid, 'SIGKILL');
    } catch {
      // It ended by itself.
    }
  }
}
