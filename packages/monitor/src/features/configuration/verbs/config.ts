// svc config show | explain | validate | set | unset | schema
import { type CommandUnknownOpts, Option } from '@commander-js/extra-typings';
import { openSession } from '../../../cli/kit/session.ts';
import { AnswerIsNo, paint, printJson, printTable, type Terminal } from '../../../cli/kit/terminal.ts';
import { verb, verbGroup } from '../../../cli/kit/verb.ts';
import { type Layer, layers } from '../../../kernel/config/field.ts';
import { formatKey } from '../../../kernel/config/key-path.ts';
import type { LoadedConfig } from '../../../kernel/config/load.ts';
import { formatProblem } from '../../../kernel/config/problems.ts';
import { publicValue, withoutCredentials } from '../../../kernel/config/public-value.ts';
import type { ResolvedValue } from '../../../kernel/config/resolved-value.ts';
import { type ConfigChange, createConfigStore } from '../../../kernel/config/store.ts';
import type { KeyPath } from '../../../kernel/config/tree.ts';
import { Failure } from '../../../kernel/failure.ts';
import { findKey } from '../../configure.ts';
import { addressFingerprint } from '../../feeds/io/address-fingerprint.ts';
import { contracts, jsonSchemaOf } from '../../json-schemas.ts';
import { ruleFilterProblems } from '../checks/files.ts';
import { maskedValue, sourceText } from '../config-report.ts';
import {
  effectText,
  explainLines,
  fieldForWriting,
  type InEffect,
  LIST_KEYS,
  layerForWriting,
  otherInDaemon,
  shownText,
  valueForWriting,
} from './config-text.ts';

const projectOption = () =>
  new Option('--project <folder>', 'project folder (default: found from here upwards)');
const layerOption = () => new Option('--layer <layer>', 'file to write').choices(layers);

export function configVerbs(terminal: Terminal): CommandUnknownOpts {
  return verbGroup(
    'config',
    { summary: 'Show, explain, check and change the configuration', example: 'svc config show' },
    [
      showVerb(terminal),
      explainVerb(terminal),
      validateVerb(terminal),
      setVerb(terminal),
      unsetVerb(terminal),
      schemaVerb(terminal),
    ],
  );
}

function showVerb(terminal: Terminal): CommandUnknownOpts {
  return verb('show', {
    summary: 'Show what is set, and where; secrets are masked',
    details: 'Addresses that grant access are masked too. JSON has every value.',
    example: ['svc config show', 'svc config show --all'],
    route: 'GET /api/config',
  })
    .option('--all', 'also show what is not set, and defaults')
    .option('--json', 'print JSON')
    .addOption(projectOption())
    .action(async (options) => {
      const session = openSession(terminal, options);
      const loaded = await session.load();
      const inDaemon = await otherInDaemon(session.machine, loaded);
      if (options.json) {
        printJson(terminal, {
          files: filesOf(loaded.files),
          values: Object.fromEntries(
            loaded.values.map((value) => [
              value.key,
              {
                value: publicValue(value, addressFingerprint),
                source: sourceText(value),
                ...inDaemonOf(inDaemon, value.key),
              },
            ]),
          ),
          machine: Object.fromEntries(
            session.machine.settings.map(({ variable, value, fromEnvironment }) => [
              variable,
              { value: withoutCredentials(value), fromEnvironment },
            ]),
          ),
          problems: loaded.problems,
        });
        return;
      }
      const shown = loaded.values.filter(
        ({ source: { kind } }) => options.all || (kind !== 'default' && kind !== 'unset'),
      );
      const machine = session.machine.settings.filter(
        ({ fromEnvironment }) => options.all || fromEnvironment,
      );
      printTable(
        terminal,
        shown.map((value) => [value.key, shownText(value), paint(terminal, 'dim', sourceText(value))]),
      );
      if (shown.length > 0 && machine.length > 0) terminal.out('');
      printTable(
        terminal,
        machine.map(({ variable, value, fromEnvironment }) => [
          variable,
          withoutCredentials(value),
          paint(terminal, 'dim', fromEnvironment ? 'environment' : 'default'),
        ]),
      );
      if (!options.all) terminal.err('All others are not set, or have their default: svc config show --all');
      if (inDaemon.size > 0) {
        terminal.out('\nThe daemon uses other values:');
        printTable(
          terminal,
          [...inDaemon.values()].map((entry) => [entry.key, effectText(entry)]),
        );
      }
      for (const problem of loaded.problems)
        if (problem.severity !== 'deprecated') terminal.err(`${problem.severity}: ${formatProblem(problem)}`);
    });
}

