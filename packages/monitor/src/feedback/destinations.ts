// Where a ticket can be filed. Both destinations have the same contract, so the drain need not know which one it uses.
import { setTimeout as pause } from 'node:timers/promises';
import {
  type CodehostProblem,
  type Config,
  codehostProblemWords,
  type Destination,
  type Environment,
  type FindingSeverity,
  passesByItself,
  priorityOf,
} from '@svc/core';
import { messageOf } from '@svc/lib/errors';
import { runCommand } from '@svc/lib/process';
import { createGh } from '../codehost/gh.ts';
import { createIssueApi, type IssueApi } from '../codehost/issues.ts';
import { createTrackerClient, type TrackerClient, TrackerError } from '../tracker/client.ts';

export type NewTicket = {
  /** Written into the text, to find the ticket again. */
  key: string;
  title: string;
  text: string;
  labels: readonly string[];
  severity: FindingSeverity;
};

export type FiledTicket = { filedAs: string; url: string };

export type TicketDestination = {
  name: Destination;
  /** A description: `team ABC of the issue tracker`. */
  description: string;
  /** Tickets that may be filed at once. */
  atOnce: number;
  /** Checks whether tickets with these labels can be filed. Creates none. */
  prepare: (labels: readonly string[]) => Promise<void>;
  create: (ticket: NewTicket) => Promise<FiledTicket>;
  /** The ticket with this key, from an attempt not before `since` (milliseconds). */
  find: (key: string, since: number) => Promise<FiledTicket | undefined>;
};

/** What every function of a destination throws if it fails. */
export class NotFiled extends Error {
  /** Whether it is certain that no ticket was created. */
  readonly certain: boolean;
  readonly remedy: string | undefined;

  constructor(message: string, options: { certain: boolean; remedy?: string | undefined; cause?: unknown }) {
    super(message, { cause: options.cause });
    this.name = 'NotFiled';
    this.certain = options.certain;
    this.remedy = options.remedy;
  }
}

/**
 * Files a ticket once. An earlier attempt may have created it, and the answer to this one may be lost: then it is
 * searched for before another attempt.
 */
export async function fileOnce(
  destination: Pick<TicketDestination, 'create' | 'find'>,
  ticket: NewTicket,
  { attemptedAt, now }: { attemptedAt: number | undefined; now: () => number },
): Promise<FiledTicket> {
  const earlier = attemptedAt === undefined ? undefined : await destination.find(ticket.key, attemptedAt);
  if (earlier !== undefined) return earlier;
  const startedAt = now();
  try {
    return await destination.create(ticket);
  } catch (error) {
    if (!(error instanceof NotFiled) || error.certain) throw error;
    return (await destination.find(ticket.key, startedAt)) ?? (await destination.create(ticket));
  }
}

// Tickets as issues of a repository at the code host, used if the tracker cannot take them. The code host does not
// accept an id that we choose, so the search waits until an attempt that may still be running has ended.

/** Longer than a call can take, even if its caller was killed. */
const SETTLED_AFTER_MS = 25_000;

export function createCodehostDestination(options: {
  repo: string;
  issues: IssueApi;
  now: () => number;
  sleep: (milliseconds: number) => Promise<void>;
  settledAfterMs?: number;
}): TicketDestination {
  const { repo, issues, now, sleep, settledAfterMs = SETTLED_AFTER_MS } = options;

  const search = async (key: string, since: number) => {
    const found = await issues.withText(repo, key, since);
    if (!found.ok) throw notFiledByCodehost(found.problem, false);
    return found.value && shown(found.value);
  };

  return {
    name: 'codehost',
    description: `${repo} at the code host`,
    // The code host asks clients to create issues one after the other.
    atOnce: 1,
    // Only creating the first issue shows whether it is allowed.
    prepare: () => Promise.resolve(),
    async create({ title, text, labels }) {
      const made = await issues.create(repo, { title, body: text, labels });
      if (made.ok) return shown(made.value);
      const { kind } = made.problem;
      throw notFiledByCodehost(made.problem, kind !== 'unavailable' && kind !== 'malformed');
    },
    async find(key, since) {
      const found = await search(key, since);
      const wait = since + settledAfterMs - now();
      if (found !== undefined || wait <= 0) return found;
      await sleep(Math.min(wait, settledAfterMs));
      return search(key, since);
    },
  };

  function shown(issue: { number: number; html_url: string }) {
    return { filedAs: `${repo}#${issue.number}`, url: issue.html_url };
  }
}

function notFiledByCodehost(problem: CodehostProblem, certain: boolean): NotFiled {
  const { why, remedy } = codehostProblemWords(problem);
  return new NotFiled(why, { certain, ...(!passesByItself(problem) && { remedy }) });
}

// Tickets at the issue tracker. We choose each id, so the tracker itself refuses a second one, even while the first
// request is still running.

const AT_ONCE = 8;

type FilingClient = Pick<
  TrackerClient,
  'teamStates' | 'labelsNamed' | 'createLabel' | 'createIssue' | 'issueWithText'
>;

