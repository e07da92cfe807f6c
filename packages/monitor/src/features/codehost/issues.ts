// Issues of a repository, through the REST API. Text goes through standard input, never through arguments.
import { CodehostIssue } from './created-issue.ts';
import { done, type Gh, type GhResult, parsed } from './gh.ts';

const PAGE_SIZE = 100;
/** How much the code host's clock and this machine's may differ. */
const CLOCK_LEEWAY_MS = 10 * 60_000;

type NewCodehostIssue = { title: string; body: string; labels: readonly string[] };

export type IssueApi = {
  create: (repo: string, issue: NewCodehostIssue) => Promise<GhResult<CodehostIssue>>;
  /** The issue whose text contains this, among those updated since a time; open or closed. */
  withText: (repo: string, text: string, since: number) => Promise<GhResult<CodehostIssue | undefined>>;
};

/** Callers check the names of repositories (`repoNameIn`). */
export function createIssueApi(gh: Pick<Gh, 'request' | 'list'>): IssueApi {
  return {
    async create(repo, { title, body, labels }) {
      const path = `repos/${repo}/issues`;
      const answer = await gh.request({ method: 'POST', path, body: { title, body, labels } });
      if (!answer.ok) return answer;
      return parsed(CodehostIssue, answer.value.json);
    },
    // Listed instead of searched: the search of the code host lags behind and would miss an issue made a moment ago.
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
