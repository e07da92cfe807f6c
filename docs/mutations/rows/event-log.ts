// Mutations of the event log: one line for each fact, its topic, and waiting for it.
import type { Mutation } from '../mutation.ts';

export const eventLog: readonly Mutation[] = [
  {
    row: 'SVC-6',
    test: 'packages/monitor/e2e/receivers.test.ts › an accepted delivery is one line with topic, source, scope and delivery id',
    file: 'packages/monitor/src/log/writer.ts',
    find: 'await month.write(buffer.subarray(0, bytes));',
    replace: 'await Promise.resolve();',
  },
  {
    row: 'EVT-8',
    test: 'packages/monitor/src/log/dedupe.test.ts › a live delivery that races its replay is one line',
    file: 'packages/monitor/src/log/dedupe.ts',
    find: 'inFlight.set(key, writing);',
    replace: '',
  },
  {
    row: 'EVT-3',
    test: 'packages/monitor/src/control/instance.test.ts › a data root has one instance, and another only after it',
    file: 'packages/monitor/src/control/instance.ts',
    find: 'if (hold === undefined) return undefined;',
    replace: 'if (hold === undefined) return { announce: async () => undefined, withdraw: () => undefined };',
  },
  {
    row: 'EVT-7',
    test: 'packages/core/src/receive/map-codehost.test.ts › merged only on the closed action',
    file: 'packages/core/src/receive/codehost-facts.ts',
    find: "const mergedNow = action === 'closed' && merged;",
    replace: 'const mergedNow = merged;',
  },
  {
    row: 'EVT-2',
    file: 'packages/monitor/src/log/month-file.ts',
    find: 'return `${new Date(time).toISOString().slice(0, 7)}.jsonl`;',
    replace:
      "return `${new Date(time).getFullYear()}-${String(new Date(time).getMonth() + 1).padStart(2, '0')}.jsonl`;",
  },
  {
    row: 'TOP-18',
    file: 'packages/core/src/receive/map-tracker.ts',
    find: "if (Object.hasOwn(updatedFrom, 'stateId')) return",
    replace: "if (Object.hasOwn(updatedFrom, 'stateId') && !Object.hasOwn(updatedFrom, 'priority')) return",
  },
  {
    row: 'TOP-19',
    named: '.event | startswith("tracker.")',
    file: 'packages/monitor/src/log/jq-engine.ts',
    find: "answer === 'true'",
    replace: "answer !== 'null'",
  },
  {
    row: 'WAIT-2',
    file: 'packages/monitor/src/cli/verbs/events.ts',
    find: "terminal.err('No such event came in time.');\n    throw new AnswerIsNo();",
    replace: "terminal.err('No such event came in time.');",
  },
  {
    row: 'WAIT-1',
    test: 'packages/monitor/e2e/events.test.ts › waits 600 s unless told otherwise',
    file: 'packages/monitor/src/cli/verbs/events.ts',
    find: 'const DEFAULT_TIMEOUT_S = 600;',
    replace: 'const DEFAULT_TIMEOUT_S = 60;',
  },
];
