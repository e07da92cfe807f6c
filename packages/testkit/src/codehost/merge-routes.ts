// What a repository demands of a merge: the rules of its main branch, and what ran on its closed pull requests.
import type { Answer } from './answer.ts';
import type { Call, Route } from './route.ts';

export function mergeRoutes(): Route[] {
  const rules = ({ repo }: Call): Answer => ({ status: 200, body: repo.rules });

  const pulls = ({ repo, url }: Call): Answer => {
    const [state, base] = [url.searchParams.get('state') ?? 'open', url.searchParams.get('base')];
    const rows = repo.pullRequests
      .filter((row) => (state === 'open') === (row.state === 'OPEN') && (base === null || row.base === base))
      .toReversed()
      .slice(0, Number(url.searchParams.get('per_page') ?? 30));
    return { status: 200, body: rows.map(({ number, headSha }) => ({ number, head: { sha: headSha } })) };
  };

  const status = ({ parts }: Call): Answer => ({ status: 200, body: { sha: parts[0], statuses: [] } });

  return [
    { method: 'GET', path: /^rules\/branches\/main$/, needs: 'read', answer: rules },
    { method: 'GET', path: /^pulls$/, needs: 'read', answer: pulls },
    { method: 'GET', path: /^commits\/([0-9a-f]{40})\/status$/, needs: 'read', answer: status },
  ];
}
