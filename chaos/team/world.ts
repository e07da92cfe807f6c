// Everything that runs in team.ts: a cluster of three, three relays, and the machines of the team: each a home with the
// real daemon, workers that write their signal files, a clock of its own, and a way to the relays that can be cut.
import { mkdirSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { isAgentsWork, workerStatuses } from '@svc/contract/worker-statuses';
import type { TeamBoard, TeamStatus } from '../../packages/monitor/src/features/team/api.ts';
import { freePort } from '../../packages/testkit/src/daemon/free-port.ts';
import type { ServerProcess } from '../../packages/testkit/src/daemon/server-process.ts';
import { createDaemonHome, startDaemon } from '../../packages/testkit/src/daemon/start-daemon.ts';
import { startNatsCluster } from '../../packages/testkit/src/nats/nats-cluster.ts';
import type { Random } from '../../packages/testkit/src/random.ts';
import { askJson, scriptFolder, startOrStop } from '../../packages/testkit/src/script.ts';
import { until } from '../../packages/testkit/src/waiting.ts';
import { startLoopbackProxy } from '../../packages/testkit/src/wire/loopback-proxy.ts';
import { startLyingRelay } from '../../packages/testkit/src/wire/lying-relay.ts';
import { createRelay } from '../relay/world.ts';

const jumpingClock = join(import.meta.dirname, '../../packages/testkit/src/daemon/jumping-clock.ts');
const RELAYS = 3;
/** Long and unusual, so that they are found nowhere by accident. */
const TEAM = 'Quillfeather Platform';
const statuses = [...workerStatuses.filter(isAgentsWork), 'failed', 'stalled'];

export type TeamWorld = Awaited<ReturnType<typeof startTeamWorld>>;
export type Machine = TeamWorld['machines'][number];
/** `status` null: its signal file was removed. */
export type ChaosWorker = { run: string; ticket: string; repo: string; status: string | null };

type Given = { machines: number; runs: number; workers: number };

export function startTeamWorld(given: Given, random: Random) {
  return startOrStop((starting) => startAll(starting, given, random));
}

async function startAll(starting: AsyncDisposableStack, given: Given, random: Random) {
  const cluster = await startNatsCluster({ size: 3, syncAlways: true, quietAboutPeers: true });
  starting.defer(() => cluster.stop());
  const proxyTo = async (ports: () => number[]) => {
    const proxy = await startLoopbackProxy(ports);
    starting.defer(() => proxy.stop());
    return proxy;
  };
  const relayHome = { home: scriptFolder('chaos-team-relays') };
  const relays: Awaited<ReturnType<typeof createRelay>>[] = [];
  for (let number = 1; number <= RELAYS; number += 1) {
    const relay = await createRelay(`relay-${number}`, {
      home: relayHome,
      random,
      toNodes: await Promise.all(cluster.nodes.map((node) => proxyTo(() => [node.port]))),
      firstWords: number === 1 ? ['--provision'] : [],
      spill: '',
      environment: { SVC_RELAY_LOG_LEVEL: 'debug' },
    });
    starting.defer(() => relay.kill());
    relays.push(relay);
  }
  const ports = (): number[] => relays.map((relay) => relay.process().port);
  // The last machine sees the relays through it. It passes everything on until it has to lie.
  const liar = await startLyingRelay(ports);
  starting.defer(() => liar.stop());
  async function newMachine(number: number, relayPorts: () => number[]) {
    const machine = await createMachine(number, { ...given, way: await proxyTo(relayPorts), random });
    starting.defer(() => machine.kill());
    return machine;
  }
  const machines: Awaited<ReturnType<typeof createMachine>>[] = [];
  for (let number = 1; number <= given.machines; number += 1)
    machines.push(await newMachine(number, () => (number === given.machines ? [liar.port] : ports())));
  await Promise.all(machines.map((machine) => machine.start()));
  await formTeam(machines);
  return {
    cluster,
    relays,
    machines,
    liar,
    relayFolder: relayHome.home,
    teamName: TEAM,
    /** One that runs, and is in no team. */
    async addMachine() {
      const machine = await newMachine(given.machines + 1, ports);
      await machine.start();
      return machine;
    },
  };
}

/** The first creates it. */
async function formTeam(machines: readonly Awaited<ReturnType<typeof createMachine>>[]): Promise<void> {
  const [first, ...others] = machines;
  if (first === undefined) throw new Error('a team needs a machine');
  const { person, relayUrl: relay } = first;
  await first.ask('/api/team/create', { relay, name: TEAM, person, machine: first.name });
  for (const other of others) await joinTeam(first, other);
  for (const machine of machines)
    await until(async () => (await machine.status())?.state === 'live').catch(async () => {
      throw new Error(`${machine.name}: ${JSON.stringify(await machine.status())}`);
    });
}

/** Each machine has its own way to the relays, so an invitation is given another address. */
export async function joinTeam(admin: Machine, other: Machine): Promise<void> {
  const { invitation } = await admin.ask<{ invitation: string }>('/api/team/invite', {});
  await other.ask('/api/team/join', {
    invitation: invitation.replace(admin.relayUrl, other.relayUrl),
    person: other.person,
    machine: other.name,
  });
}

async function createMachine(
  number: number,
  given: Given & { way: Awaited<ReturnType<typeof startLoopbackProxy>>; random: Random },
) {
  const { way, random } = given;
  const home = createDaemonHome(`chaos-team-${number}`);
  const clockFile = join(home.home, 'clock-ahead');
  const port = await freePort(random);
  const url = `http://127.0.0.1:${port}`;
  const person = `Quillfeather Person ${number}`;
  const runs = Math.ceil(given.runs / given.machines);
  const each = Math.ceil(given.workers / given.runs);
  const workers: ChaosWorker[] = Array.from({ length: runs * each }, (_, index) => ({
    run: `quillfeather-run-${number}-${(index % runs) + 1}`,
    ticket: `QUILLFEATHER-${number * 1000 + index}`,
    repo: `quillfeather-org/service-${number}`,
    status: null,
  }));
  let ahead = 0;
  let writtenAt = 0;
  let process_: ServerProcess | undefined;
  let isAsleep = false;

  function signal(what: 'SIGSTOP' | 'SIGCONT'): void {
    if (process_ !== undefined) process.kill(process_.pid, what);
    isAsleep = what === 'SIGSTOP';
  }

  function fileOf({ run, ticket }: ChaosWorker): string {
    return join(home.dataDir, 'runs', run, 'workers', `${ticket}.json`);
  }

  const ask = <Answer>(path: string, body?: object): Promise<Answer> => askJson<Answer>(url + path, body);

  return {
    name: `quillfeather-laptop-${number}`,
    person,
    home,
    way,
    relayUrl: `http://127.0.0.1:${way.port}`,
    workers,
    ask,
    board: () => ask<TeamBoard>('/api/team/board'),
    status: async () => (await ask<{ team: TeamStatus | null }>('/api/team')).team,
    async start(): Promise<void> {
      process_ = startDaemon(home, {
        port,
        environment: { NODE_OPTIONS: `--import=${jumpingClock}`, CLOCK_AHEAD: clockFile },
      });
      await process_.ready;
    },
    async kill(): Promise<void> {
      await process_?.kill();
    },
    sleep: () => signal('SIGSTOP'),
    wake: () => (isAsleep ? signal('SIGCONT') : undefined),
    setClock(ms: number): void {
      ahead = ms;
      writeFileSync(`${clockFile}.new`, String(ms));
      renameSync(`${clockFile}.new`, clockFile);
    },
    /** The next status of a worker, or its end, as it reports it: whole, by a rename. */
    change(worker: ChaosWorker): void {
      const file = fileOf(worker);
      if (worker.status !== null && random.chance(0.02)) {
        rmSync(file);
        worker.status = null;
        return;
      }
      const others = statuses.filter((status) => status !== worker.status);
      worker.status = random.pick(others);
      writtenAt = Math.max(writtenAt + 1, Date.now() + ahead);
      const at = new Date(writtenAt).toISOString();
      mkdirSync(join(file, '..'), { recursive: true });
      writeFileSync(
        `${file}.new`,
        JSON.stringify({
          ticket: worker.ticket,
          orchestrator: worker.run,
          workerName: `quillfeather-worker-${worker.ticket}`,
          status: worker.status,
          phase: 1,
          repo: worker.repo,
          branch: `quillfeather/branch-of-${worker.ticket}`,
          worktreePath: join(home.home, 'worktrees', worker.ticket),
          startedAt: at,
          updatedAt: at,
          error: worker.status === 'failed' ? `the quillfeather tests of ${worker.ticket} fail` : null,
        }),
      );
      renameSync(`${file}.new`, file);
    },
    /** Whatever of this machine must not be found at the relays. */
    secrets: (): string[] => [
      person,
      `quillfeather-laptop-${number}`,
      home.home,
      ...workers.flatMap(({ run, ticket, repo }) => [
        run,
        ticket,
        repo,
        `quillfeather-worker-${ticket}`,
        `quillfeather/branch-of-${ticket}`,
        join(home.home, 'worktrees', ticket),
        `the quillfeather tests of ${ticket} fail`,
      ]),
    ],
  };
}
