// The actions in a worker's path: its signal file and process, its pull request and deployments at the code host, and
// the person in charge. Deliveries go through the relay, directly to the daemon, or nowhere; some twice.
import { type ChildProcess, spawn } from 'node:child_process';
import { readFileSync, renameSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { SignalFile, WorkerStatus } from '@svc/contract/signal-file';
import type { WorkerView } from '../packages/monitor/src/features/workers/entity.ts';
import type { DeploymentRow } from '../packages/testkit/src/codehost/cloud.ts';
import {
  deploymentSending,
  pullRequestSending,
  type Sending,
  statusSending,
} from '../packages/testkit/src/codehost/sendings.ts';
import { endWithScript, writeInto } from '../packages/testkit/src/script.ts';
import { until } from '../packages/testkit/src/waiting.ts';
import { RUN, type WorkersWorld } from './workers-world.ts';

export type Stage = {
  world: WorkersWorld;
  /** The longest pause before a step. */
  paceMs: number;
  /** Whether the daemon will be restarted: what is lost now is found then. */
  mayLose: () => boolean;
  /** The steps so far. */
  done: { steps: number; relay: number; direct: number; lost: number; twice: number };
};

/** The daemon did not reach the state that the path expects. */
export class Stuck extends Error {}

export type Subject = { ticket: string; repo: string; number: number };
export type Actor = ReturnType<typeof createActor>;

export function createActor(stage: Stage, subject: Subject) {
  const { world, done } = stage;
  const { codehost, daemon, history, random } = world;
  const { cloud } = codehost;
  const { ticket, repo, number } = subject;
  const branch = `${ticket.toLowerCase()}-change`;
  const file = world.signalFileOf(ticket);
  const startedAt = new Date().toISOString();
  const processes: ChildProcess[] = [];
  let mergeSha = '';
  let closedAt = 0;

  async function step(): Promise<void> {
    await sleep(random.below(stage.paceMs));
    done.steps += 1;
  }

  /** A failed delivery is lost: the code host does not repeat it. */
  async function send(sending: Sending): Promise<void> {
    await until(() => cloud.repoOf(repo).hooks.length > 0).catch(() => {
      throw new Stuck(`${repo} has no hook`);
    });
    const guid = crypto.randomUUID();
    const emit = (unheard: boolean) => codehost.emit(repo, sending.type, sending.payload, { guid, unheard });
    const way = random.next();
    if (way < 0.2 && stage.mayLose()) {
      done.lost += 1;
      await emit(true);
      return;
    }
    if (way < 0.4) {
      done.direct += 1;
      await emit(true);
      await world.deliver(sending, guid);
    } else {
      done.relay += 1;
      await emit(false);
    }
    if (!random.chance(0.25)) return;
    done.twice += 1;
    await world.deliver(sending, guid);
  }

  function write(text: string): void {
    const beside = `.${ticket}.${crypto.randomUUID()}`;
    writeInto(dirname(file), beside, text);
    renameSync(join(dirname(file), beside), file);
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
    if (!came) throw new Stuck(`it does not reach ${what}: it is ${seen}`);
  }

  function merge(): void {
    mergeSha = history.commit(`Merge ${ticket}`);
    cloud.addCommit(repo, mergeSha, history.root);
    const at = Date.now();
    const ended = { mergedAt: at, closedAt: at, mergedBy: 'kim' };
    cloud.changePullRequest(repo, number, { state: 'MERGED', mergeSha, ...ended });
  }

  /** `true` once the command was accepted; it is repeated if the daemon is killed meanwhile. */
  async function untilAccepted(words: readonly string[], isHeard: () => Promise<boolean>): Promise<void> {
    let printed = '';
    await until(async () => {
      const said = await world.svc(world.home.home, ...words);
      printed = said.printed;
      return said.code === 0 || (await isHeard());
    }).catch(() => {
      throw new Stuck(`svc ${words.join(' ')}: ${printed}`);
    });
  }

  return {
    ...subject,
    /** The signal file, as the worker writes it. `named` is false if only the branch identifies the pull request. */
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
    /** A process for the worker; returns its entry for the signal file. */
    livesAs(): Pick<SignalFile, 'pid' | 'pidStartedAt'> {
      const child = endWithScript(spawn('/bin/sleep', ['900'], { stdio: 'ignore' }));
      processes.push(child);
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
      await send(pullRequestSending(repo, world.pullRequest(repo, number), 'opened'));
    },
    async merges(): Promise<void> {
      await step();
      merge();
      await send(pullRequestSending(repo, world.pullRequest(repo, number), 'closed'));
    },
    async closes(): Promise<void> {
      await step();
      closedAt = Date.now();
      cloud.changePullRequest(repo, number, { state: 'CLOSED', closedAt });
      await send(pullRequestSending(repo, world.pullRequest(repo, number), 'closed'));
    },
    async reopens(): Promise<void> {
      await step();
      // The code host's times are whole seconds: they do not distinguish events within one second.
      await until(() => Math.floor(Date.now() / 1000) > Math.floor(closedAt / 1000));
      cloud.changePullRequest(repo, number, { state: 'OPEN', closedAt: null });
      await send(pullRequestSending(repo, world.pullRequest(repo, number), 'reopened'));
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
    /** The merge, and the states of its deployment, sent in the wrong order. */
    async mergesAndShipsBackwards(): Promise<void> {
      await step();
      merge();
      const deployment = cloud.addDeployment(repo, { sha: mergeSha });
      const sendings = [
        pullRequestSending(repo, world.pullRequest(repo, number), 'closed'),
        deploymentSending(repo, deployment),
      ];
      for (const state of ['in_progress', 'success']) {
        cloud.addDeploymentStatus(deployment, state);
        sendings.push(statusSending(repo, deployment));
      }
      for (const sending of sendings.toReversed()) {
        await send(sending);
        await step();
      }
    },
    /** A later commit, which contains the merge only if it is `on` it. */
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
    async needsNoOne(): Promise<void> {
      await reached('no attention', (_, open) => open.length === 0);
    },
    /** `svc deploy retry|accept`, until the worker is in the resulting state. */
    async decides(action: 'retry' | 'accept', status: WorkerStatus): Promise<void> {
      await step();
      await untilAccepted(['deploy', action, ticket], async () => {
        const view = await daemon.board();
        return view?.workers.some((one) => one.ticket === ticket && one.status === status) ?? false;
      });
    },
    /** `svc ticket phase`; the outcomes of all attempts. */
    async isIn(phase: string): Promise<string[]> {
      await step();
      const outcomes: string[] = [];
      await until(async () => {
        const { code, printed } = await world.svc(
          world.home.home,
          'ticket',
          'phase',
          phase,
          ticket,
          '--json',
        );
        outcomes.push(code === 0 ? (JSON.parse(printed) as { outcome: string }).outcome : 'failed');
        return code === 0;
      }).catch(() => {
        throw new Stuck(`svc ticket phase ${phase} ${ticket}: ${outcomes.join(', ')}`);
      });
      return outcomes;
    },
    end(): void {
      for (const child of processes) child.kill('SIGKILL');
    },
  };
}
