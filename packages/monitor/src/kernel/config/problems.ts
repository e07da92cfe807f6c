// What can be wrong with a configuration. `error`: the configuration cannot be used until it is fixed. `ignored`: an
// unknown key. `deprecated`: a key that still works, but will be removed.
import { withoutCredentials } from './public-value.ts';
import type { ReportedProblem } from './reported-problem.ts';
import type { ResolvedValue } from './resolved-value.ts';

type Severity = 'error' | 'ignored' | 'deprecated';

export type ConfigProblem = {
  severity: Severity;
  code:
    | 'not-json'
    | 'unreadable'
    | 'not-written'
    | 'wrong-type'
    | 'wrong-name'
    | 'unknown-key'
    | 'wrong-file'
    | 'given-twice'
    | 'secret-in-project-file'
    | 'deprecated'
    | 'contradiction'
    | 'incomplete';
  /** The file, or `environment`. */
  file: string;
  line?: number | undefined;
  key: string;
  message: string;
  remedy?: string | undefined;
};

export function reportProblem(problem: ConfigProblem): ReportedProblem {
  return {
    severity: problem.severity,
    file: problem.file,
    text: formatProblem({ ...problem, remedy: undefined }),
    remedy: problem.remedy ?? remedyFor(problem),
  };
}

function remedyFor({ severity, key }: ConfigProblem): string {
  if (key === '') return 'Fix the file, then run: svc config validate';
  if (severity !== 'error') return 'Remove it from the file.';
  return isPlainWord(key) ? `See the allowed values: svc config explain ${key}` : 'Run: svc config validate';
}

/** Safe in a command that a person copies and pastes. */
export function isPlainWord(text: string): boolean {
  return /^[A-Za-z0-9][A-Za-z0-9._-]{0,99}$/.test(text);
}

/** One line for a person: `place: key: message remedy`. */
export function formatProblem(problem: ConfigProblem): string {
  const place = problem.line === undefined ? problem.file : `${problem.file}:${problem.line}`;
  const key = problem.key === '' ? '' : ` ${problem.key}:`;
  const remedy = problem.remedy === undefined ? '' : ` ${problem.remedy}`;
  return `${place}:${key} ${problem.message}${remedy}`;
}

/** Describes a value in a message: short, and never the text of a possible secret. */
export function describeFound(value: unknown, secret = false): string {
  if (value === undefined) return 'nothing';
  if (value === null) return 'null';
  if (Array.isArray(value)) return value.length === 0 ? 'an empty list' : `a list of ${value.length}`;
  if (typeof value === 'object') return 'an object';
  if (typeof value !== 'string') return `${typeof value} ${JSON.stringify(value)}`;
  if (secret) return 'a string';
  const shown = withoutCredentials(value);
  return shown.length > 60 ? `a string of ${value.length} characters` : `string ${JSON.stringify(shown)}`;
}

/** Where a value stands. */
export function placeOf({ key, source }: ResolvedValue): Pick<ConfigProblem, 'file' | 'line' | 'key'> {
  if (source.kind === 'file') return { file: source.file, line: source.line, key };
  return { file: source.kind === 'environment' ? 'environment' : 'configuration', key };
}

/** A block that works only as a whole: setting one of these keys requires all of them. */
export function allOrNone(keys: readonly string[]): (values: readonly ResolvedValue[]) => ConfigProblem[] {
  return (values) => {
    const byKey = new Map(values.map((value) => [value.key, value]));
    const given = keys.flatMap((key) => byKey.get(key) ?? []).filter((value) => value.value !== undefined);
    const [first] = given;
    if (first === undefined || given.length === keys.length) return [];
    const missing = keys.filter((key) => byKey.get(key)?.value === undefined);
    const message = `is set, but ${missing.join(' and ')} is not; set all of them or none.`;
    return [{ ...placeOf(first), severity: 'error', code: 'incomplete', message }];
  };
}
