// The service, the daemon and the agents that it started. The daemon ends first: it would start its agents again.
import { dirname } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { ifPresent } from '@svc/lib/files';
import { namesIn, readText } from '@svc/lib/paths';
import { system } from '@svc/lib/system';
import type { Session } from '../../../cli/kit/session.ts';
import { plainText } from '../../../cli/kit/text.ts';
import { type Host, stopDaemon } from '../../../kernel/instance/control.ts';
import { findDaemon } from '../../../kernel/instance/find-daemon.ts';
import { endLeftovers, type FoundAgent, findAgents } from '../../agents/io/find-agents.ts';
import { endAgent } from '../../agents/io/launch.ts';
import { findService, managerIfAny, uninstallService } from '../../service/verbs/service.ts';
import { AGAIN, type Item, type Leaving, type Left, type Part, removeEmpty } from './part.ts';

/** A launch takes a moment to write its pid. */
const STARTING_MS = 30_000;
const POLL_MS = 100;

export async function daemonPart({ terminal, session }: Leaving, host: Host): Promise<Part> {
  const { dataDir } = session.machine;
  const manager = managerIfAny(terminal, session);
  const found = manager === undefined ? null : await findService(manager);
  const service = found !== null && (await isOfFolder(found.file, session)) ? found : null;
  const daemon = await findDaemon(dataDir);
  const items: Item[] = [];
  if (found !== null && service === null)
    items.push({ action: 'keep', what: `the service ${found.file}`, why: 'it serves another data folder' });
  if (service !== null)
    items.push({
      action: 'remove',
      what: `the service ${service.file}`,
      why: 'it starts the daemon at login',
    });
  const pid = 'record' in daemon ? daemon.record.pid : 'daemon' in daemon ? daemon.daemon.pid : undefined;
  if (daemon.state !== 'stopped')
    items.push({
      action: 'end',
      what: pid === undefined ? 'the daemon' : `the daemon (pid ${pid})`,
      why: `it serves ${dataDir}`,
    });
  return {
    items,
    // What fails here is not left for later: whatever is removed, a daemon that runs would make it again.
    async act({ done }) {
      if (manager !== undefined && service !== null && (await uninstallService(manager))) {
        const folder = dirname(manager.file);
        // svc makes them for its own file.
        if (manager.name === 'systemd') await removeEmpty(folder, dirname(folder));
        done(`Removed the service ${manager.file}`);
      }
      const stopped = await stopDaemon({ dataDir, signal: host.signal, interrupted: terminal.interrupted });
      if (stopped !== undefined) done(`Stopped the daemon (pid ${stopped})`);
      return [];
    },
  };
}

/** The file names the data folder only if it is not the usual one. */
async function isOfFolder(file: string, { machine }: Session): Promise<boolean> {
  const text = (await ifPresent(readText(file))) ?? '';
  const isNamed = machine.settings.some(
    ({ variable, fromEnvironment }) => variable === 'SVC_DATA_DIR' && fromEnvironment,
  );
  return isNamed ? text.includes(machine.dataDir) : !text.includes('SVC_DATA_DIR');
}

const named = ({ ticket, orchestrator, attempt }: FoundAgent): string =>
  plainText(`the agent of ${ticket} in the run ${orchestrator} (attempt ${attempt})`);

/** Only processes that wrote their own pid file, proven by their start time. */
export async function agentsPart({ session, terminal }: Leaving): Promise<Part> {
  const { runsDir } = session.machine;
  const find = async (): Promise<FoundAgent[]> => {
    const found = [];
    for (const orchestrator of await namesIn(runsDir))
      found.push(
        ...(await findAgents({
          runsDir,
          orchestrator,
          processStarts: system.processStarts,
          now: terminal.now,
        })),
      );
    return found;
  };
  const items = (await find()).flatMap((agent): Item[] => {
    if (agent.state === 'running')
      return [{ action: 'end', what: `${named(agent)}, pid ${agent.pid}`, why: 'svc started it' }];
    if (agent.state === 'starting') return [{ action: 'end', what: named(agent), why: 'svc is starting it' }];
    return [];
  });
  return {
    items,
    async act({ done }) {
      const deadline = performance.now() + STARTING_MS;
      let agents = await find();
      while (agents.some(({ state }) => state === 'starting') && performance.now() < deadline) {
        await sleep(POLL_MS);
        agents = await find();
      }
      const left: Left[] = [];
      for (const agent of agents) {
        const why = await end(agent, done);
        if (why !== undefined)
          left.push({
            what: named(agent),
            why,
            command: `${endCommand(agent)}. Then: ${AGAIN}`,
            again: true,
          });
      }
      return left;
    },
  };
}

function endCommand(agent: FoundAgent): string {
  return 'pid' in agent && agent.pid !== null ? `Check it (ps -p ${agent.pid}) and end it` : 'Wait a minute';
}

/** Why it was not ended. */
async function end(agent: FoundAgent, done: (line: string) => void): Promise<string | undefined> {
  switch (agent.state) {
    case 'running': {
      const { pid, startedAt } = agent;
      const how = await endAgent({ pid, startedAt, processStarts: system.processStarts });
      if (how === 'still-there') return `its process ${pid} was killed and is still there`;
      if (how === 'ended') done(`Ended ${named(agent)}, pid ${pid}`);
      return undefined;
    }
    case 'starting':
      return 'it is still starting';
    case 'unknown':
      return `it is not known whether the process ${agent.pid} is the agent: ${agent.problem}`;
    case 'gone': {
      if (agent.pid === null) return undefined;
      // What it left running has its names in the environment.
      const { pid, orchestrator, ticket } = agent;
      if ((await endLeftovers({ pid, orchestrator, ticket })) === 'ended')
        done(`Ended what ${named(agent)} had left running`);
      return undefined;
    }
  }
}