/** The team of a project: its key, and its id if it is already known. */
export type TeamName = { teamKey: string; teamId: string | null };

export function createTrackerDestination(options: {
  team: TeamName;
  client: FilingClient;
}): TicketDestination {
  const { client, team } = options;
  const labelIds = new Map<string, string>();
  let knownTeam = team.teamId ?? undefined;

  const teamId = async (): Promise<string> => {
    knownTeam ??= (await client.teamStates(team.teamKey))?.id;
    if (knownTeam !== undefined) return knownTeam;
    throw new NotFiled(`the issue tracker has no team ${team.teamKey}`, {
      certain: true,
      remedy: 'Name the team: svc config set svc.tracker.teamKey <key>',
    });
  };

  /** Prefers a label of the team over one of the workspace; groups do not count. */
  const labelNamed = async (name: string, owner: string): Promise<string | undefined> => {
    const usable = (await client.labelsNamed(name)).filter((label) => !label.isGroup);
    const own = usable.find((label) => label.team?.id === owner);
    return (own ?? usable.find((label) => label.team === null))?.id;
  };

  const labelId = async (name: string, owner: string): Promise<string> => {
    const there = await labelNamed(name, owner);
    if (there !== undefined) return there;
    try {
      return (await client.createLabel({ name, teamId: owner })).id;
    } catch (error) {
      // Another process may have created it meanwhile, or the answer was lost.
      const made = error instanceof TrackerError ? await labelNamed(name, owner) : undefined;
      if (made !== undefined) return made;
      throw error;
    }
  };

  const search = async (key: string): Promise<FiledTicket | undefined> => {
    try {
      const issue = await client.issueWithText(await teamId(), key);
      return issue && { filedAs: issue.identifier, url: issue.url };
    } catch (error) {
      throw notFiledByTracker(error, false);
    }
  };

  return {
    name: 'tracker',
    description: `team ${team.teamKey} of the issue tracker`,
    atOnce: AT_ONCE,
    async prepare(labels) {
      try {
        const id = await teamId();
        for (const name of labels) if (!labelIds.has(name)) labelIds.set(name, await labelId(name, id));
      } catch (error) {
        throw notFiledByTracker(error, true);
      }
    },
    async create({ key, title, text, labels, severity }) {
      try {
        const { identifier, url } = await client.createIssue({
          id: key,
          teamId: await teamId(),
          title,
          description: text,
          labelIds: labels.flatMap((name) => labelIds.get(name) ?? []),
          priority: priorityOf[severity],
        });
        return { filedAs: identifier, url };
      } catch (error) {
        // It refuses an id that exists: then the ticket was already created.
        const isRefused = error instanceof TrackerError && error.problem.kind === 'graphql';
        const there = isRefused ? await search(key) : undefined;
        if (there !== undefined) return there;
        throw notFiledByTracker(error, isCertain(error));
      }
    },
    find: search,
  };
}

/** Without a readable answer the request may have succeeded. */
function isCertain(error: unknown): boolean {
  if (!(error instanceof TrackerError)) return false;
  return error.problem.kind !== 'unavailable' && error.problem.kind !== 'malformed';
}

function notFiledByTracker(error: unknown, certain: boolean): unknown {
  if (error instanceof NotFiled) return error;
  if (!(error instanceof TrackerError)) return error;
  return new NotFiled(messageOf(error), { certain, remedy: error.remedy, cause: error });
}

// Where a project's findings can be filed: the tracker first, then the code host. Running calls are not cancelled when
// the user interrupts, because then their result would be unknown; they are short.

export function openDestinations(options: {
  config: Config;
  trackerApiUrl: string;
  environment: Environment;
  now: () => number;
}): TicketDestination[] {
  const { config, environment, now } = options;
  const codehost = createCodehostDestination({
    repo: config.svc.feedback.codehostRepo,
    issues: createIssueApi(createGh({ environment, run: runCommand, now })),
    now,
    sleep: (milliseconds) => pause(milliseconds),
  });
  return [trackerOf(config, options), codehost];
}

function trackerOf(
  { svc }: Config,
  { trackerApiUrl: apiUrl, now }: { trackerApiUrl: string; now: () => number },
): TicketDestination {
  const { teamKey, teamId, apiToken: token } = svc.tracker;
  if (teamKey === undefined) return notSetUp('teamKey', '<key>');
  if (token === undefined) return notSetUp('apiToken', '- < token.txt');
  const client = createTrackerClient({ token, apiUrl, fetch, clock: { now } });
  return createTrackerDestination({ team: { teamKey, teamId }, client });
}

/** A tracker that is not set up fails like one that is down. */
function notSetUp(key: string, value: string): TicketDestination {
  const remedy = `Set it: svc config set svc.tracker.${key} ${value}`;
  const refuse = (): Promise<never> =>
    Promise.reject(new NotFiled(`svc.tracker.${key} is not set`, { certain: true, remedy }));
  return {
    name: 'tracker',
    description: 'the issue tracker',
    atOnce: 1,
    prepare: refuse,
    create: refuse,
    find: refuse,
  };
}
