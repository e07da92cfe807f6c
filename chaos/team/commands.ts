// Commands between the machines: each hands an attention item of another machine to its own person. A request is
// repeated with the same key until the daemon has accepted it, as a person does whose daemon was killed meanwhile.
import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Random } from '../../packages/testkit/src/random.ts';
import { logLines } from '../../packages/testkit/src/script.ts';
import { WAIT_MS } from '../../packages/testkit/src/waiting.ts';
import type { Machine, TeamWorld } from './world.ts';

const AGAIN_MS = 500;

type Sent = { id: string; from: Machine; to: Machine };
/** How a command ended for the machine that sent it, and how often the other one executed it. */
export type AskedCommand = { state: string; times: number };
type View = { id: string; direction: string; state: string };

export function createCommands({ machines }: TeamWorld, random: Random) {
  const accepted: Sent[] = [];
  const asking: Promise<void>[] = [];

  async function ask(from: Machine, to: Machine): Promise<void> {
    const board = await from.board().catch(() => undefined);
    const items = board?.machines.find(({ machine }) => machine === to.name)?.attention ?? [];
    if (items.length === 0) return;
    const id = randomUUID();
    const note = `quillfeather note ${id}`;
    const command = { verb: 'hand-over', item: random.pick(items).key, to: from.person, note };
    for (const deadline = performance.now() + 3 * WAIT_MS; ; await sleep(AGAIN_MS)) {
      try {
        await from.ask('/api/team/commands', { machine: to.name, command, key: id });
        break;
      } catch (error) {
        if (performance.now() > deadline) throw error;
      }
    }
    accepted.push({ id, from, to });
  }

  async function look(): Promise<AskedCommand[]> {
    const executed = new Map(machines.map((machine) => [machine, executions(machine)]));
    const views = new Map<Machine, View[]>();
    for (const machine of machines)
      views.set(machine, (await machine.ask<{ commands: View[] }>('/api/team/commands')).commands);
    return accepted.map(({ id, from, to }) => ({
      state: views.get(from)?.find((one) => one.id === id && one.direction === 'sent')?.state ?? 'lost',
      times: executed.get(to)?.filter((delivery) => delivery.endsWith(`/${id}`)).length ?? 0,
    }));
  }

  return {
    send(): void {
      const from = random.pick(machines);
      asking.push(ask(from, random.pick(machines.filter((one) => one !== from))));
    },
    notes: (): string[] => accepted.map(({ id }) => `quillfeather note ${id}`),
    /** When all machines are reachable again: the first without a problem, or the last. */
    async verdict(): Promise<AskedCommand[]> {
      await Promise.all(asking);
      for (const deadline = performance.now() + 2 * WAIT_MS; ; await sleep(AGAIN_MS)) {
        const found = await look();
        if (judgeCommands(found).length === 0 || performance.now() > deadline) return found;
      }
    },
  };
}

export function judgeCommands(asked: readonly AskedCommand[]): string[] {
  return asked.flatMap(({ state, times }) => {
    const isEnded = ['done', 'failed', 'refused', 'expired'].includes(state);
    const isGood = isEnded && times <= 1 && (state !== 'done' || times === 1);
    return isGood ? [] : [`a command is ${state} and was executed ${times} times`];
  });
}

/** The delivery ids of the lines that commands have caused. */
function executions({ home }: Machine): string[] {
  return logLines(home.eventsDir).flatMap((line) => {
    const id = /"deliveryId":"(team-command:[^"]+)"/.exec(line)?.[1];
    return id === undefined ? [] : [id];
  });
}
