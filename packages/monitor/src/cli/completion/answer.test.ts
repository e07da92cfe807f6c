import { expect, test } from 'vitest';
import { answerCompletion } from './answer.ts';
import type { Offered } from './find-completions.ts';
import { makeVocabulary } from './make-vocabulary.ts';
import type { DaemonKind } from './value-kinds.ts';

const known = await makeVocabulary();

function complete(words: string[], names: Offered[] = []) {
  const asked: DaemonKind[] = [];
  const ask = async (kind: DaemonKind) => {
    asked.push(kind);
    return names;
  };
  return answerCompletion(words, known, ask).then((lines) => ({ lines, asked }));
}

test('verbs with their summaries, only those that start so, and no files', async () => {
  expect(await complete(['mon'])).toEqual({
    lines: ['monitor\tStart, stop and inspect the daemon', ':4'],
    asked: [],
  });
});

test.each<[string, string[], string]>([
  ['topics', ['events', 'wait-for', '--event', 'codehost.pu'], 'codehost.push'],
  ['topics after =', ['events', 'tail', '--event=codehost.pu'], 'codehost.push'],
  [
    'keys',
    ['config', 'explain', 'svc.orchestration.maxP'],
    'svc.orchestration.maxParallel\tMost agents of a run at a time',
  ],
  ['layers', ['config', 'schema', 'gl'], 'global\tglobal file'],
  ['layers of an option', ['config', 'set', '--layer', 'sec'], 'secrets'],
  ['documents', ['context', 'add', 'han'], 'handoffs'],
  ['phases', ['ticket', 'phase', 'inP'], 'inProgress'],
  ['shells', ['completion', 'fi'], 'fish'],
])('%s, without asking the daemon', async (_, words, line) => {
  expect(await complete(words)).toEqual({ lines: [line, ':4'], asked: [] });
});

test.each<[DaemonKind, string[]]>([
  ['ticket', ['why', 'ABC-']],
  ['ticket', ['events', 'tail', '--ticket=ABC-']],
  ['run', ['orchestrate', 'pause', 'ABC-']],
  ['run', ['why', 'X', '--orchestrator', 'ABC-']],
  ['archived-run', ['archive', 'show', 'ABC-']],
  ['attention-item', ['attention', 'ack', 'ABC-']],
])('a %s is asked for once', async (kind, words) => {
  const names = [
    { value: 'ABC-1', description: 'merged, run-1' },
    { value: 'ABC-1', description: 'the same again' },
    { value: 'XYZ-1', description: '' },
  ];
  expect(await complete(words, names)).toEqual({ lines: ['ABC-1\tmerged, run-1', ':4'], asked: [kind] });
});

test('files are left to the shell', async () => {
  expect((await complete(['orchestrate', 'start', '--file', ''])).lines).toEqual([':0']);
});

test.each([
  'A-$(touch x)',
  'A-`touch x`',
  "A-'",
  'A-"',
  'A b',
  'A;b',
  'A&b',
  'A|b',
  'A>b',
  'A\\b',
  'A\nb',
  'A\tb',
  'A\u001b[2J',
  'A*',
  'A{b,c}',
  'A=b',
  'A:b',
  'A!b',
  'A~b',
  'A#b',
  'A‮b',
  'A'.repeat(201),
])('a name with characters that a shell interprets is not offered: %j', async (value) => {
  expect((await complete(['why', 'A'], [{ value, description: 'x' }])).lines).toEqual([':4']);
});

test('the list has a limit', async () => {
  const names = Array.from({ length: 5_000 }, (_, index) => ({ value: `A-${index}`, description: '' }));
  expect((await complete(['why', 'A'], names)).lines).toHaveLength(1_001);
});
