// The roles: the tickets of the run in their waves, what the agent of each does at its first, second, … launch, and how
// it must end.
import type { Random } from '../packages/testkit/src/random.ts';

/** What an agent does at a launch. */
export type Deed =
  | 'work'
  /** Fails before there is a pull request, and leaves a child running. */
  | 'crash'
  /** Becomes silent, and leaves a child running. */
  | 'hang'
  /** Opens a pull request, and crashes before it reports that. */
  | 'open-and-crash'
  /** Does not know about an existing pull request, and opens another. */
  | 'open-again'
  | 'skip-tests'
  | 'empty-tests'
  | 'break-tests';

type Role = {
  name: string;
  /** The last one is repeated by every later launch. */
  deeds: readonly [Deed, ...Deed[]];
  /** Deployments that fail before one succeeds. */
  failedDeploys: number;
  /** What a person does, once, after the agent was given up. */
  person: 'cancel' | 'retry' | null;
  ends: {
    status: 'done' | 'canceled';
    verification: 'passed' | 'failed' | null;
    /** Launches of its agent. */
    launches: number;
    pullRequests: number;
  };
};

export type Player = { ticket: string; wave: number; role: Role };

const honest = { failedDeploys: 0, person: null } as const;
const done = { status: 'done', verification: 'passed', launches: 1, pullRequests: 1 } as const;

const worker: Role = { ...honest, name: 'works', deeds: ['work'], ends: done };

/** The unusual roles; the others just work. Assigned in turn, as long as there are tickets. */
const roles: readonly Role[] = [
  { ...honest, name: 'crashes once', deeds: ['crash', 'work'], ends: { ...done, launches: 2 } },
  {
    ...honest,
    name: 'reports that failing tests pass',
    deeds: ['break-tests'],
    ends: { ...done, verification: 'failed' },
  },
  {
    ...honest,
    name: 'crashes always',
    deeds: ['crash'],
    person: 'cancel',
    ends: { status: 'canceled', verification: null, launches: 4, pullRequests: 0 },
  },
  { ...honest, name: 'its deploy fails twice', deeds: ['work'], failedDeploys: 2, ends: done },
  { ...honest, name: 'hangs once', deeds: ['hang', 'work'], ends: { ...done, launches: 2 } },
  {
    ...honest,
    name: 'opens two pull requests',
    deeds: ['open-and-crash', 'open-again'],
    ends: { ...done, launches: 2, pullRequests: 2 },
  },
  // Signs of weakened tests are advice.
  { ...honest, name: 'skips its tests', deeds: ['skip-tests'], ends: done },
  { ...honest, name: 'empties a test', deeds: ['empty-tests'], ends: done },
  {
    ...honest,
    name: 'crashes three times',
    deeds: ['crash', 'crash', 'crash', 'work'],
    ends: { ...done, launches: 4 },
  },
  {
    ...honest,
    name: 'hangs until a person retries',
    deeds: ['hang', 'hang', 'hang', 'hang', 'work'],
    person: 'retry',
    ends: { ...done, launches: 5 },
  },
];

/** Every second ticket of the run is an unusual one, in random order, until all roles are used. */
export function castOf(tickets: readonly string[], waves: number, random: Random): Player[] {
  const unusual = random.shuffled(roles.slice(0, Math.floor(tickets.length / 2)));
  const quiet = tickets.length - unusual.length;
  const all = random.shuffled([...unusual, ...Array.from({ length: quiet }, () => worker)]);
  const each = Math.ceil(tickets.length / waves);
  return tickets.map((ticket, index) => ({
    ticket,
    wave: Math.floor(index / each) + 1,
    role: all[index] ?? worker,
  }));
}

/** A plan as a tracker's relations would give it: each ticket is blocked by one or two of the previous wave. */
export function planOf(cast: readonly Player[], random: Random): object {
  const tickets = cast.map(({ ticket, wave }) => {
    const before = cast.filter((other) => other.wave === wave - 1).map((other) => other.ticket);
    const blockedBy = random.shuffled(before).slice(0, 1 + random.below(2));
    return { ticket, blockedBy };
  });
  return { tickets: random.shuffled(tickets) };
}
