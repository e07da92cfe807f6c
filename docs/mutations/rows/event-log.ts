// Mutations of the event log: one line for each fact, its topic, and waiting for it.
import type { Mutation } from '../mutation.ts';

export const eventLog: readonly Mutation[] = [
  {
    row: 'SVC-6',
    test: 'packages/monitor/e2e/receivers.test.ts › an accepted delivery is one line with topic, source, scope and delivery id',
    file: 'packages/monitor/src/log/writer.ts',
    find: 'await month.write(buffer.subarray(0, bytes));',
    replace: 'await Promise.resolve();',
    harm: 'A delivery is acknowledged and never reaches the disk.',
  },
  {
    row: 'EVT-8',
    test: 'packages/monitor/src/log/dedupe.test.ts › a live delivery that races its replay is one line',
    file: 'packages/monitor/src/log/dedupe.ts',
    find: 'inFlight.set(key, writing);',
    replace: '',
    harm: 'One merge is two, and everything that follows from it is done twice.',
  },
  {
    row: 'EVT-3',
    test: 'packages/monitor/src/daemon/instance.test.ts › a data root has one instance, and another only after it',
    file: 'packages/monitor/src/daemon/instance.ts',
    find: 'if (hold === undefined) return undefined;',
    replace: 'if (hold === undefined) return { announce: async () => undefined, withdraw: () => undefined };',
    harm: 'Two daemons write one log.',
  },
  {
    row: 'EVT-7',
    test: 'packages/core/src/receive/map-codehost.test.ts › merged only on the closed action',
    file: 'packages/core/src/receive/codehost-pull-request.ts',
    find: "const mergedNow = action === 'closed' && merged;",
    replace: 'const mergedNow = merged;',
    harm: 'A label on a merged pull request is a second merge.',
  },
  {
    row: 'EVT-2',
    test: 'packages/monitor/src/log/writer.test.ts › a month ends at midnight UTC',
    file: 'packages/monitor/src/log/month-file.ts',
    find: 'return `${new Date(time).toISOString().slice(0, 7)}.jsonl`;',
    replace:
      "return `${new Date(time).getFullYear()}-${String(new Date(time).getMonth() + 1).padStart(2, '0')}.jsonl`;",
    harm: 'The logs of two machines in two time zones cannot be put side by side.',
  },
  {
    row: 'TOP-18',
    test: 'packages/core/src/receive/map-tracker.test.ts › of several changed fields one decides',
    file: 'packages/core/src/receive/tracker-topic.ts',
    find: "if (Object.hasOwn(updatedFrom, 'stateId')) return",
    replace: "if (Object.hasOwn(updatedFrom, 'stateId') && !Object.hasOwn(updatedFrom, 'priority')) return",
    harm: 'A ticket that is moved and raised at once is not seen to have moved.',
  },
  {
    row: 'TOP-19',
    test: 'packages/monitor/src/log/jq-filter.test.ts › startswith("tracker.")\', [false, true, false]',
    named: '.event | startswith("tracker.")',
    file: 'packages/monitor/src/log/jq-engine.ts',
    find: "answer === 'true'",
    replace: "answer !== 'null'",
    harm: 'Whoever waits for the tracker is woken by everything, or by nothing.',
  },
  {
    row: 'WAIT-2',
    test: 'packages/monitor/e2e/events.test.ts › exits 1 when the time is over',
    file: 'packages/monitor/src/cli/verbs/events.ts',
    find: "terminal.err('No such event came in time.');\n    throw new AnswerIsNo();",
    replace: "terminal.err('No such event came in time.');",
    harm: 'A skill takes a timeout for a merge.',
  },
  {
    row: 'WAIT-1',
    test: 'packages/monitor/e2e/events.test.ts › waits 600 s unless told otherwise',
    file: 'packages/monitor/src/cli/verbs/events.ts',
    find: 'const DEFAULT_TIMEOUT_S = 600;',
    replace: 'const DEFAULT_TIMEOUT_S = 60;',
    harm: 'A waiting skill gives up nine minutes early and asks the code host instead.',
  },
];
