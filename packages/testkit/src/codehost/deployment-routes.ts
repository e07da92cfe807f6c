// `deployments` by commit and environment, newest first, and the statuses of one.
import { type Answer, isoTime, notFound } from './answer.ts';
import { fullNameOf } from './cloud.ts';
import { numberedPage } from './pages.ts';
import type { DeploymentRow, DeploymentStatusRow, RepoRow } from './records.ts';
import type { Call, Route } from './route.ts';

export function deploymentRoutes(): Route[] {
  const list = ({ repo, url, base }: Call): Answer => {
    const wanted = (name: string, value: string): boolean => (url.searchParams.get(name) ?? value) === value;
    const rows = repo.deployments
      .filter(
        (row) => wanted('sha', row.sha) && wanted('ref', row.ref) && wanted('environment', row.environment),
      )
      .toReversed();
    return numberedPage(url, rows, (row) => view(base, repo, row));
  };

  const statuses = ({ repo, parts, url }: Call): Answer => {
    const deployment = repo.deployments.find(({ id }) => String(id) === parts[0]);
    if (deployment === undefined) throw notFound();
    return numberedPage(url, deployment.statuses.toReversed(), (row) => statusView(deployment, row));
  };

  return [
    { method: 'GET', path: /^deployments$/, needs: 'read', answer: list },
    { method: 'GET', path: /^deployments\/(\d+)\/statuses$/, needs: 'read', answer: statuses },
  ];
}

const creator = { login: 'deployer', type: 'Bot' };

function view(base: string, repo: RepoRow, row: DeploymentRow): object {
  const url = `${base}/repos/${fullNameOf(repo)}/deployments/${row.id}`;
  return {
    url,
    id: row.id,
    task: 'deploy',
    original_environment: row.environment,
    environment: row.environment,
    description: null,
    created_at: isoTime(row.createdAt),
    updated_at: isoTime(row.updatedAt),
    statuses_url: `${url}/statuses`,
    creator,
    sha: row.sha,
    ref: row.ref,
    payload: {},
    transient_environment: false,
    production_environment: row.environment === 'production',
  };
}

function statusView(deployment: DeploymentRow, row: DeploymentStatusRow): object {
  return {
    id: row.id,
    state: row.state,
    description: row.description,
    environment: deployment.environment,
    target_url: '',
    log_url: 'https://ci.example/log/1',
    environment_url: 'https://app.example',
    creator,
    created_at: isoTime(row.createdAt),
    updated_at: isoTime(row.createdAt),
  };
}
