// `compare/<base>...<head>`: how two commits stand to each other, from the parents that the cloud was told.
import { type Answer, notFound } from './answer.ts';
import type { RepoRow } from './records.ts';
import type { Call, Route } from './route.ts';

export function compareRoutes(): Route[] {
  const compare = ({ repo, parts }: Call): Answer => {
    const [base = '', head = ''] = parts;
    if (!repo.commits.has(base) || !repo.commits.has(head)) throw notFound();
    const ofBase = historyOf(repo, base);
    const ofHead = historyOf(repo, head);
    const ahead = [...ofHead].filter((sha) => !ofBase.has(sha)).toReversed();
    const behind = [...ofBase].filter((sha) => !ofHead.has(sha));
    return {
      status: 200,
      body: {
        status: statusOf(ahead.length, behind.length),
        ahead_by: ahead.length,
        behind_by: behind.length,
        total_commits: ahead.length,
        base_commit: { sha: base },
        commits: ahead.map((sha) => ({ sha })),
        files: [],
      },
    };
  };
  return [
    {
      method: 'GET',
      path: /^compare\/([0-9a-f]{7,64})\.\.\.([0-9a-f]{7,64})$/,
      needs: 'read',
      answer: compare,
    },
  ];
}

function statusOf(ahead: number, behind: number): string {
  if (ahead === 0) return behind === 0 ? 'identical' : 'behind';
  return behind === 0 ? 'ahead' : 'diverged';
}

/** The commit and everything before it, newest first. */
function historyOf(repo: RepoRow, sha: string): Set<string> {
  const history = new Set([sha]);
  for (const commit of history) for (const parent of repo.commits.get(commit) ?? []) history.add(parent);
  return history;
}
