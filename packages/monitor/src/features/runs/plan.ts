// The tickets of a run in waves, from the command line or from a plan file. A plan is accepted as a whole, or rejected
// with every problem and its position, before anything is created.
import { cutText } from '@svc/lib/cut-text';
import { AgentName } from '../agents/schemas.ts';
import type { BlockedTicket } from '../tracker/dependencies.ts';
import { branchNameProblem } from '../worktrees/branch-name.ts';

export const MOST_TICKETS = 500;
/** The board keeps this many waves of a run. */
export const MOST_WAVES = 200;
/** More would not fit into the line for the start of a run; then only the waves are kept. */
const MOST_BLOCKERS = 2_000;
const MOST_PROBLEMS = 50;
const LONGEST_SHOWN = 80;

/** A ticket's blockers, if the plan has them: the waves follow from them, and a person can see why. */
export type Blockers = Record<string, string[]>;
type Plan = {
  waves: string[][];
  blockedBy?: Blockers;
  /** By ticket: the name of the agent that it gets. */
  agents?: Record<string, string> | undefined;
};

/** A run as it was started; it is in `orchestrator.run.started`, so it survives a restart. */
export type RunPlan = Pick<Plan, 'waves' | 'agents'> & {
  /** The folder of the project. */
  project: string;
  /** The branch that worktrees are created from. */
  base: string;
  workerCommand: string;
  workerModel: string;
  maxParallel: number;
  /** The name of the agent that was chosen for the run, and the model and the permission mode that it gets. */
  agent?: string | undefined;
  model?: string | undefined;
  mode?: string | undefined;
};

/** `place` is its position: `tickets[2].blockedBy[0]`. */
export type PlanProblem = { place: string; problem: string };
export type ReadPlan = { ok: true; plan: Plan } | { ok: false; problems: PlanProblem[] };

/**
 * `readPlan({ tickets: ['A-1', 'A-2'] })` is one wave. A file is one of `{ "tickets": ["A-1"] }`,
 * `{ "waves": [["A-1"], ["A-2"]] }` and
 * `{ "tickets": [{ "ticket": "A-2", "blockedBy": ["A-1"], "agent": "codex" }] }`. `ticketOf` returns the ticket for what
 * a person wrote, such as `#12`.
 */
export function readPlan(
  input: { tickets: readonly string[] } | { waves: readonly (readonly string[])[] } | { file: unknown },
  ticketOf: (written: string) => string = (written) => written,
): ReadPlan {
  const problems: PlanProblem[] = [];
  const source = 'file' in input ? input.file : input;
  const plan = planIn(source, problems, (written) =>
    typeof written === 'string' ? ticketOf(written) : written,
  );
  if (problems.length > 0 || plan === undefined) return { ok: false, problems: atMost(problems) };
  return { ok: true, plan };
}

/** Why the text cannot be a ticket; undefined if it can. It becomes a branch, a folder and a file name. */
export function ticketProblem(text: unknown): string | undefined {
  if (typeof text !== 'string') return 'is not a string';
  if (/^[A-Za-z0-9][A-Za-z0-9._-]{0,119}$/.test(text)) {
    const problem = branchNameProblem(text);
    return problem === undefined ? undefined : `${shown(text)} ${problem}`;
  }
  return `${shown(text)} is not a ticket: use letters, digits, dots, dashes and underscores, at most 120, starting with a letter or digit`;
}

type TicketOf = (written: unknown) => unknown;

function planIn(source: unknown, problems: PlanProblem[], ticketOf: TicketOf): Plan | undefined {
  if (typeof source !== 'object' || source === null || Array.isArray(source))
    return refuse(problems, 'plan', 'is not an object with "tickets" or "waves"');
  const { tickets, waves, ...others } = source as Record<string, unknown>;
  for (const name of Object.keys(others).slice(0, MOST_PROBLEMS))
    refuse(problems, shown(name), 'is unknown; a plan has "tickets" or "waves"');
  if (tickets !== undefined && waves !== undefined)
    return refuse(problems, 'plan', 'has both "tickets" and "waves"');
  if (waves !== undefined) return explicitWaves(waves, problems, ticketOf);
  if (tickets !== undefined) return wavesOfTickets(tickets, problems, ticketOf);
  return refuse(problems, 'plan', 'has neither "tickets" nor "waves"');
}

