// When rules would have fired on the real log, and what they would have done: as if they had been switched on at the start
// of the test. It reads the files, so it needs no daemon and does not slow one down.
import { messageOf } from '@svc/lib/errors';
import type { ConfigProblem } from '../../../kernel/config/problems.ts';
import { Failure } from '../../../kernel/failure.ts';
import type { Since } from '../../../kernel/log/event-filter.ts';
import { findPositionOfSeq, findPositionOfTime } from '../../../kernel/log/find-position.ts';
import type { LogEntry } from '../../../kernel/log/log-entry.ts';
import { readEntries } from '../../../kernel/log/read-lines.ts';
import type { Rule } from '../config.ts';
import { askedFor, type Firings, problemsOfRule, type RuleProblem, whatItDoes } from '../rules.ts';
import { activeRule, evaluate, type Matches, type Verdict } from './evaluate.ts';

export type WouldFire = {
  at: string;
  line: number;
  event: string;
  ticket: string | null;
  repo: string | null;
  outcome: Verdict['verdict'];
  /** What it would have done; empty when its limit was reached. */
  actions: string[];
  problem?: string;
};

export type RuleTested = {
  name: string;
  enabled: boolean;
  fires: number;
  limited: number;
  failed: number;
  times: WouldFire[];
  /** Firings beyond the number that is listed. */
  leftOut: number;
};

export type BackTest = {
  lines: number;
  from: string | null;
  to: string | null;
  /** False when it stopped at the maximum number of lines. */
  complete: boolean;
  rules: RuleTested[];
};

const MOST_TIMES = 1_000;

export async function backTest({
  rules,
  eventsDir,
  since,
  matches,
  signal,
  mostLines = Infinity,
  onProgress = () => undefined,
}: {
  rules: readonly Rule[];
  eventsDir: string;
  since: Since;
  matches: Matches;
  signal?: AbortSignal | undefined;
  mostLines?: number;
  onProgress?: (done: { lines: number; at: string }) => void;
}): Promise<BackTest> {
  const tested = new Map(rules.map((rule) => [rule.name, freshTest(rule)]));
  const active = rules.map((rule) => activeRule(rule, 0));
  const firings: Firings = new Map();
  const result: BackTest = { lines: 0, from: null, to: null, complete: true, rules: [...tested.values()] };
  const from =
    'seq' in since ? findPositionOfSeq(eventsDir, since.seq + 1) : findPositionOfTime(eventsDir, since.time);
  if (from === null) return result;
  for await (const read of readEntries({ folder: eventsDir, from, signal })) {
    const entries = read.filter(({ line }) => isSince(line, since));
    for (const verdict of await evaluate({ rules: active, firings, entries, matches })) {
      const test = tested.get(verdict.rule.name);
      if (test) note(test, verdict);
    }
    const last = entries.at(-1)?.line;
    if (last === undefined) continue;
    result.lines += entries.length;
    result.from ??= entries[0]?.line.ts ?? null;
    result.to = last.ts;
    onProgress({ lines: result.lines, at: last.ts });
    if (result.lines < mostLines) continue;
    result.complete = false;
    break;
  }
  signal?.throwIfAborted();
  return result;
}

function isSince({ seq, ts }: LogEntry['line'], since: Since): boolean {
  return 'seq' in since ? seq > since.seq : Date.parse(ts) >= since.time;
}

function freshTest({ name, enabled }: Rule): RuleTested {
  return { name, enabled, fires: 0, limited: 0, failed: 0, times: [], leftOut: 0 };
}

function note(test: RuleTested, verdict: Verdict): void {
  const { rule, entry, verdict: outcome } = verdict;
  const { ts, seq, event, scope } = entry.line;
  test[outcome] += 1;
  if (test.times.length >= MOST_TIMES) {
    test.leftOut += 1;
    return;
  }
  test.times.push({
    at: ts,
    line: seq,
    event,
    ticket: scope.ticket ?? null,
    repo: scope.repo ?? null,
    outcome,
    actions: outcome === 'fires' ? whatItDoes(askedFor(rule, entry.line)) : [],
    ...(verdict.verdict === 'failed' && { problem: verdict.problem }),
  });
}

// The rules of a back-test: all configured rules, one by name, or one that is not configured yet.

/** Refuses a rule that could not work, with the reason. */
export async function selectRules({
  configured,
  name,
  rule,
  commands,
  matches,
}: {
  configured: readonly Rule[];
  name: string | undefined;
  rule: Rule | undefined;
  commands: Iterable<string>;
  matches: Matches;
}): Promise<Rule[]> {
  const asked = rule === undefined ? [...configured] : [rule];
  const rules = name === undefined ? asked : asked.filter((candidate) => candidate.name === name);
  if (name !== undefined && rules.length === 0)
    throw new Failure('unknown-rule', `There is no rule ${name}.`, 'List them: svc rules list');
  const names = new Set(commands);
  const problems = [
    ...rules.flatMap((candidate) => problemsOfRule(candidate, names)),
    ...(await filterProblems(rules, matches)),
  ];
  const [problem] = problems;
  if (problem !== undefined) throw new Failure('usage', problem.message, problem.remedy);
  return rules;
}

// Which rules have an invalid filter. Only jq can check that, in a thread with a deadline: a filter that never ends must
// not block loading a configuration.

export async function filterProblems(
  rules: readonly Rule[],
  matches: Matches,
): Promise<(RuleProblem & { rule: string })[]> {
  const problems: (RuleProblem & { rule: string })[] = [];
  for (const { name, when } of rules) {
    if (when.filter === undefined) continue;
    try {
      await matches(when.filter, []);
    } catch (error) {
      const remedy = error instanceof Failure ? error.remedy : undefined;
      problems.push({
        rule: name,
        message: `rule ${name}: ${messageOf(error)}`,
        remedy: remedy ?? `Fix when.filter, then test it: svc rules test ${name}`,
      });
    }
  }
  return problems;
}

/** The same as a configuration problem. */
export function filterProblem({ message, remedy }: RuleProblem): ConfigProblem {
  const source = { file: 'configuration', key: 'svc.rules' };
  return { severity: 'error', code: 'contradiction', ...source, message, remedy };
}
