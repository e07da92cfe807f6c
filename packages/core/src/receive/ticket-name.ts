// Which ticket a branch or a title names. With the prefixes of the configured projects, an id counts wherever
// it stands by itself. Without them only where an id is evident: at the start of a segment of a branch name
// (`kim/eng-12-login`), or in capitals at the start of a title or in brackets; and never behind a word
// that is followed by numbers in everyday use (`utf-8`, `sha-256`, `patch-1`).

const anywhere = /(?<![A-Za-z0-9])([A-Za-z][A-Za-z0-9]{0,19})-(\d{1,7})(?!\.?[A-Za-z0-9])/g;
const atSegmentStart = /(?:^|\/)([A-Za-z][A-Za-z0-9]{1,9})-(\d{1,7})(?!\.?[A-Za-z0-9])/g;
const evidentInTitle = /(?:^|[[(])\s*([A-Z][A-Z0-9]{1,9})-(\d{1,7})(?!\.?[A-Za-z0-9])/g;

const everydayWords = new Set(
  (
    'AES BASE CVE DAY ES GHSA HTTP IEEE ISO ISSUE JAVA LEVEL MD MILESTONE NODE PART PATCH PHASE PR PYTHON ' +
    'RELEASE RFC ROUND SHA SPRINT STAGE STEP TASK TEST TLS UTF VERSION WAVE WEEK'
  ).split(' '),
);

const LONGEST_LOOK = 300;

/** The ticket id in capitals, from the branch first. */
export function ticketNamed(
  branch: string | undefined,
  title: string | undefined,
  prefixes: readonly string[] = [],
): string | undefined {
  if (prefixes.length === 0) {
    const isLikely = (prefix: string): boolean => !everydayWords.has(prefix);
    return firstTicket(branch, atSegmentStart, isLikely) ?? firstTicket(title, evidentInTitle, isLikely);
  }
  const isOurs = (prefix: string): boolean => prefixes.some((ours) => ours.toUpperCase() === prefix);
  return firstTicket(branch, anywhere, isOurs) ?? firstTicket(title, anywhere, isOurs);
}

function firstTicket(
  text: string | undefined,
  pattern: RegExp,
  accepts: (prefix: string) => boolean,
): string | undefined {
  if (text === undefined || !text.includes('-')) return undefined;
  for (const [, prefix = '', number = ''] of text.slice(0, LONGEST_LOOK).matchAll(pattern)) {
    if (accepts(prefix.toUpperCase())) return `${prefix.toUpperCase()}-${number}`;
  }
  return undefined;
}