function explainVerb(terminal: Terminal): CommandUnknownOpts {
  return verb('explain', {
    summary: 'Explain one value: meaning, source, default',
    details: 'Also lists the other places that were checked for it.',
    example: 'svc config explain svc.tracker.stateMap.research',
    route: 'GET /api/config',
  })
    .argument('<key>', 'key, or group of keys')
    .option('--json', 'print JSON')
    .addOption(projectOption())
    .action(async (key, options) => {
      const answer = findKey(key);
      if (!answer.ok) throw new Failure('usage', answer.message, LIST_KEYS);
      const session = openSession(terminal, options);
      const loaded = await session.load();
      const { files, values } = loaded;
      const { path } = answer.found;
      const asked = values.filter((value) => path.every((segment, index) => value.path[index] === segment));
      if (asked.length === 0)
        throw new Failure('usage', `${key} is not configured.`, `Set it: svc config set ${key} <value>`);
      const inDaemon = await otherInDaemon(session.machine, loaded);
      if (options.json)
        return printJson(
          terminal,
          asked.map((value) => ({ ...explanationOf(value), ...inDaemonOf(inDaemon, value.key) })),
        );
      asked.forEach((value, index) => {
        if (index > 0) terminal.out('');
        for (const line of explainLines(value, files)) terminal.out(line);
        const other = inDaemon.get(value.key);
        if (other !== undefined) terminal.out(`  in effect  ${effectText(other)}`);
      });
    });
}

function validateVerb(terminal: Terminal): CommandUnknownOpts {
  return verb('validate', {
    summary: 'Check all configuration files; exit 1 on a problem',
    details: 'An ignored key is a problem too.',
    example: 'svc config validate',
  })
    .option('--json', 'print JSON')
    .addOption(projectOption())
    .action(async (options) => {
      const loaded = await openSession(terminal, options).load();
      const { files } = loaded;
      const problems = [...loaded.problems, ...(await ruleFilterProblems(loaded.config))];
      const valid = problems.every((problem) => problem.severity === 'deprecated');
      if (options.json) printJson(terminal, { valid, problems, files: filesOf(files) });
      else {
        for (const problem of problems)
          terminal.out(
            `${paint(terminal, problem.severity === 'error' ? 'red' : 'yellow', problem.severity)} ${formatProblem(problem)}`,
          );
        if (valid)
          terminal.out(
            `The configuration is valid. Project file: ${files.project.folder === undefined ? 'none' : files.project.file}`,
          );
      }
      if (!valid) throw new AnswerIsNo();
    });
}

function setVerb(terminal: Terminal): CommandUnknownOpts {
  return verb('set', {
    summary: 'Set a value; - reads a secret from standard input',
    example: [
      'svc config set svc.orchestration.maxParallel 5',
      'svc config set svc.tracker.apiToken - < token.txt',
    ],
  })
    .argument('<key>', 'key; list them: svc config show')
    .argument('<value>', 'value, null, JSON, or - for standard input')
    .addOption(layerOption())
    .addOption(projectOption())
    .action(async (key, text, options) => {
      const { path, field } = fieldForWriting(key);
      const value = await valueForWriting(terminal, key, field, text);
      const layer = layerForWriting(key, field, options.layer);
      const session = openSession(terminal, options);
      const before = await session.load();
      const store = createConfigStore({ locks: session.locks, files: before.files });
      const changes = [{ layer, path, value, key }, ...teamOfSecrets(path, layer, value, before)];
      for (const [at, together] of Map.groupBy(changes, (change) => change.layer)) {
        const file = await store.setMany(at, together);
        for (const change of together) terminal.out(`${change.key} is set in ${file}`);
      }
      const after = await session.load();
      warnOfHidden(terminal, before.values, after.values);
      const known = new Set(before.problems.map(formatProblem));
      for (const problem of after.problems.filter((one) => !known.has(formatProblem(one))))
        terminal.err(`warning: ${formatProblem(problem)}`);
    });
}

