// Looks through a diff for what makes tests say less than they seem to: tests skipped, emptied or removed,
// assertions removed or made trivial, stubs in code that is shipped. Line rules, not a parser: a finding is a reason
// to look, and what cannot be looked at is a finding too.
import { utf8Length } from '../../log/cut-text.ts';
import { emptiedTests } from './emptied-tests.ts';
import { isForeign, isPipeline, isProduction, isTestFile } from './file-kind.ts';
import { type ScanFinding, shownPath, shownText, type VerifySeverity } from './finding.ts';
import { isForLanguage, type LineRule } from './line-rule.ts';
import { type ReadFile, type ReadLine, readLines } from './read-lines.ts';
import { removedTestsIn } from './removed-tests.ts';
import { skipRules } from './skip-rules.ts';
import { stubRules } from './stub-rules.ts';
import { beginsTest } from './test-shapes.ts';
import { parseUnifiedDiff } from './unified-diff.ts';
import { weakRules } from './weak-rules.ts';

export const MAX_DIFF_BYTES = 5 * 1024 * 1024;
const MAX_FINDINGS = 200;

const rules: readonly LineRule[] = [...skipRules, ...weakRules, ...stubRules];

/** `scanDiff(await git diff …)`: what was found, in the order of the diff, at most 200 findings. */
export function scanDiff(diff: string): ScanFinding[] {
  if (diff.length > MAX_DIFF_BYTES || utf8Length(diff) > MAX_DIFF_BYTES) return [tooLarge()];
  const { files: parsed, notUnderstood } = parseUnifiedDiff(diff);
  const files = readLines(parsed);
  const removedFrom = removedTestsIn(files);
  const findings: ScanFinding[] = [];
  for (const file of files) {
    if (isForeign(file.path)) continue;
    const add = (found: Omit<ScanFinding, 'path'>): number =>
      findings.push({ ...found, path: shownPath(file.path), text: shownText(found.text) });
    if (file.status !== 'deleted') for (const found of ruleFindings(file)) add(found);
    if (!mayHoldTests(file)) continue;
    if (file.binary) add(notScanned('a file of tests is not text'));
    for (const found of removedFrom(file)) add(found);
    if (file.status === 'deleted') continue;
    for (const found of emptiedTests(file)) add({ kind: 'test-emptied', severity: 'blocking', ...found });
  }
  if (notUnderstood > 0)
    findings.push({ ...notScanned(`${notUnderstood} parts of the diff are not understood`), path: '' });
  if (findings.length <= MAX_FINDINGS) return findings;
  // What blocks must not be hidden behind what does not.
  const kept = findings.toSorted(blockingFirst).slice(0, MAX_FINDINGS);
  const more = `${findings.length - kept.length} more findings are not listed`;
  return [...kept, { ...notScanned(more), severity: kept[0]?.severity ?? 'advisory', path: '' }];
}

function mayHoldTests({ path, language }: ReadFile): boolean {
  return isTestFile(path) || language === 'rust';
}

/** For a diff that is too large to be had at all. */
export function tooLarge(): ScanFinding {
  return { ...notScanned(`the diff has more than ${MAX_DIFF_BYTES} bytes: too large to scan`), path: '' };
}

function notScanned(why: string): Omit<ScanFinding, 'path'> {
  return { kind: 'not-scanned', severity: 'blocking', line: 0, text: '', why };
}

function blockingFirst(one: ScanFinding, other: ScanFinding): number {
  return Number(other.severity === 'blocking') - Number(one.severity === 'blocking');
}

function* ruleFindings(file: ReadFile): Generator<Omit<ScanFinding, 'path'>> {
  const own = rules.filter((rule) => isFor(rule, file));
  if (own.length === 0) return;
  for (const hunk of file.hunks) {
    let before: ReadLine | undefined;
    for (const line of hunk) {
      if (line.sign === '-') continue;
      if (line.sign === '+' && !isMovedWhole(line)) {
        // One line is one finding, the gravest.
        const found = own
          .filter((rule) => matches(rule, line))
          .map((rule) => ({ rule, severity: severityOf(rule, before, file, hunk) }))
          .toSorted((a, b) => Number(b.severity === 'blocking') - Number(a.severity === 'blocking'))[0];
        if (found !== undefined) {
          const { kind, why } = found.rule;
          yield { kind, severity: found.severity, line: line.line, text: line.text, why };
        }
      }
      if (line.code.trim() !== '') before = line;
    }
  }
}

/** A bare marker (`@Disabled`) that is removed here and added there is on another test now. */
const SHORTEST_NAMED = 20;

function isMovedWhole({ moved, text }: ReadLine): boolean {
  return moved && text.trim().length >= SHORTEST_NAMED;
}

function isFor(rule: LineRule, { path }: ReadFile): boolean {
  if (!isForLanguage(rule, path)) return false;
  switch (rule.where) {
    case 'test':
      return isTestFile(path);
    case 'production':
      return isProduction(path);
    case 'pipeline':
      return isPipeline(path);
    case 'code':
      return true;
  }
}

function matches(rule: LineRule, line: ReadLine): boolean {
  // In the files of a pipeline commands are texts.
  const code = rule.where === 'pipeline' ? (line.code.trim() === '' ? '' : line.text) : line.code;
  return (
    (rule.code === undefined || rule.code.test(code)) &&
    (rule.comment === undefined || rule.comment.test(line.comment)) &&
    (rule.raw === undefined || (code.trim() !== '' && rule.raw.test(line.text)))
  );
}

const abstract = /\babstract\b|\bABC\b|\bProtocol\b|@abstractmethod\b/;

function severityOf(
  rule: LineRule,
  before: ReadLine | undefined,
  { language }: ReadFile,
  hunk: readonly ReadLine[],
): VerifySeverity {
  if (rule.severity === 'first-in-test')
    return before !== undefined && beginsTest(before.code, language) ? 'blocking' : 'advisory';
  // A method that others have to write is not implemented on purpose.
  if (rule.kind === 'stub' && hunk.some(({ sign, code }) => sign !== '-' && abstract.test(code)))
    return 'advisory';
  return rule.severity;
}
