// The title that a worker is shown with.

import type { WorkerView } from '../workers/entity.ts';
import type { BoardView } from './api.ts';

/**
 * The title of a worker's ticket, or that of its pull request. The number of an issue says which one it is only together
 * with its repository, so a worker of another machine must have the same one; `isOwn`: of this machine.
 */
export function titlesIn(view: Pick<BoardView, 'tickets' | 'pullRequests'>) {
  const tickets = new Map(view.tickets.map((ticket) => [ticket.ticket.toUpperCase(), ticket]));
  const pullRequests = new Map(view.pullRequests.map(({ key, title }) => [key, title]));
  return (
    { ticket, repo, pullRequestKey }: Pick<WorkerView, 'ticket' | 'repo' | 'pullRequestKey'>,
    isOwn = true,
  ): string | null => {
    const known = tickets.get(ticket.toUpperCase());
    const issueRepo = repoOfIssue(known?.url ?? '');
    const isSame = isOwn || issueRepo === undefined || issueRepo === repo?.toLowerCase();
    return (isSame ? known?.title : null) ?? pullRequests.get(pullRequestKey ?? '') ?? null;
  };
}

function repoOfIssue(url: string): string | undefined {
  return /\/([\w.-]+\/[\w.-]+)\/issues\/\d+$/.exec(url)?.[1]?.toLowerCase();
}
