import type { EventLine } from '@svc/core';

/** What a line is about, in a few words: ticket, pull request, commit, environment, and its own message. */
export function subjectOf({ scope, detail, actor }: Pick<EventLine, 'scope' | 'detail' | 'actor'>): string {
  const { ticket, repo, pr, orchestrator, environment, sha, mergeSha } = scope;
  const commit = mergeSha ?? sha;
  const words = [
    ticket,
    pr === undefined ? repo : `${repo ?? ''}#${pr}`,
    ticket === undefined ? orchestrator : undefined,
    environment,
    commit?.slice(0, 8),
    firstText(detail, ['message', 'title', 'reason', 'status', 'state', 'feed']),
    actor && `by ${actor.login}`,
  ];
  return words.filter((word) => word !== undefined && word !== '').join('  ');
}

function firstText(detail: Record<string, unknown>, names: readonly string[]): string | undefined {
  for (const name of names) {
    const value = detail[name];
    if (typeof value === 'string' && value !== '') return value.slice(0, 300);
  }
  return undefined;
}
