// Signs in a diff that tests were weakened: newly skipped tests, deleted test files, fewer assertions. These are
// patterns over single lines, not a parser, so each finding is advice for a reviewer and never fails a verification.
import { isForeign, isTestFile, type Language, languageOf, subjectOf } from './file-kind.ts';
import { shownPath, shownText, type VerifyFinding } from './verdict.ts';

const MAX_FINDINGS = 200;
const LONGEST_LINE = 2_000;

type Patterns = { skipped: RegExp; assertion: RegExp };

/** A skip has to be at the start of its line, so a mention in a string or a comment does not count. */
const patterns: Readonly<Partial<Record<Language, Patterns>>> = {
  javascript: {
    skipped:
      /^\s*(?:(?:xit|xtest|xdescribe|xcontext|xspecify|fit|fdescribe)\b|(?:it|test|describe|suite|context|specify|bench)(?:\.[a-z]{1,12}){0,2}\.(?:skip|fixme|todo|only|fails|failing|skipIf|runIf)\b|(?:it|test|describe)\(.{0,200}\bskip: ?true\b)/,
    assertion:
      /(?<![.\w])(?:expect|assert|should)\b|\bassert\.\w|\.should\b|\bt\.(?:is|deepEqual|true|false|throws|like|equal|ok|same)\(/,
  },
  python: {
    skipped:
      /^\s*(?:@(?:pytest\.mark\.|unittest\.|mark\.)?(?:skip|xfail|expectedFailure)|(?:pytest\.(?:skip|xfail)|self\.skipTest)\()/,
    assertion: /^\s*assert\b|\bself\.assert\w{1,40}\(|\bpytest\.(?:raises|warns)\(|\.assert_\w{1,40}\(/,
  },
  go: {
    skipped: /^\/\/go:build (?:ignore|never)\b|^\s*[tb]\.Skip(?:f|Now)?\(/,
    assertion: /\bt\.(?:Error|Errorf|Fatal|Fatalf|Fail|FailNow)\(|\b(?:assert|require)\.[A-Z]\w{1,40}\(/,
  },
  rust: {
    skipped: /^\s*#\[ignore\b/,
    assertion: /\b(?:debug_)?assert(?:_\w{1,30})?!|#\[should_panic\b/,
  },
  jvm: {
    skipped: /^\s*(?:@(?:Disabled|Ignore)|@Test\([^)]{0,80}enabled\s?=\s?false)/,
    assertion: /\bassert\w{0,40}\s?[({]|\bverify\(|\bshould(?:Be|Throw|Not|Equal)\w{0,30}\b|\bexpect\(/,
  },
  dotnet: {
    skipped: /^\s*\[(?:Ignore\b|(?:Fact|Theory|Test|TestMethod)\([^)]{0,80}\bSkip\s?=)/,
    assertion: /\bAssert\.\w|\.Should\(|\.Verify\(/,
  },
  ruby: {
    skipped:
      /^\s*(?:(?:xit|xdescribe|xcontext|xspecify|xscenario|skip|pending)\b|(?:it|describe|context|scenario)\b.{0,200}\bskip: ?true\b)/,
    assertion: /\bexpect\b|\bassert\w{0,40}\b|\brefute\w{0,40}\b|\.should\b|\bmust_\w/,
  },
  php: {
    skipped: /^\s*\$this->markTest(?:Skipped|Incomplete)\(/,
    assertion: /\bassert\w{1,40}\(|\bexpect\w{0,40}\(/,
  },
  swift: {
    skipped: /^\s*(?:throw XCTSkip\b|@(?:Test|Suite)\([^)]{0,80}\.disabled\()/,
    assertion: /\bXCTAssert\w{0,40}\(|#expect\(|#require\(|\bXCTFail\(/,
  },
  elixir: {
    skipped: /^\s*@(?:tag|moduletag|describetag)\s:?skip\b/,
    assertion: /^\s*(?:assert|refute)\w{0,30}\b/,
  },
  dart: {
    skipped: /^\s*(?:test|group|testWidgets)\(.{0,200}\bskip: ?true\b/,
    assertion: /\bexpect(?:Later|Async\d?)?\(/,
  },
  c: {
    skipped: /^\s*(?:GTEST_SKIP\(|TEST(?:_F|_P)?\([^)]{0,80}\bDISABLED_)/,
    assertion: /\b(?:ASSERT|EXPECT|REQUIRE|CHECK|BOOST)_\w|\b(?:REQUIRE|CHECK|assert)\(/,
  },
  shell: { skipped: /^\s*skip(?:\s|$)/, assertion: /^\s*(?:assert\w{0,30}|\[\[?|test)\s/ },
};

const comment = /^\s*(?:\/\/(?!go:build)|\/\*|\*\s|#(?!\[))/;

/** `testAdvice(await git diff …)`: at most 200 findings. Null is a diff that is too large to read. */
export function testAdvice(diff: string | null): VerifyFinding[] {
  if (diff === null)
    return [advice('not-scanned', 'the diff is too large to check for skipped or removed tests')];
  const files = readDiff(diff);
  const withTests = files.filter(
    ({ path }) => !isForeign(path) && (isTestFile(path) || languageOf(path) === 'rust'),
  );
  const found = [...newSkips(withTests), ...lostAssertions(files, withTests)];
  if (found.length <= MAX_FINDINGS) return found;
  const more = `${found.length - MAX_FINDINGS} more findings are not listed`;
  return [...found.slice(0, MAX_FINDINGS), advice('not-scanned', more)];
}

function advice(kind: VerifyFinding['kind'], why: string, path?: string, line?: DiffLine): VerifyFinding {
  return {
    kind,
    severity: 'advisory',
    why,
    ...(path !== undefined && { path: shownPath(path) }),
    ...(line !== undefined && { line: line.number, text: shownText(line.text) }),
  };
}

/** A skip that the diff removes elsewhere, with the same text, has only moved. */
function newSkips(files: readonly DiffFile[]): VerifyFinding[] {
  const skips = files.flatMap(({ path, lines }) =>
    lines.filter(({ text }) => matches('skipped', text, path)).map((line) => ({ path, line })),
  );
  const before = new Set(skips.filter(({ line }) => line.sign === '-').map(({ line }) => line.text.trim()));
  return skips
    .filter(({ line }) => line.sign === '+' && !before.has(line.text.trim()))
    .map(({ path, line }) => advice('test-skipped', 'a test is skipped', path, line));
}

/** Only if the change as a whole has fewer assertions: those that moved to another file still exist. */
function lostAssertions(files: readonly DiffFile[], withTests: readonly DiffFile[]): VerifyFinding[] {
  const deletedSubjects = new Set(
    files.filter(({ path, deleted }) => deleted && !isTestFile(path)).map(({ path }) => subjectOf(path)),
  );
  const losses = withTests
    .filter(({ path, deleted }) => !(deleted && deletedSubjects.has(subjectOf(path))))
    .map(({ path, deleted, lines }) => {
      const assertions = lines.filter(({ text }) => matches('assertion', text, path));
      const removed = assertions.filter(({ sign }) => sign === '-');
      return { path, deleted, lost: 2 * removed.length - assertions.length, first: removed[0] };
    });
  if (losses.reduce((sum, { lost }) => sum + lost, 0) <= 0) return [];
  return losses
    .filter(({ lost }) => lost > 0)
    .map(({ path, deleted, lost, first }) =>
      deleted
        ? advice('test-removed', 'a test file was deleted, but its source was not', path, first)
        : advice('assertion-removed', `${lost} fewer assertions`, path, first),
    );
}

function matches(pattern: keyof Patterns, text: string, path: string): boolean {
  return !comment.test(text) && patterns[languageOf(path)]?.[pattern].test(text) === true;
}

type DiffLine = {
  sign: '+' | '-';
  text: string;
  /** In the new file; of a removed line, where it would be. */
  number: number;
};

/** A path is as git writes it: quoted characters stay escaped, so a name with a line break is one line. */
type DiffFile = { path: string; deleted: boolean; lines: DiffLine[] };

/**
 * Parses the text of `git diff`. The counts in the header of a hunk determine its end, so a line of content that looks
 * like a header is content.
 */
function readDiff(text: string): DiffFile[] {
  const files: DiffFile[] = [];
  let before = '';
  let [oldLeft, newLeft, number] = [0, 0, 0];
  for (const raw of text.split('\n')) {
    const sign = raw[0];
    if (oldLeft > 0 || newLeft > 0) {
      if (sign === '\\') continue;
      if (sign === '+' || sign === '-')
        files.at(-1)?.lines.push({ sign, text: raw.slice(1, LONGEST_LINE + 1), number });
      if (sign !== '+') oldLeft -= 1;
      if (sign !== '-') {
        newLeft -= 1;
        number += 1;
      }
    } else if (raw.startsWith('--- ')) before = raw;
    else if (raw.startsWith('+++ ')) {
      const deleted = raw === '+++ /dev/null';
      files.push({ path: pathIn(deleted ? before : raw), deleted, lines: [] });
    } else {
      const hunk = /^@@ -\d{1,10}(?:,(\d{1,10}))? \+(\d{1,10})(?:,(\d{1,10}))? @@/.exec(raw);
      if (hunk === null) continue;
      [oldLeft, newLeft, number] = [Number(hunk[1] ?? 1), Number(hunk[3] ?? 1), Number(hunk[2])];
    }
  }
  return files;
}

/** `--- a/src/cart.ts` or `+++ "b/a\tb.ts"`; a tab ends a name with a space in it. */
function pathIn(header: string): string {
  return header
    .slice('--- '.length)
    .replace(/\t$/, '')
    .replace(/^"(.*)"$/, '$1')
    .replace(/^[ab]\//, '');
}
