// Issues of a repository, as the REST API has them. Text goes through standard input, never through arguments.
import { CodehostIssue } from '@svc/core';
import { done, type Gh, type GhResult, parsed } from './gh.ts';

const PAGE_SIZE = 100;
/** The code host's clock and this machine's may differ by so much. */
const CLOCK_LEEWAY_MS = 10 * 60_000;

type NewCodehostIssue = { title: string; body: string; labels: readonly string[] };

export type IssueApi = {
  create: (repo: string, issue: NewCodehostIssue) => Promise<GhResult<CodehostIssue>>;
  /** The issue whose text holds this, among those updated since a time; open or closed. */
  withText: (repo: string, text: string, since: number) => Promise<GhResult<CodehostIssue | undefined>>;
};

/** Names of repositories are checked by whoever takes them in (`repoNameIn`). */
export function createIssueApi(gh: Pick<Gh, 'request' | 'list'>): IssueApi {
  return {
    async create(repo, { title, body, labels }) {
      const path = `repos/${repo}/issues`;
      const answer = await gh.request({ method: 'POST', path, body: { title, body, labels } });
      if (!answer.ok) return answer;
      return parsed(CodehostIssue, answer.value.json);
    },
    // Listed and not searched for: the search of the code host lags behind, and what was made a moment ago
    // would not be found.
    async withText(repo, text, since) {
      const from = new Date(since - CLOCK_LEEWAY_MS).toISOString().replace(/\.\d{3}Z$/, 'Z');
      const listed = await gh.list(`repos/${repo}/issues?state=all&since=${from}&per_page=${PAGE_SIZE}`);
      if (!listed.ok) return listed;
      const issues = parsed(CodehostIssue.array(), listed.value);
      if (!issues.ok) return issues;
      return done(issues.value.find(({ body }) => body?.includes(text)));
    },
  };
}
