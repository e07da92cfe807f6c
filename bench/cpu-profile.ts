// Where the time of a process went, from the files that `node --cpu-prof` writes at its end.
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

type CallFrame = { functionName: string; url: string; lineNumber: number };
type Profile = {
  nodes: { id: number; callFrame: CallFrame; children?: number[] }[];
  samples: number[];
  timeDeltas: number[];
};

const SHOWN = 30;

/** Milliseconds in the function itself, and including everything that it called. */
type ProfileRow = { name: string; where: string; own: number; whole: number };

/** The longest first, in milliseconds divided by `divisor`. */
export function printTimes(title: string, rows: ProfileRow[], of: 'own' | 'whole', divisor = 1): void {
  console.log(`\n${title}`);
  for (const row of rows.toSorted((left, right) => right[of] - left[of]).slice(0, SHOWN))
    console.log(`${(row[of] / divisor).toFixed(1).padStart(8)}  ${row.name}  ${row.where}`);
}

/** Every function in the samples; idle time and the start of the program are left out. */
export function functionTimes(folder: string): ProfileRow[] {
  const rows = new Map<string, ProfileRow>();
  for (const file of readdirSync(folder).filter((name) => name.endsWith('.cpuprofile'))) {
    addProfile(rows, JSON.parse(readFileSync(join(folder, file), 'utf8')));
  }
  return [...rows.values()];
}

function addProfile(rows: Map<string, ProfileRow>, { nodes, samples, timeDeltas }: Profile): void {
  const byId = new Map(nodes.map((node) => [node.id, node]));
  const ownTimes = new Map<number, number>();
  for (const [index, id] of samples.entries()) {
    ownTimes.set(id, (ownTimes.get(id) ?? 0) + (timeDeltas[index] ?? 0) / 1000);
  }

  /** Returns the time of the whole subtree; a function that calls itself counts once. */
  function visit(id: number, above: ReadonlySet<string>): number {
    const node = byId.get(id);
    if (node === undefined || isOfTheStart(node.callFrame)) return 0;
    const row = rowOf(rows, node.callFrame);
    const key = `${row.name} ${row.where}`;
    const own = ownTimes.get(id) ?? 0;
    const below = new Set([...above, key]);
    const whole = (node.children ?? []).reduce((sum, child) => sum + visit(child, below), own);
    row.own += own;
    if (!above.has(key)) row.whole += whole;
    return whole;
  }

  const [root] = nodes;
  if (root !== undefined) visit(root.id, new Set());
}

function isOfTheStart({ functionName, url }: CallFrame): boolean {
  return functionName === '(idle)' || /^node:internal\/(modules|bootstrap|main)\//.test(url);
}

function rowOf(rows: Map<string, ProfileRow>, { functionName, url, lineNumber }: CallFrame): ProfileRow {
  const name = functionName || '(anonymous)';
  const where = url === '' ? '' : `${url.split('/').slice(-2).join('/')}:${lineNumber + 1}`;
  const key = `${name} ${where}`;
  const row = rows.get(key) ?? { name, where, own: 0, whole: 0 };
  rows.set(key, row);
  return row;
}
