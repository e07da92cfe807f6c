// `commits/<sha>/check-runs`, and the job behind a check with its steps and its log.
import { createHash } from 'node:crypto';
import {
  type Answer,
  type Call,
  cursorPage,
  isoTime,
  notFound,
  numberedPage,
  Refusal,
  type Route,
} from './answer.ts';
import {
  type CheckRunRow,
  type CodehostCloud,
  type CommitRow,
  type DeliveryRow,
  type DeploymentRow,
  type DeploymentStatusRow,
  fullNameOf,
  nextNumber,
  type RepoRow,
} from './cloud.ts';
import type { Deliverer } from './deliver.ts';
import { hookOf } from './hook-routes.ts';
import { missing } from './issue-routes.ts';

export function checkRoutes(): Route[] {
  const list = ({ repo, parts }: Call): Answer => {
    const rows = repo.checkRuns.filter(({ sha }) => sha === parts[0]);
    return {
      status: 200,
      body: { total_count: rows.length, check_runs: rows.map((row) => checkView(repo, row)) },
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

  /** Stored only for a while. */
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

function checkView(repo: RepoRow, row: CheckRunRow): object {
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

// `compare/<base>...<head>`: how two commits are related, from the parents that the cloud knows.

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
        commits: ahead.map((sha) => {
          const { message = '', parents = [] } = repo.commits.get(sha) ?? {};
          return { sha, commit: { message }, parents: parents.map((parent) => ({ sha: parent })) };
        }),
        files: filesBetween(repo.commits.get(base), repo.commits.get(head)),
      },
    };
  };
  const commit = ({ repo, parts }: Call): Answer => {
    const [sha = ''] = parts;
    const row = repo.commits.get(sha);
    if (row === undefined) throw notFound();
    const { parents, message } = row;
    return {
      status: 200,
      body: {
        sha,
        commit: { message },
        parents: parents.map((parent) => ({ sha: parent })),
        files: filesBetween(repo.commits.get(parents[0] ?? ''), row),
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
    { method: 'GET', path: /^commits\/([0-9a-f]{40,64})$/, needs: 'read', answer: commit },
  ];
}

function filesBetween(from: CommitRow | undefined, to: CommitRow | undefined): object[] {
  const [before, after] = [from?.tree ?? {}, to?.tree ?? {}];
  const names = [...new Set([...Object.keys(before), ...Object.keys(after)])];
  return names
    .filter((name) => before[name] !== after[name])
    .map((filename) => ({
      filename,
      sha: createHash('sha1')
        .update(after[filename] ?? '')
        .digest('hex'),
      status: !(filename in before) ? 'added' : filename in after ? 'modified' : 'removed',
      patch: patchBetween(before[filename] ?? '', after[filename] ?? ''),
    }));
}

/** One hunk with all lines; those that both have are found by their longest common sequence. */
export function patchBetween(before: string, after: string): string {
  const [from, to] = [before, after].map((text) => (text === '' ? [] : text.replace(/\n$/, '').split('\n')));
  const [one, two] = [from ?? [], to ?? []];
  const common = one.map(() => two.map(() => 0));
  const at = (row: number, column: number): number => common[row]?.[column] ?? 0;
  for (let row = one.length - 1; row >= 0; row -= 1)
    for (let column = two.length - 1; column >= 0; column -= 1)
      (common[row] ?? [])[column] =
        one[row] === two[column]
          ? at(row + 1, column + 1) + 1
          : Math.max(at(row + 1, column), at(row, column + 1));
  const lines: string[] = [];
  for (let row = 0, column = 0; row < one.length || column < two.length; ) {
    if (row < one.length && one[row] === two[column]) {
      lines.push(` ${one[row]}`);
      row += 1;
      column += 1;
    } else if (row < one.length && (column === two.length || at(row + 1, column) >= at(row, column + 1))) {
      lines.push(`-${one[row]}`);
      row += 1;
    } else {
      lines.push(`+${two[column]}`);
      column += 1;
    }
  }
  const range = (count: number): string => (count === 0 ? '0,0' : `1,${count}`);
  return [`@@ -${range(one.length)} +${range(two.length)} @@`, ...lines].join('\n');
}

function statusOf(ahead: number, behind: number): string {
  if (ahead === 0) return behind === 0 ? 'identical' : 'behind';
  return behind === 0 ? 'ahead' : 'diverged';
}

/** The commit and its ancestors, newest first. */
function historyOf(repo: RepoRow, sha: string): Set<string> {
  const history = new Set([sha]);
  for (const commit of history)
    for (const parent of repo.commits.get(commit)?.parents ?? []) history.add(parent);
  return history;
}

// `hooks/:id/deliveries`: the deliveries of the last three days, newest first; one of them in full; redelivery.

const KEPT_MS = 3 * 24 * 3_600_000;

export function deliveryRoutes({ deliverer, now }: { deliverer: Deliverer; now: () => number }): Route[] {
  const kept = (repo: RepoRow, hookId: number): DeliveryRow[] =>
    repo.deliveries
      .filter((row) => row.hookId === hookId && now() - row.deliveredAt <= KEPT_MS)
      .toReversed()
      .toSorted((one, other) => other.deliveredAt - one.deliveredAt);

  const deliveryOf = ({ repo, parts }: Call): DeliveryRow => {
    const hook = hookOf(repo, parts[0]);
    const found = kept(repo, hook.id).find(({ id }) => String(id) === parts[1]);
    if (found === undefined) throw notFound();
    return found;
  };

  const list = ({ repo, parts, url }: Call): Answer => {
    const rows = kept(repo, hookOf(repo, parts[0]).id);
    const page = cursorPage(
      url,
      rows,
      ({ id }) => String(id),
      (row) => summary(repo, row),
    );
    if (page === undefined) throw new Refusal(422, 'Invalid cursor');
    return page;
  };

  const one = (call: Call): Answer => {
    const row = deliveryOf(call);
    const body = {
      ...summary(call.repo, row),
      url: row.url,
      request: { headers: row.requestHeaders, payload: row.payload },
      response: { headers: row.responseHeaders, payload: row.responseBody },
    };
    return { status: 200, body };
  };

  const again = async (call: Call): Promise<Answer> => {
    await deliverer.redeliver(call.repo, hookOf(call.repo, call.parts[0]), deliveryOf(call));
    return { status: 202, body: {} };
  };

  return [
    { method: 'GET', path: /^hooks\/(\d+)\/deliveries$/, needs: 'hooks', answer: list },
    { method: 'GET', path: /^hooks\/(\d+)\/deliveries\/(\d+)$/, needs: 'hooks', answer: one },
    { method: 'POST', path: /^hooks\/(\d+)\/deliveries\/(\d+)\/attempts$/, needs: 'hooks', answer: again },
  ];
}

function summary(repo: RepoRow, row: DeliveryRow): object {
  return {
    id: row.id,
    guid: row.guid,
    delivered_at: isoTime(row.deliveredAt),
    redelivery: row.redelivery,
    duration: Math.round(row.durationMs) / 1000,
    status: row.status,
    status_code: row.statusCode,
    event: row.event,
    action: row.action,
    installation_id: null,
    repository_id: repo.id,
    throttled_at: null,
  };
}

// `deployments` by commit and environment, newest first, and the statuses of one.

export function deploymentRoutes(): Route[] {
  const list = ({ repo, url, base }: Call): Answer => {
    const wanted = (name: string, value: string): boolean => (url.searchParams.get(name) ?? value) === value;
    const rows = repo.deployments
      .filter(
        (row) => wanted('sha', row.sha) && wanted('ref', row.ref) && wanted('environment', row.environment),
      )
      .toReversed();
    return numberedPage(url, rows, (row) => deploymentView(base, repo, row));
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

function deploymentView(base: string, repo: RepoRow, row: DeploymentRow): object {
  const url = `${base}/repos/${fullNameOf(repo)}/deployments/${row.id}`;
  return {
    url,
    id: row.id,
    task: row.task ?? 'deploy',
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
    environment: row.environment ?? deployment.environment,
    target_url: '',
    log_url: 'https://ci.example/log/1',
    environment_url: 'https://app.example',
    creator,
    created_at: isoTime(row.createdAt),
    updated_at: isoTime(row.createdAt),
  };
}

// What a repository requires for a merge: the rules of its main branch, and the checks of its closed pull requests.

export function mergeRoutes({ cloud }: { cloud: CodehostCloud }): Route[] {
  const open = ({ repo, body }: Call): Answer => {
    const { title, head, base } = body as { title?: unknown; head?: unknown; base?: unknown };
    if (typeof title !== 'string' || typeof head !== 'string' || typeof base !== 'string')
      throw missing('title');
    const { number } = cloud.addPullRequest(fullNameOf(repo), {
      number: nextNumber(repo),
      title,
      branch: head,
      base,
    });
    return {
      status: 201,
      body: { number, html_url: `https://codehost.example/${fullNameOf(repo)}/pull/${number}` },
    };
  };

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
    { method: 'POST', path: /^pulls$/, needs: 'read', answer: open },
    { method: 'GET', path: /^pulls$/, needs: 'read', answer: pulls },
    { method: 'GET', path: /^commits\/([0-9a-f]{40})\/status$/, needs: 'read', answer: status },
  ];
}
