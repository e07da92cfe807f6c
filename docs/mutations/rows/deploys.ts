// Mutations of the deploy lifecycle, and what then needs a person.
import type { Mutation } from '../mutation.ts';

export const deploys: readonly Mutation[] = [
  {
    row: 'SVC-11',
    test: 'packages/core/src/deploy/lifecycle.model.test.ts › the lifecycle keeps its promises on',
    file: 'packages/core/src/deploy/lifecycle.ts',
    find: 'if (fact.sha !== merge.sha) {',
    replace: 'if (fact.sha !== merge.sha && !policy.acceptDescendants) {',
  },
  {
    row: 'CFG-60',
    test: 'packages/core/src/deploy/lifecycle.test.ts › pull request open, MERGED',
    file: 'packages/core/src/deploy/lifecycle.ts',
    find: 'if (policy.skipDeployVerification)',
    replace: 'if (policy.skipDeployVerification || merge.sha !== null)',
  },
  {
    row: 'CFG-59',
    file: 'packages/core/src/deploy/policy.ts',
    find: 'skipDeployVerification: true,',
    replace: 'skipDeployVerification: false,',
  },
  {
    row: 'DEP-13',
    test: 'packages/core/src/deploy/lifecycle.test.ts › exhausted, success',
    file: 'packages/core/src/deploy/standing.ts',
    find: 'if (worker.deploy === null || isBudgetExhausted(worker)) return false;',
    replace: 'if (worker.deploy === null) return false;',
  },
  {
    row: 'DEP-14',
    file: 'packages/core/src/deploy/standing.ts',
    find: "return worker.status === 'merged' || worker.status === 'deploying'",
    replace: "return worker.status === 'deploying'",
  },
  {
    row: 'DEP-12',
    test: 'packages/core/src/deploy/lifecycle.test.ts › a repeated status is no attempt',
    file: 'packages/core/src/deploy/lifecycle.ts',
    find: 'return attempts.every(({ deploymentId }) => deploymentId !== id);',
    replace: 'return true;',
  },
  {
    row: 'DEP-9',
    file: 'packages/core/src/deploy/lifecycle.ts',
    find: "{ kind: 'move-ticket', phase: 'done' },\n    { kind: 'tell'",
    replace: "{ kind: 'tell'",
  },
  {
    row: 'ATT-1',
    file: 'packages/core/src/deploy/lifecycle.ts',
    find: "reason: 'deploy-timeout',",
    replace: "reason: 'deploy-failed',",
  },
  {
    row: 'ATT-2',
    test: 'packages/core/src/state/board.test.ts › a person retries after the budget is used up',
    file: 'packages/core/src/deploy/lifecycle.ts',
    find: 'if (attempts.length >= DEPLOY_BUDGET) {',
    replace: 'if (attempts.length > DEPLOY_BUDGET) {',
  },
];
