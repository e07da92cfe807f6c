// Code that is shipped but does not do its work yet.
import type { Language } from './file-kind.ts';
import type { LineRule } from './line-rule.ts';

const notThere = 'code that is not implemented';

const stub = (
  languages: readonly Language[] | undefined,
  patterns: Pick<LineRule, 'code' | 'raw' | 'comment'>,
  why: string = notThere,
  severity: LineRule['severity'] = 'blocking',
): LineRule => ({
  kind: 'stub',
  severity,
  where: 'production',
  ...(languages !== undefined && { languages }),
  ...patterns,
  why,
});

const saysSo = /\bnot (?:yet )?implemented\b|\bunimplemented\b|\bimplement me\b|["'`(]TODO\b/i;

export const stubRules: readonly LineRule[] = [
  stub(['javascript', 'jvm', 'php', 'dart', 'c', 'dotnet'], { code: /\bthrow\b/, raw: saysSo }),
  stub(['javascript'], { code: /\bPromise\.reject\(/, raw: saysSo }),
  stub(['python'], { code: /\braise NotImplementedError\b/ }),
  stub(['python'], { code: /\braise \w{1,60}\(/, raw: saysSo }),
  stub(['ruby'], { code: /\braise NotImplementedError\b/ }, notThere, 'advisory'),
  stub(['go'], { code: /\b(?:panic|errors\.New|fmt\.Errorf)\(/, raw: saysSo }),
  stub(['rust'], { code: /\b(?:unimplemented|todo)!\s?[([{]/ }),
  stub(['jvm'], { code: /(?<![.\w])TODO\(/ }),
  stub(['jvm'], { code: /=\s?\?\?\?(?:\s|$)/ }),
  stub(['dotnet'], { code: /\bthrow new NotImplementedException\b/ }),
  stub(['dart'], { code: /\bthrow UnimplementedError\b/ }),
  stub(['swift'], { code: /\bfatalError\(/, raw: saysSo }),
  stub(
    undefined,
    {
      code: /^\s*(?:return\b[^;]{0,80}|pass|\.\.\.);?\s*\}?\s*$/,
      comment: /\b(?:stub|stubbed|placeholder|fake|dummy|mock|mocked|hard-?coded|for now|temporary)\b/i,
    },
    'an answer that stands in for real work',
  ),
  stub(
    ['python', 'javascript', 'go', 'rust', 'jvm', 'dotnet', 'ruby', 'php', 'swift', 'dart', 'elixir', 'c'],
    { comment: /\b(?:TODO|FIXME|XXX)\b[:\s(-]{0,3}[\w) :-]{0,24}\bimplement/i },
    'a note that something is still to be implemented',
    'advisory',
  ),
  stub(
    ['javascript', 'jvm', 'dotnet', 'go', 'rust', 'swift', 'dart', 'php'],
    {
      code: /\b(?:const|let|var|val|static|final)\s(?:[\w<>[\]]{1,40}\s){0,2}\$?(?:mock|fake|dummy|stub)(?:ed)?_?[A-Z]\w{0,60}\s?[:=]/,
    },
    'made-up data in code that is shipped',
    'advisory',
  ),
  stub(
    undefined,
    { code: /\b(?:MOCK|FAKE|DUMMY|STUB)(?:ED)?_[A-Z_]{1,60}\s?[:=](?!=)/ },
    'made-up data in code that is shipped',
    'advisory',
  ),
];
