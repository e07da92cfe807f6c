// Asks the tracker which tickets block which: one request per team and 50 tickets.
import { Failure } from '../../../kernel/failure.ts';
import { type Dependencies, dependenciesAmong, numberedTicket } from '../dependencies.ts';
import type { Tracker } from './tracker.ts';

const MOST_NAMED = 5;

export async function askDependencies(
  client: Pick<Tracker, 'issueBlockers'>,
  tickets: readonly string[],
): Promise<Dependencies> {
  const teams = new Map<string, number[]>();
  for (const ticket of tickets) {
    const numbered = numberedTicket(ticket);
    if (numbered === undefined)
      throw new Failure(
        'usage',
        `${ticket} is not a ticket of the issue tracker (such as ABC-12), so its dependencies cannot be read.`,
        'Leave out --dependencies, or name the waves with --wave.',
      );
    teams.set(numbered.team, [...(teams.get(numbered.team) ?? []), numbered.number]);
  }
  const issues = [];
  for (const [team, numbers] of teams) issues.push(...(await client.issueBlockers(team, numbers)));
  const found = dependenciesAmong(tickets, issues);
  if (found.unknown.length === 0) return found;
  const named = found.unknown.slice(0, MOST_NAMED).join(', ');
  const more = found.unknown.length > MOST_NAMED ? ` and ${found.unknown.length - MOST_NAMED} more` : '';
  throw new Failure(
    'unknown-ticket',
    `The issue tracker has no ${named}${more}, or the owner of the API token cannot see it.`,
    'Leave out --dependencies, or name existing tickets.',
  );
}
