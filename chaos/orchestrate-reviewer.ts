// The other side of the code host: the API where agents open pull requests, the person who squash-merges them into the
// real repository, and the deploys. Everything is reported to the daemon by signed deliveries; one that it does not
// accept is lost, as with the real code host.
import { createServer } from 'node:http';
import { json } from 'node:stream/consumers';
import { setTimeout as sleep } from 'node:timers/promises';
import type { WorkerView } from '../packages/monitor/src/features/workers/entity.ts';
import {
  type DeploymentRow,
  nextNumber,
  type PullRequestRow,
} from '../packages/testkit/src/codehost/cloud.ts';
import {
  deploymentSending,
  pullRequestSending,
  type Sending,
  statusSending,
} from '../packages/testkit/src/codehost/sendings.ts';
import type { Random } from '../packages/testkit/src/random.ts';
import { listen } from '../packages/testkit/src/script.ts';
import { WAIT_MS } from '../packages/testkit/src/waiting.ts';
import type { Player } from './orchestrate-cast.ts';
import { type OrchestrateWorld, REPO } from './orchestrate-world.ts';

/** A person does not react at once, and a deploy takes some time. */
const LONGEST_REST_MS = 800;

type Opening = { ticket: string; branch: string; headSha: string };

export async function startReviewer(world: OrchestrateWorld, random: Random) {
  const { codehost, daemon, git, remote } = world;
  const { cloud } = codehost;
  const cast = new Map<string, Player>();
  const done = { sent: 0, lost: 0, opened: 0, merged: 0, closed: 0, deployments: 0 };
  const problems: string[] = [];
  const jobs = new Set<Promise<void>>();
  const stopping = new AbortController();
  let merging: Promise<unknown> = Promise.resolve();

  async function send(sending: Sending): Promise<void> {
    if (await world.deliver(sending)) done.sent += 1;
    else done.lost += 1;
  }

  const rest = (): Promise<void> =>
    sleep(50 + random.below(LONGEST_REST_MS), undefined, { signal: stopping.signal });

  const rows = (): PullRequestRow[] => cloud.repoOf(REPO).pullRequests;

  /** The same branch is the same pull request. */
  async function open({ ticket, branch, headSha }: Opening): Promise<{ number: number; url: string }> {
    const known = rows().find((row) => row.branch === branch && row.state !== 'CLOSED');
    const number = known?.number ?? nextNumber(cloud.repoOf(REPO));
    const answer = { number, url: `https://code.example/${REPO}/pull/${number}` };
    if (known !== undefined) return answer;
    const row = cloud.addPullRequest(REPO, { number, branch, title: `${ticket}: change`, headSha });
    done.opened += 1;
    await send(pullRequestSending(REPO, row, 'opened'));
    const role = cast.get(ticket)?.role;
    // The reviewer takes the later of two.
    const isWanted = role === undefined || role.ends.pullRequests < 2 || branch !== ticket;
    start(isWanted ? ship(ticket, number) : Promise.resolve());
    return answer;
  }

  function start(job: Promise<void>): void {
    const kept = job
      .catch((error: unknown) => {
        if (!stopping.signal.aborted) problems.push(error instanceof Error ? error.message : String(error));
      })
      .finally(() => jobs.delete(kept));
    jobs.add(kept);
  }

  /** One merge at a time: each is on top of the previous one. */
  function squash(row: PullRequestRow): Promise<string> {
    const next = merging.then(() => {
      const main = git(remote, 'rev-parse', 'refs/heads/main');
      const [tree = ''] = git(remote, 'merge-tree', '--write-tree', main, row.headSha).split('\n');
      const sha = git(remote, 'commit-tree', tree, '-p', main, '-m', `${row.title} (#${row.number})`);
      git(remote, 'update-ref', 'refs/heads/main', sha, main);
      cloud.addCommit(REPO, sha, main);
      return sha;
    });
    merging = next.catch(() => undefined);
    return next;
  }

  async function ship(ticket: string, number: number): Promise<void> {
    await rest();
    for (const other of rows().filter(
      (row) => row.title === world.pullRequest(REPO, number).title && row.number !== number,
    )) {
      cloud.changePullRequest(REPO, other.number, { state: 'CLOSED', closedAt: Date.now() });
      done.closed += 1;
      await send(pullRequestSending(REPO, other, 'closed'));
    }
    const mergeSha = await squash(world.pullRequest(REPO, number));
    const at = Date.now();
    const merged = { state: 'MERGED', mergeSha, mergedAt: at, closedAt: at, mergedBy: 'kim' } as const;
    cloud.changePullRequest(REPO, number, merged);
    done.merged += 1;
    await send(pullRequestSending(REPO, world.pullRequest(REPO, number), 'closed'));
    // A deploy takes longer than the delivery of a merge: a daemon that was down finds what it missed in between.
    await seen(ticket, 'its merge', ({ merge }) => merge !== null);
    const failures = cast.get(ticket)?.role.failedDeploys ?? 0;
    for (let count = 1; count <= failures; count += 1) {
      await deploy(mergeSha, 'failure');
      await seen(ticket, `failed deploy ${count}`, ({ attempts }) => attempts >= count);
    }
    await deploy(mergeSha, 'success');
  }

  async function deploy(sha: string, end: 'failure' | 'success'): Promise<void> {
    await rest();
    const row: DeploymentRow = cloud.addDeployment(REPO, { sha });
    done.deployments += 1;
    await send(deploymentSending(REPO, row));
    for (const state of ['in_progress', end]) {
      await rest();
      cloud.addDeploymentStatus(row, state);
      await send(statusSending(REPO, row));
    }
  }

  async function seen(ticket: string, what: string, holds: (worker: WorkerView) => boolean): Promise<void> {
    const came = await daemon.waitFor(
      ({ workers }) => stopping.signal.aborted || workers.some((one) => one.ticket === ticket && holds(one)),
      2 * WAIT_MS,
    );
    stopping.signal.throwIfAborted();
    if (!came) throw new Error(`${ticket}: the board does not show ${what}`);
  }

  const server = createServer((request, response) => {
    json(request)
      .then((opening) => open(opening as Opening))
      .then(
        (answer) => response.end(JSON.stringify(answer)),
        (error: unknown) => response.writeHead(500).end(String(error)),
      );
  });
  const { port, close } = await listen(server);
  return {
    url: `http://127.0.0.1:${port}/`,
    cast,
    done,
    problems,
    async stop(): Promise<void> {
      stopping.abort();
      await Promise.all(jobs);
      await close();
    },
  };
}
