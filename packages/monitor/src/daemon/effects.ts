// Executes the effects of lines: one handler per kind, each safe to run twice.
import { systemClock } from '@svc/lib/clock';
import { type RunCommand, runCommand } from '@svc/lib/process';
import { every, type Rounds } from '@svc/lib/rounds';
import { system } from '@svc/lib/system';
import type { Logger } from 'pino';
import { createNotifier } from '../features/attention/io/notifiers/notify.ts';
import { attentionId } from '../features/attention/reduce-attention.ts';
import type { CodehostFeed } from '../features/codehost/io/codehost-feed.ts';
import type { Config } from '../features/config.ts';
import { createDescendantProof } from '../features/deploy/io/prove-descendant.ts';
import { projectFindings } from '../features/findings/io/queue.ts';
import { createWorkerMessenger } from '../features/reactions/io/message-worker.ts';
import { createRuleCommands } from '../features/rules/io/run-command.ts';
import type { HookSessions } from '../features/sessions/io/sessions.ts';
import type { CommandAllowances } from '../features/team/command.ts';
import { createTicketMover, type MoveEnding, moveTicketHandler } from '../features/tracker/io/move-ticket.ts';
import { openTracker } from '../features/tracker/io/open-tracker.ts';
import type { Tracker } from '../features/tracker/io/tracker.ts';
import type { ConfiguredTracker } from '../features/tracker/tracker-of.ts';
import { createRemediationHandler } from '../features/verify/io/remediation.ts';
import {
  applySignalEffect,
  type SignalOutcome,
  type SignalStore,
} from '../features/workers/io/signal-store.ts';
import type { Environment } from '../kernel/config/resolved-value.ts';
import type { FileLocks } from '../kernel/disk/lock.ts';
import { draft, type EventDraft } from '../kernel/log/event-line.ts';
import type { EventLog } from '../kernel/log/event-log.ts';
import type { Outcome } from '../kernel/outbox/attempt.ts';
import type { Effect } from '../kernel/outbox/effect.ts';
import type { OutboxRow } from '../kernel/outbox/outbox-store.ts';
import { createOutboxRunner, type OutboxRunner, type Settled } from '../kernel/outbox/runner.ts';

import type { DaemonBoard } from './board.ts';
import type { Orchestration } from './orchestration.ts';
import { createTeamCommands } from './team-commands.ts';

const KEEP_DONE_MS = 30 * 86_400_000;
const PRUNE_EVERY_MS = 86_400_000;

export type Effects = {
  start: () => void;
  /** The result of a ticket's move within a time; undefined if it has not started. */
  moveOf: (key: string, timeoutMs: number) => Promise<MoveEnding | undefined>;
  /** Resolves when the effect has ended, or after the time, with the last error of one that has not. */
  settled: (key: string, timeoutMs: number) => Promise<{ lastError: string | null }>;
  figures: OutboxRunner['figures'];
  /** Requests to the tracker since the start. */
  trackerCalls: () => number;
  list: () => OutboxRow[];
  /** Retries an effect that was given up; false if it was not given up. */
  tryAgain: (key: string) => boolean;
  stop: () => Promise<void>;
};

