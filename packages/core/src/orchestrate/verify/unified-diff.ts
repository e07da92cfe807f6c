// Reads the text of `git diff --unified`. The counts of a hunk's header say where it ends, so that a line of
// content that looks like a header is content. What is not understood is left out and counted.

export type DiffLine = {
  sign: '+' | '-' | ' ';
  text: string;
  /** In the new file; of a removed line, where it would be. */
  line: number;
};

export type DiffFile = {
  /** As it is now; of a deleted file as it was. */
  path: string;
  oldPath: string;
  status: 'added' | 'deleted' | 'modified' | 'renamed';
  binary: boolean;
  hunks: DiffLine[][];
};

export type ParsedDiff = { files: DiffFile[]; notUnderstood: number };

const LONGEST_LINE = 2_000;

export function parseUnifiedDiff(text: string): ParsedDiff {
  const files: DiffFile[] = [];
  let notUnderstood = 0;
  let file: DiffFile | undefined;
  let hunk: DiffLine[] = [];
  let [oldLeft, newLeft, line] = [0, 0, 0];

  for (const raw of text.split('\n')) {
    if (oldLeft > 0 || newLeft > 0) {
      const sign = raw[0] ?? ' ';
      if (sign === '\\') continue;
      if (sign === '+' || sign === '-' || sign === ' ') {
        hunk.push({ sign, text: cutLine(raw), line });
        if (sign !== '+') oldLeft -= 1;
        if (sign !== '-') {
          newLeft -= 1;
          line += 1;
        }
        continue;
      }
      // A hunk that ends too early.
      notUnderstood += 1;
      [oldLeft, newLeft] = [0, 0];
    }
    if (raw.startsWith('diff --git ')) {
      file = newFile(raw);
      files.push(file);
    } else if (raw.startsWith('@@ ') && file !== undefined) {
      const found = /^@@ -\d{1,10}(?:,(\d{1,10}))? \+(\d{1,10})(?:,(\d{1,10}))? @@/.exec(raw);
      if (found === null) {
        notUnderstood += 1;
        continue;
      }
      [oldLeft, newLeft] = [Number(found[1] ?? 1), Number(found[3] ?? 1)];
      line = Number(found[2]);
      hunk = [];
      file.hunks.push(hunk);
    } else if (file !== undefined) readHeader(file, raw);
  }
  return { files, notUnderstood };
}

/** Without its sign; a line of a minified file is cut. */
function cutLine(raw: string): string {
  const end = raw.endsWith('\r') ? raw.length - 1 : raw.length;
  return raw.slice(1, Math.min(end, LONGEST_LINE + 1));
}

function newFile(header: string): DiffFile {
  const path = pathInHeader(header.slice('diff --git '.length));
  return { path, oldPath: path, status: 'modified', binary: false, hunks: [] };
}

/** Both names are the same here unless the file is renamed, which later lines say. */
function pathInHeader(names: string): string {
  if (names.startsWith('"')) return withoutPrefix(unquoted(names.slice(0, endOfQuoted(names))));
  return withoutPrefix(names.slice(0, (names.length - 1) / 2));
}

function readHeader(file: DiffFile, raw: string): void {
  const after = (start: string): string | undefined =>
    raw.startsWith(start) ? unquoted(raw.slice(start.length).replace(/\t$/, '')) : undefined;
  const from = after('rename from ') ?? after('copy from ');
  if (from !== undefined) file.oldPath = from;
  const to = after('rename to ') ?? after('copy to ');
  if (to !== undefined) {
    file.path = to;
    file.status = 'renamed';
  }
  if (raw.startsWith('new file mode ')) file.status = 'added';
  if (raw.startsWith('deleted file mode ')) file.status = 'deleted';
  const before = after('--- ');
  if (before !== undefined && before !== '/dev/null') file.oldPath = withoutPrefix(before);
  const now = after('+++ ');
  if (now !== undefined && now !== '/dev/null') file.path = withoutPrefix(now);
  if (raw.startsWith('Binary files ') || raw === 'GIT binary patch') file.binary = true;
}

function withoutPrefix(path: string): string {
  return path.replace(/^[ab]\//, '');
}

function endOfQuoted(text: string): number {
  for (let index = 1; index < text.length; index += 1) {
    if (text[index] === '\\') index += 1;
    else if (text[index] === '"') return index + 1;
  }
  return text.length;
}

const escapes: Readonly<Record<string, string>> = {
  a: '\u0007',
  b: '\b',
  f: '\f',
  n: '\n',
  r: '\r',
  t: '\t',
  v: '\v',
};

/** Git quotes names like C: `"a\tb"`, with bytes that are not ASCII in octal. */
function unquoted(text: string): string {
  if (!text.startsWith('"') || !text.endsWith('"') || text.length < 2) return text;
  let percent = '';
  for (const [whole, octal, letter] of text.slice(1, -1).matchAll(/\\([0-3][0-7]{2})|\\(.)|[^\\]/gsu)) {
    if (octal !== undefined) percent += `%${Number.parseInt(octal, 8).toString(16).padStart(2, '0')}`;
    else
      percent += encodeURIComponent(
        (letter === undefined ? whole : (escapes[letter] ?? letter)).toWellFormed(),
      );
  }
  try {
    return decodeURIComponent(percent);
  } catch (error) {
    // The name is not UTF-8: it stays as git wrote it.
    if (error instanceof URIError) return text.slice(1, -1);
    throw error;
  }
}
