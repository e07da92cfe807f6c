// Findings about the configuration of a project: its location, its problems, and the values that everything else
// depends on. Each problem is shown once, at the part that it belongs to.
import { canonicalKey } from '@svc/contract/vendor-names';
import {
  type CheckGrade,
  type SetupFinding,
  type SetupPart,
  setupFinding,
} from '../../kernel/check/finding.ts';
import { type ConfigProblem, isPlainWord, reportProblem } from '../../kernel/config/problems.ts';
import type { Resolution } from '../../kernel/config/resolve.ts';
import type { ResolvedValue } from '../../kernel/config/resolved-value.ts';
import type { Config } from '../config.ts';
import { unknownStates } from '../tracker/ticket-phase.ts';
import { DEFAULT_PREFIX, providerOf } from '../tracker/tracker-of.ts';

export type ProjectFilePlace = { folder: string | undefined; file: string; lookedAt: readonly string[] };

type Judgement = [grade: CheckGrade, what: string, remedy?: string];
type Read = (key: string) => unknown;
type Judge = (read: Read, values: readonly ResolvedValue[]) => Judgement[];
type StateMap = Config['svc']['tracker']['stateMap'];

const judges: readonly (readonly [SetupPart, Judge])[] = [
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
  const byPart = Map.groupBy(problems, partOfProblem);
  const isUnreadable = problems.some(
    ({ file, code }) => file === place.file && (code === 'not-json' || code === 'unreadable'),
  );
  // Without a readable file the values in it are unknown.
  const readable = place.folder === undefined || isUnreadable ? [] : judges;
  const all: readonly (readonly [SetupPart, Judge])[] = [
    ['project-file', () => [projectFile(place)]],
    ['configuration', () => [['ok', 'no problems in the configuration files']]],
    ...readable,
  ];
  return all.flatMap(([part, judge]) => {
    const own = (byPart.get(part) ?? []).map(problemFinding);
    // A value with a known problem gets no second finding.
    if (own.some(({ grade }) => grade === 'broken')) return own;
    const judged = judge((key) => byKey.get(key), values).map(
      ([grade, what, remedy]): SetupFinding => setupFinding(part, grade, what, { remedy: remedy ?? null }),
    );
    return own.length === 0 ? judged : [...own, ...judged.filter(({ grade }) => grade !== 'ok')];
  });
}

function projectFile({ folder, file, lookedAt }: ProjectFilePlace): Judgement {
  if (folder === undefined) {
    return [
      'broken',
      `no project found here; checked ${lookedAt.join(', ')}`,
      'Run this in a project, or create one: svc config set svc.projectKey <name>',
    ];
  }
  if (!file.endsWith('/.claude/config.json')) return ['ok', file];
  return [
    'ok',
    `${file}, a deprecated location that still works`,
    'To move it: mkdir -p .svc && git mv .claude/config.json .svc/config.json',
  ];
}

function projectKey(read: Read): Judgement[] {
  const key = read('svc.projectKey');
  if (typeof key === 'string') return [['ok', key]];
  return [
    [
      'broken',
      'svc.projectKey is not set; it locates the secrets file and the worktrees',
      'Run: svc config set svc.projectKey <name>',
    ],
  ];
}

/** If the two differ, the configuration problem reports it. */
function ticketPrefix(read: Read): Judgement[] {
  if (isGithub(read)) return githubPrefix(read);
  const [prefix, team] = [read('svc.project.ticketPrefix'), read('svc.tracker.teamKey')];
  if (typeof prefix === 'string' && typeof team === 'string')
    return [['ok', `${prefix}, equal to the team key`]];
  const [missing, other] =
    typeof prefix === 'string' ? ['svc.tracker.teamKey', prefix] : ['svc.project.ticketPrefix', team];
  if (typeof other !== 'string') {
    return [
      [
        'warning',
        'neither svc.project.ticketPrefix nor svc.tracker.teamKey is set; tickets are not tracked',
        'Run: svc config set svc.project.ticketPrefix <KEY> && svc config set svc.tracker.teamKey <KEY>',
      ],
    ];
  }
  const key = isPlainWord(other) ? other : '<KEY>';
  return [
    [
      'warning',
      `${missing} is not set; it must equal ${JSON.stringify(other)}`,
      `Run: svc config set ${missing} ${key}`,
    ],
  ];
}

