// What automated checks say of a pull request's head commit. A suite of another commit says nothing of it.
import { integerAt, textAt } from '../receive/payload-fields.ts';
import type { FoldedLine } from './board-shape.ts';
import { isOlder, shortTextAt, upstreamTime, withEntry } from './line-fields.ts';
import type { PullRequest, PullRequestCheck } from './pull-request.ts';
import { withJudgement } from './pull-request-judgement.ts';

/** The name under which a poll tells what all checks of a commit come to. */
export const ALL_CHECKS = 'all checks';
const MOST_CHECKS = 100;
const passing = new Set(['success', 'neutral', 'skipped']);

export function withCheckSuite(known: PullRequest, line: FoldedLine): PullRequest {
  if (line.scope.sha === undefined || line.scope.sha !== known.headSha) return known;
  return line.via === 'poll' ? withAllChecks(known, line) : withOneSuite(known, line);
}

function withOneSuite(known: PullRequest, line: FoldedLine): PullRequest {
  const { detail, event, seq } = line;
  const isCompleted = event === 'codehost.check_suite.completed';
  const suiteId = integerAt(detail, 'suiteId') ?? null;
  const check: PullRequestCheck = {
    name: shortTextAt(detail, 'app') ?? (suiteId === null ? 'a check' : `suite ${suiteId}`),
    suiteId,
    conclusion: isCompleted ? (textAt(detail, 'conclusion') ?? 'unknown') : null,
    at: upstreamTime(line),
    seq,
  };
  const isSame = (other: PullRequestCheck): boolean =>
    other.suiteId === suiteId && other.name === check.name && other.name !== ALL_CHECKS;
  const before = known.checks.find(isSame);
  if (before !== undefined && isStale(before, check)) return known;
  // One suite of several tells nothing of the whole; what a poll told of it is no longer the last word.
  const others = isCompleted ? known.checks.filter(({ name }) => name !== ALL_CHECKS) : known.checks;
  return withJudgement(
    {
      ...known,
      checks: withEntry(others, isSame, check, MOST_CHECKS),
      asOf: isCompleted ? seq : known.asOf,
    },
    check.conclusion !== null && passing.has(check.conclusion) ? 'favourable' : 'unfavourable',
  );
}

/** Told before, or of a moment before. A suite that ended does not run at the moment at which it ended. */
function isStale(before: PullRequestCheck, check: PullRequestCheck): boolean {
  if (isOlder(check.at, before.at)) return true;
  return (
    check.at !== null &&
    check.at === before.at &&
    (check.conclusion ?? before.conclusion) === before.conclusion
  );
}

/** A poll tells the whole. */
function withAllChecks(known: PullRequest, line: FoldedLine): PullRequest {
  if (line.event !== 'codehost.check_suite.completed') return known;
  const { conclusion } = line.detail;
  const others = known.checks.filter(({ name }) => name !== ALL_CHECKS);
  const isWhole = conclusion === 'success' || conclusion === 'failure';
  const whole: PullRequestCheck[] = isWhole
    ? [{ name: ALL_CHECKS, suiteId: null, conclusion, at: upstreamTime(line), seq: line.seq }]
    : [];
  return withJudgement(
    { ...known, checks: [...others.slice(-MOST_CHECKS + 1), ...whole], asOf: line.seq },
    conclusion === 'success' ? 'favourable' : 'unfavourable',
  );
}

type CheckStanding = { failed: string[]; running: string[]; passed: number };

/** What the checks come to. A poll's word on all of them stands before what single suites said. */
export function standingOf({ checks }: Pick<PullRequest, 'checks'>): CheckStanding {
  const whole = checks.find(({ name }) => name === ALL_CHECKS);
  const since = whole === undefined ? checks : [whole, ...checks.filter(({ seq }) => seq > whole.seq)];
  const standing: CheckStanding = { failed: [], running: [], passed: 0 };
  for (const { name, conclusion } of since) {
    if (conclusion === null) standing.running.push(name);
    else if (passing.has(conclusion)) standing.passed += 1;
    else standing.failed.push(name);
  }
  return standing;
}
