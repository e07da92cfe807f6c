// Plays a world against the product in this process, as the daemon would: deliveries go through the receiver's mapping,
// files through the live configuration, lines through the board's fold, effects are executed at once, and a restart folds
// the log again on a snapshot. Git is replaced by the graph of the world; the clock is the world's.

import { createHash } from 'node:crypto';
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import type { SignalFile } from '@svc/contract/signal-file';
import { createGitRunner } from '@svc/lib/git';
import { runCommand } from '@svc/lib/process';
import { createLookup, ticketNamed } from 'svc-monitor/src/features/tickets/subject.ts';
import { emptyBoard, foldLine, packBoard, unpackBoard } from '../../packages/monitor/src/features/board.ts';
import { mapCodehost } from '../../packages/monitor/src/features/codehost/map-codehost.ts';
import { openLiveConfig } from '../../packages/monitor/src/features/configure.ts';
import { codehostView } from '../../packages/monitor/src/features/deploy/codehost-view.ts';
import { askGit } from '../../packages/monitor/src/features/deploy/io/containment.ts';
import { watchDeadlines } from '../../packages/monitor/src/features/deploy/io/deadlines.ts';
import { decideDeploy } from '../../packages/monitor/src/features/deploy/service.ts';
import { helperRefusal } from '../../packages/monitor/src/features/helper-topics.ts';
import {
  deploymentDifferences,
  PolledDeployment,
  PolledDeploymentStatus,
  PolledPullRequest,
  pollDifferences,
} from '../../packages/monitor/src/features/pull-requests/poll-differences.ts';
import { receipt } from '../../packages/monitor/src/features/tickets/receipt.ts';
import { topics } from '../../packages/monitor/src/features/topics.ts';
import { why } from '../../packages/monitor/src/features/why/why.ts';
import { createSignalReporter } from '../../packages/monitor/src/features/workers/io/signal-reads.ts';
import { workerKey } from '../../packages/monitor/src/features/workers/reduce-worker.ts';
import { withWrite, writableOver } from '../../packages/monitor/src/features/workers/signal-write.ts';
import type { Board } from '../../packages/monitor/src/kernel/board/board.ts';
import { readMachine } from '../../packages/monitor/src/kernel/config/environment.ts';
import type { LiveConfig } from '../../packages/monitor/src/kernel/config/live.ts';
import { Failure } from '../../packages/monitor/src/kernel/failure.ts';
import {
  type EventDraft,
  type EventLine,
  parseEventDraft,
} from '../../packages/monitor/src/kernel/log/event-line.ts';
import type { Effect } from '../../packages/monitor/src/kernel/outbox/effect.ts';
import type { Answers, Difference } from './answers.ts';
import { createCodehost, type Delivery } from './codehost.ts';
import { createGitRepository, type GitRepository } from './git-objects.ts';
import { lieOf } from './lies.ts';
import { createProjectFiles } from './project-files.ts';
import { EARLIER_MS, isFact, isFileStep, type Step } from './steps.ts';

/** Breaks one rule of the product from outside; see sabotage.ts. */
export interface Fault {
  /** A delivery before it is mapped. */
  delivery?: (delivery: Delivery, board: Board) => Delivery;
  /** A line before it is folded. */
  draft?: (draft: EventDraft, board: Board) => EventDraft;
  acceptsHelper?: (draft: EventDraft) => boolean;
  contains?: (facts: { isAncestor: boolean; isClean: boolean; isSilent: boolean }) => boolean;
  effects?: (effects: Effect[]) => Effect[];
  restarted?: (board: Board) => void;
  isPolled?: boolean;
  answers?: (answers: Answers) => Answers;
}

export interface PlayedWorld {
  play: (step: Step) => Promise<Difference[]>;
  answers: () => Answers;
  close: () => Promise<void>;
}

const START = Date.UTC(2026, 2, 1);
const prefixes = ['ABC'];
const settings = {
  project: { ticketPrefix: 'ABC', name: 'Demo' },
  tracker: { teamKey: 'ABC' },
};
const DAYS_MS = 86_400_000;
const runGit = createGitRunner(runCommand, { PATH: process.env['PATH'] ?? '' });

