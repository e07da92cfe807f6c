// Tickets as issues of a repository at the code host: where the tracker cannot take them. The code host takes no
// id of ours, so that an attempt that may still be under way is given its time before it is looked for.
import { type CodehostProblem, codehostProblemWords, passesByItself } from '@svc/core';
import type { IssueApi } from '../codehost/issues.ts';
import { NotFiled, type TicketDestination } from './destination.ts';

/** Longer than a call may take, also one whose caller was killed. */
const SETTLED_AFTER_MS = 25_000;

export function createCodehostDestination(options: {
  repo: string;
  issues: IssueApi;
  now: () => number;
  sleep: (milliseconds: number) => Promise<void>;
  settledAfterMs?: number;
}): TicketDestination {
  const { repo, issues, now, sleep, settledAfterMs = SETTLED_AFTER_MS } = options;

  const look = async (key: string, since: number) => {
    const found = await issues.withText(repo, key, since);
    if (!found.ok) throw notFiled(found.problem, false);
    return found.value && shown(found.value);
  };

  return {
    name: 'codehost',
    words: `${repo} at the code host`,
    // The code host asks that issues be made one after the other.
    atOnce: 1,
    // The first issue finds out: there is no other way to ask whether one may be made.
    prepare: () => Promise.resolve(),
    async create({ title, text, labels }) {
      const made = await issues.create(repo, { title, body: text, labels });
      if (made.ok) return shown(made.value);
      const { kind } = made.problem;
      throw notFiled(made.problem, kind !== 'unavailable' && kind !== 'malformed');
    },
    async find(key, since) {
      const found = await look(key, since);
      const wait = since + settledAfterMs - now();
      if (found !== undefined || wait <= 0) return found;
      await sleep(Math.min(wait, settledAfterMs));
      return look(key, since);
    },
  };

  function shown(issue: { number: number; html_url: string }) {
    return { filedAs: `${repo}#${issue.number}`, url: issue.html_url };
  }
}

function notFiled(problem: CodehostProblem, certain: boolean): NotFiled {
  const { why, remedy } = codehostProblemWords(problem);
  return new NotFiled(why, { certain, ...(!passesByItself(problem) && { remedy }) });
}
