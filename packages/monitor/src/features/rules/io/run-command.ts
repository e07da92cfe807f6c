// Runs the command of a rule that fired. The log gets one event before a command is started and one when it has ended, so
// a kill never makes it run twice:
// - not started: it is started.
// - started and running in this process: the effect waits for its end.
// - succeeded: done. Failed: started again, at most three times, then given up.
// - started with an unknown result, because the daemon was killed or stopped: given up. A person who retries it
//   (`svc outbox retry`) starts it once more.

import type { Command, CommandEnd, RunCommand } from '@svc/lib/process';
import { within } from '@svc/lib/timeout';
import type { Environment } from '../../../kernel/config/resolved-value.ts';
import { draft, type EventDraft } from '../../../kernel/log/event-line.ts';
import type { EventLog } from '../../../kernel/log/event-log.ts';
import type { LogEntry } from '../../../kernel/log/log-entry.ts';
import type { DetailOf } from '../../../kernel/log/topics.ts';
import type { Attempt, Outcome } from '../../../kernel/outbox/attempt.ts';
import type { Effect } from '../../../kernel/outbox/effect.ts';
import { detailOf } from '../../topics.ts';
import type { RuleCommand } from '../config.ts';
import { commandEnvironment } from '../rules.ts';

type RunEffect = Extract<Effect, { kind: 'run-command' }>;
type CommandEndDetail = Pick<DetailOf<'workflow.rule.command_ended'>, 'outcome' | 'exitCode' | 'durationMs'>;
type Ended = { outcome: 'ok' | 'failed' | 'unknown'; text: string };

export type RuleCommands = {
  handle: (effect: RunEffect, attempt: Pick<Attempt, 'number'>) => Promise<Outcome>;
  /** A person wants an effect retried: the result of the previous run no longer matters. */
  tryAgain: (key: string) => void;
  /** Ends running commands, and waits until that is logged. */
  stop: () => Promise<void>;
};

const MOST_ATTEMPTS = 3;
/** How long one outbox attempt waits for the end before it lets others run. */
const WAIT_MS = 1_000;
const MAX_OUTPUT_BYTES = 1024 * 1024;

