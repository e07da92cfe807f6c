// Checks that involve more than one value.
import { formatKey } from '../kernel/config/key-path.ts';
import { type ConfigProblem, isPlainWord } from '../kernel/config/problems.ts';
import type { FileEntry } from '../kernel/config/read-file.ts';
import type { ResolvedValue } from '../kernel/config/resolved-value.ts';
import { builtInAgents } from './agents/choice.ts';
import type { Rule } from './rules/config.ts';
import { problemsOfRules } from './rules/rules.ts';
import { type CommandAllowances, isAllowanceName } from './team/command.ts';

/** Blocks that work only as a whole: setting one of these keys requires all of them. */
const together: readonly (readonly string[])[] = [
  ['svc.errorTracking.org', 'svc.errorTracking.project', 'svc.errorTracking.authToken'],
  ['svc.analytics.apiKey', 'svc.analytics.projectId'],
  ['ai.gateway', 'ai.apiKey'],
  ['svc.notify.quietHours.from', 'svc.notify.quietHours.to'],
];

export function crossChecks(values: readonly ResolvedValue[]): ConfigProblem[] {
  const byKey = new Map(values.map((value) => [value.key, value]));
  return [
    ...teamKeyIsTicketPrefix(byKey),
    ...together.flatMap((keys) => allOrNone(keys, byKey)),
    ...providersHaveKeys(values),
    ...rulesCanWork(values),
    ...agentsHaveCommands(values),
    ...allowancesAreTyped(byKey),
  ];
}

function teamKeyIsTicketPrefix(byKey: ReadonlyMap<string, ResolvedValue>): ConfigProblem[] {
  const teamKey = byKey.get('svc.tracker.teamKey');
  const prefix = byKey.get('svc.project.ticketPrefix');
  if (teamKey?.value === undefined || prefix?.value === undefined || teamKey.value === prefix.value)
    return [];
  const message = `is ${JSON.stringify(teamKey.value)}, but svc.project.ticketPrefix is ${JSON.stringify(prefix.value)}; they must be equal.`;
  const remedy = `Run: svc config set svc.project.ticketPrefix ${JSON.stringify(teamKey.value)}`;
  return [{ ...locationOf(teamKey), severity: 'error', code: 'contradiction', message, remedy }];
}

/**
 * The project's own secrets file names the team that its token is for: both or neither, and the same team as in the
 * project file. The global file can hold secrets for projects of several teams, so it is not checked.
 */
export function trackerSecrets(entries: readonly FileEntry[]): ConfigProblem[] {
  const given = (key: string, where: (entry: FileEntry) => boolean): FileEntry | undefined =>
    entries.find((entry) => formatKey(entry.path) === key && where(entry));
  const token = given('svc.tracker.apiToken', isOwn);
  const team = given('svc.tracker.teamKey', isOwn);
  const projectTeam = given('svc.tracker.teamKey', ({ layer }) => layer === 'project')?.value;
  const key = typeof projectTeam === 'string' && isPlainWord(projectTeam) ? projectTeam : '<KEY>';
  const remedy = `Run: svc config set --layer secrets svc.tracker.teamKey ${key}`;
  if (token !== undefined && team === undefined) {
    const message = 'is set, but svc.tracker.teamKey is not in this file; both are required here.';
    return [{ ...locationIn(token), severity: 'error', code: 'incomplete', message, remedy }];
  }
  if (token === undefined && team !== undefined) {
    const message = 'is set, but svc.tracker.apiToken is not in this file; both are required here.';
    const store = 'Run: svc config set svc.tracker.apiToken - < token.txt';
    return [{ ...locationIn(team), severity: 'error', code: 'incomplete', message, remedy: store }];
  }
  if (team === undefined || projectTeam === undefined || team.value === projectTeam) return [];
  const message = `is ${JSON.stringify(team.value)}, but in the project file it is ${JSON.stringify(projectTeam)}; they must be equal.`;
  return [{ ...locationIn(team), severity: 'error', code: 'contradiction', message, remedy }];
}

/** In the project's own secrets file. */
function isOwn({ file }: FileEntry): boolean {
  return file.layers.every((layer) => layer === 'secrets');
}

