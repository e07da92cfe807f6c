// The one GraphQL document of a reconciliation: many pull requests of many repositories in one call, each
// under an alias by which it is found again in the answer.
import { repoNameIn } from '@svc/core';

/** At most so many pull requests in one call. */
export const PULL_REQUESTS_PER_CALL = 50;
/** How many of the newest pull requests of a repository without webhooks are looked at. */
export const NEWEST_PER_REPO = 25;

/** Pull requests of one repository: some by number, or the newest. */
export type RepoWish = { repo: string; numbers: number[]; newest: boolean };

const fields = `
  fragment Fields on PullRequest {
    number title url state isDraft merged mergedAt createdAt updatedAt closedAt
    mergedBy { login }
    author { login }
    mergeCommit { oid }
    headRefName headRefOid baseRefName
    headRepository { nameWithOwner }
    mergeable mergeStateStatus reviewDecision
    commits(last: 1) { nodes { commit { oid statusCheckRollup { state } } } }
  }`;

export type ReconcileQuery = { query: string; variables: Record<string, string>; wishes: RepoWish[] };

/** As few calls as hold the wishes; a repository with many pull requests may be in several. */
export function reconcileQueries(wishes: readonly RepoWish[]): ReconcileQuery[] {
  const calls: { wishes: RepoWish[]; size: number }[] = [];
  const place = (wish: RepoWish, size: number): void => {
    const open = calls.find((call) => call.size + size <= PULL_REQUESTS_PER_CALL);
    if (open === undefined) calls.push({ wishes: [wish], size });
    else {
      open.wishes.push(wish);
      open.size += size;
    }
  };
  for (const { repo, numbers, newest } of wishes) {
    if (newest) place({ repo, numbers: [], newest }, NEWEST_PER_REPO);
    const distinct = [...new Set(numbers)];
    for (let start = 0; start < distinct.length; start += PULL_REQUESTS_PER_CALL) {
      const some = distinct.slice(start, start + PULL_REQUESTS_PER_CALL);
      place({ repo, numbers: some, newest: false }, some.length);
    }
  }
  return calls.map((call) => queryFor(call.wishes));
}

function queryFor(wishes: RepoWish[]): ReconcileQuery {
  const variables: Record<string, string> = {};
  const parameters: string[] = [];
  const parts = wishes.map(({ repo, numbers, newest }, index) => {
    const { owner = '', name = '' } = repoNameIn(repo) ?? {};
    variables[`o${index}`] = owner;
    variables[`n${index}`] = name;
    parameters.push(`$o${index}: String!, $n${index}: String!`);
    const ones = numbers.map((number) => `p${number}: pullRequest(number: ${number}) { ...Fields }`);
    const list = `newest: pullRequests(first: ${NEWEST_PER_REPO}, orderBy: { field: UPDATED_AT, direction: DESC }) { nodes { ...Fields } }`;
    const selection = ['nameWithOwner', ...ones, ...(newest ? [list] : [])].join('\n');
    return `r${index}: repository(owner: $o${index}, name: $n${index}) { ${selection} }`;
  });
  return {
    query: `query Reconcile(${parameters.join(', ')}) {\n${parts.join('\n')}\n}\n${fields}`,
    variables,
    wishes,
  };
}
