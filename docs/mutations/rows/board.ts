// Mutations of the board: pull requests, signal files, staging.
import type { Mutation } from '../mutation.ts';

export const board: readonly Mutation[] = [
  {
    row: 'TYP-2',
    test: 'packages/core/src/state/reduce-pull-request.test.ts › late: opened after merged fills gaps only',
    file: 'packages/core/src/state/reduce-pull-request.ts',
    find: 'known === undefined || !isOlder(told, known.toldAt) ? newest(before, line) : older(before, line);',
    replace: 'newest(before, line);',
    harm: 'A late delivery takes the board back to yesterday.',
  },
  {
    row: 'TYP-4',
    test: 'packages/core/src/state/merge-readiness.test.ts › changes requested',
    file: 'packages/core/src/state/merge-readiness.ts',
    find: '(reviewDecision === null && objectors.length > 0)',
    replace: 'false',
    harm: 'A pull request that a reviewer objects to looks ready.',
  },
  {
    row: 'TYP-5',
    test: 'packages/core/src/state/reduce-pull-request.test.ts › a resolved thread',
    file: 'packages/core/src/state/pull-request-reviews.ts',
    find: "const resolved = line.event === 'codehost.pr_review_thread.resolved';",
    replace: 'const resolved = false;',
    harm: 'A pull request whose threads are resolved is never ready.',
  },
  {
    row: 'TYP-9',
    test: 'packages/core/src/state/board.test.ts › %s is logged only: the board stays as it is',
    file: 'packages/core/src/state/fold-pull-request.ts',
    find: 'export const pullRequestFolds: Folds = [\n',
    replace:
      "export const pullRequestFolds: Folds = [\n  ['codehost.push', (turn) => ask(turn, 'push', { kind: 'refresh-pull-request', repo: 'acme/web', pr: 1 })],\n",
    harm: 'Every push of anybody costs a call to the code host.',
  },
  {
    row: 'TYP-10',
    test: 'packages/core/src/state/reduce-pull-request.test.ts › preview links of a comment, edited',
    file: 'packages/core/src/state/pull-request-previews.ts',
    find: 'before.gone || isOlder(told.at, before.at) || isEqual(before, told)',
    replace: 'before.gone || !isOlder(told.at, before.at) || isEqual(before, told)',
    harm: 'The link leads to the preview of last week.',
  },
  {
    row: 'TYP-3',
    test: 'packages/monitor/src/runs/signal-effect.test.ts › merges into what the file has, in its own shape',
    file: 'packages/monitor/src/runs/signal-effect.ts',
    find: '...(pr && { pr: { ...signal.pr, ...defined(pr) } }),',
    replace: '...(pr && { pr: defined(pr) }),',
    harm: 'What the worker wrote of its pull request is gone.',
  },
  {
    row: 'SIG-3',
    test: 'packages/core/src/runs/signal-file.test.ts › repoOfSignal %j',
    file: 'packages/core/src/runs/signal-file.ts',
    find: 'if (signal.repo && repoName.test(signal.repo)) return signal.repo;',
    replace: 'if (signal.repo) return signal.repo;',
    harm: 'Whatever stands in a file becomes part of a path at the code host.',
  },
  {
    row: 'CFG-57',
    test: 'packages/core/src/state/views/board-view.test.ts › staging is shown beside the worker, and does not make it done',
    file: 'packages/core/src/state/views/board-view.ts',
    find: "deployments: shown('deployments'),",
    replace: "deployments: shown('deployments').filter(({ environment }) => environment === 'production'),",
    harm: 'What is on staging is nowhere to be seen.',
  },
];
