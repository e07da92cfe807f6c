// What a run is to do: its tickets in waves, from the command line or from a plan file. A plan is right as a
// whole or refused with every problem by its place, before anything is made.
import { cutText } from '../log/cut-text.ts';
import { type BlockedTicket, wavesFromBlockers } from './waves.ts';

export const MOST_TICKETS = 500;
/** The board keeps as many waves of a run. */
export const MOST_WAVES = 200;
/** More would not fit into the line that starts a run; then only the waves are kept. */
export const MOST_BLOCKERS = 2_000;
const MOST_PROBLEMS = 50;
const LONGEST_SHOWN = 80;

/** What blocks a ticket, where the plan says so: the waves follow from it, and a person can see why. */
export type Blockers = Record<string, string[]>;
export type Plan = { waves: string[][]; blockedBy?: Blockers };

/** A run as it was started; `orchestrator.run.started` carries it, so that a restart knows it again. */
export type RunPlan = Pick<Plan, 'waves'> & {
  /** The folder of the project. */
  project: string;
  /** The branch that worktrees are made from. */
  base: string;
  workerCommand: string;
  workerModel: string;
  maxParallel: number;
};

/** `place` is where it stands: `tickets[2].blockedBy[0]`. */
export type PlanProblem = { place: string; problem: string };
export type ReadPlan = { ok: true; plan: Plan } | { ok: false; problems: PlanProblem[] };

/**
 * `readPlan({ tickets: ['A-1', 'A-2'] })` is one wave. A file is one of `{ "tickets": ["A-1"] }`,
 * `{ "waves": [["A-1"], ["A-2"]] }` and `{ "tickets": [{ "ticket": "A-2", "blockedBy": ["A-1"] }] }`.
 */
export function readPlan(
  input: { tickets: readonly string[] } | { waves: readonly (readonly string[])[] } | { file: unknown },
): ReadPlan {
  const problems: PlanProblem[] = [];
  const plan = planIn('file' in input ? input.file : input, problems);
  if (problems.length > 0 || plan === undefined) return { ok: false, problems: atMost(problems) };
  return { ok: true, plan };
}

/** Why the text cannot be a ticket; undefined when it can. It becomes a branch, a folder and a file name. */
export function ticketProblem(text: unknown): string | undefined {
  if (typeof text !== 'string') return 'is not a text';
  if (/^[A-Za-z0-9][A-Za-z0-9._-]{0,119}$/.test(text)) {
    const problem = branchNameProblem(text);
    return problem === undefined ? undefined : `${shown(text)} ${problem}`;
  }
  return `${shown(text)} is no ticket: letters, digits, dots, dashes and underscores, at most 120, and a letter or digit first`;
}

function planIn(source: unknown, problems: PlanProblem[]): Plan | undefined {
  if (typeof source !== 'object' || source === null || Array.isArray(source))
    return refuse(problems, 'plan', 'is not an object with "tickets" or "waves"');
  const { tickets, waves, ...others } = source as Record<string, unknown>;
  for (const name of Object.keys(others).slice(0, MOST_PROBLEMS))
    refuse(problems, shown(name), 'is unknown; a plan has "tickets" or "waves"');
  if (tickets !== undefined && waves !== undefined)
    return refuse(problems, 'plan', 'has both "tickets" and "waves"');
  if (waves !== undefined) return explicitWaves(waves, problems);
  if (tickets !== undefined) return wavesOfTickets(tickets, problems);
  return refuse(problems, 'plan', 'has neither "tickets" nor "waves"');
}

function explicitWaves(waves: unknown, problems: PlanProblem[]): Plan | undefined {
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
      read.push(wave.flatMap((ticket, index) => named(ticket, `${place}[${index}]`, places, problems)));
    }
  }
  return { waves: read };
}

function wavesOfTickets(tickets: unknown, problems: PlanProblem[]): Plan | undefined {
  if (!isList(tickets)) return refuse(problems, 'tickets', 'is not a list');
  if (tickets.length === 0) return refuse(problems, 'tickets', 'is empty');
  if (tickets.length > MOST_TICKETS) return tooMany(problems, 'tickets');
  const places = new Map<string, string>();
  const read: BlockedTicket[] = [];
  for (const [index, entry] of tickets.entries()) {
    const place = `tickets[${index}]`;
    const [item, at] = isObject(entry)
      ? [entryOf(entry, place, problems), `${place}.ticket`]
      : [{ ticket: entry, blockedBy: [] }, place];
    for (const ticket of named(item.ticket, at, places, problems))
      read.push({ ticket, blockedBy: item.blockedBy });
  }
  refuseUnknownBlockers(tickets, new Set(read.map(({ ticket }) => ticket)), problems);
  if (problems.length > 0) return undefined;
  const result = wavesFromBlockers(read);
  if (!result.ok) return refuse(problems, 'tickets', result.problem);
  const { waves } = result;
  if (waves.length > MOST_WAVES) return tooManyWaves(problems, 'tickets', waves.length);
  const blocked = read.filter(({ blockedBy }) => blockedBy.length > 0);
  const count = blocked.reduce((sum, { blockedBy }) => sum + blockedBy.length, 0);
  if (count === 0 || count > MOST_BLOCKERS) return { waves };
  return {
    waves,
    blockedBy: Object.fromEntries(blocked.map(({ ticket, blockedBy }) => [ticket, [...blockedBy]])),
  };
}

type Entry = { ticket: unknown; blockedBy: string[] };

