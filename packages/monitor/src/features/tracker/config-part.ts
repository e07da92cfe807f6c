// The team that the tracker's keys name, in the project file and in the file with the token.
import type { ConfigPart } from '../../kernel/config/configuration.ts';
import { formatKey } from '../../kernel/config/key-path.ts';
import { type ConfigProblem, isPlainWord, placeOf } from '../../kernel/config/problems.ts';
import type { FileEntry, ResolvedValue } from '../../kernel/config/resolved-value.ts';

export const trackerConfig: ConfigPart = {
  check: (values, entries) => [...teamKeyIsTicketPrefix(values), ...trackerSecrets(entries)],
};

function teamKeyIsTicketPrefix(values: readonly ResolvedValue[]): ConfigProblem[] {
  const byKey = new Map(values.map((value) => [value.key, value]));
  const teamKey = byKey.get('svc.tracker.teamKey');
  const prefix = byKey.get('svc.project.ticketPrefix');
  if (teamKey?.value === undefined || prefix?.value === undefined || teamKey.value === prefix.value)
    return [];
  const message = `is ${JSON.stringify(teamKey.value)}, but svc.project.ticketPrefix is ${JSON.stringify(prefix.value)}; they must be equal.`;
  const remedy = `Run: svc config set svc.project.ticketPrefix ${JSON.stringify(teamKey.value)}`;
  return [{ ...placeOf(teamKey), severity: 'error', code: 'contradiction', message, remedy }];
}

/**
 * The project's own secrets file names the team that its token is for: both or neither, and the same team as in the
 * project file. The global file can hold secrets for projects of several teams, so it is not checked.
 */
function trackerSecrets(entries: readonly FileEntry[]): ConfigProblem[] {
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
