// Mutations of the daemon, its command line and telemetry.
import type { Mutation } from '../mutation.ts';

export const daemon: readonly Mutation[] = [
  {
    row: 'SVC-5',
    test: 'packages/monitor/e2e/http.test.ts › it listens on 127.0.0.1 only',
    file: 'packages/monitor/src/http/server.ts',
    find: "await app.listen({ host: '127.0.0.1', port });",
    replace: "await app.listen({ host: '0.0.0.0', port });",
    harm: 'The daemon of a laptop answers everybody in the café.',
  },
  {
    row: 'ERR-12',
    test: 'packages/monitor/src/cli/verbs/monitor.test.ts › status --json of a stopped daemon',
    file: 'packages/monitor/src/cli/verbs/monitor.ts',
    find: 'if (!report.running) throw new AnswerIsNo();',
    replace: '',
    harm: 'A script takes a stopped daemon for a running one.',
  },
  {
    row: 'LIM-13',
    test: 'packages/monitor/src/cli/verbs/monitor.test.ts › status in words says how to start it',
    file: 'packages/monitor/src/config/environment.ts',
    find: "setting('SVC_MONITOR_PORT', '7400',",
    replace: "setting('SVC_MONITOR_PORT', '7401',",
    harm: 'Nothing that was set up for the usual port finds the daemon.',
  },
  {
    row: 'VER-4',
    test: "packages/monitor/src/daemon/version-drift.test.ts › describe('drift'",
    named: 'drift%s',
    file: 'packages/monitor/src/daemon/version-drift.ts',
    find: 'versions.toSorted(compareBuild)',
    replace: 'versions.toSorted()',
    harm: 'Version 0.9 is newer than 0.10, and the warning never ends or never comes.',
  },
  {
    row: 'LIVE-5',
    test: 'packages/core/src/setup/liveness-mode.test.ts › SVC_AUTONOMOUS %s: interactive %s',
    file: 'packages/core/src/setup/liveness-mode.ts',
    find: "return given.inputIsTerminal && (given.autonomous ?? '') === '';",
    replace: 'return given.inputIsTerminal;',
    harm: 'A run that nobody watches waits for an answer.',
  },
  {
    row: 'OTP-3',
    test: 'packages/core/src/telemetry/backends.test.ts › off unless it is switched on, and with a remedy',
    file: 'packages/core/src/telemetry/backends.ts',
    find: 'const enabled = configs.filter(({ otel }) => otel.enabled);',
    replace: 'const enabled = configs;',
    harm: 'A backend is asked that was switched off.',
  },
  {
    row: 'TEL-4',
    test: 'packages/core/src/telemetry/resource-attributes.test.ts › the ticket key is %s',
    file: 'packages/core/src/telemetry/resource-attributes.ts',
    find: 'ticketNamed(branch ?? undefined, undefined, ticketPrefixes) ?? facts.ticket,',
    replace: 'facts.ticket ?? ticketNamed(branch ?? undefined, undefined, ticketPrefixes),',
    harm: 'The cost of one ticket is written on another.',
  },
];
