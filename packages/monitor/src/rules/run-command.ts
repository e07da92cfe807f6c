// Runs the command of a rule that fired. Whether a command was started is a line of the log before it is started, and
// how it ended is one afterwards, so that a kill never makes it run twice:
// - not started: it is started.
// - started, and it runs in this process: the effect waits for its end.
// - ended well: done. Ended badly: started again, three times at most, then given up.
// - started, and nobody knows how it ended, because the daemon was killed or stopped: given up. A person who tries it
//   again (`svc outbox retry`) has it started once more.

import {
  commandEnvironment,
  type DetailOf,
  detailOf,
  draft,
  type Effect,
  type Environment,
  type EventDraft,
  type RuleCommand,
} from '@svc/core';
import type { Command, CommandEnd, RunCommand } from '@svc/lib/process';
import { within } from '@svc/lib/timeout';
import type { EventLog } from '../log/event-log.ts';
import type { LogEntry } from '../log/log-entry.ts';
import type { Attempt, Outcome } from '../outbox/attempt.ts';

type RunEffect = Extract<Effect, { kind: 'run-command' }>;
type CommandEndDetail = Pick<DetailOf<'workflow.rule.command_ended'>, 'outcome' | 'exitCode' | 'durationMs'>;
type Ended = { outcome: 'ok' | 'failed' | 'unknown'; words: string };

export type RuleCommands = {
  handle: (effect: RunEffect, attempt: Pick<Attempt, 'number'>) => Promise<Outcome>;
  /** A person wants an effect tried again: what became of the run before no longer matters. */
  tryAgain: (key: string) => void;
  /** Ends what runs, and waits until that is written down. */
  stop: () => Promise<void>;
};

const MOST_ATTEMPTS = 3;
/** How long one attempt of the outbox waits for the end before it lets others go first. */
const WAIT_MS = 1_000;
const MAX_OUTPUT_BYTES = 1024 * 1024;

export function createRuleCommands(options: {
  /** Asked each time: they may have changed. */
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

  /** How an earlier run ended; one without an end is written down as unknown. */
  async function endOf(effect: RunEffect, run: number): Promise<Ended['outcome']> {
    const ended = await log.appendOnce(endedDraft(effect, run, { outcome: 'unknown' }));
    if (!ended.duplicate) return 'unknown';
    const entry = await entryAt(ended.seq);
    return (entry && detailOf(entry.line, ['workflow.rule.command_ended'])?.outcome) ?? 'unknown';
  }

  /** The number of a run that may be started now, or why none may. */
  async function claim(effect: RunEffect): Promise<number | Outcome> {
    for (let run = 1; ; run += 1) {
      const started = await log.appendOnce(startedDraft(effect, run));
      if (!started.duplicate) return run;
      const before = await endOf(effect, run);
      if (before === 'ok') return { done: `${effect.command} has run already` };
      if (before === 'unknown' && !triedAgain.has(effect.key)) return unknownEnd(effect);
    }
  }

  async function runAndTell(effect: RunEffect, run: number, command: Command): Promise<Ended> {
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
    if (entry === undefined) return { failed: `line ${effect.line} of the log cannot be read` };
    const claimed = await claim(effect);
    if (typeof claimed !== 'number') return claimed;
    triedAgain.delete(effect.key);
    const end = runAndTell(effect, claimed, {
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
      const begun = known === undefined ? await begin(effect) : { end: known };
      if (!('end' in begun)) return begun;
      const result = await within(begun.end, waitMs, () => undefined).catch((error: unknown) => {
        // How it ended could not be written down: the next attempt finds that out.
        running.delete(key);
        throw error;
      });
      if (result === undefined)
        return { failed: `${command} is running`, waiting: true, retryAfterMs: waitMs };
      running.delete(key);
      if (result.outcome === 'ok') return { done: result.words };
      if (result.outcome === 'unknown') return unknownEnd(effect);
      return { failed: result.words, permanent: number >= MOST_ATTEMPTS };
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
        ? { outcome: 'ok', words: `${command} ran` }
        : { outcome: 'failed', words: `${command} ended with exit code ${end.exitCode}` };
    case 'not-started':
      return { outcome: 'failed', words: `${command} cannot be started (${end.reason})` };
    case 'timeout':
      return { outcome: 'failed', words: `${command} took longer than its timeoutSeconds` };
    case 'too-large':
      return { outcome: 'failed', words: `${command} printed more than 1 MiB` };
    case 'stopped':
      return isStopping
        ? { outcome: 'unknown', words: 'the daemon was stopped' }
        : { outcome: 'failed', words: `${command} was ended by a signal` };
  }
}

function unknownEnd({ command }: RunEffect): Outcome {
  return {
    failed: `${command} was started, and the daemon ended before it did: how it ended is not known`,
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
