// Mutations of the board: pull requests, signal files, staging.
import type { Mutation } from '../mutation.ts';

export const board: readonly Mutation[] = [
  {
    row: 'TYP-2',
    file: 'packages/core/src/state/reduce-pull-request.ts',
    find: 'known === undefined || !isOlder(told, known.toldAt) ? newest(before, line) : older(before, line);',
    replace: 'newest(before, line);',
  },
  {
    row: 'TYP-4',
    test: 'packages/core/src/state/merge-readiness.test.ts › changes requested',
    file: 'packages/core/src/state/merge-readiness.ts',
    find: '(reviewDecision === null && objectors.length > 0)',
    replace: 'false',
  },
  {
    row: 'TYP-5',
    file: 'packages/core/src/state/reduce-pull-request.ts',
    find: "const resolved = line.event === 'codehost.pr_review_thread.resolved';",
    replace: 'const resolved = false;',
  },
  {
    row: 'TYP-9',
    file: 'packages/core/src/state/fold-pull-request.ts',
    find: 'export const pullRequestFolds: Folds = [\n',
    replace:
      "export const pullRequestFolds: Folds = [\n  ['codehost.push', (turn) => ask(turn, 'push', { kind: 'refresh-pull-request', repo: 'acme/web', pr: 1 })],\n",
  },
  {
    row: 'TYP-10',
    file: 'packages/core/src/state/reduce-pull-request.ts',
    find: 'before.gone || isOlder(told.at, before.at) || isEqual(before, told)',
    replace: 'before.gone || !isOlder(told.at, before.at) || isEqual(before, told)',
  },
  {
    row: 'TYP-3',
    test: 'packages/monitor/src/runs/signal-effect.test.ts › merges into what the file has, in its own shape',
    file: 'packages/monitor/src/runs/signal-effect.ts',
    find: '...(pr && { pr: { ...signal.pr, ...defined(pr) } }),',
    replace: '...(pr && { pr: defined(pr) }),',
  },
  {
    row: 'SIG-3',
    file: 'packages/core/src/runs/signal-file.ts',
    find: 'if (signal.repo && repoName.test(signal.repo)) return signal.repo;',
    replace: 'if (signal.repo) return signal.repo;',
  },
  {
    row: 'CFG-57',
    test: 'packages/core/src/state/views/board-view.test.ts › staging is shown beside the worker, and does not make it done',
    file: 'packages/core/src/state/views/board-view.ts',
    find: "deployments: shown('deployments'),",
    replace: "deployments: shown('deployments').filter(({ environment }) => environment === 'production'),",
  },
];