function entryOf(entry: Record<string, unknown>, place: string, problems: PlanProblem[]): Entry {
  const { ticket, blockedBy = [], ...others } = entry;
  for (const name of Object.keys(others).slice(0, MOST_PROBLEMS))
    refuse(problems, `${place}.${shown(name)}`, 'is unknown; an entry has "ticket" and "blockedBy"');
  if (isList(blockedBy) && blockedBy.length <= MOST_TICKETS)
    return { ticket, blockedBy: blockedBy.filter((blocker) => typeof blocker === 'string') };
  refuse(problems, `${place}.blockedBy`, `is not a list of at most ${MOST_TICKETS} tickets`);
  return { ticket, blockedBy: [] };
}

function refuseUnknownBlockers(
  tickets: readonly unknown[],
  known: ReadonlySet<unknown>,
  problems: PlanProblem[],
): void {
  for (const [index, entry] of tickets.entries()) {
    const blockers = isObject(entry) ? entry['blockedBy'] : undefined;
    if (!isList(blockers)) continue;
    for (const [at, blocker] of blockers.slice(0, MOST_TICKETS).entries())
      if (!known.has(blocker))
        refuse(problems, `tickets[${index}].blockedBy[${at}]`, `${shown(blocker)} is no ticket of this plan`);
  }
}

/** The ticket, or none and a problem. Names that differ only in case would share a file on some systems. */
function named(
  ticket: unknown,
  place: string,
  places: Map<string, string>,
  problems: PlanProblem[],
): string[] {
  const problem = ticketProblem(ticket);
  if (problem !== undefined || typeof ticket !== 'string') {
    refuse(problems, place, problem ?? 'is not a text');
    return [];
  }
  const key = ticket.toLowerCase();
  const first = places.get(key);
  if (first !== undefined) {
    refuse(problems, place, `${ticket} is there already, at ${first}`);
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
  return refuse(problems, place, `needs ${count} waves one after the other; at most ${MOST_WAVES} are kept`);
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

// Names that come from outside and become a branch and a folder: git's own rules for a branch, some of ours, and
// a folder name that can be nothing but one folder. Everything else is refused, with the reason.

const LONGEST = 200;
/** A part of the name is a file name for git, which also adds `.lock` to it. */
const LONGEST_PART_BYTES = 240;
const FOLDER_WORDS = 80;

export type WorktreeName =
  | { ok: true; branch: string; folder: string }
  /** A clause that follows the name: `begins with a dash`. */
  | { ok: false; problem: string };

/**
 * `worktreeNameOf('ABC-12')` is branch and folder `ABC-12`; `feat/login` has a folder of its own name too, with
 * a mark of the whole name, so that no two branches share a folder.
 */
export function worktreeNameOf(text: string): WorktreeName {
  const problem = branchNameProblem(text);
  return problem === undefined
    ? { ok: true, branch: text, folder: folderNameOf(text) }
    : { ok: false, problem };
}

/** Why the text is no branch name; undefined when it is one. */
export function branchNameProblem(text: string): string | undefined {
  if (text === '') return 'is empty';
  if (text.length > LONGEST) return `has ${text.length} characters; at most ${LONGEST} are allowed`;
  return rules.find(([pattern]) => pattern.test(text))?.[1] ?? partProblem(text);
}

const rules: readonly (readonly [RegExp, string])[] = [
  [/^-/, 'begins with a dash'],
  [/[\p{Cc}\p{Zl}\p{Zp}]/u, 'has a line break or another control character'],
  [/[\p{Cf}\p{Cs}]/u, 'has a character that cannot be seen'],
  [/\p{Zs}/u, 'has a space'],
  [/\.\./, 'has two dots in a row'],
  [/[~^:?*[\\]/, 'has one of the characters ~ ^ : ? * [ \\'],
  [/@\{/, 'has @{'],
  [/^\/|\/\/|\/$/, 'has an empty part between slashes'],
  [/\.$/, 'ends with a dot'],
  [/^(?:@|HEAD|refs\/.*)$/, 'means something else to git'],
  // Git takes such a name for a commit.
  [/^(?:[0-9a-f]{40}|[0-9a-f]{64})$/i, 'looks like a commit id'],
];

function partProblem(text: string): string | undefined {
  for (const part of text.split('/')) {
    if (part.startsWith('.')) return 'has a part that begins with a dot';
    if (part.endsWith('.lock')) return 'has a part that ends with .lock';
    if (utf8Length(part) > LONGEST_PART_BYTES)
      return `has a part of more than ${LONGEST_PART_BYTES} bytes between slashes`;
  }
  return undefined;
}

const plainFolder = /^[A-Za-z0-9][A-Za-z0-9._-]{0,119}$/;

function folderNameOf(branch: string): string {
  if (plainFolder.test(branch)) return branch;
  const words = branch
    .replaceAll(/[^A-Za-z0-9._-]+/g, '-')
    .replaceAll(/^[^A-Za-z0-9]+|[^A-Za-z0-9]+$/g, '')
    .slice(0, FOLDER_WORDS);
  return `${words === '' ? 'branch' : words}-${markOf(branch)}`;
}

/** FNV-1a over the bytes, 64 bits: the same name gives the same mark, on every machine. */
function markOf(text: string): string {
  let hash = 0xcbf29ce484222325n;
  for (const byte of utf8(text)) hash = BigInt.asUintN(64, (hash ^ BigInt(byte)) * 0x100000001b3n);
  return hash.toString(16).padStart(16, '0').slice(0, 10);
}

function utf8Length(text: string): number {
  return utf8(text).length;
}

/** Core has no encoder of a platform at hand; the text has no lone surrogates here. */
function utf8(text: string): number[] {
  const escaped = encodeURIComponent(text);
  return [...escaped.matchAll(/%([0-9A-F]{2})|./g)].map(([one, hex]) =>
    hex === undefined ? one.charCodeAt(0) : Number.parseInt(hex, 16),
  );
}