function explicitWaves(waves: unknown, problems: PlanProblem[], ticketOf: TicketOf): Plan | undefined {
  if (!isList(waves)) return refuse(problems, 'waves', 'is not a list of lists of tickets');
  if (waves.length === 0) return refuse(problems, 'waves', 'is empty');
  if (waves.length > MOST_WAVES) return tooManyWaves(problems, 'waves', waves.length);
  const read: string[][] = [];
  const places = new Map<string, string>();
  let count = 0;
  for (const [number, wave] of waves.entries()) {
    const place = `waves[${number}]`;
    if (!isList(wave)) refuse(problems, place, 'is not a list of tickets');
    else if (wave.length === 0) refuse(problems, place, 'is empty');
    else {
      count += wave.length;
      if (count > MOST_TICKETS) return tooMany(problems, 'waves');
      read.push(
        wave.flatMap((ticket, index) => named(ticketOf(ticket), `${place}[${index}]`, places, problems)),
      );
    }
  }
  return { waves: read };
}

function wavesOfTickets(tickets: unknown, problems: PlanProblem[], ticketOf: TicketOf): Plan | undefined {
  if (!isList(tickets)) return refuse(problems, 'tickets', 'is not a list');
  if (tickets.length === 0) return refuse(problems, 'tickets', 'is empty');
  if (tickets.length > MOST_TICKETS) return tooMany(problems, 'tickets');
  const places = new Map<string, string>();
  const read: BlockedTicket[] = [];
  const agents: [ticket: string, agent: string][] = [];
  for (const [index, entry] of tickets.entries()) {
    const place = `tickets[${index}]`;
    const [item, at] = isObject(entry)
      ? [entryOf(entry, place, problems, ticketOf), `${place}.ticket`]
      : [{ ticket: entry, blockedBy: [], agent: undefined }, place];
    for (const ticket of named(ticketOf(item.ticket), at, places, problems)) {
      read.push({ ticket, blockedBy: item.blockedBy });
      if (item.agent !== undefined) agents.push([ticket, item.agent]);
    }
  }
  const known: ReadonlySet<unknown> = new Set(read.map(({ ticket }) => ticket));
  refuseUnknownBlockers(tickets, (blocker) => known.has(ticketOf(blocker)), problems);
  if (problems.length > 0) return undefined;
  const result = wavesFromBlockers(read);
  if (!result.ok) return refuse(problems, 'tickets', result.problem);
  const { waves } = result;
  if (waves.length > MOST_WAVES) return tooManyWaves(problems, 'tickets', waves.length);
  const blocked = read.filter(({ blockedBy }) => blockedBy.length > 0);
  const count = blocked.reduce((sum, { blockedBy }) => sum + blockedBy.length, 0);
  return {
    waves,
    ...(agents.length > 0 && { agents: Object.fromEntries(agents) }),
    ...(count > 0 &&
      count <= MOST_BLOCKERS && {
        blockedBy: Object.fromEntries(blocked.map(({ ticket, blockedBy }) => [ticket, [...blockedBy]])),
      }),
  };
}

type Entry = { ticket: unknown; blockedBy: string[]; agent?: string | undefined };

function entryOf(
  entry: Record<string, unknown>,
  place: string,
  problems: PlanProblem[],
  ticketOf: TicketOf,
): Entry {
  const { ticket, blockedBy = [], agent: given, ...others } = entry;
  for (const name of Object.keys(others).slice(0, MOST_PROBLEMS))
    refuse(problems, `${place}.${shown(name)}`, 'is unknown; an entry has "ticket", "blockedBy" and "agent"');
  const agent = AgentName.optional().safeParse(given).data;
  if (given !== undefined && agent === undefined)
    refuse(problems, `${place}.agent`, `${shown(given)} is not the name of an agent`);
  if (isList(blockedBy) && blockedBy.length <= MOST_TICKETS)
    return {
      ticket,
      agent,
      blockedBy: blockedBy.map(ticketOf).filter((blocker) => typeof blocker === 'string'),
    };
  refuse(problems, `${place}.blockedBy`, `is not a list of at most ${MOST_TICKETS} tickets`);
  return { ticket, agent, blockedBy: [] };
}

