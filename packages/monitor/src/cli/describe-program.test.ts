import { createArgument, createCommand, Option } from '@commander-js/extra-typings';
import { testTerminal } from '@svc/testkit';
import { expect, test } from 'vitest';
import { type DescribedVerb, describeProgram, everyVerb } from './describe-program.ts';
import { verb, verbGroup } from './kit/verb.ts';
import { buildProgram } from './program.ts';
import { runCommandLine } from './run.ts';

const show = verb('show', {
  summary: 'Show it',
  details: 'Exit codes: 0 fine',
  example: ['x show a', 'x show b'],
  route: 'GET /api/x',
})
  .addArgument(createArgument('<name>', 'which').choices(['a', 'b']))
  .argument('[more...]', 'others', [])
  .requiredOption('--to <folder>', 'where')
  .option('-n, --lines [count]', 'how many', '50')
  .option('--limit <number>', 'at most (default: all)', '0')
  .option('--no-open', 'stay closed')
  .addOption(new Option('--layer <layer>', 'the file').choices(['project', 'global']))
  .addOption(new Option('--inner <x>').hideHelp());

const program = createCommand('x')
  .description('All of it.')
  .addCommand(verbGroup('things', { summary: 'The things', example: 'x things show' }, [show]))
  .addCommand(verb('secret', { summary: 'Hidden', example: 'x secret' }), { hidden: true });

const described = describeProgram(program);
const [things] = described.verbs;
const [shown] = things?.verbs ?? [];

test('a verb is described with everything that its help shows', () => {
  expect(shown).toMatchObject({
    name: 'show',
    path: ['things', 'show'],
    usage: 'x things show [options] <name> [more...]',
    summary: 'Show it',
    details: 'Exit codes: 0 fine',
    examples: ['x show a', 'x show b'],
    route: 'GET /api/x',
    verbs: [],
  });
  expect(shown?.arguments).toEqual([
    {
      name: 'name',
      placeholder: '<name>',
      required: true,
      variadic: false,
      choices: ['a', 'b'],
      description: 'which',
      default: null,
    },
    {
      name: 'more',
      placeholder: '[more...]',
      required: false,
      variadic: true,
      choices: [],
      description: 'others',
      default: null,
    },
  ]);
});

test('an option has its value, its default and whether it is required', () => {
  const options = new Map(shown?.options.map((option) => [option.long, option]));
  expect([...options.keys()]).toEqual(['--to', '--lines', '--limit', '--no-open', '--layer', '--help']);
  expect(options.get('--to')).toMatchObject({ mandatory: true, value: { placeholder: '<folder>' } });
  expect(options.get('--lines')).toMatchObject({
    short: '-n',
    mandatory: false,
    default: '50',
    value: { name: 'count', placeholder: '[count]', required: false },
  });
  expect(options.get('--no-open')).toMatchObject({ value: null, default: null });
  expect(options.get('--layer')?.value?.choices).toEqual(['project', 'global']);
  expect(options.get('--limit')?.default, 'its description states it').toBeNull();
});

test('hidden entries and commander’s own help verb are left out', () => {
  expect(everyVerb(described).map(({ path }) => path.join(' '))).toEqual(['', 'things', 'things show']);
});

test('it is plain data', async () => {
  const whole = describeProgram(await buildProgram(testTerminal()));
  expect(JSON.parse(JSON.stringify(whole))).toEqual(whole);
});

test('the description of svc has every verb, option, example and route of its help', async () => {
  const verbs = everyVerb(describeProgram(await buildProgram(testTerminal())));
  expect(verbs.length).toBeGreaterThan(80);
  for (const one of verbs) {
    const help = await helpOf(one);
    for (const text of textsIn(one)) expect(help, one.path.join(' ')).toContain(text);
  }
});

async function helpOf({ path }: DescribedVerb): Promise<string> {
  const terminal = testTerminal();
  await runCommandLine(terminal, [...path, '--help']);
  return onOneLine(terminal.printed());
}

/** Help wraps long lines. */
function onOneLine(text: string): string {
  return text.replaceAll(/\s+/g, ' ');
}

function textsIn({ usage, details, options, examples, route, verbs }: DescribedVerb): string[] {
  const texts = [
    usage,
    details,
    ...options.map(({ flags }) => flags),
    ...examples,
    ...(route === null ? [] : [`Route: ${route}`]),
    ...verbs.map(({ name, summary }) => `${name} ${summary}`),
  ];
  return texts.map(onOneLine);
}
