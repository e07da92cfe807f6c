// What the configuration says of a project's setup: where it is, what is wrong with it, and the values that
// everything else depends on. A problem is told once, at the check that it belongs to.
import { type ConfigProblem, isPlainWord, reportProblem } from '../config/problems.ts';
import type { Resolution } from '../config/resolve.ts';
import type { ResolvedValue } from '../config/resolved-value.ts';
import type { Config } from '../config/schema/config.ts';
import { unknownStates } from '../tracker/ticket-phase.ts';
import { canonicalKey } from '../vendor-names.ts';
import type { SetupCheck, SetupFinding } from './finding.ts';

export type ProjectFilePlace = { folder: string | undefined; file: string; lookedAt: readonly string[] };

type Said = Omit<SetupFinding, 'check'>;
type Read = (key: string) => unknown;
type Judge = (read: Read, values: readonly ResolvedValue[]) => Said[];
type StateMap = Config['svc']['tracker']['stateMap'];

const judges: readonly (readonly [SetupCheck, Judge])[] = [
  ['project-key', projectKey],
  ['ticket-prefix', ticketPrefix],
  ['state-map', stateMap],
  ['state-ids', stateIds],
];

export function configurationFindings(
  place: ProjectFilePlace,
  { values, problems }: Pick<Resolution, 'values' | 'problems'>,
): SetupFinding[] {
  const byKey = new Map(values.map(({ key, value }) => [key, value]));
  const byCheck = Map.groupBy(problems, checkOfProblem);
  const isUnreadable = problems.some(
    ({ file, code }) => file === place.file && (code === 'not-json' || code === 'unreadable'),
  );
  // What a file that is not there, or cannot be read, would have said is not known.
  const judged = place.folder === undefined || isUnreadable ? [] : judges;
  const all: readonly (readonly [SetupCheck, Judge])[] = [
    ['project-file', () => [projectFile(place)]],
    ['configuration', () => [{ level: 'ok', found: 'no problems in the configuration files' }]],
    ...judged,
  ];
  return all.flatMap(([check, judge]) => {
    const own = (byCheck.get(check) ?? []).map(problemFinding);
    // Where a value is known to be wrong, nothing more is said of it.
    if (own.some(({ level }) => level === 'error')) return own;
    const said = judge((key) => byKey.get(key), values).map((one): SetupFinding => ({ check, ...one }));
    return own.length === 0 ? said : [...own, ...said.filter(({ level }) => level !== 'ok')];
  });
}

function projectFile({ folder, file, lookedAt }: ProjectFilePlace): Said {
  if (folder === undefined) {
    return {
      level: 'error',
      found: `there is no project here; looked at ${lookedAt.join(', ')}`,
      remedy: 'Run this in a project, or make one: svc config set svc.projectKey <name>',
    };
  }
  if (!file.endsWith('/.claude/config.json')) return { level: 'ok', found: file };
  return {
    level: 'ok',
    found: `${file}, the older place, which is still read`,
    remedy: 'To move it: mkdir -p .svc && git mv .claude/config.json .svc/config.json',
  };
}

function projectKey(read: Read): Said[] {
  const key = read('svc.projectKey');
  if (typeof key === 'string') return [{ level: 'ok', found: key }];
  return [
    {
      level: 'error',
      found: 'svc.projectKey is not set; the secrets file and the worktrees are found by it',
      remedy: 'Run: svc config set svc.projectKey <name>',
    },
  ];
}

/** That the two differ is a problem of the configuration, and told as one. */
function ticketPrefix(read: Read): Said[] {
  const [prefix, team] = [read('svc.project.ticketPrefix'), read('svc.tracker.teamKey')];
  if (typeof prefix === 'string' && typeof team === 'string')
    return [{ level: 'ok', found: `${prefix}, equal to the team key` }];
  const [missing, other] =
    typeof prefix === 'string' ? ['svc.tracker.teamKey', prefix] : ['svc.project.ticketPrefix', team];
  if (typeof other !== 'string') {
    return [
      {
        level: 'warning',
        found: 'neither svc.project.ticketPrefix nor svc.tracker.teamKey is set; tickets are not followed',
        remedy:
          'Run: svc config set svc.project.ticketPrefix <KEY> && svc config set svc.tracker.teamKey <KEY>',
      },
    ];
  }
  const key = isPlainWord(other) ? other : '<KEY>';
  return [
    {
      level: 'warning',
      found: `${missing} is not set; it must equal ${JSON.stringify(other)}`,
      remedy: `Run: svc config set ${missing} ${key}`,
    },
  ];
}

function stateMap(read: Read, values: readonly ResolvedValue[]): Said[] {
  // Resolved values are whole: each phase has one, if only its default.
  const map = Object.fromEntries(
    values
      .filter(({ key }) => key.startsWith('svc.tracker.stateMap.'))
      .map(({ path, value }) => [path.at(-1), value]),
  ) as StateMap;
  const cached = Object.keys(recordOf(read('svc.tracker.stateIds')));
  const unknown = cached.length === 0 ? [] : unknownStates(map, cached);
  if (unknown.length > 0) {
    return unknown.map(({ phase, name }) => ({
      level: 'warning',
      found: `svc.tracker.stateMap.${phase} is ${JSON.stringify(name)}, and the team has no such state`,
      remedy: `Run: resolve-tracker-ids.sh --force, or name another: svc config set svc.tracker.stateMap.${phase} <state>`,
    }));
  }
  const words = Object.entries(map).map(([phase, name]) => `${phase}: ${name ?? 'skipped'}`);
  return [{ level: 'ok', found: words.join(', ') }];
}

function stateIds(read: Read): Said[] {
  const count = Object.keys(recordOf(read('svc.tracker.stateIds'))).length;
  if (count > 0 && typeof read('svc.tracker.teamId') === 'string')
    return [{ level: 'ok', found: `the team and ${count} states are cached` }];
  if (typeof read('svc.tracker.teamKey') !== 'string')
    return [{ level: 'ok', found: 'not cached; there is no team' }];
  return [
    {
      level: 'warning',
      found: `the ids of the ${count > 0 ? 'team' : 'states'} are not cached; states are set by name`,
      remedy: 'Run: resolve-tracker-ids.sh',
    },
  ];
}

function recordOf(value: unknown): Record<string, unknown> {
  return typeof value === 'object' && value !== null ? { ...value } : {};
}

// A problem of the configuration as a finding, at the check that it belongs to.

const checkOfKey: readonly (readonly [key: string, check: SetupCheck])[] = [
  ['svc.projectKey', 'project-key'],
  ['svc.project.ticketPrefix', 'ticket-prefix'],
  ['svc.tracker.teamKey', 'ticket-prefix'],
  ['svc.tracker.stateMap', 'state-map'],
  ['svc.tracker.stateIds', 'state-ids'],
  ['svc.tracker.teamId', 'state-ids'],
];

export function checkOfProblem({ key, code }: ConfigProblem): SetupCheck {
  if (code === 'secret-in-project-file') return 'configuration';
  const canonical = canonicalKey(key);
  const home = checkOfKey.find(([start]) => canonical === start || canonical.startsWith(`${start}.`));
  return home?.[1] ?? 'configuration';
}

export function problemFinding(problem: ConfigProblem): SetupFinding {
  const { code, file, line, key } = problem;
  const { severity, text, remedy } = reportProblem(problem);
  return {
    check: checkOfProblem(problem),
    level: severity === 'error' ? 'error' : 'warning',
    found: text,
    remedy,
    problem: { code, file, line, key },
  };
}
