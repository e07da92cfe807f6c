import { describe, expect, it } from 'vitest';
import { commandsFor, completed, filesFor, tokenAt } from './completions.ts';

const commands = ['review', 'compact', 'pr-review'].map((name) => ({ name, description: '', hint: null }));
const names = (query: string): string[] => commandsFor(commands, query).map(({ name }) => name);

describe('what is completed', () => {
  it.each([
    ['/', 1, { kind: 'command', query: '' }],
    ['/rev', 4, { kind: 'command', query: 'rev' }],
    ['/rev now', 2, { kind: 'command', query: 'r' }],
    ['/review 7', 9, null],
    ['see /rev', 8, null],
    ['@src/a', 6, { kind: 'file', query: 'src/a', start: 0 }],
    ['look at @', 9, { kind: 'file', query: '', start: 8 }],
    ['look at @a.ts and', 17, null],
    ['mail to kim@example.org', 23, null],
    [`@${'x'.repeat(201)}`, 202, null],
    ['plain text', 5, null],
  ])('of %j at %i: %j', (text, caret, expected) => {
    const token = tokenAt(text, caret);
    if (expected === null) expect(token).toBeNull();
    else expect(token).toMatchObject({ ...expected, end: caret });
  });

  it('a command by its name, its start first, and nothing when it is whole', () => {
    expect(names('re')).toEqual(['/review', '/pr-review']);
    expect(names('COMP')).toEqual(['/compact']);
    expect(names('compact')).toEqual([]);
    expect(names('none')).toEqual([]);
  });

  it('a file, in quotes if its name has spaces', () => {
    expect(filesFor(['a.ts', 'my file.ts'], '').map(({ value }) => value)).toEqual([
      '@a.ts',
      '@"my file.ts"',
    ]);
    expect(filesFor(['a.ts'], 'a.ts')).toEqual([]);
    expect(filesFor(['a.ts', 'B.ts'], 'b').map(({ name }) => name)).toEqual(['B.ts']);
  });

  it('replaces only what was written', () => {
    const text = 'see @be and this';
    const token = tokenAt(text, 7);
    const [completion] = filesFor(['src/berths.ts'], 'be');
    expect(token && completion && completed(text, token, completion)).toEqual({
      text: 'see @src/berths.ts and this',
      caret: 18,
    });
  });
});
