// The environment of agents that svc talks to: a run whose tickets have the test kit's protocol agent, which writes down
// everything that it gets, and a person at the API who repeats each request until the daemon has accepted it.
import { existsSync, mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { AgentView } from '../packages/monitor/src/features/agents/api.ts';
import type { EventLine } from '../packages/monitor/src/kernel/log/event-line.ts';
import { logLines, scriptFolder } from '../packages/testkit/src/script.ts';
import { until, WAIT_MS } from '../packages/testkit/src/waiting.ts';
import { agentProcesses, endAgents } from './orchestrate-verdict.ts';
import { RUN } from './orchestrate-world.ts';
import { openWorld } from './world.ts';

const AGAIN_MS = 100;
/** The daemon may be killed many times before it accepts a request. */
const MOST_WAITS = 10;
const program = join(import.meta.dirname, '../packages/testkit/src/agents/protocol-agent.ts');
const jumpingClock = join(import.meta.dirname, '../packages/testkit/src/daemon/jumping-clock.ts');

export type AgentsWorld = Awaited<ReturnType<typeof openAgentsWorld>>;

/** `agents`: by ticket, more variables for its agent; `timings`: others than usual. */
export async function openAgentsWorld(
  name: string,
  agents: Readonly<Record<string, Record<string, string>>>,
  timings: object = {},
) {
  const clockFile = join(scriptFolder('chaos-clock'), 'ahead');
  const world = await openWorld(name, {
    SVC_ORCHESTRATE_TIMINGS: JSON.stringify(timings),
    NODE_OPTIONS: `--import=${jumpingClock}`,
    CLOCK_AHEAD: clockFile,
  });
  const { home, daemon } = world;
  const root = home.home;
  const received = join(root, 'received');
  const tickets = Object.keys(agents);
  const nameOf = (ticket: string): string => ticket.toLowerCase();
  mkdirSync(received);
  const config = {
    projectKey: 'web',
    worktree: { setup: [] },
    orchestration: {
      agent: ['/bin/false'],
      maxParallel: Math.max(1, tickets.length),
      agents: Object.fromEntries(
        Object.entries(agents).map(([ticket, variables]) => [
          nameOf(ticket),
          {
            command: process.execPath,
            args: [program],
            mode: 'ask',
            env: { RECEIVED: join(received, 'TICKET'), ...variables },
          },
        ]),
      ),
    },
  };
  const { project } = world.makeProject(config, { 'README.md': 'one\n' });
  // However the script ends: agents outlive a daemon.
  process.on('exit', () => endAgents(root));

  const runs = new Map<string, string>();
  const outputOf = (ticket: string, rest: string): string =>
    join(home.dataDir, 'runs', runs.get(ticket) ?? RUN, 'workers/output', `${ticket}.${rest}`);
  const linesIn = (path: string): string[] =>
    existsSync(path) ? readFileSync(path, 'utf8').split('\n').filter(Boolean) : [];

  /** Again and again while the daemon is down or starts; throws the last refusal. */
  async function insist<Answer>(path: string, body?: object): Promise<Answer> {
    for (const deadline = performance.now() + MOST_WAITS * WAIT_MS; ; await sleep(AGAIN_MS)) {
      try {
        return await daemon.ask<Answer>(path, body);
      } catch (error) {
        if (performance.now() > deadline) throw error;
      }
    }
  }

  return {
    ...world,
    root,
    project,
    tickets,
    insist,
    linesIn,
    async startRun(started: readonly string[] = tickets, run = RUN): Promise<void> {
      for (const ticket of started) runs.set(ticket, run);
      const chosen = Object.fromEntries(started.map((ticket) => [ticket, nameOf(ticket)]));
      await daemon.ask('/api/runs', { project, tickets: started, agents: chosen, name: run, by: 'kim' });
    },
    view: (ticket: string): Promise<AgentView> => daemon.ask<AgentView>(`/api/workers/${ticket}/agent`),
    message: (ticket: string, text: string, key: string): Promise<unknown> =>
      insist(`/api/workers/${ticket}/agent/message`, { text, key, by: 'kim' }),
    answer: (ticket: string, request: string, answer: string, more: object = {}): Promise<unknown> =>
      insist(`/api/workers/${ticket}/agent/answer`, {
        request,
        answer,
        key: `${ticket} ${request}`,
        by: 'kim',
        ...more,
      }),
    untilState: (ticket: string, state: string): Promise<AgentView> =>
      until(async () => {
        const view = await daemon.ask<AgentView>(`/api/workers/${ticket}/agent`);
        return view.agent?.state === state ? view : undefined;
      }),
    /** `prompt …` and `answer …`, as the agent got them. */
    received: (ticket: string): string[] => linesIn(join(received, ticket)),
    receivedFile: (ticket: string): string => join(received, ticket),
    sentFile: (ticket: string, attempt = 1): string => outputOf(ticket, `${attempt}.sent.jsonl`),
    journalFile: (ticket: string, attempt = 1): string => outputOf(ticket, `${attempt}.journal.jsonl`),
    recordFile: (ticket: string, attempt = 1): string => outputOf(ticket, `${attempt}.agent.json`),
    /** The agent and everything that it started. */
    processesOf: (ticket: string): number[] =>
      agentProcesses(root).flatMap((one) => (one.ticket === ticket ? [one.pid] : [])),
    processOf: (ticket: string, who: 'agent' | 'feeder'): number | undefined =>
      agentProcesses(root).find(({ ticket: of, pid, group }) => {
        const isWanted =
          who === 'agent' ? pid === group : readFileSync(`/proc/${pid}/comm`, 'utf8') === 'tail\n';
        return of === ticket && isWanted;
      })?.pid,
    /** Events of agents in the log, oldest first. */
    events: (): EventLine[] =>
      logLines(home.eventsDir)
        .filter((line) => line.includes('"agent.'))
        .map((line) => JSON.parse(line) as EventLine)
        .filter(({ event }) => event.startsWith('agent.')),
    /** Sets the daemon's clock ahead of the machine's. */
    setClockAhead(ms: number): void {
      writeFileSync(`${clockFile}.new`, String(ms));
      renameSync(`${clockFile}.new`, clockFile);
    },
    async close(): Promise<void> {
      await daemon.kill();
      endAgents(root);
      await world.close();
    },
  };
}