function locationIn({ file, line, writtenAs }: FileEntry): Pick<ConfigProblem, 'file' | 'line' | 'key'> {
  return { file: file.path, line, key: writtenAs };
}

function allOrNone(keys: readonly string[], byKey: ReadonlyMap<string, ResolvedValue>): ConfigProblem[] {
  const given = keys.flatMap((key) => byKey.get(key) ?? []).filter((value) => value.value !== undefined);
  const [first] = given;
  if (first === undefined || given.length === keys.length) return [];
  const missing = keys.filter((key) => byKey.get(key)?.value === undefined);
  const message = `is set, but ${missing.join(' and ')} is not; set all of them or none.`;
  return [{ ...locationOf(first), severity: 'error', code: 'incomplete', message }];
}

function providersHaveKeys(values: readonly ResolvedValue[]): ConfigProblem[] {
  const given = new Set(values.filter(({ value }) => value !== undefined).map(({ path }) => formatKey(path)));
  return values
    .filter(
      ({ path, value }) =>
        /^svc\.ai\.providers\..+\.apiKeyEnv$/.test(formatKey(path)) &&
        value === undefined &&
        // A base URL in the global or secrets file does not oblige a project to name a key.
        !given.has(formatKey([...path.slice(0, -1), 'baseUrl'])),
    )
    .map((value) => ({
      ...locationOf(value),
      severity: 'error',
      code: 'incomplete',
      message: 'is required for each provider.',
    }));
}

function rulesCanWork(values: readonly ResolvedValue[]): ConfigProblem[] {
  const ofCommands = values.filter(({ path }) => path[1] === 'commands');
  const complete = ofCommands.filter(({ path, value }) => path.at(-1) === 'argv' && value !== undefined);
  const names = new Set(complete.map(({ path }) => path[2] ?? ''));
  const rules = values.filter(({ key }) => key === 'svc.rules');
  return [
    // Only a value that is used counts, not one in a file that may not set it.
    ...ofCommands
      .filter(({ path, source }) => source.kind === 'file' && !names.has(path[2] ?? ''))
      .map((value): ConfigProblem => {
        const message = 'is set, but the command has no argv.';
        return { ...locationOf(value), severity: 'error', code: 'incomplete', message };
      }),
    ...rules.flatMap((value) =>
      problemsOfRules(value.value as readonly Rule[], names).map((problem): ConfigProblem => {
        return { ...locationOf(value), severity: 'error', code: 'contradiction', ...problem };
      }),
    ),
  ];
}

function agentsHaveCommands(values: readonly ResolvedValue[]): ConfigProblem[] {
  const ofAgents = values.filter(({ path }) => path[1] === 'orchestration' && path[2] === 'agents');
  const complete = ofAgents.filter(({ path, value }) => path.at(-1) === 'command' && value !== undefined);
  const names = new Set([...builtInAgents, ...complete.map(({ path }) => path[3] ?? '')]);
  return ofAgents
    .filter(({ path, source }) => source.kind === 'file' && !names.has(path[3] ?? ''))
    .map((value): ConfigProblem => {
      const message = 'is set, but the agent has no command.';
      return { ...locationOf(value), severity: 'error', code: 'incomplete', message };
    });
}

/** Members choose their names, so `kim` alone could become the machine of somebody else. */
function allowancesAreTyped(byKey: ReadonlyMap<string, ResolvedValue>): ConfigProblem[] {
  const value = byKey.get('svc.team.allow');
  if (value?.value === undefined) return [];
  return Object.keys(value.value as CommandAllowances)
    .filter((name) => !isAllowanceName(name))
    .map((name): ConfigProblem => {
      const shown = isPlainWord(name) ? name : '<name>';
      const message = `${JSON.stringify(name)} is a person or a machine: it allows nothing.`;
      const remedy = `Write person:${shown}, machine:${shown}, or id:<id> with an id of: svc team members`;
      return { ...locationOf(value), severity: 'error', code: 'wrong-name', message, remedy };
    });
}

function locationOf({ key, source }: ResolvedValue): Pick<ConfigProblem, 'file' | 'line' | 'key'> {
  if (source.kind === 'file') return { file: source.file, line: source.line, key };
  return { file: source.kind === 'environment' ? 'environment' : 'configuration', key };
}
