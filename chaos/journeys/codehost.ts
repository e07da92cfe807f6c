// The code host's side of a journey: the bare repository that it keeps, the signed deliveries that it sends about
// pull requests and deployments, and what it knows in the end, independent of svc.
import { execFileSync } from 'node:child_process';
import { chmodSync, mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { codehostName, type FakeCodehost } from '../../packages/testkit/src/codehost/fake-codehost.ts';
import {
  deploymentSending,
  pullRequestSending,
  type Sending,
  statusSending,
} from '../../packages/testkit/src/codehost/sendings.ts';
import { scriptFolder, writeInto } from '../../packages/testkit/src/script.ts';
import { FILE } from './model.ts';

export const REPO = 'acme/web';
export const REMOTE = `git@${codehostName}:${REPO}.git`;

export type Repository = ReturnType<typeof createRepository>;

/** git reaches it by ssh, as it would reach the code host. */
export function createRepository(codehost: FakeCodehost) {
  const { cloud } = codehost;
  const folder = scriptFolder('journey-remotes');
  const remote = join(folder, `${REPO}.git`);
  const ssh = join(folder, 'ssh');
  // Called with a host and a command: git-upload-pack 'acme/web.git'.
  writeInto(folder, 'ssh', '#!/bin/sh\ncd "$(dirname "$0")" && eval "$2"\n');
  chmodSync(ssh, 0o755);
  mkdirSync(remote, { recursive: true });
  const git = (...words: string[]): string =>
    execFileSync('git', ['-C', remote, ...words], {
      encoding: 'utf8',
      env: { PATH: '/usr/bin:/bin', HOME: folder, GIT_CONFIG_NOSYSTEM: '1' },
      stdio: ['ignore', 'pipe', 'pipe'],
    }).trim();
  git('init', '--quiet', '--bare', '-b', 'main');
  cloud.addRepo(REPO);

  const send = async ({ type, payload }: Sending): Promise<void> =>
    void (await codehost.emit(REPO, type, payload));
  const rowOf = (ticket: string) =>
    cloud
      .repoOf(REPO)
      .pullRequests.find(({ branch, title }) => branch === ticket || title.startsWith(`${ticket}: `));

  return {
    ssh,
    git,
    rowOf,
    /** Once gh has opened it. */
    async announce(ticket: string): Promise<void> {
      const row = need(rowOf(ticket), ticket);
      cloud.changePullRequest(REPO, row.number, { headSha: git('rev-parse', row.branch) });
      await send(pullRequestSending(REPO, row, 'opened'));
    },
    async merge(ticket: string): Promise<void> {
      const row = need(rowOf(ticket), ticket);
      git('update-ref', 'refs/heads/main', row.headSha);
      cloud.mergePullRequest(REPO, row.number);
      cloud.changePullRequest(REPO, row.number, { mergeSha: row.headSha });
      await send(pullRequestSending(REPO, row, 'closed'));
    },
    async deploy(ticket: string): Promise<void> {
      const { headSha: sha } = need(rowOf(ticket), ticket);
      const deployment = cloud.addDeployment(REPO, { sha });
      await send(deploymentSending(REPO, deployment));
      cloud.addDeploymentStatus(deployment, 'success');
      await send(statusSending(REPO, deployment));
    },
    /** What is wrong with the work on the ticket, by the repository alone. */
    problems(ticket: string, word: string): string[] {
      const row = rowOf(ticket);
      if (row === undefined) return [`${ticket}: there is no pull request`];
      const pushed = contentOf(git, row.branch);
      const merged = contentOf(git, 'main');
      return [
        ...(pushed === word
          ? []
          : [`${ticket}: the pushed branch has ${JSON.stringify(pushed)}, not the word`]),
        ...(merged === word ? [] : [`${ticket}: main has ${JSON.stringify(merged)}, not the word`]),
      ];
    },
    /** Signed deliveries of a deployment's success that were accepted. */
    deliveredSuccesses: (): number =>
      cloud
        .repoOf(REPO)
        .deliveries.filter(
          ({ event, statusCode, requestHeaders }) =>
            event === 'deployment_status' &&
            statusCode === 200 &&
            Object.keys(requestHeaders).some((name) => /signature-256$/i.test(name)),
        ).length,
  };
}

function contentOf(git: (...words: string[]) => string, branch: string): string | null {
  try {
    return git('show', `${branch}:${FILE}`);
  } catch {
    return null;
  }
}

function need<T>(row: T | undefined, ticket: string): T {
  if (row === undefined) throw new Error(`${ticket} has no pull request`);
  return row;
}
