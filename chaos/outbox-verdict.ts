// Holds what happened against what the log asked for: every effect once in its result, in order, none missing.
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Effect, EventLine } from '../packages/core/src/index.ts';
import { createOutboxStore } from '../packages/monitor/src/outbox/outbox-store.ts';
import { openOutboxDatabase } from '../packages/monitor/src/outbox/outbox-tables.ts';
import { appendDelivery, foldChaosLine, gaveUpDelivery, isUnknownTicket, newBoard } from './outbox-fold.ts';

export type OutboxVerdict = {
  lines: number;
  inputs: number;
  expected: number;
  missing: number;
  /** Results that are there more than once. */
  doubled: number;
  /** Results in another order than that of their lines. */
  overtaken: number;
  givenUp: number;
  /** Rows that were given up, and should not have been, or the other way round; and rows left pending. */
  wronglyEnded: number;
  problems: string[];
};

export function judgeOutbox(folder: string, moves: ReadonlyMap<string, readonly string[]>): OutboxVerdict {
  const lines = readLog(join(folder, 'events'));
  const board = newBoard();
  const effects = lines.flatMap((line) => foldChaosLine(board, line));
  const verdict: OutboxVerdict = {
    lines: lines.length,
    inputs: board.inputs,
    expected: effects.length,
    missing: 0,
    doubled: 0,
    overtaken: 0,
    givenUp: 0,
    wronglyEnded: 0,
    problems: [],
  };

  function compare(what: string, expected: readonly string[], found: readonly string[]): void {
    const missing = expected.filter((key) => !found.includes(key));
    const doubled = found.filter((key, index) => found.indexOf(key) !== index || !expected.includes(key));
    verdict.missing += missing.length;
    verdict.doubled += doubled.length;
    for (const key of missing) verdict.problems.push(`${what}: ${key} is missing`);
    for (const key of doubled) verdict.problems.push(`${what}: ${key} is there once too often`);
    if (missing.length + doubled.length > 0 || expected.every((key, index) => found[index] === key)) return;
    verdict.overtaken += 1;
    verdict.problems.push(`${what}: another order than that of the lines`);
  }

  for (const [target, asked] of Map.groupBy(effects, targetOf)) {
    const keys = asked.map(({ key }) => key);
    if (target.startsWith('signal-')) compare(target, keys, historyOf(join(folder, target)));
    else if (target !== 'log' && target !== 'given up') compare(target, keys, moves.get(target) ?? []);
  }
  const delivered = lines.flatMap(({ deliveryId }) => deliveryId ?? []).toSorted();
  const appended = effects.filter((effect) => targetOf(effect) === 'log');
  const hopeless = effects.filter((effect) => targetOf(effect) === 'given up');
  const ofOutbox = (prefix: string) => delivered.filter((id) => id.startsWith(prefix));
  compare('lines', sorted(appended, appendDelivery), ofOutbox(appendDelivery('')));
  compare('attention', sorted(hopeless, gaveUpDelivery), ofOutbox(gaveUpDelivery('')));
  compareRows(folder, effects, lines.at(-1)?.seq ?? 0, verdict);
  return verdict;
}

export function isKept({ missing, doubled, overtaken, wronglyEnded }: OutboxVerdict): boolean {
  return missing + doubled + overtaken + wronglyEnded === 0;
}

export function outboxVerdictLine(verdict: OutboxVerdict): string {
  const { expected, missing, doubled, overtaken, givenUp, wronglyEnded } = verdict;
  return `effects expected ${expected} missing ${missing} doubled ${doubled} overtaken ${overtaken} wrongly ended ${wronglyEnded} (given up as they should ${givenUp})`;
}

function compareRows(
  folder: string,
  effects: readonly Effect[],
  lastSeq: number,
  verdict: OutboxVerdict,
): void {
  const database = openOutboxDatabase(join(folder, 'svc.db'));
  const store = createOutboxStore({ database, lastSeq, clock: { now: () => Date.now() } });
  try {
    for (const effect of effects) {
      const row = store.find(effect.key);
      const state = targetOf(effect) === 'given up' ? 'given-up' : 'done';
      if (row?.state === 'given-up' && state === 'given-up') verdict.givenUp += 1;
      if (row?.state === state) continue;
      verdict.wronglyEnded += 1;
      verdict.problems.push(`${effect.key} is ${row?.state ?? 'in no row'}, not ${state}`);
    }
    const { done, givenUp, pending } = store.counts();
    const extra = done + givenUp + pending - effects.length;
    if (extra > 0) verdict.problems.push(`${extra} rows that no line asked for`);
    verdict.doubled += Math.max(0, extra);
  } finally {
    store.close();
  }
}

/** Where the result of an effect is to be found. */
function targetOf(effect: Effect): string {
  if (effect.kind === 'write-signal') return `signal-${effect.orchestrator}-${effect.ticket}.json`;
  if (effect.kind === 'move-ticket') return isUnknownTicket(effect.ticket) ? 'given up' : effect.ticket;
  return 'log';
}

function sorted(effects: readonly Effect[], delivery: (key: string) => string): string[] {
  return effects.map(({ key }) => delivery(key)).toSorted();
}

function historyOf(path: string): string[] {
  return existsSync(path) ? JSON.parse(readFileSync(path, 'utf8')).history : [];
}

function readLog(folder: string): EventLine[] {
  const files = readdirSync(folder).filter((name) => name.endsWith('.jsonl'));
  return files.toSorted().flatMap((name) => {
    const lines = readFileSync(join(folder, name), 'utf8').split('\n').slice(0, -1);
    return lines.map((line) => JSON.parse(line) as EventLine);
  });
}
