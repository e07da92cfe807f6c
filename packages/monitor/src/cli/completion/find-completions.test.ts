import { createArgument, createCommand, Option } from '@commander-js/extra-typings';
import { expect, test } from 'vitest';
import { describeProgram } from '../describe-program.ts';
import { verb, verbGroup } from '../verb.ts';
import { findCompletions } from './find-completions.ts';

const words = (summary: string) => ({ summary, example: 'svc …' });

const program = describeProgram(
  createCommand('svc')
    .version('1')
    .addCommand(verb('board', words('The board')).option('--json', 'as JSON'))
    .addCommand(
      verbGroup('config', words('The configuration'), [
        verb('set', words('Set it'))
          .argument('<key>')
          .argument('<value>')
          .addOption(new Option('--layer <layer>', 'the file').choices(['project', 'global']))
          .option('--tag [tag]', 'a tag')
          .option('--add <folder...>', 'folders'),
      ]),
    )
    .addCommand(
      verb('shell', words('A shell')).addArgument(createArgument('<shell>').choices(['bash', 'zsh'])),
    )
    .addCommand(verb('start', words('Start')).argument('[tickets...]'))
    .addCommand(verb('why', words('Why')).argument('<ticket>'))
    .addCommand(
      verb('attention', words('What needs you'))
        .option('--json', 'as JSON')
        .addCommand(verb('ack', words('Seen')).argument('<id>')),
    ),
);

const setOptions = ['--layer', '--tag', '--add', '--help', '-h'];

test.each<[string, string[], { offered?: string[]; kind?: string; typed?: string }]>([
  ['nothing yet', [], { offered: ['board', 'config', 'shell', 'start', 'why', 'attention'] }],
  ['an empty word', [''], { offered: ['board', 'config', 'shell', 'start', 'why', 'attention'] }],
  ['a verb in a group', ['config', 's'], { offered: ['set'], typed: 's' }],
  ['an option of the program', ['-'], { offered: ['--version', '-V', '--help', '-h'], typed: '-' }],
  ['an option of a verb', ['config', 'set', '--l'], { offered: setOptions, typed: '--l' }],
  ['where only an option can follow', ['board', ''], { offered: ['--json', '--help', '-h'] }],
  ['behind all arguments', ['config', 'set', 'k', 'v', ''], { offered: setOptions }],
  ['the first argument', ['config', 'set', ''], { kind: 'config-key' }],
  ['the second argument', ['config', 'set', 'k', ''], {}],
  ['an argument behind a switch', ['config', 'set', '--help', ''], { kind: 'config-key' }],
  [
    'an argument behind an option and its value',
    ['config', 'set', '--layer', 'x', ''],
    { kind: 'config-key' },
  ],
  ['an argument behind a dashed value', ['config', 'set', '--layer', '-x', ''], { kind: 'config-key' }],
  ['an argument behind --layer=value', ['config', 'set', '--layer=x', ''], { kind: 'config-key' }],
  ['an argument behind an unknown option', ['why', '--what', ''], { kind: 'ticket' }],
  ['a closed list', ['shell', 'z'], { offered: ['bash', 'zsh'], typed: 'z' }],
  [
    'the value of an option',
    ['config', 'set', '--layer', 'p'],
    { offered: ['project', 'global'], typed: 'p' },
  ],
  ['behind the equals sign', ['config', 'set', '--layer=p'], { offered: ['project', 'global'], typed: 'p' }],
  [
    'an equals sign in the value',
    ['config', 'set', '--layer=a=b'],
    { offered: ['project', 'global'], typed: 'a=b' },
  ],
  ['behind the equals sign of nothing', ['config', 'set', '--no=p'], { typed: 'p' }],
  [
    'a value that must come, even with a dash',
    ['config', 'set', '--layer', '-'],
    { offered: ['project', 'global'], typed: '-' },
  ],
  ['a value that may come', ['config', 'set', '--tag', ''], {}],
  ['a value that need not come', ['config', 'set', '--tag', '-'], { offered: setOptions, typed: '-' }],
  ['the second of many values', ['config', 'set', '--add', 'a', ''], { kind: 'file' }],
  [
    'an option behind many values',
    ['config', 'set', '--add', 'a', '--'],
    { offered: setOptions, typed: '--' },
  ],
  ['the tenth of many arguments', ['start', 'A-1', 'A-2', ''], { kind: 'ticket' }],
  ['behind --', ['why', '--', '-'], { kind: 'ticket', typed: '-' }],
  ['behind -- and all arguments', ['why', '--', 'A-1', ''], {}],
  ['a verb that is a group too', ['attention', ''], { offered: ['ack'] }],
  ['an option of such a verb', ['attention', '-'], { offered: ['--json', '--help', '-h'], typed: '-' }],
  ['below such a verb', ['attention', '--json', 'ack', ''], { kind: 'attention-item' }],
  ['a name of a verb as an argument', ['why', 'config', ''], { offered: ['--help', '-h'] }],
  ['behind a verb that is not there', ['nothing', ''], { offered: ['--version', '-V', '--help', '-h'] }],
])('%s', (_, given, { offered = [], kind, typed = '' }) => {
  const found = findCompletions(program, given);
  expect({ ...found, offered: found.offered.map(({ value }) => value) }).toEqual({ typed, offered, kind });
});

test('verbs and options come with what they do', () => {
  expect(findCompletions(program, ['b']).offered[0]).toEqual({ value: 'board', description: 'The board' });
  expect(findCompletions(program, ['board', '-']).offered[0]).toEqual({
    value: '--json',
    description: 'as JSON',
  });
});