function unsetVerb(terminal: Terminal): CommandUnknownOpts {
  return verb('unset', {
    summary: 'Remove a value; exit 1 when it was not set there',
    example: 'svc config unset svc.orchestration.maxParallel',
  })
    .argument('<key>')
    .addOption(layerOption())
    .addOption(projectOption())
    .action(async (key, options) => {
      const { path, field } = fieldForWriting(key);
      const layer = layerForWriting(key, field, options.layer);
      const session = openSession(terminal, options);
      const before = await session.load();
      const store = createConfigStore({ locks: session.locks, files: before.files });
      const { file, removed } = await store.unset(layer, path);
      for (const beside of teamOfSecrets(path, layer, undefined, before))
        await store.unset(beside.layer, beside.path);
      terminal.out(removed ? `${key} is removed from ${file}` : `${key} is not set in ${file}`);
      if (!removed) throw new AnswerIsNo();
    });
}

function schemaVerb(terminal: Terminal): CommandUnknownOpts {
  return verb('schema', {
    summary: 'Print the JSON Schema of a configuration file',
    example: 'svc config schema project',
  })
    .argument('<layer>', layers.join(', '))
    .action((layer) => {
      const contract = contracts.get(`config-${layer}`);
      if (contract === undefined)
        throw new Failure('usage', `Unknown layer ${layer}. Use one of ${layers.join(', ')}.`);
      printJson(terminal, jsonSchemaOf(contract()));
    });
}

/** The project's secrets file has the tracker's token and the team of the project file, or neither. */
function teamOfSecrets(
  path: KeyPath,
  layer: Layer,
  value: unknown,
  { values, files }: LoadedConfig,
): (ConfigChange & { layer: Layer; key: string })[] {
  const { ownFile } = files.secrets;
  const team = values.find(({ key }) => key === 'svc.tracker.teamKey');
  if (ownFile === undefined || team === undefined) return [];
  const isThere = team.lookedAt.some(({ where, found }) => found && where.startsWith(ownFile));
  const change = { layer: 'secrets' as const, path: team.path, key: team.key };
  if (layer === 'secrets' && formatKey(path) === 'svc.tracker.apiToken' && team.value !== undefined)
    return [{ ...change, value: team.value }];
  if (layer === 'project' && formatKey(path) === team.key && isThere && value !== undefined)
    return [{ ...change, value }];
  return [];
}

/** The secrets file is used whole or not at all, so creating it can hide values of the global file. */
function warnOfHidden(
  terminal: Terminal,
  before: readonly ResolvedValue[],
  after: readonly ResolvedValue[],
): void {
  const left = new Set(after.filter((value) => value.value !== undefined).map((value) => value.key));
  const hidden = before
    .filter((value) => value.value !== undefined && !left.has(value.key))
    .map((value) => value.key);
  if (hidden.length === 0) return;
  terminal.err(
    `warning: the project now has its own secrets file, so these values of the global file no longer apply to it: ${hidden.join(', ')}. Set them again: svc config set <key> -`,
  );
}

/** Only where the daemon uses another value. */
function inDaemonOf(inDaemon: InEffect, key: string): { inDaemon?: object } {
  const entry = inDaemon.get(key);
  if (entry === undefined) return {};
  return { inDaemon: { value: entry.value, source: entry.source.text, why: entry.differs } };
}

function explanationOf(value: ResolvedValue): Record<string, unknown> {
  const { key, field, source, lookedAt } = value;
  const masked = field.secret ? lookedAt.map(({ value: _, ...rest }) => rest) : lookedAt;
  return {
    key,
    value: maskedValue(value),
    source,
    default: field.default ?? null,
    description: field.description,
    expects: field.expects,
    lookedAt: masked,
  };
}

function filesOf(
  files: Awaited<ReturnType<ReturnType<typeof openSession>['load']>>['files'],
): Record<string, string | null> {
  return {
    project: files.project.folder === undefined ? null : files.project.file,
    secrets: files.secrets.file,
    global: files.global,
  };
}
