// A board that a test fills event by event, real signal files and pid files in a folder, and a project whose worktrees
// and verifications are only recorded.

import { mkdirSync, utimesSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type { SignalFile } from '@svc/contract/signal-file';
import type { ProcessStart } from '@svc/lib/system';
import { temporaryFolder } from '@svc/testkit';
import { pino } from 'pino';
import type { Board } from '../../../kernel/board/board.ts';
import { createFileLocks } from '../../../kernel/disk/lock.ts';
import { type DraftOf, draft, type EventDraft } from '../../../kernel/log/event-line.ts';
import type { DetailOf, Topic } from '../../../kernel/log/topics.ts';
import { agentFiles } from '../../agents/io/launch.ts';
import { emptyBoard, foldLine } from '../../board.ts';
import { Config } from '../../config.ts';
import type { Verified } from '../../verify/io/verifier.ts';
import { createSignalStore } from '../../workers/io/signal-store.ts';
import type { ListedWorktree } from '../../worktrees/io/worktrees.ts';
import { noFindings, nothing } from '../../worktrees/testing/no-findings.ts';
import { emptyMemory } from '../io/observe.ts';
import type { RunProject } from '../io/run-project.ts';

/** For runs whose agents are command lines. */
export const unfollowed = {
  follow: () => undefined,
  noteEnd: () => undefined,
  problem: () => null,
  settled: async () => 0,
  stop: async () => undefined,
};

export const RUN = 'run-1';

export type RunWorld = ReturnType<typeof runWorld>;

export function runWorld(svc: object = {}) {
  const root = temporaryFolder();
  const runsDir = join(root, 'runs');
  const board: Board = emptyBoard();
  const appended: EventDraft[] = [];
  const processes = new Map<number, ProcessStart>();
  const worktrees: ListedWorktree[] = [];
  const removed: string[] = [];
  const held = { removal: Promise.resolve() };
  const verified: string[] = [];
  const clock = { now: Date.parse('2026-01-02T03:00:00.000Z') };
  const now = (): Date => new Date(clock.now);
  const signals = createSignalStore({
    runsDir,
    locks: createFileLocks({ folder: join(root, 'locks') }),
    now,
  });
  const project = {
    folder: '/web',
    config: Config.parse({ svc: { projectKey: 'web', ...svc } }),
    problems: [],
    repo: 'acme/web',
    findMissing: async () => ({ missing: [], checks: [] }),
    usedNames: async () => [],
    worktrees: {
      base: async () => '/wt',
      list: async () => worktrees.filter(({ name }) => !removed.includes(name)),
      async remove(name: string) {
        await held.removal;
        removed.push(name);
      },
      fileFindings: async () => nothing,
    },
    findings: noFindings,
    verifier: {
      async verify({ ticket }: { ticket: string }): Promise<Verified> {
        verified.push(ticket);
        return { ok: false, reason: 'there is no such commit' };
      },
    },
  } as unknown as RunProject;

  async function append(event: EventDraft): Promise<void> {
    appended.push(event);
    fold(event);
  }

  function fold(event: EventDraft): void {
    foldLine(board, { ...event, seq: board.seq + 1, ts: now().toISOString() });
  }

  return {
    root,
    runsDir,
    board,
    appended,
    signals,
    processes,
    worktrees,
    removed,
    /** Awaited before a worktree is removed. */
    held,
    verified,
    project,
    projects: { of: async () => project },
    clock,
    now,
    append,
    fold,
    memory: emptyMemory(),
    agents: unfollowed,
    noteEnd: unfollowed.noteEnd,
    askModel: async () => null,
    logger: pino({ level: 'silent' }),
    processStarts: async (pids: readonly number[]) =>
      new Map(pids.map((pid) => [pid, processes.get(pid) ?? ({ state: 'gone' } as const)])),
    begin(waves: string[][], more: object = {}): void {
      fold(
        ownLine('orchestrator.run.started', undefined, {
          plan: waves,
          maxParallel: 3,
          project: '/web',
          base: 'main',
          workerCommand: '/svc-dev:oneshot',
          workerModel: 'opus',
          ...more,
        }),
      );
    },
    /** Appends the events of a signal file, as the watcher would. */
    report(signal: SignalFile): void {
      fold(ownLine('orchestrator.worker.updated', signal.ticket, { signal, changed: [] }));
    },
    signal(ticket: string, more: Partial<SignalFile> = {}): SignalFile {
      const at = now().toISOString();
      return {
        ticket,
        orchestrator: RUN,
        workerName: ticket,
        status: 'implementing',
        phase: 'dispatched',
        startedAt: at,
        updatedAt: at,
        ...more,
      };
    },
    /** A pid file as a launch now would have left it; its process runs unless it is ended. */
    launched(ticket: string, attempt: number, pid: number | null, { lives = true } = {}): void {
      const { pidFile, output } = agentFiles(runsDir, { orchestrator: RUN, ticket, attempt });
      for (const path of [pidFile, output]) mkdirSync(dirname(path), { recursive: true });
      writeFileSync(pidFile, pid === null ? '' : `${pid}\n`);
      utimesSync(pidFile, clock.now / 1000, clock.now / 1000);
      if (pid !== null && lives)
        processes.set(pid, { state: 'running', startedAt: clock.now, mark: `${pid}` });
    },
    printed(ticket: string): void {
      const { output } = agentFiles(runsDir, { orchestrator: RUN, ticket, attempt: 1 });
      mkdirSync(dirname(output), { recursive: true });
      writeFileSync(output, '{}\n', { flag: 'a' });
      utimesSync(output, clock.now / 1000, clock.now / 1000);
    },
    pass(seconds: number): void {
      clock.now += seconds * 1000;
    },
  };
}

export function ownLine<Name extends Topic>(
  event: Name,
  ticket: string | undefined,
  detail: DetailOf<Name>,
): DraftOf<Name> {
  const scope = { orchestrator: RUN, ...(ticket !== undefined && { ticket }) };
  return draft(event, scope, detail, { source: 'orchestrator' });
}
