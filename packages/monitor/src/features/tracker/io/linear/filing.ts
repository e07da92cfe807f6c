import { messageOf } from '@svc/lib/errors';
import type { Severity } from '../../../attention/severity.ts';
import { type FiledTicket, NotFiled, type TicketDestination, TrackerError } from '../tracker.ts';
import type { LinearClient } from './client.ts';

// Tickets in Linear. We choose each id, so the tracker itself refuses a second one, even while the first
// request is still running.

const AT_ONCE = 8;

type FilingClient = Pick<
  LinearClient,
  'teamStates' | 'labelsNamed' | 'createLabel' | 'createIssue' | 'issueWithText'
>;

/** The team of a project: its key, and its id if it is already known. */
type TeamName = { teamKey: string; teamId: string | null };

export function createLinearFiling(client: FilingClient, team: TeamName): TicketDestination {
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

/** The tracker's numbers: 2 is high, 4 is low. */
const priorityOf: Readonly<Record<Severity, number>> = { high: 2, medium: 3, low: 4 };
