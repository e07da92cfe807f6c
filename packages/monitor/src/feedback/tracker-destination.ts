// Tickets at the issue tracker. Each has an id of our choosing, so that the tracker itself refuses a second one,
// also when the first is still on its way.
import { priorityOf } from '@svc/core';
import { messageOf } from '@svc/lib/errors';
import type { TrackerClient } from '../tracker/client.ts';
import { TrackerError } from '../tracker/tracker-error.ts';
import { type FiledTicket, NotFiled, type TicketDestination } from './destination.ts';

const AT_ONCE = 8;

type FilingClient = Pick<
  TrackerClient,
  'teamStates' | 'labelsNamed' | 'createLabel' | 'createIssue' | 'issueWithText'
>;

/** The team of a project: its key, and its id where it is known already. */
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

  /** A label of the team before one of the workspace; a group is none. */
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
      // Somebody else may have made it in between, or the answer was lost.
      const made = error instanceof TrackerError ? await labelNamed(name, owner) : undefined;
      if (made !== undefined) return made;
      throw error;
    }
  };

  const lookFor = async (key: string): Promise<FiledTicket | undefined> => {
    try {
      const issue = await client.issueWithText(await teamId(), key);
      return issue && { filedAs: issue.identifier, url: issue.url };
    } catch (error) {
      throw notFiled(error, false);
    }
  };

  return {
    name: 'tracker',
    words: `team ${team.teamKey} of the issue tracker`,
    atOnce: AT_ONCE,
    async prepare(labels) {
      try {
        const id = await teamId();
        for (const name of labels) if (!labelIds.has(name)) labelIds.set(name, await labelId(name, id));
      } catch (error) {
        throw notFiled(error, true);
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
        // It refuses an id that it has: then the ticket is there.
        const isRefused = error instanceof TrackerError && error.problem.kind === 'graphql';
        const there = isRefused ? await lookFor(key) : undefined;
        if (there !== undefined) return there;
        throw notFiled(error, isCertain(error));
      }
    },
    find: lookFor,
  };
}

/** No answer, or none that can be understood: it may have been done. */
function isCertain(error: unknown): boolean {
  if (!(error instanceof TrackerError)) return false;
  return error.problem.kind !== 'unavailable' && error.problem.kind !== 'malformed';
}

function notFiled(error: unknown, certain: boolean): unknown {
  if (error instanceof NotFiled) return error;
  if (!(error instanceof TrackerError)) return error;
  return new NotFiled(messageOf(error), { certain, remedy: error.remedy, cause: error });
}
