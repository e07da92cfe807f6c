// docs/reference/config.md: every key of the configuration, from the fields in core, and every setting of the machine.
import { allFields, type CataloguedField, deprecations, formatKey, type Layer } from '@svc/core';
import { readMachine } from '../../../packages/monitor/src/config/environment.ts';
import { code, codes, page, table, words } from './markdown.ts';

const layerWords: Record<Layer, string> = { project: 'project', secrets: 'secrets', global: 'global' };

/** How a name from outside is written in a key. */
const placeholders: readonly [prefix: string, name: string][] = [
  ['svc.deploy.', '<owner/repo>'],
  ['svc.ai.providers.', '<provider>'],
];

export function configPage(): string {
  const groups = Map.groupBy(allFields(), ({ path }) => path.slice(0, path[0] === 'svc' ? 2 : 1).join('.'));
  return page('Configuration', intro, [
    whenItCounts,
    ...[...groups].map(([name, fields]) => `## ${name}\n\n${fieldTable(fields)}`),
    `## Variables of the machine\n\nOnly the environment gives these, when the daemon is started. \`svc config show\` prints them with their values.\n\n${machineTable()}`,
    `## Old names\n\nStill read until the version in the last column. \`svc-monitor.sh start\` and \`svc config validate\` warn of them.\n\n${deprecatedTable()}`,
  ]);
}

const intro = [
  'Every key, from the schemas in `packages/core`. `svc config explain <key>` says the same of one key, with the value that holds and the file that it comes from.',
  table(
    ['File', 'Where', 'Committed'],
    [
      ['project', '`.svc/config.json` in the repository', 'yes'],
      ['secrets', '`~/.config/svc/config-<projectKey>.json`, mode 600', 'never'],
      ['global', '`~/.config/svc/config.json`, mode 600', 'never'],
    ],
  ),
  'Where a key names several files, the first that has it wins; a variable wins over every file. `false` and `null` are values: they do not fall through to the default. Change a key with `svc config set <key> <value>`; a secret is read from standard input: `svc config set <key> -`.',
];

const whenItCounts = `## When a change counts

The daemon looks at the files twice a second and applies what changed, without a restart and without losing a delivery. The line \`monitor.config.applied\` in the event log names the keys. This holds for every key of every file: deploy policy, state map, worker command, limits of the orchestrator, rules and their commands, notifiers, AI providers, metrics and log backends, watched repositories, relay channels, the names of secret variables, and the list of projects.

A restart (\`svc-monitor.sh restart\`) is needed for what comes from the environment:

- \`SVC_MONITOR_PORT\`, \`SVC_DATA_DIR\` and the other variables of the machine below;
- the values of secrets: the variables that \`webhookSecretEnv\`, \`relayReadKeyEnv\` and \`apiKeyEnv\` name, and the secret files that \`svc-monitor.sh start\` fills them from;
- every variable that wins over a key.

**A value that is wrong costs its own key.** The last valid value of that key stays in effect, also over a restart, and the project is never dropped. The problem is an item in \`svc attention\` (\`config-invalid\`), and stands in \`svc-monitor.sh status\`, \`svc doctor\`, \`GET /api/health\` and on the dashboard. \`svc config show\`, \`svc config explain\` and \`GET /api/config\` show the value that the daemon uses beside what the file gives (\`last-good\`, \`differs\`). Where no valid value was ever known, a deploy policy is unknown, and merges wait.`;

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
    ['Key', 'In', 'What to do', 'Read until'],
    deprecations.map(({ key, layers, remedy, removedIn }) => [
      code(key),
      codes(layers.map((layer) => layerWords[layer])).replaceAll('`', ''),
      words(remedy),
      removedIn,
    ]),
  );
}
