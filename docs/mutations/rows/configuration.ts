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
    harm: 'Who asked for a proof of the deploy gets none, and "done" means nothing.',
  },
  {
    row: 'CFG-18',
    test: 'packages/core/src/config/resolve.test.ts › a null in stateMap skips, and does not become the default',
    file: 'packages/core/src/config/resolve.ts',
    find: 'if (winner) return { ...base, value: winner.value, source: sourceOf(winner) };',
    replace:
      'if (winner) return { ...base, value: winner.value ?? field.default, source: sourceOf(winner) };',
    harm: 'Tickets are moved that were to be left alone.',
  },
  {
    row: 'CFG-4',
    test: 'packages/core/src/config/resolve.test.ts › secrets of the global file count only where the project has no file of its own',
    file: 'packages/core/src/config/resolve.ts',
    find: '(entry) => entry.deprecation !== undefined || entry.file.reads.includes(entry.layer),',
    replace: '() => true,',
    harm: "One project works with another one's token.",
  },
  {
    row: 'ENV-4',
    test: 'packages/core/src/config/fields.test.ts › its environment variable wins over the file',
    file: 'packages/core/src/config/resolve.ts',
    find: 'if (fromEnvironment) return',
    replace: 'if (fromEnvironment && ranked.length === 0) return',
    harm: 'A variable that was set for this once changes nothing.',
  },
  {
    row: 'AUTH-5',
    test: 'packages/core/src/config/resolve.test.ts › a tracker token in the project file is an error with the remedy',
    file: 'packages/core/src/config/read-file.ts',
    find: "if (file.layers.includes('project')) findSecrets(",
    replace: "if (file.layers.includes('secrets')) findSecrets(",
    harm: 'A token is committed, and nobody says so.',
  },
  {
    row: 'CFG-16',
    test: 'packages/core/src/config/resolve.test.ts › teamKey must equal ticketPrefix',
    file: 'packages/core/src/config/checks.ts',
    find: '    ...teamKeyIsTicketPrefix(byKey),\n',
    replace: '',
    harm: 'Tickets of the team are taken for nobody’s, without a word.',
  },
  {
    row: 'LIM-5',
    test: "packages/core/src/config/fields.test.ts › { key: deploy('timeoutSec'), layer: 'project', default: 1800",
    named: 'svc.deploy.acme/web.timeoutSec',
    file: 'packages/core/src/config/schema/deploy.ts',
    find: 'default: 1800,',
    replace: 'default: 18_000,',
    harm: 'A deploy that never comes is noticed after five hours.',
  },
  {
    row: 'VER-1',
    test: 'packages/core/src/config/fields.test.ts › is still read, with one warning that names the replacement',
    file: 'packages/core/src/config/read-file.ts',
    find: 'if (deprecation) reading.problems.push(deprecated(file, written, deprecation));',
    replace: '',
    harm: 'The next release stops reading a name that nobody was warned of.',
  },
  {
    row: 'CFG-24',
    test: 'packages/monitor/src/cli/verbs/config.test.ts › the secrets file names the team of its token',
    file: 'packages/core/src/config/resolve.ts',
    find: ', ...trackerSecrets(readings.flatMap((reading) => reading.entries))',
    replace: '',
    harm: 'A token of one team is used for another one’s tickets.',
  },
  {
    row: 'VER-2',
    test: 'packages/monitor/e2e/status.test.ts › a name that is deprecated is reported by start and by validate, and by nothing else',
    file: 'packages/monitor/src/cli/session.ts',
    find: "if (problem.severity !== 'deprecated') terminal.err(",
    replace: 'terminal.err(',
    harm: 'A warning on every command is read by nobody.',
  },
];
