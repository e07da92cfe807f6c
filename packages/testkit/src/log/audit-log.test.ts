import { appendFileSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { createReport } from '../deliveries/signed-delivery.ts';
import { temporaryFolder } from '../temporary-folder.ts';
import { auditLog, damagedCopies, isKept, judge, leaveTornEnd, verdictLine } from './audit-log.ts';

const lineOf = (seq: number, deliveryId: string): string =>
  `${JSON.stringify({
    seq,
    ts: '2026-01-02T03:04:05.678Z',
    id: `line-${seq}`,
    schemaVersion: 1,
    event: 'codehost.push',
    source: 'codehost.webhook',
    via: 'live',
    host: { id: 'host', name: 'laptop' },
    scope: {},
    detail: {},
    deliveryId,
  })}\n`;

/** Two months with three lines, two of them acknowledged. */
function createLog() {
  const folder = join(temporaryFolder(), 'events');
  mkdirSync(folder);
  writeFileSync(join(folder, '2026-01.jsonl'), lineOf(1, 'one') + lineOf(2, 'two'));
  writeFileSync(join(folder, '2026-02.jsonl'), lineOf(3, 'three'));
  const report = createReport();
  report.acknowledged.set('one', { lineId: 'line-1', event: 'codehost.push' });
  report.acknowledged.set('three', { lineId: 'line-3' });
  return { folder, report };
}

test('a log with everything that was acknowledged passes; an additional line does no harm', async () => {
  const { folder, report } = createLog();
  const verdict = judge(report, await auditLog(folder));
  expect(verdictLine(verdict)).toBe('acknowledged 2 lost 0 duplicated 0 torn 0');
  expect(isKept(verdict)).toBe(true);
});

test('every damaged copy is noticed', async () => {
  const { folder, report } = createLog();
  const copies = [...damagedCopies(folder, temporaryFolder(), 'one')];
  expect(copies.map(({ name }) => name)).toEqual(['remove a line', 'repeat a line', 'tear a line']);
  for (const { copy, verdict: expected } of copies) {
    const verdict = judge(report, await auditLog(copy));
    expect(verdictLine(verdict)).toMatch(expected);
    expect(isKept(verdict)).toBe(false);
  }
});

test.each<[string, (folder: string) => unknown, string]>([
  ['a torn end', (folder) => leaveTornEnd(folder, 100), 'torn 1'],
  ['a hole', (folder) => appendFileSync(join(folder, '2026-02.jsonl'), lineOf(5, 'five')), 'holes 1'],
  ['a line of another shape', (folder) => appendFileSync(join(folder, '2026-02.jsonl'), '{}\n'), 'torn 1'],
])('%s is noticed', async (_name, damage, expected) => {
  const { folder, report } = createLog();
  damage(folder);
  expect(verdictLine(judge(report, await auditLog(folder)))).toContain(expected);
});

test('an answer with another line is noticed', async () => {
  const { folder, report } = createLog();
  report.acknowledged.set('three', { lineId: 'line-2' });
  expect(verdictLine(judge(report, await auditLog(folder)))).toContain('untrue 1');
});
