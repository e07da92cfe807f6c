// Assertions that cannot fail, and commands whose failure is thrown away.
import type { Language } from './file-kind.ts';
import type { LineRule } from './line-rule.ts';

const always = 'an assertion that is always true';

const weak = (languages: readonly Language[], code: RegExp): LineRule => ({
  kind: 'assertion-weakened',
  severity: 'blocking',
  // Tests in Rust are in the sources.
  where: languages.includes('rust') ? 'code' : 'test',
  languages,
  code,
  why: always,
});

const ignored = (severity: LineRule['severity'], raw: RegExp, why: string): LineRule => ({
  kind: 'assertion-weakened',
  severity,
  where: 'pipeline',
  raw,
  why,
});

const testWord =
  '(?:\\btests?\\b|\\btest[:_-]|[a-z]test\\b|jest|mocha|playwright|cypress|rspec|phpunit|tox|nox|\\bverify\\b)';

export const weakRules: readonly LineRule[] = [
  weak(
    ['javascript'],
    /\bexpect\(\s?(true|false|null|undefined|\d{1,9})\s?\)\.(?:to\.)?(?:toBe|toEqual|toStrictEqual|equals?|eql?|be)\(\s?\1\s?\)/,
  ),
  weak(
    ['javascript'],
    /\bexpect\(\s?(?:true|[1-9]\d{0,8})\s?\)\.(?:toBeTruthy|toBeDefined|to\.be\.(?:true|ok))\b/,
  ),
  weak(['javascript'], /\bexpect\(\s?(?:false|0|null)\s?\)\.(?:toBeFalsy|to\.be\.false)\b/),
  weak(['javascript'], /\bexpect\(([\w.]{1,60})\)\.to(?:Be|Equal|StrictEqual)\(\1\)/),
  weak(['javascript'], /(?<![.\w])assert(?:\.ok|\.isTrue|\.isOk)?\(\s?(?:true|1)\s?[,)]/),
  weak(
    ['javascript'],
    /\bassert\.(?:equal|strictEqual|deepEqual|is)\(\s?(true|false|null|\d{1,9}),\s?\1\s?[,)]/,
  ),
  weak(['python'], /^\s*assert\s(?:True|1|not False)\s*(?:,|$)/),
  weak(['python'], /^\s*assert\s(\d{1,9}|True|None)\s?(?:==|is)\s?\1\s*(?:,|$)/),
  weak(['python'], /\bself\.assert(?:True\(\s?True|False\(\s?False|IsNone\(\s?None)\s?[,)]/),
  weak(['python'], /\bassert\b[^#]{0,200}\bor True\b/),
  weak(['go'], /\b(?:assert|require)\.(?:True\(t, true|False\(t, false|Nil\(t, nil)\s?[,)]/),
  weak(['rust'], /\b(?:debug_)?assert!\(\s?true\s?[,)]/),
  weak(['rust'], /\b(?:debug_)?assert_eq!\(\s?(\d{1,9}|true|false),\s?\1\s?[,)]/),
  weak(['jvm', 'php', 'swift'], /\b(?:XCTA|a)ssertTrue\(\s?true\s?[,)]/),
  weak(['jvm', 'php'], /\bassertEquals\(\s?(\d{1,9}|true|false|null),\s?\1\s?[,)]/),
  weak(['jvm'], /\bassertThat\(\s?true\s?\)\.isTrue\(/),
  weak(['dotnet'], /\bAssert\.(?:(?:Is)?True\(\s?true|(?:Is)?False\(\s?false)\s?[,)]|\bAssert\.Pass\(/),
  weak(['ruby'], /\bexpect\(\s?true\s?\)\.to (?:be true|be_truthy|eq\(?\s?true)|^\s*assert true\s*$/),
  weak(['c'], /\b(?:ASSERT|EXPECT)_TRUE\(\s?true\s?\)/),

  {
    kind: 'assertion-weakened',
    severity: 'blocking',
    where: 'pipeline',
    // Both anywhere in the line, each found in one pass.
    code: new RegExp(testWord, 'i'),
    raw: /\|\|\s?(?:true|:|exit 0)(?=[\s"';)]|$)|;\s?(?:true|exit 0)(?=\s*["']?,?\s*$)/,
    why: 'the failure of a test command is thrown away',
  },
  {
    kind: 'assertion-weakened',
    severity: 'advisory',
    where: 'pipeline',
    code: new RegExp(testWord, 'i'),
    raw: /\|\|\s?echo\b/,
    why: 'the failure of a test command may be thrown away',
  },
  ignored(
    'blocking',
    /"test(?::[\w:-]{1,40})?"\s?:\s?"(?:true|:|exit 0|echo[^"&|;\\]{0,200}(?:&& ?(?:true|exit 0))?)"/,
    'a test command that tests nothing',
  ),
  ignored(
    'blocking',
    /^\t-@?[\w./ -]{0,40}(?:test|pytest|jest|vitest|check)\b/,
    'the failure of a test command is ignored',
  ),
  ignored(
    'advisory',
    /\b(?:continue-on-error|allow_failure): ?true\b/,
    'a step of the pipeline may fail unnoticed',
  ),
  ignored('advisory', /--passWithNoTests\b|--exit-zero\b/, 'passes without any test'),
  ignored('advisory', /-DskipTests\b|-Dmaven\.test\.skip\b|-x test\b/, 'a build that leaves the tests out'),
];
