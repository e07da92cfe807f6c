// The budget of calls to the code host, updated from each answer.
import { type CodehostAnswer, hostTimeOf, readApiQuota } from './api-answer.ts';
import {
  type ApiBudget,
  type BudgetRules,
  callsInLastHour,
  freshBudget,
  mayCall,
  standardBudget,
  withCalls,
  withOutcome,
  withQuota,
} from './api-budget.ts';
import type { CodehostProblem } from './problem.ts';

export type ApiResource = 'core' | 'graphql';

export type CallBudget = {
  /** Counts a call that is about to be made, or returns why it must not be made. */
  take: (resource: ApiResource) => CodehostProblem | undefined;
  /** The result of the call: the answers (several if it had pages) and the problem. */
  settle: (answers: readonly CodehostAnswer[], problem: CodehostProblem | undefined) => void;
  /** Why the last call got no answer; null when it got one. */
  unanswered: () => CodehostProblem | null;
  figures: () => BudgetFigures;
};

export type BudgetFigures = {
  /** Since the start. */
  calls: number;
  callsInLastHour: number;
  callsPerHour: number;
  pausedUntil: string | null;
  quotas: ApiBudget['quotas'];
  /** How far our clock is ahead of the code host's, by its last answer; negative when it is behind. */
  clockAheadMs: number | null;
};

const reasons = {
  'calls-an-hour': 'the calls for this hour are used up',
  quota: 'the rest of the quota is reserved for people',
  paused: 'it asked for a pause',
} as const;

export function createCallBudget({
  now,
  rules = standardBudget,
}: {
  now: () => number;
  rules?: BudgetRules;
}): CallBudget {
  let budget = freshBudget;
  let calls = 0;
  let unanswered: CodehostProblem | null = null;
  let clockAheadMs: number | null = null;
  const count = (more: number): void => {
    calls += more;
    budget = withCalls(budget, more, now());
  };
  const reasonOf = (why: keyof typeof reasons): { message: string; isFailing?: boolean } =>
    why === 'paused' && unanswered !== null
      ? { message: `it failed several times in a row: ${unanswered.message}`, isFailing: true }
      : { message: reasons[why] };
  return {
    take(resource) {
      const verdict = mayCall(budget, resource, now(), rules);
      if (!verdict.go) return { kind: 'throttled', until: verdict.until, ...reasonOf(verdict.why) };
      count(1);
      return undefined;
    },
    settle(answers, problem) {
      if (answers.length > 1) count(answers.length - 1);
      const last = answers.at(-1);
      if (last !== undefined) clockAheadMs = last.receivedAt - hostTimeOf(last);
      const quota = last && readApiQuota(last);
      if (quota !== undefined) budget = withQuota(budget, quota);
      budget = withOutcome(budget, problem, now(), rules);
      unanswered = answers.length === 0 && problem !== undefined ? problem : null;
    },
    unanswered: () => unanswered,
    figures: () => ({
      calls,
      callsInLastHour: callsInLastHour(budget, now()),
      callsPerHour: rules.callsPerHour,
      pausedUntil: now() < budget.pausedUntil ? new Date(budget.pausedUntil).toISOString() : null,
      quotas: budget.quotas,
      clockAheadMs,
    }),
  };
}
