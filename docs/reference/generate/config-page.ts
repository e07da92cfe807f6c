// docs/reference/config.md: every configuration key, from the fields in core, and every environment variable.
import { allFields, type CataloguedField, deprecations, formatKey, type Layer } from '@svc/core';
import { readMachine } from '../../../packages/monitor/src/config/environment.ts';
import { code, codes, page, table, words } from './markdown.ts';

const layerWords: Record<Layer, string> = { project: 'project', secrets: 'secrets', global: 'global' };

/** Placeholders for user-defined names in a key. */
const placeholders: readonly [prefix: string, name: string][] = [
  ['svc.deploy.', '<owner/repo>'],
  ['svc.ai.providers.', '<provider>'],
];

export function configPage(): string {
  const groups = Map.groupBy(allFields(), ({ path }) => path.slice(0, path[0] === 'svc' ? 2 : 1).join('.'));
  return page('Configuration', intro, [
    whenItTakesEffect,
    ...[...groups].map(([name, fields]) => `## ${name}\n\n${fieldTable(fields)}`),
    `## Environment variables\n\nRead when the daemon starts. \`svc config show\` prints their values.\n\n${machineTable()}`,
    `## Old names\n\nRead until the version in the last column. \`svc-monitor.sh start\` and \`svc config validate\` warn about them.\n\n${deprecatedTable()}`,
  ]);
}

const intro = [
  'Every key. `svc config explain <key>` shows one key, its current value and the file that it comes from.',
  table(
    ['File', 'Where', 'Committed'],
    [
      ['project', '`.svc/config.json` in the repository', 'yes'],
      ['secrets', '`~/.config/svc/config-<projectKey>.json`, mode 600', 'never'],
      ['global', '`~/.config/svc/config.json`, mode 600', 'never'],
    ],
  ),
  'If several files may have a key, the first that has it wins; a variable overrides every file. `false` and `null` are values: they do not fall back to the default. Change a key with `svc config set <key> <value>`; a secret is read from standard input: `svc config set <key> -`.',
];

const whenItTakesEffect = `## When a change takes effect

The daemon reads the files twice a second and applies changes to every key of every file, without a restart and without losing a delivery. The event \`monitor.config.applied\` names the keys.

A restart (\`svc-monitor.sh restart\`) is needed for values from the environment:

- \`SVC_MONITOR_PORT\`, \`SVC_DATA_DIR\` and the other environment variables below;
- the values of secrets: the variables that \`webhookSecretEnv\`, \`relayReadKeyEnv\` and \`apiKeyEnv\` name, and the secret files that \`svc-monitor.sh start\` reads them from;
- every variable that overrides a key.

**An invalid value affects only its own key.** The last valid value stays in effect, also after a restart, and the project stays registered. The problem is shown in \`svc attention\` (\`config-invalid\`), \`svc-monitor.sh status\`, \`svc doctor\`, \`GET /api/health\` and on the dashboard. \`svc config show\`, \`svc config explain\` and \`GET /api/config\` show the value that the daemon uses next to the file's (\`last-good\`, \`differs\`). Without a last valid value, a deploy policy is unknown, and merges wait.`;

function fieldTable(fields: readonly CataloguedField[]): string {
  return table(
    ['Key', 'Meaning', 'Value', 'Default', 'Files', 'Variable'],
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
    ['Variable', 'Meaning', 'Default'],
    readMachine({}, '~').settings.map(({ variable, description, value }) => [
      code(variable),
      words(description),
      value === '' ? 'none' : code(value),
    ]),
  );
}

function deprecatedTable(): string {
  return table(
    ['Key', 'In', 'Fix', 'Read until'],
    deprecations.map(({ key, layers, remedy, removedIn }) => [
      code(key),
      codes(layers.map((layer) => layerWords[layer])).replaceAll('`', ''),
      words(remedy),
      removedIn,
    ]),
  );
}
