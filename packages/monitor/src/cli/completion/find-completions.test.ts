import { createArgument, createCommand, Option } from '@commander-js/extra-typings';
import { expect, test } from 'vitest';
import { describeProgram } from '../describe-program.ts';
import { verb, verbGroup } from '../kit/verb.ts';
import { findCompletions } from './find-completions.ts';

const help = (summary: string) => ({ summary, example: 'svc …' });

const program = describeProgram(
  createCommand('svc')
    .version('1')
    .addCommand(verb('board', help('The board')).option('--json', 'as JSON'))
    .addCommand(
      verbGroup('config', help('The configuration'), [
        verb('set', help('Set it'))
          .argument('<key>')
          .argument('<value>')
          .addOption(new Option('--layer <layer>', 'the file').choices(['project', 'global']))
          .option('--tag [tag]', 'a tag')
          .option('--add <folder...>', 'folders'),
      ]),
    )
    .addCommand(
      verb('shell', help('A shell')).addArgument(createArgument('<shell>').choices(['bash', 'zsh'])),
    )
    .addCommand(verb('start', help('Start')).argument('[tickets...]'))
    .addCommand(verb('why', help('Why')).argument('<ticket>'))
    .addCommand(
      verb('attention', help('What needs you'))
        .option('--json', 'as JSON')
        .addCommand(verb('ack', help('Seen')).argument('<id>')),
    ),
);

const setOptions = ['--layer', '--tag', '--add', '--help', '-h'];

test.each<[string, string[], { offered?: string[]; kind?: string; typed?: string }]>([
  ['nothing yet', [], { offered: ['board', 'config', 'shell', 'start', 'why', 'attention'] }],
  ['an empty word', [''], { offered: ['board', 'config', 'shell', 'start', 'why', 'attention'] }],
  ['a verb in a group', ['config', 's'], { offered: ['set'], typed: 's' }],
  ['an option of the program', ['-'], { offered: ['--version', '-V', '--help', '-h'], typed: '-' }],
  ['an option of a verb', ['config', 'set', '--l'], { offered: setOptions, typed: '--l' }],
  ['only an option can follow', ['board', ''], { offered: ['--json', '--help', '-h'] }],
  ['after all arguments', ['config', 'set', 'k', 'v', ''], { offered: setOptions }],
  ['the first argument', ['config', 'set', ''], { kind: 'config-key' }],
  ['the second argument', ['config', 'set', 'k', ''], {}],
  ['an argument after a switch', ['config', 'set', '--help', ''], { kind: 'config-key' }],
  [
    'an argument after an option and its value',
    ['config', 'set', '--layer', 'x', ''],
    { kind: 'config-key' },
  ],
  ['an argument after a dashed value', ['config', 'set', '--layer', '-x', ''], { kind: 'config-key' }],
  ['an argument after --layer=value', ['config', 'set', '--layer=x', ''], { kind: 'config-key' }],
  ['an argument after an unknown option', ['why', '--what', ''], { kind: 'ticket' }],
  ['a closed list', ['shell', 'z'], { offered: ['bash', 'zsh'], typed: 'z' }],
  [
    'the value of an option',
    ['config', 'set', '--layer', 'p'],
    { offered: ['project', 'global'], typed: 'p' },
  ],
  ['after the equals sign', ['config', 'set', '--layer=p'], { offered: ['project', 'global'], typed: 'p' }],
  [
    'an equals sign in the value',
    ['config', 'set', '--layer=a=b'],
    { offered: ['project', 'global'], typed: 'a=b' },
  ],
  ['after the equals sign of an unknown option', ['config', 'set', '--no=p'], { typed: 'p' }],
  [
    'a required value, even with a dash',
    ['config', 'set', '--layer', '-'],
    { offered: ['project', 'global'], typed: '-' },
  ],
  ['an optional value', ['config', 'set', '--tag', ''], {}],
  ['an omitted optional value', ['config', 'set', '--tag', '-'], { offered: setOptions, typed: '-' }],
  ['the second of many values', ['config', 'set', '--add', 'a', ''], { kind: 'file' }],
  [
    'an option after many values',
    ['config', 'set', '--add', 'a', '--'],
    { offered: setOptions, typed: '--' },
  ],
  ['the tenth of many arguments', ['start', 'A-1', 'A-2', ''], { kind: 'ticket' }],
  ['after --', ['why', '--', '-'], { kind: 'ticket', typed: '-' }],
  ['after -- and all arguments', ['why', '--', 'A-1', ''], {}],
  ['a verb that is a group too', ['attention', ''], { offered: ['ack'] }],
  ['an option of such a verb', ['attention', '-'], { offered: ['--json', '--help', '-h'], typed: '-' }],
  ['below such a verb', ['attention', '--json', 'ack', ''], { kind: 'attention-item' }],
  ['a name of a verb as an argument', ['why', 'config', ''], { offered: ['--help', '-h'] }],
  ['after an unknown verb', ['nothing', ''], { offered: ['--version', '-V', '--help', '-h'] }],
])('%s', (_, given, { offered = [], kind, typed = '' }) => {
  const found = findCompletions(program, given);
  expect({ ...found, offered: found.offered.map(({ value }) => value) }).toEqual({ typed, offered, kind });
});

test('verbs and options come with their descriptions', () => {
  expect(findCompletions(program, ['b']).offered[0]).toEqual({ value: 'board', description: 'The board' });
  expect(findCompletions(program, ['board', '-']).offered[0]).toEqual({
    value: '--json',
    description: 'as JSON',
  });
});
