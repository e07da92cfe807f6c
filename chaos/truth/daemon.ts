// Plays many worlds at once against one real daemon: real files, real git repositories, signed deliveries, the real
// client program against the code host's fake, a fake tracker, and kill -9 while deliveries are on their way. The worlds
// have repositories, projects and tickets of their own; the model judges them together, because an unreadable project of
// one makes repositories without a policy unknown in all.
import { createHmac } from 'node:crypto';
import { mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { BoardView } from '../../packages/monitor/src/features/board/api.ts';
import type { CodehostCloud } from '../../packages/testkit/src/codehost/cloud.ts';
import { codehostSecret } from '../../packages/testkit/src/daemon/start-daemon.ts';
import { createRandom } from '../../packages/testkit/src/random.ts';
import { severalAtOnce, writeInto } from '../../packages/testkit/src/script.ts';
import { usualTeamStates } from '../../packages/testkit/src/tracker/tickets.ts';
import { until } from '../../packages/testkit/src/waiting.ts';
import { openWorld } from '../world.ts';
import { type Answers, compare, type Difference, findStuck } from './answers.ts';
import { type Codehost, createCodehost, type Delivery } from './codehost.ts';
import { createGitRepository, type GitRepository } from './git-objects.ts';
import { lieOf } from './lies.ts';
import { createModel } from './model.ts';
import { askMcp } from './other-answers.ts';
import type { Fault } from './process.ts';
import { createProjectFiles } from './project-files.ts';
import {
  EARLIER_MS,
  type Fact,
  type FileStep,
  isFact,
  isFileStep,
  type OtherStep,
  type Step,
} from './steps.ts';
import { createWorld, type WorldNames } from './world.ts';

const TICKETS_EACH = 3;
const RESTARTS = 4;
/** Tickets that other programs are asked for, each time. */
const ASKED_OTHERS = 3;
/** Requests at once, when all answers are compared. */
const AT_ONCE = 8;

export interface HomeFindings {
  differences: Difference[];
  restarts: number;
  steps: number;
}

/** With the seed of its world, which can be played alone: `--daemon 1 --seed …`. */
function placed({ kind, text }: Difference, first: number): Difference {
  const ticket = /ABC-(\d+)/.exec(text)?.[1];
  if (ticket === undefined) return { kind, text };
  return { kind, text: `${text} (seed ${first + Math.floor((Number(ticket) - 1) / TICKETS_EACH)})` };
}

function namesOf(world: number): WorldNames {
  return {
    repository: (index) => `acme/w${world}-r${index}`,
    project: (index) => `w${world}-p${index}`,
    ticket: (index) => `ABC-${world * TICKETS_EACH + index + 1}`,
    run: (index) => `w${world}-run${index + 1}`,
    firstNumber: world * 1_000,
  };
}

/** What can be broken around a real daemon. */
export interface DaemonFault {
  delivery?: (delivery: Delivery) => Delivery;
  answers?: Fault['answers'];
}

export async function playHome(first: number, count: number, fault: DaemonFault = {}): Promise<HomeFindings> {
  const worlds = Array.from({ length: count }, (_, index) =>
    createWorld(first + index, { names: namesOf(index), isShared: true }),
  );
  const steps = worlds.reduce((sum, world) => sum + world.steps.length, 0);
  const world = await openWorld(`truth-${first}`);
  const random = createRandom(first);
  const { home, daemon, codehost: fake, tickets } = world;
  const team = tickets.addTeam('ABC', { repo: 'acme/tickets', states: usualTeamStates });
  for (let ticket = 0; ticket < count * TICKETS_EACH; ticket += 1)
    tickets.newTicket('ABC', `Ticket ${ticket}`);

  // Upstream times are a second apart, and end at about now: a poll only reports what is an hour old at most.
  let time = Date.now() - steps * 1_000;
  const model = createModel();
  const differences: Difference[] = [];
  const gits = new Map<string, GitRepository>();
  const claimed = new Map<string, string>();
  const known = new Set<string>();
  let restarts = 0;
  let settingsVersion = 0;

  const gitOf = (repository: string): GitRepository => {
    const before = gits.get(repository);
    if (before !== undefined) return before;
    const git = createGitRepository(join(home.home, 'git', repository));
    gits.set(repository, git);
    return git;
  };
  const codehost = createCodehost({
    now: () => new Date(time).toISOString(),
    shaOf(repository, commit) {
      const { sha, message, files: tree } = gitOf(repository).add(commit);
      const parents = commit.parents.map((parent) => codehost.sha(repository, parent));
      fake.cloud.addCommit(repository, sha, ...parents);
      fake.cloud.describeCommit(repository, sha, { message, tree });
      return sha;
    },
  });
  const files = createProjectFiles({
    home: home.home,
    git: world.git,
    configDir: join(home.home, '.config/svc'),
    settings: (project) => ({ projectKey: project }),
  });
  const repositories = [
    ...new Set(
      worlds
        .flatMap((each) => each.steps)
        .flatMap((step) => ('repository' in step ? [step.repository ?? ''] : [])),
    ),
  ].filter((name) => name !== '');
  for (const repository of repositories) fake.cloud.addRepo(repository);

  /** A project that is always valid: it has the tracker and the repositories, and its name shows what was read. */
  function writeBase(): void {
    settingsVersion += 1;
    writeInto(home.home, '.svc/config.json', {
      svc: {
        projectKey: 'base',
        project: { ticketPrefix: 'ABC', name: `version ${settingsVersion}` },
        ...team.project,
        monitor: { github: { watchRepos: repositories } },
      },
    });
  }

  async function settingsRead(): Promise<void> {
    writeBase();
    const wanted = JSON.stringify(`version ${settingsVersion}`);
    await until(async () => JSON.stringify(await daemon.ask<object>('/api/config')).includes(wanted));
  }

  /** Tries again while the daemon is down: what was acknowledged counts once. */
  async function post(path: string, body: string, headers: Record<string, string> = {}): Promise<number> {
    return until(async () => {
      const response = await fetch(`http://127.0.0.1:${daemon.port}${path}`, {
        method: 'POST',
        body,
        headers: { 'content-type': 'application/json', ...headers },
      });
      await response.arrayBuffer();
      return response.status === 503 ? 0 : response.status;
    });
  }

  function signalPath(run: string, ticket: string): string {
    return join(home.dataDir, 'runs', run, 'workers', `${ticket}.json`);
  }

  function readSignal(run: string, ticket: string): Record<string, unknown> {
    return JSON.parse(readFileSync(signalPath(run, ticket), 'utf8')) as Record<string, unknown>;
  }

  function writeSignal(run: string, ticket: string, signal: object): void {
    const path = signalPath(run, ticket);
    mkdirSync(join(path, '..'), { recursive: true });
    writeFileSync(`${path}.new`, JSON.stringify(signal));
    renameSync(`${path}.new`, path);
  }

  /** The board has the worker, so that what is delivered next meets it. */
  async function workerSeen(run: string, ticket: string): Promise<void> {
    await until(async () => {
      const view = await daemon.board();
      return view?.workers.some((worker) => worker.orchestrator === run && worker.ticket === ticket);
    });
  }

  async function playOther(step: OtherStep): Promise<void> {
    switch (step.do) {
      case 'deliver': {
        const sent = codehost.delivery(step.fact);
        if (sent === undefined) return;
        const delivery = fault.delivery?.(sent) ?? sent;
        const body = JSON.stringify(delivery.payload);
        const signature = createHmac('sha256', codehostSecret).update(body).digest('hex');
        const status = await post('/api/webhook', body, {
          'x-codehost-event': delivery.type,
          'x-codehost-delivery': `fact-${step.fact}`,
          'x-hub-signature-256': `sha256=${signature}`,
        });
        if (status !== 200) differences.push({ kind: 'crash', text: `a delivery was answered ${status}` });
        return;
      }
      case 'worker': {
        const { run, ticket, repository, branch } = step;
        if (known.has(`${run}/${ticket}`)) return;
        known.add(`${run}/${ticket}`);
        const at = new Date(time).toISOString();
        writeSignal(run, ticket, {
          ticket,
          orchestrator: run,
          workerName: ticket,
          status: 'implementing',
          phase: 'implementing',
          startedAt: at,
          updatedAt: at,
          repo: repository,
          // Without a worktree, the code host compares commits.
          ...(Number(ticket.slice(4)) % 4 !== 0 && { worktreePath: gitOf(repository).folder }),
          ...(branch !== null && { branch }),
        });
        return workerSeen(run, ticket);
      }
      case 'claim': {
        const { run, ticket } = step;
        if (!known.has(`${run}/${ticket}`)) return;
        const before = readSignal(run, ticket);
        const status = step.status ?? String(before['status']);
        claimed.set(`${run}/${ticket}`, status);
        return writeSignal(run, ticket, {
          ...before,
          status,
          ...(step.pullRequest !== undefined && {
            pr: { ...(before['pr'] as object | undefined), number: step.pullRequest },
          }),
          ...(step.repository !== undefined && { repo: step.repository }),
          ...(step.branch !== undefined && { branch: step.branch }),
          ...(step.earlier === true && { startedAt: new Date(time - EARLIER_MS).toISOString() }),
          updatedAt: new Date(time).toISOString(),
        });
      }
      case 'lie':
        await post('/api/events', JSON.stringify(lieOf(step, codehost.sha)));
        return;
      case 'phase':
        await post(`/api/tickets/${step.ticket}/phase`, JSON.stringify({ phase: 'merge-pr' }));
        return;
      case 'accept':
      case 'retry': {
        const body = { action: step.do, by: 'kim', orchestrator: step.run };
        await post(`/api/workers/${step.ticket}/deploy`, JSON.stringify(body));
        return;
      }
      case 'relax':
        await post('/api/deploy/policy/relax', JSON.stringify({ repo: step.repository, by: 'kim' }));
        return;
      case 'poll':
      case 'restart':
      case 'wait':
        // Restarts and polls are common to all worlds, and time is real.
        return;
    }
  }

  async function play(step: Step): Promise<void> {
    time += 1_000;
    model.apply(step);
    if (isFileStep(step)) return;
    if (!isFact(step)) return playOther(step);
    codehost.happen(step);
    mirror(fake.cloud, codehost, step);
  }

  async function restart(): Promise<void> {
    await daemon.kill();
    restarts += 1;
    const since = Date.now();
    daemon.start();
    await daemon.ready();
    model.apply({ do: 'restart' });
    // What the poll after a start finds is known from here on.
    await until(async () => {
      const feeds = await daemon.ask<{ codehost: { lastAt: string | null } }>('/api/feeds');
      return Date.parse(feeds.codehost.lastAt ?? '') >= since;
    });
    model.apply({ do: 'poll' });
  }

  async function answers(): Promise<Answers> {
    const view = await until<BoardView | null>(() => daemon.board());
    const ask = (ticket: string, what: string, run?: string) =>
      daemon.ask<{ status: string; shipped?: boolean | null; orchestrator: string | null }>(
        `/api/workers/${ticket}/${what}${run === undefined ? '' : `?orchestrator=${run}`}`,
      );
    const workers = await severalAtOnce(view.workers.length, AT_ONCE, async (index) => {
      const worker = view.workers[index];
      if (worker === undefined) throw new Error('no worker');
      const { orchestrator: run, ticket, status } = worker;
      const [why, receipt] = await Promise.all([ask(ticket, 'why', run), ask(ticket, 'receipt', run)]);
      const signal = String(readSignal(run, ticket)['status']);
      return {
        run,
        ticket,
        board: status,
        why: why.status,
        isShippedByWhy: why.shipped === true,
        receipt: { status: receipt.status, isShipped: receipt.shipped === true },
        signal: claimed.get(`${run}/${ticket}`) === signal ? null : signal,
      };
    });
    const names = [...new Set(view.workers.map((worker) => worker.ticket))];
    const asked = random.shuffled(names).slice(0, ASKED_OTHERS);
    const byMcp = await askMcp(home, asked);
    const ofTickets = await severalAtOnce(names.length, AT_ONCE, async (index) => {
      const ticket = names[index] ?? '';
      const receipt = await ask(ticket, 'receipt');
      return {
        ticket,
        receipt: { run: receipt.orchestrator, isShipped: receipt.shipped === true },
        isTrackerDone: tickets.stateOf(ticket) === usualTeamStates.done,
        ...(byMcp.has(ticket) && {
          others: { mcp: byMcp.get(ticket) === true, 'svc why': await shippedByWhy(ticket) },
        }),
      };
    });
    const all = { workers, tickets: ofTickets };
    return fault.answers?.(all) ?? all;
  }

  async function shippedByWhy(ticket: string): Promise<boolean> {
    const { printed } = await world.svc(home.home, 'why', ticket, '--json');
    return (JSON.parse(printed) as { shipped: boolean | null }).shipped === true;
  }

  async function judge(): Promise<Answers> {
    for (const text of await daemon.settle()) differences.push({ kind: 'stuck', text });
    const given = await answers();
    differences.push(...compare(model, given));
    return given;
  }

  /** The global file is common to all worlds: now and then it is damaged, and soon repaired. */
  function globalChange(round: number): FileStep[] {
    if (round % 8 === 4) return [{ do: 'global', file: random.pick(['misspelt', 'cut', 'empty', 'gone']) }];
    return round % 8 === 6 ? [{ do: 'global', file: 'good' }] : [];
  }

  try {
    for (const repository of repositories) gitOf(repository);
    world.configure('.config/svc/config-base.json', { ...team.secrets });
    writeBase();
    daemon.start();
    await daemon.ready();
    const left = worlds.map((each) => each.steps.filter(isPlayed));
    const rounds = Math.max(...left.map((each) => each.length));
    const killEvery = Math.ceil(rounds / (2 * RESTARTS));
    for (let round = 1; left.some((each) => each.length > 0); round += 1) {
      const changes = [...left.flatMap((each) => takeFileSteps(each)), ...globalChange(round)];
      for (const step of changes) {
        model.apply(step);
        files.apply(step);
      }
      if (changes.length > 0) await settingsRead();
      const work = (async () => {
        for (const each of random.shuffled(left))
          for (const step of takeSome(each, 1 + random.below(4))) await play(step);
      })();
      if (round % killEvery === 0 && restarts < RESTARTS) {
        await sleep(random.below(300));
        await Promise.all([restart(), work]);
        await judge();
      } else await work;
    }
    const repaired: FileStep = { do: 'global', file: 'good' };
    model.apply(repaired);
    files.apply(repaired);
    await restart();
    differences.push(...findStuck(model, await judge()));
    return { differences: differences.map((difference) => placed(difference, first)), restarts, steps };
  } finally {
    await world.close();
  }
}

/** The fake of the code host answers what the world's code host would. */
function mirror(cloud: CodehostCloud, codehost: Codehost, fact: Fact): void {
  const { repository } = fact;
  const row = cloud.repoOf(repository);
  if (fact.do === 'commit') return;
  row.pullRequests = [];
  for (const polled of codehost.polledPullRequests(repository))
    cloud.addPullRequest(repository, {
      number: polled.number,
      title: polled.title,
      state: polled.state,
      branch: polled.headRefName,
      base: polled.baseRefName,
      headSha: polled.headRefOid,
      mergeSha: polled.mergeCommit?.oid ?? null,
      author: polled.author.login,
      createdAt: Date.parse(polled.createdAt),
      updatedAt: Date.parse(polled.updatedAt),
      closedAt: polled.closedAt === null ? null : Date.parse(polled.closedAt),
      mergedAt: polled.mergedAt === null ? null : Date.parse(polled.mergedAt),
      ...(polled.isCrossRepository && { fork: polled.headRepository?.nameWithOwner ?? null }),
    });
  row.deployments = [];
  for (const { deployment, statuses } of codehost.polledDeployments(repository))
    cloud.addDeployment(repository, {
      id: deployment.id,
      sha: deployment.sha,
      environment: deployment.environment,
      task: deployment.task,
      createdAt: Date.parse(deployment.created_at),
      updatedAt: Date.parse(deployment.updated_at),
      statuses: statuses.map(({ id, state, environment, created_at }) => ({
        id,
        state,
        environment,
        description: state,
        createdAt: Date.parse(created_at),
      })),
    });
}

/** Restarts and polls are common to all worlds. */
function isPlayed(step: Step): boolean {
  return step.do !== 'restart' && step.do !== 'poll' && step.do !== 'wait';
}

function takeFileSteps(steps: Step[]): FileStep[] {
  const end = steps.findIndex((step) => !isFileStep(step));
  return steps.splice(0, end === -1 ? steps.length : end).filter(isFileStep);
}

function takeSome(steps: Step[], most: number): Step[] {
  const next = steps.slice(0, most);
  const end = next.findIndex(isFileStep);
  return steps.splice(0, end === -1 ? next.length : end);
}
