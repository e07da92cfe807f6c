// Mutations of findings: filed with consent, in one place, none lost.
import type { Mutation } from '../mutation.ts';

export const findings: readonly Mutation[] = [
  {
    row: 'CFG-74',
    test: "packages/core/src/config/fields.test.ts › flag('svc.feedback.autoFile', 'project', false)",
    named: 'svc.feedback.autoFile%shas its default',
    file: 'packages/core/src/config/schema/feedback.ts',
    find: 'default: false,',
    replace: 'default: true,',
    harm: 'Tickets are filed that nobody agreed to.',
  },
  {
    row: 'FQ-12',
    test: 'packages/monitor/src/cli/verbs/findings.test.ts › and the question returns at the next run',
    file: 'packages/monitor/src/cli/verbs/findings-drain.ts',
    find: "if (!/^y(?:es)?$/i.test(answer?.trim() ?? '')) return false;",
    replace: "if (/^no?$/i.test(answer?.trim() ?? '')) return false;",
    harm: 'An empty line is taken for consent.',
  },
  {
    row: 'FQ-6',
    test: 'packages/monitor/src/feedback/drain.test.ts › a failure in the middle keeps the file',
    file: 'packages/monitor/src/feedback/drain.ts',
    find: 'report.left = open.length - (report.filed - before);',
    replace:
      'report.left = open.length - (report.filed - before);\n      await queue.removeIfSettled(() => true, rescue);',
    harm: 'Findings that could not be filed are gone.',
  },
  {
    row: 'FQ-5',
    test: 'packages/monitor/src/feedback/drain.test.ts › lines that are added during the drain are filed too',
    file: 'packages/monitor/src/feedback/drain.ts',
    find: 'if (open.length === 0 && (await queue.removeIfSettled(isFiled, rescue))) {',
    replace: 'if (await queue.removeIfSettled(() => true, rescue)) {',
    harm: 'A finding that was noted at the wrong moment is gone.',
  },
  {
    row: 'FQ-9',
    test: 'packages/monitor/src/feedback/drain.test.ts › what has begun there stays there, also when the tracker is back',
    file: 'packages/monitor/src/feedback/drain.ts',
    find: 'if (began !== undefined && destination.name !== began) continue;',
    replace: '',
    harm: 'Half of a run’s findings are in the tracker, the other half at the code host.',
  },
  {
    row: 'FQ-2',
    test: 'packages/monitor/src/feedback/queue.test.ts › first match wins: SVC_FINDINGS_FILE, then the session, then current',
    file: 'packages/monitor/src/feedback/queue-path.ts',
    find: '`${session}.jsonl`',
    replace: "'current.jsonl'",
    harm: 'The findings of two sessions are mixed, and one files those of the other.',
  },
  {
    row: 'FND-1',
    test: 'packages/monitor/src/cli/verbs/findings.test.ts › files each line with the labels of the project and the skill',
    file: 'packages/core/src/feedback/finding-ticket.ts',
    find: 'for (const name of [...base, skill].map(',
    replace: 'for (const name of [...base].map(',
    harm: 'Nobody can tell which skill a finding is of.',
  },
  {
    row: 'CFG-76',
    test: 'packages/monitor/src/cli/verbs/findings.test.ts › nothing is filed, and it says so',
    file: 'packages/monitor/src/cli/verbs/findings-drain.ts',
    find: "drain --yes',\n    );\n    return false;",
    replace: "drain --yes',\n    );\n    return true;",
    harm: 'A run that nobody watches files tickets that nobody agreed to.',
  },
];