function refuseUnknownBlockers(
  tickets: readonly unknown[],
  isKnown: (blocker: unknown) => boolean,
  problems: PlanProblem[],
): void {
  for (const [index, entry] of tickets.entries()) {
    const blockers = isObject(entry) ? entry['blockedBy'] : undefined;
    if (!isList(blockers)) continue;
    for (const [at, blocker] of blockers.slice(0, MOST_TICKETS).entries())
      if (!isKnown(blocker))
        refuse(problems, `tickets[${index}].blockedBy[${at}]`, `${shown(blocker)} is not in this plan`);
  }
}

/** The ticket, or undefined and a problem. Names that differ only in case would share a file on some systems. */
function named(
  ticket: unknown,
  place: string,
  places: Map<string, string>,
  problems: PlanProblem[],
): string[] {
  const problem = ticketProblem(ticket);
  if (problem !== undefined || typeof ticket !== 'string') {
    refuse(problems, place, problem ?? 'is not a string');
    return [];
  }
  const key = ticket.toLowerCase();
  const first = places.get(key);
  if (first !== undefined) {
    refuse(problems, place, `${ticket} is already listed, at ${first}`);
    return [];
  }
  places.set(key, place);
  return [ticket];
}

function refuse(problems: PlanProblem[], place: string, problem: string): undefined {
  problems.push({ place, problem });
}

function tooMany(problems: PlanProblem[], place: string): undefined {
  return refuse(problems, place, `has more than ${MOST_TICKETS} tickets`);
}

function tooManyWaves(problems: PlanProblem[], place: string, count: number): undefined {
  return refuse(problems, place, `needs ${count} consecutive waves; the maximum is ${MOST_WAVES}`);
}

function atMost(problems: PlanProblem[]): PlanProblem[] {
  if (problems.length <= MOST_PROBLEMS) return problems;
  const more = { place: 'plan', problem: `has ${problems.length - MOST_PROBLEMS} more problems` };
  return [...problems.slice(0, MOST_PROBLEMS), more];
}

function shown(value: unknown): string {
  return cutText(JSON.stringify(value) ?? 'nothing', LONGEST_SHOWN);
}

function isList(value: unknown): value is readonly unknown[] {
  return Array.isArray(value);
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

// Waves from a graph: a ticket is in the wave after its last blocker.

type BlockerWaves =
  | { ok: true; waves: string[][] }
  /** `cycle` starts and ends with the same ticket; each is blocked by the next. */
  | { ok: false; cycle: string[]; problem: string };

/**
 * `wavesFromBlockers([{ ticket: 'A-2', blockedBy: ['A-1'] }, { ticket: 'A-1', blockedBy: [] }])` is
 * `[['A-1'], ['A-2']]`. Within a wave the order is the given one. A blocker that is not in the list is ignored: the
 * caller decides what that means.
 */
export function wavesFromBlockers(tickets: readonly BlockedTicket[]): BlockerWaves {
  const blockers = new Map<string, Set<string>>();
  for (const { ticket } of tickets) blockers.set(ticket, new Set());
  for (const { ticket, blockedBy } of tickets)
    for (const blocker of blockedBy) if (blockers.has(blocker)) blockers.get(ticket)?.add(blocker);
  const waves: string[][] = [];
  const left = new Set(blockers.keys());
  while (left.size > 0) {
    const free = [...left].filter((ticket) => !hasAny(left, blockers.get(ticket)));
    if (free.length === 0) return cycleIn(left, blockers);
    for (const ticket of free) left.delete(ticket);
    waves.push(free);
  }
  return { ok: true, waves };
}

function hasAny(left: ReadonlySet<string>, blockers: ReadonlySet<string> = new Set()): boolean {
  for (const blocker of blockers) if (left.has(blocker)) return true;
  return false;
}

/** Every remaining ticket has a remaining blocker, so following them leads back to one of them. */
function cycleIn(
  left: ReadonlySet<string>,
  blockers: ReadonlyMap<string, ReadonlySet<string>>,
): BlockerWaves {
  const path: string[] = [];
  let [at] = left;
  while (at !== undefined && !path.includes(at)) {
    path.push(at);
    at = [...(blockers.get(at) ?? [])].find((blocker) => left.has(blocker));
  }
  const cycle = at === undefined ? path : [...path.slice(path.indexOf(at)), at];
  return { ok: false, cycle, problem: `the tickets block each other in a cycle: ${cycle.join(' → ')}` };
}
