// Mutations of configuration: its layers, false that means false, and what is said of mistakes.
import type { Mutation } from '../mutation.ts';

export const configuration: readonly Mutation[] = [
  {
    row: 'CFG-58',
    test: 'packages/core/src/config/resolve.test.ts › skipDeployVerification: false is false',
    file: 'packages/core/src/config/resolve.ts',
    find: 'if (winner) return { ...base, value: winner.value, source: sourceOf(winner) };',
    replace:
      'if (winner) return { ...base, value: winner.value || field.default, source: sourceOf(winner) };',
  },
  {
    row: 'CFG-18',
    test: 'packages/core/src/config/resolve.test.ts › a null in stateMap skips, and does not become the default',
    file: 'packages/core/src/config/resolve.ts',
    find: 'if (winner) return { ...base, value: winner.value, source: sourceOf(winner) };',
    replace:
      'if (winner) return { ...base, value: winner.value ?? field.default, source: sourceOf(winner) };',
  },
  {
    row: 'CFG-4',
    test: 'packages/core/src/config/resolve.test.ts › secrets of the global file count only where the project has no file of its own',
    file: 'packages/core/src/config/resolve.ts',
    find: '(entry) => entry.deprecation !== undefined || entry.file.reads.includes(entry.layer),',
    replace: '() => true,',
  },
  {
    row: 'ENV-4',
    file: 'packages/core/src/config/resolve.ts',
    find: 'if (fromEnvironment) return',
    replace: 'if (fromEnvironment && ranked.length === 0) return',
  },
  {
    row: 'AUTH-5',
    test: 'packages/core/src/config/resolve.test.ts › a tracker token in the project file is an error with the remedy',
    file: 'packages/core/src/config/read-file.ts',
    find: "if (file.layers.includes('project')) findSecrets(",
    replace: "if (file.layers.includes('secrets')) findSecrets(",
  },
  {
    row: 'CFG-16',
    file: 'packages/core/src/config/checks.ts',
    find: '    ...teamKeyIsTicketPrefix(byKey),\n',
    replace: '',
  },
  {
    row: 'LIM-5',
    named: 'svc.deploy.acme/web.timeoutSec',
    file: 'packages/core/src/config/schema/project.ts',
    find: 'default: 1800,',
    replace: 'default: 18_000,',
  },
  {
    row: 'VER-1',
    test: 'packages/core/src/config/fields.test.ts › is still read, with one warning that names the replacement',
    file: 'packages/core/src/config/read-file.ts',
    find: 'if (deprecation) reading.problems.push(deprecated(file, written, deprecation));',
    replace: '',
  },
  {
    row: 'CFG-24',
    file: 'packages/core/src/config/resolve.ts',
    find: ', ...trackerSecrets(readings.flatMap((reading) => reading.entries))',
    replace: '',
  },
  {
    row: 'VER-2',
    test: 'packages/monitor/e2e/status.test.ts › a name that is deprecated is reported by start and by validate, and by nothing else',
    file: 'packages/monitor/src/cli/session.ts',
    find: "if (problem.severity !== 'deprecated') terminal.err(",
    replace: 'terminal.err(',
  },
];
