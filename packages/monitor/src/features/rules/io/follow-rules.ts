// Checks every event against the enabled rules, and logs which fired: once for each rule and event, even across a kill,
// because the firing is appended under the event's id. The fold creates the effects. Its modes:
// - reading: finds in the log what rules did before, and logs which are enabled now. At start.
// - following: checks events as they become durable. The newest logged position is where it continues after a restart.
// - failing, beside these: the log cannot be written or jq does not answer. It retries until it works.

import { setImmediate as nextTurn } from 'node:timers/promises';
import { createRetries } from '@svc/lib/retry';
import { type DraftOf, draft, type EventDraft } from '../../../kernel/log/event-line.ts';
import type { EventLog } from '../../../kernel/log/event-log.ts';
import type { LogEntry } from '../../../kernel/log/log-entry.ts';
import type { DetailOf, Topic } from '../../../kernel/log/topics.ts';
import type { Rule } from '../config.ts';
import {
  emptyRuleBook,
  firingOf,
  foldRuleFact,
  type RuleBook,
  type RuleRecord,
  recordOf,
  ruleBookTopics,
  type Switching,
  startAfter,
  switchings,
} from '../rules.ts';
import { type ActiveRule, activeRule, evaluate, type Matches, type Verdict } from './evaluate.ts';

export type RuleFollower = {
  start: () => void;
  report: () => FollowerReport;
  record: (rule: string) => RuleRecord;
  stop: () => Promise<void>;
};

export type FollowerReport = {
  mode: 'off' | 'reading' | 'following';
  active: number;
  /** Durable events that were not checked yet. */
  behind: number;
  /** What is wrong; null when all is well. */
  problem: string | null;
};

const PAGE = 1_000;
const RETRY_MS = 1_000;
/** Events after which the position is logged if no rule has fired. */
const MARK_EVERY = 5_000;
const LONGEST_BATCH_MS = 60_000;

export function createRuleFollower({
  rules,
  log,
  matches,
  now,
  onVerdict,
  onFailure,
  markEvery = MARK_EVERY,
}: {
  /** The rules that are switched on and have a valid filter. */
  rules: readonly Rule[];
  log: Pick<EventLog, 'list' | 'appendOnce' | 'subscribe' | 'lastSeq' | 'ready'>;
  matches: Matches;
  now: () => number;
  onVerdict: (rule: string, verdict: Verdict['verdict']) => void;
  /** Called for the first failure in a row. */
  onFailure: (error: unknown) => void;
  markEvery?: number;
}): RuleFollower {
  const stopped = new AbortController();
  const { signal } = stopped;
  const stoppedRules = new Map<string, string>();
  let book: RuleBook = emptyRuleBook();
  let active: ActiveRule[] = [];
  let mode: FollowerReport['mode'] = 'off';
  let scannedTo = 0;
  let markedAt = 0;
  const { untilItWorks, failing } = createRetries({ pauseMs: RETRY_MS, signal, onFailure });
  let batchBegan: number | null = null;
  let running: Promise<void> | undefined;

  async function readBook(): Promise<RuleBook> {
    await log.ready;
    const read = emptyRuleBook();
    const topics = new Set(ruleBookTopics);
    for (let since = 0; ; ) {
      const page = await log.list({ topics, since: { seq: since }, order: 'oldest-first', limit: PAGE });
      for (const { line } of page.entries) foldRuleFact(read, line);
      if (page.next === null || signal.aborted) return read;
      since = page.next;
    }
  }

  /** Appends one of our events; it is folded here as soon as it is durable. */
  async function appendFact(fact: EventDraft): Promise<void> {
    await untilItWorks(async () => {
      const appended = await log.appendOnce(fact);
      if (!appended.duplicate) foldRuleFact(book, appended.line);
    });
  }

  async function handle(verdict: Verdict): Promise<void> {
    const { rule, entry } = verdict;
    onVerdict(rule.name, verdict.verdict);
    if (verdict.verdict === 'fires') await appendFact(firingOf(rule, entry.line));
    if (verdict.verdict !== 'failed') return;
    stoppedRules.set(rule.name, verdict.problem);
    active = active.filter((other) => other.rule !== rule);
    await appendFact(failedDraft(rule.name, entry, verdict.problem));
  }

  async function check(entries: readonly LogEntry[]): Promise<void> {
    const verdicts = await untilItWorks(() =>
      evaluate({ rules: active, firings: book.firings, entries, matches }),
    );
    for (const verdict of verdicts ?? []) {
      if (signal.aborted) return;
      if (!stoppedRules.has(verdict.rule.name)) await handle(verdict);
    }
    if (signal.aborted) return;
    scannedTo = entries.at(-1)?.line.seq ?? scannedTo;
    if (scannedTo - Math.max(markedAt, book.scannedTo) < markEvery) return;
    markedAt = scannedTo;
    await appendFact(factOf('workflow.rule.scanned', `scanned:${scannedTo}`, { line: scannedTo }));
  }

  async function follow(): Promise<void> {
    for await (const entries of log.subscribe({ after: scannedTo, whenSlow: 'read-file', signal })) {
      // Callers that wait for these events to be durable go first.
      await nextTurn();
      batchBegan = now();
      await check(entries);
      batchBegan = null;
      if (signal.aborted || active.length === 0) return;
    }
  }

  async function run(): Promise<void> {
    mode = 'reading';
    book = (await untilItWorks(readBook)) ?? book;
    for (const switching of switchings(book, rules)) await appendFact(switchDraft(switching, book));
    if (signal.aborted) return;
    active = rules.map((rule) => activeRule(rule, recordOf(book, rule.name).since));
    if (active.length === 0) {
      mode = 'off';
      return;
    }
    scannedTo = startAfter(book, rules);
    mode = 'following';
    await untilItWorks(follow);
  }

  function problem(behind: number): string | null {
    const [first] = stoppedRules;
    if (failing() !== null) return failing();
    if (first !== undefined) return `the rule ${first[0]} is stopped: ${first[1]}`;
    if (batchBegan !== null && now() - batchBegan > LONGEST_BATCH_MS)
      return `rules are ${behind} events behind the log`;
    return null;
  }

  return {
    start() {
      running ??= run();
    },
    report() {
      const behind = mode === 'following' && active.length > 0 ? Math.max(0, log.lastSeq() - scannedTo) : 0;
      return { mode, active: active.length, behind, problem: problem(behind) };
    },
    record: (rule) => recordOf(book, rule),
    async stop() {
      stopped.abort();
      await running;
    },
  };
}

function factOf<Name extends Topic>(event: Name, id: string, detail: DetailOf<Name>): DraftOf<Name> {
  return draft(event, {}, detail, { deliveryId: `rules:${id}` });
}

/** Its id contains the event of the previous switch, so a rule can be switched on, off and on again. */
function switchDraft({ rule, definition }: Switching, book: RuleBook): EventDraft {
  const id = `switch:${rule}:${recordOf(book, rule).since}`;
  if (definition === null) return factOf('workflow.rule.switched_off', id, { rule });
  return factOf('workflow.rule.switched_on', id, { rule, definition });
}

function failedDraft(rule: string, { line }: LogEntry, problem: string): EventDraft {
  return factOf('workflow.rule.failed', `failed:${rule}:${line.id}`, { rule, line: line.seq, problem });
}