function isGithub(read: Read): boolean {
  const keys = ['provider', 'teamKey', 'apiToken', 'githubProject'] as const;
  return providerOf(Object.fromEntries(keys.map((key) => [key, read(`svc.tracker.${key}`)]))) === 'github';
}

function githubPrefix(read: Read): Judgement[] {
  const [org, name] = [read('svc.repository.org'), read('svc.repository.name')];
  const set = read('svc.project.ticketPrefix');
  const prefix = typeof set === 'string' ? set : DEFAULT_PREFIX;
  if (typeof org === 'string' && typeof name === 'string')
    return [['ok', `${prefix}: tickets are the issues of ${org}/${name}`]];
  return [
    [
      'warning',
      'tickets are the issues of a repository, but svc.repository.org or svc.repository.name is not set',
      'Run: svc config set svc.repository.org <owner> && svc config set svc.repository.name <name>',
    ],
  ];
}

function stateMap(read: Read, values: readonly ResolvedValue[]): Judgement[] {
  // Every phase has a resolved value, at least its default.
  const map = Object.fromEntries(
    values
      .filter(({ key }) => key.startsWith('svc.tracker.stateMap.'))
      .map(({ path, value }) => [path.at(-1), value]),
  ) as StateMap;
  const cached = Object.keys(recordOf(read('svc.tracker.stateIds')));
  const unknown = cached.length === 0 ? [] : unknownStates(map, cached);
  if (unknown.length > 0) {
    return unknown.map(
      ({ phase, name }): Judgement => [
        'warning',
        `svc.tracker.stateMap.${phase} is ${JSON.stringify(name)}, but the team has no such state`,
        `Run: svc resolve-tracker-ids --force, or choose another state: svc config set svc.tracker.stateMap.${phase} <state>`,
      ],
    );
  }
  const words = Object.entries(map).map(([phase, name]) => `${phase}: ${name ?? 'skipped'}`);
  return [['ok', words.join(', ')]];
}

function stateIds(read: Read): Judgement[] {
  const count = Object.keys(recordOf(read('svc.tracker.stateIds'))).length;
  if (count > 0 && typeof read('svc.tracker.teamId') === 'string')
    return [['ok', `the team and ${count} states are cached`]];
  if (!isGithub(read) && typeof read('svc.tracker.teamKey') !== 'string')
    return [['ok', 'not cached; no team is configured']];
  return [
    [
      'warning',
      `the ids of the ${count > 0 ? 'team' : 'states'} are not cached; states are set by name`,
      'Run: svc resolve-tracker-ids',
    ],
  ];
}

function recordOf(value: unknown): Record<string, unknown> {
  return typeof value === 'object' && value !== null ? { ...value } : {};
}

// Turns a configuration problem into a finding of the part that it belongs to.

const partOfKey: readonly (readonly [key: string, part: SetupPart])[] = [
  ['svc.projectKey', 'project-key'],
  ['svc.project.ticketPrefix', 'ticket-prefix'],
  ['svc.tracker.teamKey', 'ticket-prefix'],
  ['svc.tracker.stateMap', 'state-map'],
  ['svc.tracker.stateIds', 'state-ids'],
  ['svc.tracker.teamId', 'state-ids'],
];

function partOfProblem({ key, code }: ConfigProblem): SetupPart {
  if (code === 'secret-in-project-file') return 'configuration';
  const canonical = canonicalKey(key);
  const home = partOfKey.find(([start]) => canonical === start || canonical.startsWith(`${start}.`));
  return home?.[1] ?? 'configuration';
}

function problemFinding(problem: ConfigProblem): SetupFinding {
  const { code, file, line, key } = problem;
  const { severity, text, remedy } = reportProblem(problem);
  const grade = severity === 'error' ? 'broken' : 'warning';
  return {
    ...setupFinding(partOfProblem(problem), grade, text, { remedy }),
    problem: { code, file, line, key },
  };
}
