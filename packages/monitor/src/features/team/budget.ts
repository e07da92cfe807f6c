// How much of another machine becomes lines of this one in an hour. A line is kept without a limit, so a machine that publishes
// without end would fill the disks of all. Of what is above the budget only the newest value is kept, in memory, and read
// in the next hour.
const HOUR_MS = 3_600_000;
const MOST_LINES = 10_000;
const MOST_BYTES = 32 * 1024 * 1024;
/** For one machine, in memory. What does not fit is read again from the relay. */
const MOST_WAITING_BYTES = 8 * 1024 * 1024;

type Spent = { from: number; lines: number; bytes: number };

export function createBudget<Waiting>({
  now,
  most = { lines: MOST_LINES, bytes: MOST_BYTES },
}: {
  now: () => number;
  most?: { lines: number; bytes: number } | undefined;
}) {
  const spent = new Map<string, Spent>();
  const waiting = new Map<string, Map<string, { value: Waiting; bytes: number }>>();
  /** Machines of which something did not fit into memory. */
  const incomplete = new Set<string>();

  function spentBy(machine: string): Spent {
    const known = spent.get(machine);
    const isOfThisHour = known !== undefined && now() - known.from < HOUR_MS && now() >= known.from;
    const current = isOfThisHour ? known : { from: now(), lines: 0, bytes: 0 };
    spent.set(machine, current);
    return current;
  }

  const isSpent = ({ lines, bytes }: Spent): boolean => lines >= most.lines || bytes >= most.bytes;

  return {
    /** False: it is above the budget, and kept for the next hour. It replaces an earlier value of the path. */
    take(machine: string, path: string, value: Waiting, bytes: number): boolean {
      const current = spentBy(machine);
      if (!isSpent(current)) {
        current.lines += 1;
        current.bytes += bytes;
        return true;
      }
      const kept = waiting.get(machine) ?? new Map<string, { value: Waiting; bytes: number }>();
      waiting.set(machine, kept);
      kept.delete(path);
      const size = [...kept.values()].reduce((sum, one) => sum + one.bytes, bytes);
      if (size <= MOST_WAITING_BYTES) kept.set(path, { value, bytes });
      else incomplete.add(machine);
      return false;
    },
    /** Something newer of the path was received. */
    drop(machine: string, path: string): void {
      waiting.get(machine)?.delete(path);
    },
    /** Whether the hour of a machine is over, with what was kept of it, and whether more must be read. */
    due(): { values: Waiting[]; isIncomplete: boolean } {
      const values: Waiting[] = [];
      let isIncomplete = false;
      for (const machine of new Set([...waiting.keys(), ...incomplete])) {
        if (isSpent(spentBy(machine))) continue;
        values.push(...[...(waiting.get(machine)?.values() ?? [])].map(({ value }) => value));
        waiting.delete(machine);
        isIncomplete = incomplete.delete(machine) || isIncomplete;
      }
      return { values, isIncomplete };
    },
    /** The machines that are above it. */
    exceeded: (): string[] => [...new Set([...waiting.keys(), ...incomplete])],
    clear(): void {
      spent.clear();
      waiting.clear();
      incomplete.clear();
    },
  };
}
