import type { IssueApi } from '../../../codehost/issues.ts';
import { type CodehostProblem, codehostProblemWords, passesByItself } from '../../../codehost/problem.ts';
import { NotFiled, type TicketDestination } from '../tracker.ts';

// Tickets as issues of a repository at the code host, used if the tracker cannot take them. The code host does not
// accept an id that we choose, so the search waits until an attempt that may still be running has ended.

/** Longer than a call can take, even if its caller was killed. */
const SETTLED_AFTER_MS = 25_000;

export function createCodehostDestination(options: {
  repo: string;
  /** If the issues are the project's tickets: how they are named. */
  ticketOf?: (number: number) => string;
  issues: IssueApi;
  now: () => number;
  sleep: (milliseconds: number) => Promise<void>;
  settledAfterMs?: number;
}): TicketDestination {
  const { repo, issues, now, sleep, ticketOf, settledAfterMs = SETTLED_AFTER_MS } = options;

  const search = async (key: string, since: number) => {
    const found = await issues.withText(repo, key, since);
    if (!found.ok) throw notFiledByCodehost(found.problem, false);
    return found.value && shown(found.value);
  };

  return {
    name: ticketOf === undefined ? 'codehost' : 'tracker',
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
    return { filedAs: ticketOf?.(issue.number) ?? `${repo}#${issue.number}`, url: issue.html_url };
  }
}

function notFiledByCodehost(problem: CodehostProblem, certain: boolean): NotFiled {
  const { why, remedy } = codehostProblemWords(problem);
  return new NotFiled(why, { certain, ...(!passesByItself(problem) && { remedy }) });
}
