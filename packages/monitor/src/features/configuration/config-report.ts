// The configuration for people: every value, its source and its default. Secrets are masked here; their text is shown
// nowhere.

import { layerTitles } from '../../kernel/config/field.ts';
import { type ConfigProblem, formatProblem } from '../../kernel/config/problems.ts';
import { type Fingerprint, MASK, publicValue } from '../../kernel/config/public-value.ts';
import type { ResolvedValue, ValueSource } from '../../kernel/config/resolved-value.ts';
import { deprecations } from '../configure.ts';
import { prefixBy } from '../tracker/tracker-of.ts';
import type { ConfigEntry, ProjectEntry } from './api.ts';

export type ProjectList = { projects: ProjectEntry[] };

/** For a user who asks for this one value at their own terminal. */
export function maskedValue({ field, value }: ResolvedValue): unknown {
  return field.secret && value !== undefined ? MASK : (value ?? null);
}

export function sourceText({ source, field }: ResolvedValue): string {
  switch (source.kind) {
    case 'environment':
      return `environment ${source.variable}`;
    case 'file':
      return `${source.file}${source.line === undefined ? '' : `:${source.line}`}${source.deprecated ? ` (deprecated as ${source.writtenAs} here)` : ''}`;
    case 'last-good':
      return `last good value; ${source.file} has no valid one now`;
    case 'default':
      return 'default';
    case 'unset':
      return `not set; belongs in the ${layerTitles[field.layers[0]]}`;
  }
}

export function configEntry(
  resolved: ResolvedValue,
  problems: readonly ConfigProblem[],
  fingerprint: Fingerprint,
): ConfigEntry {
  const { key, field, value, source, lookedAt } = resolved;
  return {
    key,
    value: publicValue(resolved, fingerprint),
    isSet: value !== undefined,
    isSecret: field.secret === true,
    source: {
      kind: source.kind,
      text: sourceText(resolved),
      file: source.kind === 'file' || source.kind === 'last-good' ? source.file : null,
      line: source.kind === 'file' ? (source.line ?? null) : null,
      variable: source.kind === 'environment' ? source.variable : null,
    },
    default: field.default ?? null,
    description: field.description,
    expects: field.expects,
    env: field.env ?? null,
    layers: field.layers,
    lookedAt: lookedAt.map(({ where, found, value: there, note }) => ({
      where,
      found,
      value: publicValue({ ...resolved, value: there }, fingerprint),
      note: note ?? null,
    })),
    deprecated: remedyOf(source),
    differs: whyNotUsed(resolved, problems),
  };
}

function whyNotUsed(
  { key, source, uncertain }: ResolvedValue,
  problems: readonly ConfigProblem[],
): string | null {
  if (source.kind !== 'last-good' && uncertain !== true) return null;
  const around = problems.filter((problem) => `${key}.`.startsWith(`${problem.key}.`) || problem.key === '');
  return around.map(formatProblem).join(' ') || 'the file cannot be read';
}

function remedyOf(source: ValueSource): string | null {
  if (source.kind !== 'file' || !source.deprecated) return null;
  const entry = deprecations.find(({ key }) => key === source.writtenAs);
  return entry?.remedy ?? `${source.writtenAs} is deprecated.`;
}

/** A project as its configuration describes it, even if other parts of that are broken. */
export function projectEntry(folder: string, values: readonly ResolvedValue[]): ProjectEntry {
  const textOf = (key: string): string | null => {
    const value = values.find((one) => one.key === key)?.value;
    return typeof value === 'string' ? value : null;
  };
  const key = textOf('svc.projectKey');
  const [org, name] = [textOf('svc.repository.org'), textOf('svc.repository.name')];
  return {
    id: key ?? folder,
    key,
    name: textOf('svc.project.name'),
    folder,
    repo: org !== null && name !== null ? `${org}/${name}` : null,
    ticketPrefix:
      prefixBy(textOf('svc.project.ticketPrefix') ?? undefined, {
        provider: textOf('svc.tracker.provider') ?? undefined,
        teamKey: textOf('svc.tracker.teamKey') ?? undefined,
        apiToken: textOf('svc.tracker.apiToken') ?? undefined,
        githubProject: textOf('svc.tracker.githubProject') ?? undefined,
      }) ?? null,
  };
}