export function createRuleCommands(options: {
  /** Read each time: they may have changed. */
  commands: () => Readonly<Record<string, RuleCommand>>;
  environment: Environment;
  log: Pick<EventLog, 'appendOnce' | 'list'>;
  run: RunCommand;
  now: () => number;
  waitMs?: number;
}): RuleCommands {
  const { log, now, waitMs = WAIT_MS } = options;
  const stopping = new AbortController();
  const running = new Map<string, Promise<Ended>>();
  const triedAgain = new Set<string>();

  async function entryAt(seq: number): Promise<LogEntry | undefined> {
    const { entries } = await log.list({ since: { seq: seq - 1 }, order: 'oldest-first', limit: 1 });
    return entries.find(({ line }) => line.seq === seq);
  }

  /** How an earlier run ended; one without an end is logged as unknown. */
  async function endOf(effect: RunEffect, run: number): Promise<Ended['outcome']> {
    const ended = await log.appendOnce(endedDraft(effect, run, { outcome: 'unknown' }));
    if (!ended.duplicate) return 'unknown';
    const entry = await entryAt(ended.seq);
    return (entry && detailOf(entry.line, ['workflow.rule.command_ended'])?.outcome) ?? 'unknown';
  }

  /** The number of the run to start now, or why none may start. */
  async function claim(effect: RunEffect): Promise<number | Outcome> {
    for (let run = 1; ; run += 1) {
      const started = await log.appendOnce(startedDraft(effect, run));
      if (!started.duplicate) return run;
      const before = await endOf(effect, run);
      if (before === 'ok') return { done: `${effect.command} has run already` };
      if (before === 'unknown' && !triedAgain.has(effect.key)) return unknownEnd(effect);
    }
  }

  async function runAndLog(effect: RunEffect, run: number, command: Command): Promise<Ended> {
    const began = now();
    const end = await options.run(command);
    const durationMs = Math.max(0, now() - began);
    const ended = judged(effect.command, end, stopping.signal.aborted);
    const exit = end.ended === 'exit' ? { exitCode: end.exitCode } : {};
    await log.appendOnce(endedDraft(effect, run, { outcome: ended.outcome, durationMs, ...exit }));
    return ended;
  }

  async function begin(effect: RunEffect): Promise<{ end: Promise<Ended> } | Outcome> {
    const commands = options.commands();
    const configured = Object.hasOwn(commands, effect.command) ? commands[effect.command] : undefined;
    const [file, ...args] = configured?.argv ?? [];
    if (configured === undefined || file === undefined)
      return {
        failed: `svc.commands has no command ${effect.command}; add it`,
        permanent: true,
      };
    const entry = await entryAt(effect.line);
    if (entry === undefined) return { failed: `event ${effect.line} cannot be read from the log` };
    const claimed = await claim(effect);
    if (typeof claimed !== 'number') return claimed;
    triedAgain.delete(effect.key);
    const end = runAndLog(effect, claimed, {
      file,
      args,
      input: `${entry.text}\n`,
      environment: commandEnvironment(options.environment, effect.rule, entry.line),
      timeoutMs: configured.timeoutSeconds * 1000,
      maxBytes: MAX_OUTPUT_BYTES,
      signal: stopping.signal,
    });
    running.set(effect.key, end);
    return { end };
  }

  return {
    async handle(effect, { number }) {
      const { key, command } = effect;
      if (stopping.signal.aborted) return { failed: 'the daemon is stopping', waiting: true };
      const known = running.get(key);
      const started = known === undefined ? await begin(effect) : { end: known };
      if (!('end' in started)) return started;
      const result = await within(started.end, waitMs, () => undefined).catch((error: unknown) => {
        // Its end could not be logged: the next attempt finds that out.
        running.delete(key);
        throw error;
      });
      if (result === undefined)
        return { failed: `${command} is running`, waiting: true, retryAfterMs: waitMs };
      running.delete(key);
      if (result.outcome === 'ok') return { done: result.text };
      if (result.outcome === 'unknown') return unknownEnd(effect);
      return { failed: result.text, permanent: number >= MOST_ATTEMPTS };
    },
    tryAgain: (key) => void triedAgain.add(key),
    async stop() {
      stopping.abort();
      await Promise.allSettled(running.values());
    },
  };
}

function judged(command: string, end: CommandEnd, isStopping: boolean): Ended {
  switch (end.ended) {
    case 'exit':
      return end.exitCode === 0
        ? { outcome: 'ok', text: `${command} ran` }
        : { outcome: 'failed', text: `${command} ended with exit code ${end.exitCode}` };
    case 'not-started':
      return { outcome: 'failed', text: `${command} cannot be started (${end.reason})` };
    case 'timeout':
      return { outcome: 'failed', text: `${command} took longer than its timeoutSeconds` };
    case 'too-large':
      return { outcome: 'failed', text: `${command} printed more than 1 MiB` };
    case 'stopped':
      return isStopping
        ? { outcome: 'unknown', text: 'the daemon was stopped' }
        : { outcome: 'failed', text: `${command} was killed by a signal` };
  }
}

function unknownEnd({ command }: RunEffect): Outcome {
  return {
    failed: `the daemon ended while ${command} was running, so its result is unknown`,
    permanent: true,
  };
}

function startedDraft({ key, rule, command, ticket }: RunEffect, run: number): EventDraft {
  const deliveryId = `rules:command_started:${key}:${run}`;
  const scope = ticket === null ? {} : { ticket };
  return draft('workflow.rule.command_started', scope, { rule, command, key, run }, { deliveryId });
}

function endedDraft(
  { key, rule, command, ticket }: RunEffect,
  run: number,
  ended: CommandEndDetail,
): EventDraft {
  const deliveryId = `rules:command_ended:${key}:${run}`;
  const scope = ticket === null ? {} : { ticket };
  return draft('workflow.rule.command_ended', scope, { rule, command, key, run, ...ended }, { deliveryId });
}
