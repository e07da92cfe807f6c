// What a path of a worker is told with: the worker's own signal file and process, its pull request and
// deployments at the code host, and the person who looks after it.
import { type ChildProcess, spawn } from 'node:child_process';
import { mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { SignalFile, WorkerStatus } from '../packages/core/src/runs/signal-file.ts';
import type { WorkerView } from '../packages/core/src/state/views/board-view.ts';
import type { DeploymentRow } from '../packages/testkit/src/codehost/cloud.ts';
import { until } from '../packages/testkit/src/waiting.ts';
import { deploymentSending, pullRequestSending, statusSending } from './workers-payloads.ts';
import { createSender, type Stage, Stuck } from './workers-sender.ts';
import type { World } from './workers-world.ts';

export const RUN = 'run-1';

export type Subject = { ticket: string; repo: string; number: number };
export type Actor = ReturnType<typeof createActor>;

export function signalFileOf({ home }: Pick<World, 'home'>, ticket: string): string {
  return join(home.dataDir, 'runs', RUN, 'workers', `${ticket}.json`);
}

export function createActor(stage: Stage, subject: Subject) {
  const { world, done } = stage;
  const { codehost, daemon, history, random } = world;
  const { cloud } = codehost;
  const { ticket, repo, number } = subject;
  const branch = `${ticket.toLowerCase()}-change`;
  const file = signalFileOf(world, ticket);
  const startedAt = new Date().toISOString();
  const processes: ChildProcess[] = [];
  const { send, close } = createSender(stage, repo);
  let mergeSha = '';
  let closedAt = 0;

  async function step(): Promise<void> {
    await sleep(random.below(stage.paceMs));
    done.steps += 1;
  }

  function write(text: string): void {
    mkdirSync(dirname(file), { recursive: true });
    const beside = join(dirname(file), `.${ticket}.${crypto.randomUUID()}`);
    writeFileSync(beside, text);
    renameSync(beside, file);
  }

  async function reached(
    what: string,
    holds: (worker: WorkerView, open: string[]) => boolean,
  ): Promise<void> {
    let seen = 'nothing';
    const came = await daemon.waitFor((view) => {
      const worker = view.workers.find((one) => one.ticket === ticket);
      const open = view.attention.filter((item) => item.ticket === ticket).map(({ reason }) => reason);
      seen = `${worker?.status ?? 'nothing'} ${open.join(' ')}`.trim();
      return worker !== undefined && holds(worker, open);
    });
    if (!came) throw new Stuck(`it does not get to ${what}: it is ${seen}`);
  }

  const row = () => {
    const found = cloud.repoOf(repo).pullRequests.find((one) => one.number === number);
    if (found === undefined) throw new Error(`${repo}#${number} was not opened`);
    return found;
  };

  /** `true` once the word was taken; a daemon that is killed meanwhile is asked again. */
  async function untilHeard(words: readonly string[], isHeard: () => Promise<boolean>): Promise<void> {
    let printed = '';
    await until(async () => {
      const said = await daemon.svc(...words);
      printed = said.printed;
      return said.code === 0 || (await isHeard());
    }).catch(() => {
      throw new Stuck(`svc ${words.join(' ')}: ${printed}`);
    });
  }

  return {
    ...subject,
    /** The signal file, as the worker writes it. `named` is false where only the branch tells the pull request. */
    async says(
      status: WorkerStatus,
      { named = true, ...more }: Partial<SignalFile> & { named?: boolean } = {},
    ): Promise<void> {
      await step();
      const signal: SignalFile = {
        ticket,
        orchestrator: RUN,
        workerName: `${RUN}-${ticket}`,
        status,
        phase: 1,
        startedAt,
        updatedAt: new Date().toISOString(),
        repo,
        branch,
        worktreePath: history.folder,
        ...(named && { pr: { number } }),
        ...more,
      };
      write(JSON.stringify(signal));
    },
    /** Half a file, as a crashed writer leaves it. */
    async breaksItsFile(): Promise<void> {
      await step();
      write(readFileSync(file, 'utf8').slice(0, 40));
    },
    /** A process that stands for the worker; what a signal file says of it. */
    livesAs(): Pick<SignalFile, 'pid' | 'pidStartedAt'> {
      const child = spawn('/bin/sleep', ['900'], { stdio: 'ignore' });
      processes.push(child);
      process.once('exit', () => child.kill('SIGKILL'));
      return { pid: child.pid, pidStartedAt: Date.now() };
    },
    async dies(): Promise<void> {
      await step();
      processes.at(-1)?.kill('SIGKILL');
    },
    async opens(): Promise<void> {
      await step();
      cloud.addPullRequest(repo, {
        number,
        branch,
        title: `${ticket}: change`,
        headSha: history.commit(branch),
      });
      await send(pullRequestSending(repo, row(), 'opened'));
    },
    async merges(): Promise<void> {
      await step();
      mergeSha = history.commit(`Merge ${ticket}`);
      cloud.addCommit(repo, mergeSha, history.root);
      const at = Date.now();
      cloud.changePullRequest(repo, number, {
        state: 'MERGED',
        mergeSha,
        mergedAt: at,
        closedAt: at,
        mergedBy: 'kim',
      });
      await send(pullRequestSending(repo, row(), 'closed'));
    },
    async closes(): Promise<void> {
      await step();
      closedAt = Date.now();
      cloud.changePullRequest(repo, number, { state: 'CLOSED', closedAt });
      await send(pullRequestSending(repo, row(), 'closed'));
    },
    async reopens(): Promise<void> {
      await step();
      // Times of the code host are whole seconds: what happens within one cannot be told apart by them.
      await until(() => Math.floor(Date.now() / 1000) > Math.floor(closedAt / 1000));
      cloud.changePullRequest(repo, number, { state: 'OPEN', closedAt: null });
      await send(pullRequestSending(repo, row(), 'reopened'));
    },
    /** A deployment of the merge, or of another commit; `silent`: its creation is not sent. */
    async deploys({
      sha = mergeSha,
      environment = 'production',
      silent = false,
    }: {
      sha?: string;
      environment?: string;
      silent?: boolean;
    } = {}): Promise<DeploymentRow> {
      await step();
      const deployment = cloud.addDeployment(repo, { sha, environment });
      if (!silent) await send(deploymentSending(repo, deployment));
      return deployment;
    },
    async turns(deployment: DeploymentRow, state: string): Promise<void> {
      await step();
      cloud.addDeploymentStatus(deployment, state);
      await send(statusSending(repo, deployment));
    },
    /** The merge, and what a deployment of it goes through, sent in the wrong order. */
    async mergesAndShipsBackwards(): Promise<void> {
      await step();
      mergeSha = history.commit(`Merge ${ticket}`);
      cloud.addCommit(repo, mergeSha, history.root);
      const at = Date.now();
      const ended = { mergedAt: at, closedAt: at, mergedBy: 'kim' };
      cloud.changePullRequest(repo, number, { state: 'MERGED', mergeSha, ...ended });
      const deployment = cloud.addDeployment(repo, { sha: mergeSha });
      const sendings = [pullRequestSending(repo, row(), 'closed'), deploymentSending(repo, deployment)];
      for (const state of ['in_progress', 'success']) {
        cloud.addDeploymentStatus(deployment, state);
        sendings.push(statusSending(repo, deployment));
      }
      for (const sending of sendings.toReversed()) {
        await send(sending);
        await step();
      }
    },
    /** A later commit; `on` the merge it contains it, else it does not. */
    laterCommit(on: 'the merge' | 'the root'): string {
      const parent = on === 'the merge' ? mergeSha : history.root;
      const sha = history.commit(`Later than ${ticket}, on ${on}`, parent);
      cloud.addCommit(repo, sha, parent);
      return sha;
    },
    async reaches(...statuses: WorkerStatus[]): Promise<void> {
      await reached(statuses.join(' or '), ({ status }) => statuses.includes(status));
    },
    async counts(attempts: number): Promise<void> {
      await reached(`${attempts} attempts`, (worker) => worker.attempts === attempts);
    },
    /** Whether a failed deploy was counted before the deadline passed. */
    async countsInTime(): Promise<boolean> {
      let isCounted = false;
      await reached('a failed deploy or the deadline', ({ attempts, status }) => {
        isCounted = attempts > 0;
        return isCounted || status === 'stalled';
      });
      return isCounted;
    },
    async needsAPerson(reason: string): Promise<void> {
      await reached(`attention ${reason}`, (_, open) => open.includes(reason));
    },
    async needsNobody(): Promise<void> {
      await reached('no attention', (_, open) => open.length === 0);
    },
    /** `svc deploy retry|accept`, until the worker is where the word brings it. */
    async hears(word: 'retry' | 'accept', status: WorkerStatus): Promise<void> {
      await step();
      await untilHeard(['deploy', word, ticket], async () => {
        const view = await daemon.board();
        return view?.workers.some((one) => one.ticket === ticket && one.status === status) ?? false;
      });
    },
    /** `svc ticket phase`; the outcomes of all attempts. */
    async isIn(phase: string): Promise<string[]> {
      await step();
      const outcomes: string[] = [];
      await until(async () => {
        const { code, printed } = await daemon.svc('ticket', 'phase', phase, ticket, '--json');
        outcomes.push(code === 0 ? (JSON.parse(printed) as { outcome: string }).outcome : 'failed');
        return code === 0;
      }).catch(() => {
        throw new Stuck(`svc ticket phase ${phase} ${ticket}: ${outcomes.join(', ')}`);
      });
      return outcomes;
    },
    end(): void {
      close();
      for (const child of processes) child.kill('SIGKILL');
    },
  };
}
