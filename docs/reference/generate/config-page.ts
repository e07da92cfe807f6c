// docs/reference/config.md: every key of the configuration, from the fields in core, and every setting of the machine.
import { allFields, deprecations } from '../../../packages/monitor/src/features/configure.ts';
import { readMachine } from '../../../packages/monitor/src/kernel/config/environment.ts';
import type { Layer } from '../../../packages/monitor/src/kernel/config/field.ts';
import { formatKey } from '../../../packages/monitor/src/kernel/config/key-path.ts';
import type { CataloguedField } from '../../../packages/monitor/src/kernel/config/tree.ts';
import { code, codes, page, table, words } from './markdown.ts';

const layerWords: Record<Layer, string> = { project: 'project', secrets: 'secrets', global: 'global' };

/** The placeholder for a user's name in a key. */
const placeholders: readonly [prefix: string, name: string][] = [
  ['svc.deploy.', '<owner/repo>'],
  ['svc.ai.providers.', '<provider>'],
];

export function configPage(): string {
  const groups = Map.groupBy(allFields(), ({ path }) => path.slice(0, path[0] === 'svc' ? 2 : 1).join('.'));
  return page('Configuration', intro, [
    whenItApplies,
    ...[...groups].map(([name, fields]) => `## ${name}\n\n${fieldTable(fields)}`),
    `## Variables of the machine\n\nThese are only read from the environment, when the daemon starts. \`svc config show\` prints them with their values.\n\n${machineTable()}`,
    `## Deprecated keys\n\nThese work until the version in the last column. \`svc-monitor.sh start\` and \`svc config validate\` warn about them.\n\n${deprecatedTable()}`,
  ]);
}

const intro = [
  'Every key, from the schemas of the features. `svc config explain <key>` shows one key, with its current value and the file that sets it.',
  table(
    ['File', 'Where', 'Committed'],
    [
      ['project', '`.svc/config.json` in the repository', 'yes'],
      ['secrets', '`~/.config/svc/config-<projectKey>.json`, mode 600', 'never'],
      ['global', '`~/.config/svc/config.json`, mode 600', 'never'],
    ],
  ),
  'If several files may set a key, the first that does wins; a variable overrides every file. `false` and `null` are values: they do not fall through to the default. Change a key with `svc config set <key> <value>`; a secret is read from standard input: `svc config set <key> -`.',
];

const whenItApplies = `## When a change takes effect

The daemon checks the files twice a second and applies changes without a restart and without losing a delivery. The event \`monitor.config.applied\` lists the changed keys. This applies to every key of every file.

A restart (\`svc-monitor.sh restart\`) is needed for values from the environment:

- \`SVC_MONITOR_PORT\`, \`SVC_DATA_DIR\` and the other machine variables below;
- the values of secrets: the variables that \`webhookSecretEnv\`, \`relayReadKeyEnv\` and \`apiKeyEnv\` name, and the secret files from which \`svc-monitor.sh start\` sets them;
- every variable that overrides a key.

**An invalid value affects only its own key.** The last valid value of that key stays in effect, even after a restart, and the project is never dropped. The problem is an item in \`svc attention\` (\`config-invalid\`), and is shown by \`svc-monitor.sh status\`, \`svc doctor\`, \`GET /api/health\` and on the dashboard. \`svc config show\`, \`svc config explain\` and \`GET /api/config\` show the value that the daemon uses next to the one in the file (\`last-good\`, \`differs\`). If there never was a valid value, a deploy policy is unknown, and merges wait.`;

function fieldTable(fields: readonly CataloguedField[]): string {
  return table(
    ['Key', 'What it does', 'Value', 'Default', 'Files', 'Variable'],
    fields.map(({ path, field }) => [
      code(keyOf(path)),
      words(field.description) + (field.secret === true ? ' (secret)' : ''),
      words(field.expects),
      field.default === undefined ? 'none' : code(JSON.stringify(field.default)),
      field.layers.map((layer) => layerWords[layer]).join(', '),
      field.env === undefined ? '' : code(field.env),
    ]),
  );
}

function keyOf(path: readonly string[]): string {
  const key = formatKey(path);
  const [, name = '<name>'] = placeholders.find(([prefix]) => key.startsWith(prefix)) ?? [];
  return key.replace('<name>', name);
}

function machineTable(): string {
  return table(
    ['Variable', 'What it sets', 'Default'],
    readMachine({}, '~').settings.map(({ variable, description, value }) => [
      code(variable),
      words(description),
      value === '' ? 'none' : code(value),
    ]),
  );
}

function deprecatedTable(): string {
  return table(
    ['Key', 'In', 'What to do', 'Removed in'],
    deprecations.map(({ key, layers, remedy, removedIn }) => [
      code(key),
      codes(layers.map((layer) => layerWords[layer])).replaceAll('`', ''),
      words(remedy),
      removedIn,
    ]),
  );
}
