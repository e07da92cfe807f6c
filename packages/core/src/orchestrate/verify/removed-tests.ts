// Tests and assertions that are there no more. What went together with the code that it tested is no loss; what only
// moved is still there.
import { folderOf, isProduction, isTestFile, subjectOf } from './file-kind.ts';
import type { ScanFinding, VerifySeverity } from './finding.ts';
import type { ReadFile, ReadLine } from './read-lines.ts';
import { beginsTest, isAssertion, isLooseAssertion, isTable } from './test-shapes.ts';

type Removed = Pick<ScanFinding, 'kind' | 'severity' | 'line' | 'text' | 'why'>;

export type RemovedFrom = (file: ReadFile) => Removed[];

export function removedTestsIn(files: readonly ReadFile[]): RemovedFrom {
  const fate = fateOfSources(files);
  return (file) => {
    // Tests inside a source go with it, and fewer of them may be the fate of what they tested.
    const isInside = !isTestFile(file.path);
    if (isInside && file.status === 'deleted') return [];
    const tested = isInside ? 'shrinks' : fate(file.path);
    if (file.status === 'deleted') return tested === 'gone' ? [] : deletedFile(file, tested);
    const { tests, assertions } = lossesIn(file);
    // Fewer tests for less code, or a table in place of single tests, is for a person to judge.
    const added = file.hunks.flat().filter(({ sign }) => sign === '+');
    const severity: VerifySeverity =
      tested !== 'stays' || added.some(({ code }) => isTable(code)) ? 'advisory' : 'blocking';
    return [
      ...(tests.net > 0 ? [found('test-removed', severity, tests.first, `${tests.net} fewer tests`)] : []),
      ...(assertions.net > 0
        ? [found('assertion-removed', severity, assertions.first, `${assertions.net} fewer assertions`)]
        : []),
      ...loosened(file),
    ];
  };
}

function found(
  kind: Removed['kind'],
  severity: VerifySeverity,
  line: ReadLine | undefined,
  why: string,
): Removed {
  return { kind, severity, line: line?.line ?? 0, text: line?.text ?? '', why };
}

function deletedFile(file: ReadFile, tested: 'shrinks' | 'stays'): Removed[] {
  const lines = file.hunks.flat().filter(({ moved }) => !moved);
  const first = lines.find(({ code }) => beginsTest(code, file.language) || isAssertion(code, file.language));
  if (first === undefined) return [];
  return [
    found(
      'test-removed',
      tested === 'shrinks' ? 'advisory' : 'blocking',
      first,
      'a file of tests was deleted, and what it tested was not',
    ),
  ];
}

type Loss = { net: number; first: ReadLine | undefined };

/** Assertions inside a test that is removed as a whole count as that test. */
function lossesIn({ hunks, language }: ReadFile): { tests: Loss; assertions: Loss } {
  const tests: Loss = { net: 0, first: undefined };
  const assertions: Loss = { net: 0, first: undefined };
  for (const hunk of hunks) {
    let inRemovedTest = false;
    for (const line of hunk) {
      const isTest = beginsTest(line.code, language);
      if (isTest) inRemovedTest = line.sign === '-' && !line.moved;
      if (line.moved || line.sign === ' ') continue;
      if (isTest) count(tests, line);
      // In a new test in place of an old one, assertions count on both sides.
      else if (isAssertion(line.code, language) && !(inRemovedTest && tests.net > 0 && line.sign === '-'))
        count(assertions, line);
    }
  }
  return { tests, assertions };
}

function count(loss: Loss, line: ReadLine): void {
  loss.net += line.sign === '-' ? 1 : -1;
  if (line.sign === '-') loss.first ??= line;
}

/** Exact assertions gave way to ones that only ask whether there is something. */
function loosened({ hunks, language }: ReadFile): Removed[] {
  const result: Removed[] = [];
  for (const hunk of hunks) {
    let [exact, loose] = [0, 0];
    let first: ReadLine | undefined;
    for (const line of hunk) {
      if (line.moved || line.sign === ' ' || !isAssertion(line.code, language)) continue;
      const step = line.sign === '+' ? 1 : -1;
      if (!isLooseAssertion(line.code)) exact += step;
      else {
        loose += step;
        if (line.sign === '+') first ??= line;
      }
    }
    if (exact < 0 && loose > 0)
      result.push(found('assertion-weakened', 'advisory', first, 'asks less than the assertion before it'));
  }
  return result;
}

type Fate = 'gone' | 'shrinks' | 'stays';

/** What became of the code that a test is named for. */
function fateOfSources(files: readonly ReadFile[]): (test: string) => Fate {
  const gone = new Set<string>();
  const shrunk = new Set<string>();
  const goneFolders = new Set<string>();
  for (const { path, status, hunks } of files) {
    if (isTestFile(path) || !isProduction(path)) continue;
    const lines = hunks.flat().filter(({ moved, code }) => !moved && code.trim() !== '');
    const removed = lines.filter(({ sign }) => sign === '-').length;
    const added = lines.filter(({ sign }) => sign === '+').length;
    if (status === 'deleted') {
      gone.add(subjectOf(path));
      goneFolders.add(folderOf(path));
    } else if (removed > added) shrunk.add(subjectOf(path));
  }
  return (test) => {
    const subject = subjectOf(test);
    if (gone.has(subject)) return 'gone';
    const beside = folderOf(test).replace(/(?:^|\/)(?:__tests__|tests?|spec)$/, '');
    return shrunk.has(subject) || goneFolders.has(beside) ? 'shrinks' : 'stays';
  };
}
