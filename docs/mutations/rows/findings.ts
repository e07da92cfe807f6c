// Mutations of findings: filed with consent, in one place, none lost.
import type { Mutation } from '../mutation.ts';

export const findings: readonly Mutation[] = [
  {
    row: 'CFG-74',
    named: 'svc.feedback.autoFile%shas its default',
    file: 'packages/core/src/config/schema/project.ts',
    find: 'default: false,',
    replace: 'default: true,',
  },
  {
    row: 'FQ-12',
    file: 'packages/monitor/src/cli/verbs/findings.ts',
    find: "if (!/^y(?:es)?$/i.test(answer?.trim() ?? '')) return false;",
    replace: "if (/^no?$/i.test(answer?.trim() ?? '')) return false;",
  },
  {
    row: 'FQ-4',
    test: 'packages/monitor/e2e/run-end.test.ts › at the end of a worker its findings are filed, and the log tells whose they are',
    file: 'packages/monitor/src/orchestrate/runs/orchestrator.ts',
    find: 'ends.follow(seen);',
    replace: '',
  },
  {
    row: 'CFG-75',
    test: 'packages/monitor/src/cli/verbs/worktree.test.ts › without consent: refused, named, and kept',
    file: 'packages/monitor/src/feedback/run-end.ts',
    find: 'of consent.granted ? queues : []',
    replace: 'of queues',
  },
  {
    row: 'FQ-6',
    file: 'packages/monitor/src/feedback/drain.ts',
    find: 'report.left = open.length - (report.filed - before);',
    replace:
      'report.left = open.length - (report.filed - before);\n      await queue.removeIfSettled(() => true, rescue);',
  },
  {
    row: 'FQ-5',
    test: 'packages/monitor/src/feedback/drain.test.ts › lines that are added during the drain are filed too',
    file: 'packages/monitor/src/feedback/drain.ts',
    find: 'if (open.length === 0 && (await queue.removeIfSettled(isFiled, rescue))) {',
    replace: 'if (await queue.removeIfSettled(() => true, rescue)) {',
  },
  {
    row: 'FQ-9',
    test: 'packages/monitor/src/feedback/drain.test.ts › what has begun there stays there, also when the tracker is back',
    file: 'packages/monitor/src/feedback/drain.ts',
    find: 'if (began !== undefined && destination.name !== began) continue;',
    replace: '',
  },
  {
    row: 'FQ-2',
    file: 'packages/monitor/src/feedback/queue-path.ts',
    find: '`${session}.jsonl`',
    replace: "'current.jsonl'",
  },
  {
    row: 'FND-1',
    test: 'packages/monitor/src/cli/verbs/findings.test.ts › files each line with the labels of the project and the skill',
    file: 'packages/core/src/feedback/findings.ts',
    find: 'for (const name of [...base, skill].map(',
    replace: 'for (const name of [...base].map(',
  },
  {
    row: 'CFG-76',
    test: 'packages/monitor/src/cli/verbs/findings.test.ts › nothing is filed, and it says so',
    file: 'packages/monitor/src/cli/verbs/findings.ts',
    find: "drain --yes',\n    );\n    return false;",
    replace: "drain --yes',\n    );\n    return true;",
  },
];
