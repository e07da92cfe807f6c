// Names from users that become a branch and a folder: git's rules for a branch, some of our own, and a folder name that
// can only be one folder. Everything else is rejected with the reason.
import { hashText, utf8 } from '@svc/lib/hash-text';

const LONGEST = 200;
/** A part of the name is a file name for git, which also adds `.lock` to it. */
const LONGEST_PART_BYTES = 240;
const FOLDER_WORDS = 80;

export type WorktreeName =
  | { ok: true; branch: string; folder: string }
  /** A clause that follows the name: `starts with a dash`. */
  | { ok: false; problem: string };

/**
 * `worktreeNameOf('ABC-12')` is branch and folder `ABC-12`; the folder of `feat/login` has a hash of the whole name at
 * its end, so two branches never share a folder.
 */
export function worktreeNameOf(text: string): WorktreeName {
  const problem = branchNameProblem(text);
  return problem === undefined
    ? { ok: true, branch: text, folder: folderNameOf(text) }
    : { ok: false, problem };
}

/** Why the text is not a branch name; undefined if it is one. */
export function branchNameProblem(text: string): string | undefined {
  if (text === '') return 'is empty';
  if (text.length > LONGEST) return `has ${text.length} characters; at most ${LONGEST} are allowed`;
  return rules.find(([pattern]) => pattern.test(text))?.[1] ?? partProblem(text);
}

const rules: readonly (readonly [RegExp, string])[] = [
  [/^-/, 'starts with a dash'],
  [/[\p{Cc}\p{Zl}\p{Zp}]/u, 'contains a line break or another control character'],
  [/[\p{Cf}\p{Cs}]/u, 'contains an invisible character'],
  [/\p{Zs}/u, 'contains a space'],
  [/\.\./, 'contains two dots in a row'],
  [/[~^:?*[\\]/, 'contains one of the characters ~ ^ : ? * [ \\'],
  [/@\{/, 'has @{'],
  [/^\/|\/\/|\/$/, 'has an empty part between slashes'],
  [/\.$/, 'ends with a dot'],
  [/^(?:@|HEAD|refs\/.*)$/, 'has a special meaning in git'],
  // Git would read such a name as a commit.
  [/^(?:[0-9a-f]{40}|[0-9a-f]{64})$/i, 'looks like a commit id'],
];

function partProblem(text: string): string | undefined {
  for (const part of text.split('/')) {
    if (part.startsWith('.')) return 'has a part that starts with a dot';
    if (part.endsWith('.lock')) return 'has a part that ends with .lock';
    if (utf8Length(part) > LONGEST_PART_BYTES)
      return `has a part of more than ${LONGEST_PART_BYTES} bytes between slashes`;
  }
  return undefined;
}

const plainFolder = /^[A-Za-z0-9][A-Za-z0-9._-]{0,119}$/;

function folderNameOf(branch: string): string {
  if (plainFolder.test(branch)) return branch;
  const words = branch
    .replaceAll(/[^A-Za-z0-9._-]+/g, '-')
    .replaceAll(/^[^A-Za-z0-9]+|[^A-Za-z0-9]+$/g, '')
    .slice(0, FOLDER_WORDS);
  return `${words === '' ? 'branch' : words}-${markOf(branch)}`;
}

function markOf(text: string): string {
  return hashText(text).toString(16).padStart(16, '0').slice(0, 10);
}

function utf8Length(text: string): number {
  return utf8(text).length;
}