export function createEffects(options: {
  configs: () => readonly Config[];
  /** The values of the global file. */
  machineWide: () => Config;
  teamAllow: () => CommandAllowances;
  environment: Environment;
  trackerApiUrl: string;
  runsDir: string;
  locks: FileLocks;
  board: DaemonBoard;
  signals: SignalStore;
  codehost: Pick<CodehostFeed, 'gh' | 'roundSoon'>;
  orchestration: Pick<Orchestration, 'startRun' | 'startTask' | 'agents' | 'orchestrator'>;
  sessions: () => Pick<HookSessions, 'answer'>;
  log: EventLog;
  logger: Logger;
  now: () => number;
  onSettled: (row: OutboxRow, settled: Settled) => void;
  run?: RunCommand;
}): Effects {
  const {
    configs,
    machineWide,
    environment,
    board,
    signals,
    codehost,
    log,
    logger,
    now,
    run = runCommand,
  } = options;
  const stopping = new AbortController();
  let trackerCalls = 0;
  const open = (chosen: ConfiguredTracker): Tracker =>
    openTracker(chosen, {
      apiUrl: options.trackerApiUrl,
      fetch(input, init) {
        trackerCalls += 1;
        return fetch(input, init);
      },
      clock: { now },
      signal: stopping.signal,
      gh: () => codehost.gh,
    });
  const mover = createTicketMover({ configs, open });
  const moves = moveTicketHandler(mover, log.appendOnce);
  const notifierOf = (isOpen: (attention: string) => boolean) =>
    createNotifier({
      config: () => machineWide().svc.notify,
      fetch,
      run,
      now: () => new Date(now()),
      system,
      environment,
      isOpen,
    });
  const notify = notifierOf((attention) => board.state.board().attention.has(attention));
  // A rule's notification has no attention item that could be resolved meanwhile.
  const notifyRule = notifierOf(() => true);
  const commands = createRuleCommands({
    commands: () => machineWide().svc.commands,
    environment,
    log,
    run,
    now,
  });
  const runner = createOutboxRunner({
    store: board.outbox,
    clock: { now, after: systemClock.after },
    random: Math.random,
    handlers: {
      'write-signal': async (effect) => signalOutcome(await applySignalEffect(signals, effect)),
      'move-ticket': moves.handle,
      async append(effect) {
        const { duplicate } = await log.appendOnce({ ...effect.draft, deliveryId: `outbox:${effect.key}` });
        return { done: duplicate ? 'already' : 'appended' };
      },
      async 'refresh-pull-request'() {
        codehost.roundSoon();
        return { done: 'the next round checks it' };
      },
      'prove-descendant': createDescendantProof({
        run,
        environment,
        gh: codehost.gh,
        append: log.appendOnce,
        now,
      }),
      'file-remediation': createRemediationHandler({
        configs,
        open,
        appendFinding: projectFindings(options.locks),
        append: log.appendOnce,
        now,
      }),
      'message-worker': createWorkerMessenger({
        runsDir: options.runsDir,
        board: board.state.board,
        gh: codehost.gh,
        append: log.appendOnce,
        processStarts: system.processStarts,
        now: () => new Date(now()),
      }),
      'start-run': options.orchestration.startRun,
      'start-task': options.orchestration.startTask,
      'team-command': createTeamCommands({ ...options, state: board.state }),
      notify,
      'notify-rule': (effect) => notifyRule(asNotification(effect)),
      'run-command': commands.handle,
    },
    async onGaveUp(row, error) {
      await log.appendOnce(gaveUp(row, error));
    },
    onSettled(row, settled) {
      options.onSettled(row, settled);
      logger.debug({ key: row.key, kind: row.kind, ...settled }, 'outbox');
    },
    onFailing: (reason) => logger[reason === null ? 'info' : 'error']({ reason }, 'outbox'),
  });
  board.onEffects(runner.wake);
  let pruning: Rounds | undefined;
  return {
    start() {
      runner.start();
      pruning = every(
        PRUNE_EVERY_MS,
        async () => void board.outbox.prune(now() - KEEP_DONE_MS),
        (error) => logger.error({ err: error }, 'old rows of the outbox could not be removed'),
      );
      void pruning.runNow();
    },
    async moveOf(key, timeoutMs) {
      await runner.settled(key, timeoutMs);
      return moves.endingOf(key);
    },
    async settled(key, timeoutMs) {
      const settled = await runner.settled(key, timeoutMs);
      return { lastError: 'lastError' in settled ? settled.lastError : null };
    },
    figures: runner.figures,
    trackerCalls: () => trackerCalls,
    list: () => board.outbox.list({ limit: 200 }),
    tryAgain(key) {
      const revived = board.outbox.revive(key);
      if (revived) {
        commands.tryAgain(key);
        runner.wake();
      }
      return revived;
    },
    async stop() {
      stopping.abort();
      await pruning?.stop();
      await runner.stop();
      await commands.stop();
    },
  };
}

/** A file that is gone needs nothing more; an unreadable one may be fixed later. */
function signalOutcome(signal: SignalOutcome): Outcome {
  switch (signal.outcome) {
    case 'corrupt':
      return { failed: `${signal.path} cannot be read: ${signal.problem}` };
    case 'not-overwritten':
      return { done: `left alone: the file has status ${signal.status}` };
    case 'missing':
      return { done: 'the status file is gone' };
    case 'written':
    case 'already':
      return { done: signal.outcome };
  }
}

function gaveUp({ key, kind, effect }: OutboxRow, error: string): EventDraft {
  const detail = {
    reason: 'outbox-gave-up',
    message: `Given up: ${describe(kind)}. ${error}`,
    severity: 'high',
    remedy: `svc outbox retry ${key}`,
    ...ruleOf(effect),
  } as const;
  return draft('comms.attention', scopeOfEffect(effect), detail, { deliveryId: `outbox-gave-up:${key}` });
}

/** Marks what a rule caused, so no rule fires on it. */
function ruleOf(effect: Effect | null): { rule?: string | undefined } {
  if (effect?.kind === 'notify-rule' || effect?.kind === 'run-command') return { rule: effect.rule };
  if (effect?.kind !== 'append' || effect.draft.event !== 'comms.attention') return {};
  return { rule: effect.draft.detail.rule };
}

function asNotification(effect: Extract<Effect, { kind: 'notify-rule' }>) {
  const { key, seq, rule, ticket, severity, message } = effect;
  const reason = `rule-${rule}`;
  const attention = attentionId({ orchestrator: null, ticket, reason });
  return { kind: 'notify' as const, key, seq, attention, reason, severity, message, remedy: null };
}

const descriptions: Partial<Record<string, string>> = {
  'write-signal': 'writing a status file',
  'move-ticket': 'moving the ticket',
  append: 'writing an event',
  'refresh-pull-request': 'fetching a pull request',
  'prove-descendant': 'comparing a deployed commit with the merge',
  'message-worker': 'notifying an agent about its pull request or its ticket',
  'file-remediation': 'filing the findings of a failed verification',
  'start-run': 'starting a run that the tracker asked for',
  'start-task': 'starting a task',
  'team-command': 'executing a command of a member of the team',
  notify: 'notifying a person',
  'notify-rule': 'notifying a person about a rule',
  'run-command': "running a rule's command",
};

function describe(kind: string): string {
  return descriptions[kind] ?? kind;
}

function scopeOfEffect(effect: Effect | null): EventDraft['scope'] {
  if (effect === null) return {};
  if (effect.kind === 'write-signal' || effect.kind === 'message-worker')
    return { orchestrator: effect.orchestrator, ticket: effect.ticket };
  if (effect.kind === 'move-ticket' || effect.kind === 'start-run') return { ticket: effect.ticket };
  if (effect.kind === 'run-command' || effect.kind === 'notify-rule')
    return effect.ticket === null ? {} : { ticket: effect.ticket };
  return effect.kind === 'append' ? effect.draft.scope : {};
}