export async function playInProcess(home: string, fault: Fault = {}): Promise<PlayedWorld> {
  mkdirSync(home, { recursive: true });
  const machine = readMachine({}, home);
  mkdirSync(machine.dataDir, { recursive: true });
  const files = createProjectFiles({
    home,
    configDir: machine.configDir,
    settings: (project) => ({ projectKey: project, ...settings }),
  });
  let time = START;
  const now = (): number => time;
  const isoNow = (): string => new Date(time).toISOString();

  const lines: EventLine[] = [];
  const deliveryIds = new Map<string, number>();
  let board = emptyBoard();
  let snapshot = JSON.stringify(packBoard(board));
  let effects: Effect[] = [];
  const signals = new Map<string, SignalFile>();
  /** Signal files that hold what the agent wrote last. */
  const claimed = new Set<string>();
  const done = new Set<string>();
  const ids = new Map<string, string>();
  const delivered = new Map<number, number>();
  let live: LiveConfig | undefined;
  let isChanged = true;

  const codehost = createCodehost({
    now: isoNow,
    shaOf(repository, { id }) {
      const sha = createHash('sha1').update(`${repository} ${id}`).digest('hex');
      ids.set(sha, id);
      return sha;
    },
  });

  function append(draft: EventDraft): { seq: number; duplicate: boolean } {
    const { deliveryId } = draft;
    const before = deliveryId === undefined ? undefined : deliveryIds.get(deliveryId);
    if (before !== undefined) return { seq: before, duplicate: true };
    const seq = lines.length + 1;
    if (deliveryId !== undefined) deliveryIds.set(deliveryId, seq);
    const line: EventLine = {
      seq,
      ts: isoNow(),
      id: `line-${seq}`,
      schemaVersion: 1,
      host: { id: 'host', name: 'host' },
      ...(fault.draft?.(draft, board) ?? draft),
    };
    lines.push(line);
    const asked = foldLine(board, line);
    effects.push(...(fault.effects?.(asked) ?? asked));
    return { seq, duplicate: false };
  }

  const appendLater = (draft: EventDraft) => Promise.resolve(append(draft));
  const reporter = createSignalReporter({
    known: (orchestrator, ticket) => board.workers.get(workerKey(orchestrator, ticket)) ?? null,
    append: appendLater,
    now: () => new Date(time),
  });
  const state = {
    board: () => board,
    reached: () => Promise.resolve(),
    progress: () => ({ ready: true, seq: board.seq, logSeq: lines.length }),
  };
  const view = codehostView(state, () => lines.length, now, createLookup);
  const deadlines = watchDeadlines({
    workers: () => board.workers.values(),
    now,
    askAgain: () => Promise.resolve(poll()),
    append: appendLater,
    onFailure: raise,
    everyMs: DAYS_MS,
  });

  async function writeSignal(signal: SignalFile): Promise<void> {
    const { orchestrator, ticket } = signal;
    const next = { ...signal, updatedAt: isoNow() };
    signals.set(workerKey(orchestrator, ticket), next);
    await reporter.reportOk({ orchestrator, ticket }, next);
  }

  const gits = new Map<string, { git: GitRepository; shas: Map<string, string> }>();
  /** Undefined: git alone cannot say. */
  async function askProduct(repository: string, merge: string, commit: string): Promise<boolean | undefined> {
    const known = gits.get(repository) ?? {
      git: createGitRepository(join(home, 'git', repository)),
      shas: new Map<string, string>(),
    };
    gits.set(repository, known);
    const history = codehost.history(repository);
    for (const content of history.all())
      if (!known.shas.has(content.id)) known.shas.set(content.id, known.git.add(content).sha);
    const pair = { mergeSha: known.shas.get(merge) ?? '', sha: known.shas.get(commit) ?? '' };
    return (await askGit(runGit, known.git.folder, pair, new AbortController().signal))?.contains;
  }

  type Asked = Extract<Effect, { kind: 'prove-descendant' }>;
  async function isContained({ key, mergeSha, sha, repo: repository }: Asked): Promise<void> {
    const history = codehost.history(repository);
    const [merge, commit] = [ids.get(mergeSha), ids.get(sha)];
    const isAncestor = merge !== undefined && commit !== undefined && history.ancestors(commit).has(merge);
    const isClean = isAncestor && history.contains(commit, merge) === 'certain';
    const isSilent = isAncestor && history.isSilent(commit, merge);
    // What was taken out without a word is found by the product itself, in real git.
    const found =
      isSilent && fault.contains === undefined ? await askProduct(repository, merge, commit) : undefined;
    const contains = fault.contains?.({ isAncestor, isClean, isSilent }) ?? found ?? isClean;
    append({
      event: 'orchestrator.deploy.descendant_checked',
      source: 'monitor',
      via: 'local',
      deliveryId: `descendant:${key}`,
      scope: { repo: repository, mergeSha, sha },
      detail: { contains, by: 'git', ...(isAncestor && !isClean && { reverted: true }) },
    });
  }

  async function execute(effect: Effect): Promise<void> {
    switch (effect.kind) {
      case 'write-signal': {
        const key = workerKey(effect.orchestrator, effect.ticket);
        const before = signals.get(key);
        if (before === undefined || !writableOver(before, effect)) return;
        claimed.delete(key);
        return writeSignal(withWrite(before, effect));
      }
      case 'move-ticket':
        if (effect.phase === 'done') done.add(effect.ticket);
        else done.delete(effect.ticket);
        return;
      case 'append':
        append({ ...effect.draft, deliveryId: `outbox:${effect.key}` });
        return;
      case 'refresh-pull-request':
        return poll();
      case 'prove-descendant':
        return isContained(effect);
      case 'file-remediation':
      case 'message-worker':
      case 'notify':
      case 'notify-rule':
      case 'run-command':
      case 'start-run':
      case 'start-task':
      case 'team-command':
        // They tell others, and change nothing that is judged here.
        return;
    }
  }

  async function settle(): Promise<void> {
    while (effects.length > 0) {
      const next = effects;
      effects = [];
      for (const effect of next) await execute(effect);
    }
  }

  function poll(): void {
    if (fault.isPolled === false) return;
    for (const repo of codehost.repositories()) {
      for (const json of codehost.polledPullRequests(repo)) {
        const polled = PolledPullRequest.parse(json);
        const context = { repo, ticketPrefixes: prefixes, covered: true };
        for (const draft of pollDifferences(polled, view.knownOf(repo, polled.number), context))
          append(draft);
      }
      for (const { deployment, statuses } of codehost.polledDeployments(repo)) {
        const known = view.deploymentStates(repo, deployment.id);
        const drafts = deploymentDifferences(
          repo,
          PolledDeployment.parse(deployment),
          PolledDeploymentStatus.array().parse(statuses),
          known,
        );
        for (const draft of drafts) append(draft);
      }
    }
  }

  async function openConfig(): Promise<void> {
    live = await openLiveConfig({ machine, environment: {}, folder: home, onFailure: raise });
    await live.start(appendLater);
  }

  async function readFiles(): Promise<void> {
    if (!isChanged) return;
    isChanged = false;
    if (live === undefined) await openConfig();
    else await live.refresh();
    await settle();
  }

  async function restart(): Promise<Difference[]> {
    await live?.stop();
    const before = JSON.stringify(packBoard(board));
    board = unpackBoard(JSON.parse(snapshot));
    for (const line of lines.slice(board.seq)) foldLine(board, line);
    const after = JSON.stringify(packBoard(board));
    snapshot = after;
    fault.restarted?.(board);
    await openConfig();
    return before === after ? [] : [{ kind: 'restart changes the board', text: firstChange(before, after) }];
  }

  async function decide(step: Extract<Step, { do: 'accept' | 'retry' }>): Promise<void> {
    const asked = { ticket: step.ticket, orchestrator: step.run, action: step.do, by: 'kim' };
    try {
      await decideDeploy({ state, append: appendLater, ticketNamed, why, now }, asked);
    } catch (error) {
      if (!(error instanceof Failure)) throw error;
    }
  }

  async function claim(step: Extract<Step, { do: 'claim' }>): Promise<void> {
    const key = workerKey(step.run, step.ticket);
    const before = signals.get(key);
    if (before === undefined) return;
    if (step.status !== undefined) claimed.add(key);
    await writeSignal({
      ...before,
      ...(step.status !== undefined && { status: step.status }),
      ...(step.pullRequest !== undefined && { pr: { ...before.pr, number: step.pullRequest } }),
      ...(step.repository !== undefined && { repo: step.repository }),
      ...(step.branch !== undefined && { branch: step.branch }),
      ...(step.earlier === true && { startedAt: new Date(time - EARLIER_MS).toISOString() }),
    });
  }

  async function play(step: Step): Promise<Difference[]> {
    time += 1_000;
    if (isFileStep(step)) {
      files.apply(step);
      isChanged = true;
      return [];
    }
    await readFiles();
    if (isFact(step)) {
      codehost.happen(step);
      return [];
    }
    let differences: Difference[] = [];
    switch (step.do) {
      case 'deliver': {
        const sent = codehost.delivery(step.fact);
        if (sent === undefined) break;
        const delivery = fault.delivery?.(sent, board) ?? sent;
        const times = delivered.get(step.fact) ?? 0;
        delivered.set(step.fact, times + 1);
        // Most repetitions have the same id; a second hook delivers with its own.
        const deliveryId = `fact-${step.fact}${step.fact % 3 === 0 ? `-${times}` : ''}`;
        const mapping = mapCodehost(delivery.type, delivery.payload, {
          deliveryId,
          via: 'live',
          ticketPrefixes: prefixes,
        });
        if (mapping.ok) append(mapping.draft);
        break;
      }
      case 'poll':
        poll();
        break;
      case 'worker': {
        const { run: orchestrator, ticket, repository: repo, branch } = step;
        if (signals.has(workerKey(orchestrator, ticket))) break;
        await writeSignal({
          ticket,
          orchestrator,
          workerName: ticket,
          status: 'implementing',
          phase: 'implementing',
          startedAt: isoNow(),
          updatedAt: isoNow(),
          repo,
          ...(branch !== null && { branch }),
        });
        break;
      }
      case 'claim':
        await claim(step);
        break;
      case 'lie': {
        const parsed = parseEventDraft(topics, lieOf(step, codehost.sha));
        const isAccepted =
          parsed.ok &&
          (helperRefusal(parsed.draft) === undefined || fault.acceptsHelper?.(parsed.draft) === true);
        if (isAccepted) append({ ...parsed.draft, reporter: 'helper' });
        break;
      }
      case 'phase':
        append({
          event: 'workflow.ticket.phase_changed',
          source: 'cli',
          via: 'local',
          scope: { ticket: step.ticket },
          detail: { to: 'done', skill: 'merge-pr' },
        });
        break;
      case 'accept':
      case 'retry':
        await decide(step);
        break;
      case 'relax': {
        const parsed = parseEventDraft(topics, {
          event: 'orchestrator.deploy.policy_relaxed',
          source: 'cli',
          via: 'local',
          scope: { repo: step.repository },
          detail: { by: 'kim' },
        });
        if (parsed.ok) append(parsed.draft);
        break;
      }
      case 'wait':
        time += step.seconds * 1_000;
        await deadlines.checkNow();
        break;
      case 'restart':
        differences = await restart();
        break;
    }
    await settle();
    return differences;
  }

  function answers(): Answers {
    const tickets = new Set([...board.workers.values()].map(({ ticket }) => ticket));
    return {
      workers: [...board.workers.values()].map((worker) => {
        const { orchestrator, ticket, key, status } = worker;
        const own = receipt(board, ticket, orchestrator);
        const explained = why(board, worker, time);
        return {
          run: orchestrator,
          ticket,
          board: status,
          why: explained.status,
          isShippedByWhy: explained.shipped === true,
          receipt: { status: own?.status ?? 'none', isShipped: own?.shipped === true },
          signal: claimed.has(key) ? null : (signals.get(key)?.status ?? null),
        };
      }),
      tickets: [...tickets].map((ticket) => {
        const own = receipt(board, ticket);
        return {
          ticket,
          receipt: { run: own?.orchestrator ?? null, isShipped: own?.shipped === true },
          isTrackerDone: done.has(ticket),
        };
      }),
    };
  }

  return {
    play,
    answers: () => fault.answers?.(answers()) ?? answers(),
    async close() {
      await live?.stop();
      await deadlines.stop();
    },
  };
}

function raise(error: unknown): never {
  throw error instanceof Error ? error : new Error(String(error));
}

function firstChange(before: string, after: string): string {
  let index = 0;
  while (before[index] === after[index]) index += 1;
  const part = (text: string): string => text.slice(Math.max(0, index - 60), index + 60);
  return `before …${part(before)}…, after …${part(after)}…`;
}
