// Mutations of orchestration: waves, workers, worktrees and their context.
import type { Mutation } from '../mutation.ts';

export const orchestration: readonly Mutation[] = [
  {
    row: 'ORC-2',
    file: 'packages/core/src/orchestrate/wave-standing.ts',
    find: "return counts && verification.remediation !== 'filed'",
    replace: "return counts && verification.remediation === 'none'",
  },
  {
    row: 'ORC-1',
    file: 'packages/core/src/orchestrate/wave-standing.ts',
    find: "verification.state === 'failed' && !limits.allowSelfReportedCompletion;",
    replace: "verification.state === 'failed';",
  },
  {
    row: 'LIM-7',
    file: 'packages/core/src/orchestrate/next-acts.ts',
    find: 'if (project.used >= project.most)',
    replace: 'if (project.used > project.most)',
  },
  {
    row: 'CFG-71',
    file: 'packages/core/src/orchestrate/wave-standing.ts',
    find: 'if (!limits.verifyBeforeMerge || worker.merge === null) return',
    replace: 'if (worker.merge === null) return',
  },
  {
    row: 'ERR-5',
    file: 'packages/monitor/src/orchestrate/runs/begin-run.ts',
    find: "  if (!command.ok) throw new Failure('config-invalid', command.problem);\n",
    replace: '',
  },
  {
    row: 'WT-7',
    file: 'packages/monitor/src/orchestrate/worktrees/steps.ts',
    find: "return configured.map((command) => filledStep(command, 'svc.worktree.setup', variables));",
    replace:
      "return configured.toReversed().map((command) => filledStep(command, 'svc.worktree.setup', variables));",
  },
  {
    row: 'WT-3',
    file: 'packages/core/src/orchestrate/setup-variables.ts',
    find: 'TICKET_ID: branch,',
    replace: 'TICKET_ID: repository,',
  },
  {
    row: 'WT-2',
    test: 'packages/monitor/src/cli/verbs/worktree.test.ts › variables are filled into setup and hooks, in any quotes and in the environment',
    file: 'packages/core/src/orchestrate/fill-command.ts',
    find: '!isCode(frame, one) ? `\'"${found}"\'` : found,',
    replace: 'isCode(frame, one) ? `\'"${found}"\'` : found,',
  },
  {
    row: 'WT-8',
    test: 'packages/monitor/src/cli/verbs/worktree.test.ts › what the main worktree alone has comes into the store, and nothing there is replaced',
    file: 'packages/monitor/src/context/thoughts.ts',
    find: 'copyFile(from, to, constants.COPYFILE_EXCL)',
    replace: 'copyFile(from, to)',
  },
  {
    row: 'CFG-21',
    test: 'packages/monitor/src/cli/verbs/worktree.test.ts › as thoughts/ with the shared and the own part, in all worktrees at once, and it stays when one goes',
    file: 'packages/core/src/context/workflow-context.ts',
    find: 'const own = user === null ? [] : [user];',
    replace: 'const own: string[] = [];',
  },
  {
    row: 'WT-9',
    file: 'packages/monitor/src/orchestrate/worktrees/trust.ts',
    find: "'hasTrustDialogAccepted'], true)",
    replace: "'hasTrustDialogAccepted'], false)",
  },
  {
    row: 'CFG-66',
    file: 'packages/core/src/orchestrate/setup-variables.ts',
    find: 'BRANCH_NAME: branch,',
    replace: 'BRANCH_NAME: worktreePath,',
  },
  {
    row: 'CTX-1',
    file: 'packages/monitor/src/context/context-store.ts',
    find: "'.gitignore\\n.workflow-context.json\\nfindings/\\n'",
    replace: "'.gitignore\\nfindings/\\n'",
  },
  {
    row: 'CTX-3',
    file: 'packages/monitor/src/cli/verbs/context.ts',
    find: "return text === 'null' || text === '' ? null : text;",
    replace: "return text === '' ? null : text;",
  },
  {
    row: 'CTX-5',
    file: 'packages/core/src/context/workflow-context.ts',
    find: '[type]: [entry, ...others]',
    replace: '[type]: [...others, entry]',
  },
];
