// `issues` of a repository: created, and listed newest first by state and time of the last update.
import { type Answer, isoTime, Refusal } from './answer.ts';
import { type CodehostCloud, fullNameOf } from './cloud.ts';
import { numberedPage } from './pages.ts';
import type { IssueRow, RepoRow } from './records.ts';
import type { Call, Route } from './route.ts';

export function issueRoutes({ cloud }: { cloud: CodehostCloud }): Route[] {
  const create = ({ repo, body }: Call): Answer => {
    const { title, body: text, labels = [] } = body as { title?: unknown; body?: unknown; labels?: unknown };
    if (typeof title !== 'string' || title === '') throw missing('title');
    if (text !== undefined && text !== null && typeof text !== 'string') throw missing('body');
    const names = Array.isArray(labels) ? labels.filter((label) => typeof label === 'string') : [];
    const row = cloud.addIssue(fullNameOf(repo), { title, body: text ?? null, labels: names });
    return { status: 201, body: view(repo, row) };
  };

  const list = ({ repo, url }: Call): Answer => {
    const state = url.searchParams.get('state') ?? 'open';
    const since = Date.parse(url.searchParams.get('since') ?? '') || 0;
    const rows = repo.issues
      .filter((row) => (state === 'all' || row.state === state) && row.updatedAt >= since)
      .toReversed();
    return numberedPage(url, rows, (row) => view(repo, row));
  };

  return [
    { method: 'POST', path: /^issues$/, needs: 'read', answer: create },
    { method: 'GET', path: /^issues$/, needs: 'read', answer: list },
  ];
}

function missing(field: string): Refusal {
  return new Refusal(422, 'Validation Failed', {
    errors: [{ resource: 'Issue', field, code: 'missing_field' }],
  });
}

function view(repo: RepoRow, row: IssueRow): object {
  return {
    id: row.id,
    number: row.number,
    html_url: `https://codehost.example/${fullNameOf(repo)}/issues/${row.number}`,
    title: row.title,
    body: row.body,
    state: row.state,
    labels: row.labels.map((name) => ({ name })),
    created_at: isoTime(row.createdAt),
    updated_at: isoTime(row.updatedAt),
  };
}
