// Tests that are switched off, or whose failure no longer counts.
import type { Language } from './file-kind.ts';
import type { LineRule } from './line-rule.ts';

const off = 'a test was switched off';
const maybeOff = 'a test is switched off under a condition';

const skip = (
  language: Language,
  severity: LineRule['severity'],
  code: RegExp,
  why: string = severity === 'blocking' ? off : maybeOff,
  where: LineRule['where'] = 'test',
): LineRule => ({ kind: 'test-skipped', severity, where, languages: [language], code, why });

export const skipRules: readonly LineRule[] = [
  skip(
    'javascript',
    'blocking',
    /\b(?:it|describe|suite|context|specify)\.(?:[a-z]{1,12}\.){0,2}(?:skip|fixme)\b/,
  ),
  skip(
    'javascript',
    'blocking',
    /\b(?:test|bench)\.(?:[a-z]{1,12}\.){0,2}(?:skip|fixme)(?:\.each)?\s?(?:\((?:['"`)]|$)|\.|$)/,
  ),
  skip('javascript', 'advisory', /\btest\.(?:skip|fixme)\s?\([^'"`)]/),
  skip('javascript', 'advisory', /\b(?:it|test|describe|suite)\.(?:[a-z]{1,12}\.){0,2}(?:skipIf|runIf)\b/),
  skip(
    'javascript',
    'blocking',
    /\b(?:it|test|describe|suite)\.(?:[a-z]{1,12}\.){0,2}(?:fails|failing)\b/,
    'a test was made to pass by failing',
  ),
  skip('javascript', 'advisory', /\b(?:it|test|describe)\.todo\b/, 'a test is announced, not written'),
  skip(
    'javascript',
    'blocking',
    /\b(?:it|test|describe|suite|context)\.(?:[a-z]{1,12}\.){0,2}only\b/,
    'only this test of its file is run',
  ),
  skip('javascript', 'blocking', /\b(?:fit|fdescribe)\s?\(/, 'only this test of its file is run'),
  skip('javascript', 'blocking', /(?<![.\w])(?:xit|xtest|xdescribe|xcontext|xspecify)\s?[(.]/),
  skip('javascript', 'blocking', /\b(?:it|test|describe)\([^{]{0,200}\{[^}]{0,80}\bskip:\s?(?:true|['"`])/),
  skip('javascript', 'first-in-test', /(?<![.\w])(?:this|ctx|context|t)\.skip\(/),
  skip('javascript', 'first-in-test', /^\s*pending\(/),

  skip('python', 'blocking', /@(?:pytest\.mark\.|unittest\.|mark\.)?skip(?:\(|\s|$)/),
  skip('python', 'blocking', /\bpytestmark\s?=[^#]{0,40}\bmark\.skip\b/),
  skip('python', 'advisory', /@(?:pytest\.mark\.|unittest\.)(?:skipif|skipIf|skipUnless)\b/),
  skip(
    'python',
    'blocking',
    /@(?:pytest\.mark\.xfail|unittest\.expectedFailure)\b/,
    'a test may fail unnoticed',
  ),
  skip('python', 'first-in-test', /\b(?:pytest\.(?:skip|xfail)|self\.skipTest|unittest\.SkipTest)\(/),
  skip('python', 'blocking', /^__test__\s?=\s?False/),

  skip('go', 'first-in-test', /\b[tb]\.(?:Skip|Skipf|SkipNow)\(/),
  skip('rust', 'blocking', /#\[ignore\b/, off, 'code'),
  skip('rust', 'blocking', /#\[cfg\(any\(\)\)\]/, off, 'code'),

  skip('jvm', 'blocking', /@(?:Disabled|Ignore)(?:\(|\s|$)/),
  skip('jvm', 'advisory', /@(?:Disabled|Enabled)(?:On|If|For)[A-Z]/),
  skip('jvm', 'blocking', /@Test\([^)]{0,80}enabled\s?=\s?false/),
  skip('jvm', 'first-in-test', /\b(?:assumeTrue\(\s?false|assumeFalse\(\s?true|Assumptions\.abort\()/),

  skip('dotnet', 'blocking', /\[(?:Fact|Theory|Test|TestMethod)\([^)]{0,80}\bSkip\s?=/),
  skip('dotnet', 'blocking', /\[Ignore\b/),
  skip('dotnet', 'advisory', /\[Explicit\b/),
  skip('dotnet', 'first-in-test', /\bAssert\.(?:Ignore|Inconclusive|Skip)\(/),

  skip('ruby', 'blocking', /^\s*(?:xit|xdescribe|xcontext|xspecify|xfeature|xscenario)\b/),
  skip(
    'ruby',
    'blocking',
    /\b(?:it|describe|context|scenario)\b[^#]{0,200}(?::skip\b|\b(?:skip|pending): ?(?:true|['"]))/,
  ),
  skip('ruby', 'first-in-test', /^\s*(?:skip|pending)(?:\s|\(|$)/),

  skip('php', 'first-in-test', /\bmarkTest(?:Skipped|Incomplete)\(/),
  skip('php', 'blocking', /->(?:skip|todo)\(\)/),
  skip('swift', 'first-in-test', /\bthrow XCTSkip\b/),
  skip('swift', 'blocking', /@(?:Test|Suite)\([^)]{0,80}\.disabled\(/),
  skip('elixir', 'blocking', /@(?:tag|moduletag|describetag)\s:?skip\b/),
  skip('dart', 'blocking', /\bskip: ?(?:true|['"])/),
  skip('c', 'first-in-test', /\bGTEST_SKIP\(/),
  skip('c', 'blocking', /\bTEST(?:_F|_P)?\([^)]{0,80}\bDISABLED_/),
  skip('shell', 'first-in-test', /^\s*skip(?:\s|$)/),
  {
    kind: 'test-skipped',
    severity: 'blocking',
    where: 'test',
    languages: ['go'],
    comment: /^(?:go:build|\s\+build)\s(?:ignore|never|disabled|false)\b/,
    why: 'a file of tests was taken out of the build',
  },
];
