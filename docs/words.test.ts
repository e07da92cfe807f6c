import { expect, test } from 'vitest';
import { findWords, withoutAllowed } from './words.ts';

test.each([
  '/** Of the newest run. */',
  'what mends it',
  'read anew',
  'the state of now',
  'kept for ever',
  'it has not come that far',
  'at hand',
  'what a poll told',
  'the log tells of it',
  'the rooms of the house',
  'whoever asks',
  'a person’s word',
  'with more patience',
])('finds “%s”', (line) => {
  expect(findWords('a.ts', `first\n${line}`)).toMatchObject([{ file: 'a.ts', line: 2, text: line }]);
});

test.each([
  'amended',
  'Math.floor(1.5)',
  'classrooms',
  'It tells you when a feed is down',
  'TEST_PATIENCE=3',
  'the word',
])('has nothing against “%s”', (line) => expect(findWords('a.ts', line)).toEqual([]));

test('finds the .sh name of a command in what people read, and not in a comment or a test', () => {
  const line = "remedy: 'Run: setup-webhooks.sh --force',";
  expect(findWords('packages/demo/src/a.ts', line)).toMatchObject([{ line: 1 }]);
  expect(findWords('docs/guide/a.md', 'Run `svc-monitor.sh start`.')).toHaveLength(1);
  expect(findWords('packages/demo/src/a.ts', `// ${line}`)).toEqual([]);
  expect(findWords('packages/demo/src/a.test.ts', line)).toEqual([]);
  expect(findWords('docs/reference/a.md', line)).toEqual([]);
});

test.each([
  "  'worker-stalled': 'Worker stalled',",
  '    title="Worker output"',
  '  <Column number>Workers</Column>',
  '      No new workers are started.',
  '  terminal.out(`Run ${run} also has a worker for it.`);',
  "  .option('--orchestrator <run>', 'worker of this run (default: the newest)')",
  "  message: 'The agent says: pr-created.',",
])('finds the name of a field in a text that is shown: %s', (line) => {
  expect(findWords('packages/dashboard/src/a.tsx', line)).toHaveLength(1);
  expect(findWords('packages/dashboard/src/a.test.ts', line)).toEqual([]);
});

test.each([
  "  if (one.kind === 'worker' && status === 'pr-created') return { worker, words: 'In review' };",
  '  const { ticket, worker } = subject;',
  "  route: 'GET /api/workers/:ticket/agent',",
  "  example: 'svc worker output ABC-12 --follow',",
  "  event: 'orchestrator.worker.died',",
  "  description: 'Program of an agent; ${PROMPT} is the worker command with its ticket',",
  '  return `${worker.ticket} is ${worker.status}`;',
])('has nothing against a field, a route or a verb: %s', (line) => {
  expect(findWords('packages/monitor/src/a.ts', line)).toEqual([]);
});

test('an entry covers a line of its file, and one that covers none is named', () => {
  const hits = findWords('a.ts', 'told: one\ntold: two');
  const { left, useless } = withoutAllowed(hits, ['a.ts: told: one', 'b.ts: told: two']);
  expect(left.map(({ line }) => line)).toEqual([2]);
  expect(useless).toEqual(['b.ts: told: two']);
});
