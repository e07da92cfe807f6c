// `commits/<sha>/check-runs`, and the job behind a check with its steps and its log.
import { type Answer, isoTime, notFound } from './answer.ts';
import { fullNameOf } from './cloud.ts';
import type { CheckRunRow, RepoRow } from './records.ts';
import type { Call, Route } from './route.ts';

export function checkRoutes(): Route[] {
  const list = ({ repo, parts }: Call): Answer => {
    const rows = repo.checkRuns.filter(({ sha }) => sha === parts[0]);
    return {
      status: 200,
      body: { total_count: rows.length, check_runs: rows.map((row) => view(repo, row)) },
    };
  };

  const jobOf = ({ repo, parts }: Call): CheckRunRow => {
    const row = repo.checkRuns.find(({ id }) => String(id) === parts[0]);
    if (row === undefined) throw notFound();
    return row;
  };

  const job = (call: Call): Answer => {
    const { id, name, conclusion, steps } = jobOf(call);
    return { status: 200, body: { id, name, status: 'completed', conclusion, steps } };
  };

  /** Kept for a while only. */
  const log = (call: Call): Answer => {
    const { log: text } = jobOf(call);
    if (text === null) throw notFound();
    return { status: 200, text };
  };

  return [
    { method: 'GET', path: /^commits\/([0-9a-f]{40})\/check-runs$/, needs: 'read', answer: list },
    { method: 'GET', path: /^actions\/jobs\/(\d+)$/, needs: 'read', answer: job },
    { method: 'GET', path: /^actions\/jobs\/(\d+)\/logs$/, needs: 'read', answer: log },
  ];
}

function view(repo: RepoRow, row: CheckRunRow): object {
  const url = `https://codehost.example/${fullNameOf(repo)}/actions/runs/1/job/${row.id}`;
  return {
    id: row.id,
    name: row.name,
    head_sha: row.sha,
    status: 'completed',
    conclusion: row.conclusion,
    html_url: url,
    details_url: url,
    output: { title: row.title, summary: row.summary, text: null, annotations_count: 0 },
    completed_at: isoTime(row.completedAt),
    app: { slug: 'actions' },
  };
}
