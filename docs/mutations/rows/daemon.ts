// Mutations of the daemon, its command line and telemetry.
import type { Mutation } from '../mutation.ts';

export const daemon: readonly Mutation[] = [
  {
    row: 'SVC-5',
    file: 'packages/monitor/src/http/server.ts',
    find: "await app.listen({ host: '127.0.0.1', port });",
    replace: "await app.listen({ host: '0.0.0.0', port });",
  },
  {
    row: 'ERR-12',
    test: 'packages/monitor/src/cli/verbs/monitor.test.ts › status --json of a stopped daemon',
    file: 'packages/monitor/src/cli/verbs/monitor.ts',
    find: 'if (!report.running) throw new AnswerIsNo();',
    replace: '',
  },
  {
    row: 'LIM-13',
    file: 'packages/monitor/src/config/environment.ts',
    find: "setting('SVC_MONITOR_PORT', '7400',",
    replace: "setting('SVC_MONITOR_PORT', '7401',",
  },
  {
    row: 'VER-4',
    named: 'drift%s',
    file: 'packages/monitor/src/control/version-drift.ts',
    find: 'versions.toSorted(compareBuild)',
    replace: 'versions.toSorted()',
  },
  {
    row: 'LIVE-5',
    file: 'packages/core/src/setup/liveness-mode.ts',
    find: "return given.inputIsTerminal && (given.autonomous ?? '') === '';",
    replace: 'return given.inputIsTerminal;',
  },
  {
    row: 'OTP-3',
    test: 'packages/core/src/telemetry/backends.test.ts › off unless it is switched on, and with a remedy',
    file: 'packages/core/src/telemetry/proxy-request.ts',
    find: 'const enabled = configs.filter(({ otel }) => otel.enabled);',
    replace: 'const enabled = configs;',
  },
  {
    row: 'TEL-4',
    file: 'packages/core/src/telemetry/resource-attributes.ts',
    find: 'ticketNamed(branch ?? undefined, undefined, ticketPrefixes) ?? facts.ticket,',
    replace: 'facts.ticket ?? ticketNamed(branch ?? undefined, undefined, ticketPrefixes),',
  },
  {
    row: 'CLI-1',
    test: 'packages/monitor/e2e/status.test.ts › status names every problem with its remedy',
    file: 'packages/monitor/src/cli/verbs/monitor.ts',
    find: '  for (const problem of health?.problems ?? []) printFinding(terminal, problem);\n',
    replace: '',
  },
];
