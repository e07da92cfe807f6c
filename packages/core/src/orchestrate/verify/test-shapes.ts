// How a test begins, how an assertion looks, and how rows of a table of tests look, per language.
import type { Language } from './file-kind.ts';

type Shapes = { test: RegExp; assertion: RegExp };

const never = /(?!)/;

const shapes: Readonly<Record<Language, Shapes>> = {
  javascript: {
    test: /(?<![.\w])(?:it|test|specify)(?:\.[a-z]{1,12}){0,2}\s?(?:\(|`|$)/i,
    assertion:
      /(?<![.\w])(?:expect|assert|should)\b|\bassert\.\w|\.should\b|\bt\.(?:is|deepEqual|true|false|throws|like|equal|ok|same)\(/,
  },
  python: {
    test: /^\s*(?:async )?def test\w{0,200}\(/,
    assertion:
      /^\s*assert\b|\bself\.assert\w{1,40}\(|\bpytest\.(?:raises|warns|approx)\(|\.assert_\w{1,40}\(/,
  },
  go: {
    test: /^func (?:Test|Fuzz|Example)\w{0,200}\(|\bt\.Run\(/,
    assertion: /\bt\.(?:Error|Errorf|Fatal|Fatalf|Fail|FailNow)\(|\b(?:assert|require)\.[A-Z]\w{1,40}\(/,
  },
  rust: {
    test: /#\[(?:\w{1,30}::)?(?:test|rstest)\b/,
    assertion: /\b(?:debug_)?assert(?:_\w{1,30})?!|#\[should_panic\b/,
  },
  jvm: {
    test: /@(?:Test|ParameterizedTest|RepeatedTest|Property)\b|(?<![.\w])(?:test|should|it)\(["']/,
    assertion: /\bassert\w{0,40}\s?[({]|\bverify\(|\bshould(?:Be|Throw|Not|Equal)\w{0,30}\b|\bexpect\(/,
  },
  dotnet: {
    test: /\[(?:Fact|Theory|Test|TestCase|TestMethod|DataTestMethod)\b/,
    assertion: /\bAssert\.\w|\.Should\(|\.Verify\(/,
  },
  ruby: {
    test: /^\s*(?:it|specify|scenario|test)\b|^\s*def test_\w/,
    assertion: /\bexpect\b|\bassert\w{0,40}\b|\brefute\w{0,40}\b|\.should\b|\bmust_\w/,
  },
  php: {
    test: /\bfunction test\w|(?<![.\w>])(?:it|test)\(['"]|#\[Test\b/,
    assertion: /\bassert\w{1,40}\(|\bexpect\w{0,40}\(/,
  },
  swift: {
    test: /\bfunc test\w|@Test\b/,
    assertion: /\bXCTAssert\w{0,40}\(|#expect\(|#require\(|\bXCTFail\(/,
  },
  elixir: { test: /^\s*(?:test|property)\s?["(]/, assertion: /^\s*(?:assert|refute)\w{0,30}\b/ },
  dart: { test: /(?<![.\w])(?:test|testWidgets)\(/, assertion: /\bexpect(?:Later|Async\d?)?\(/ },
  c: {
    test: /\bTEST(?:_F|_P|_CASE)?\(|\bBOOST_AUTO_TEST_CASE\(/,
    assertion: /\b(?:ASSERT|EXPECT|REQUIRE|CHECK|BOOST)_\w|\b(?:REQUIRE|CHECK|assert)\(/,
  },
  shell: { test: /^\s*@test\b/, assertion: /^\s*(?:assert\w{0,30}|\[\[?|test)\s/ },
  other: { test: never, assertion: never },
};

export const beginsTest = (code: string, language: Language): boolean => shapes[language].test.test(code);
export const isAssertion = (code: string, language: Language): boolean =>
  shapes[language].assertion.test(code);

/** Signs that single tests became rows of a table, which takes fewer assertions. */
const table =
  /\.each\b|@pytest\.mark\.parametrize\b|\bfc\.(?:assert|property)\b|@given\b|@(?:Parameterized|Method|Csv|Value)\w{1,10}|\[(?:Theory|InlineData|TestCase)\b|#\[(?:rstest|case)\b|\[\]struct\s?\{|\bdata_?provider\b|\bfor \(?(?:const|let|_|\w{1,20},? ?\w{0,20})\b/i;
export const isTable = (code: string): boolean => table.test(code);

/** Matchers that only ask whether there is something. */
const loose =
  /\.(?:not\.)?to(?:BeDefined|BeTruthy|BeFalsy|BeNull|BeUndefined|HaveBeenCalled|BeInstanceOf)\(|\.not\.toThrow\(|\bis not None\b|\bassertIsNotNone\(|\bassertNotNull\(|\.NotNil\(|\bAssert\.(?:Is)?NotNull\(|\bis_some\(\)|\bis_ok\(\)|\bexpect\.anything\(|\bexpect\.any\(/;
export const isLooseAssertion = (code: string): boolean => loose.test(code);
