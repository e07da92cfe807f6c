// What would be lost, in words. Names and subjects come from outside: nothing of them may steer the terminal.
import type { Losses } from './inspect.ts';

const NAMED = 10;

export function lossWords(losses: Losses): string[] {
  const { uncommitted, commits, stashes, operation, submodules, findings } = losses;
  return [
    ...part(uncommitted.count, 'uncommitted change', uncommitted.paths),
    ...part(
      commits.count,
      'commit that is on no remote branch and not in the base',
      commits.named.map(({ sha, subject }) => `${sha} ${subject}`),
      'commits that are on no remote branch and not in the base',
    ),
    ...part(
      stashes.length,
      'stash made on this branch',
      stashes.map(({ name, subject }) => `${name} ${subject}`),
      'stashes made on this branch',
    ),
    ...(operation === null ? [] : [`${operation} in the middle`]),
    ...part(submodules.length, 'submodule with changes of its own', submodules, 'submodules with changes'),
    ...part(findings.count, 'finding that is not filed', findings.titles, 'findings that are not filed'),
  ];
}

function part(count: number, one: string, names: readonly string[], many = `${one}s`): string[] {
  if (count === 0) return [];
  const named = names.slice(0, NAMED).map((name) => `  ${plain(name)}`);
  const more = count > named.length ? [`  … and ${count - named.length} more`] : [];
  return [`${count} ${count === 1 ? one : many}:`, ...named, ...more];
}

export function plain(text: string): string {
  return text.replaceAll(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu, '?').slice(0, 200);
}
