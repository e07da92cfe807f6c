// Rules: when a line like this comes, then that is done. They and their commands stand in the global file alone: a
// rule can run a program of this machine, which a file that is committed must never be able to.
import { z } from 'zod';
import { FindingSeverity } from '../../feedback/findings.ts';
import { field, optionalField, repoSlug } from '../field.ts';

const layers = ['global'] as const;

/** Part of topics' details, of attention reasons and of environment variables. */
const ruleName = z
  .string()
  .regex(/^[a-z][a-z0-9-]{0,39}$/, 'expected small letters, digits and dashes, at most 40, a letter first');
const commandName = z
  .string()
  .regex(/^[A-Za-z0-9][A-Za-z0-9._-]{0,99}$/, 'expected letters, digits, dots, dashes, underscores');
const message = z
  .string()
  .min(1)
  .max(400)
  .describe('{event}, {ticket}, {repo}, {pr} and the like stand for what the line is about');
const severity = FindingSeverity.default('medium');

export const RuleThen = z
  .strictObject({
    notify: z.strictObject({ message, severity }).optional().describe('tell whoever svc.notify names'),
    attention: z
      .strictObject({ message, severity, remedy: z.string().min(1).max(200).optional() })
      .optional()
      .describe('open an attention item'),
    run: commandName.optional().describe('name of a command of svc.commands'),
  })
  .refine(
    ({ notify, attention, run }) => notify !== undefined || attention !== undefined || run !== undefined,
    'expected notify, attention or run',
  );

export const Rule = z.strictObject({
  name: ruleName,
  enabled: z.boolean().default(false).describe('a rule is off until it is switched on'),
  when: z.strictObject({
    event: z.string().min(1).max(200).describe('topic, or a glob of topics: codehost.pr.*'),
    ticket: z.string().min(1).max(200).optional(),
    repo: repoSlug.optional(),
    filter: z.string().min(1).max(4000).optional().describe('jq filter; true for the lines that are meant'),
  }),
  then: RuleThen,
  limit: z
    .strictObject({
      atMost: z.int().min(1).max(1000).default(1),
      per: z
        .string()
        .regex(/^[1-9]\d{0,5}[smhdw]$/, 'expected a duration like 10m')
        .default('10m'),
    })
    .prefault({})
    .describe('how often it fires at most, for each ticket'),
});

export const rules = field(
  { schema: z.array(Rule).max(100), expects: 'a list of rules, see docs/guide/rules.md' },
  { layers, description: 'What is done when a line of a kind comes', default: [] },
);

/** Never a shell: the program is given its arguments as they stand here, and none of the event's. */
const argv = {
  schema: z
    .array(z.string().min(1).max(4000))
    .min(1)
    .max(100)
    .refine(
      ([program = '']) => program.startsWith('/') || !program.includes('/'),
      'expected a program of the PATH or an absolute path first',
    ),
  expects: 'a program of the PATH or its absolute path, then its arguments, as a list',
};

const Command = z.object({
  argv: optionalField(argv, { layers, description: 'Program and arguments that a rule may run' }),
  timeoutSeconds: field(
    { schema: z.int().min(1).max(600), expects: 'a whole number from 1 to 600' },
    { layers, description: 'The program is ended after so many seconds', default: 60 },
  ),
});

/** Keyed by name; `then.run` of a rule names one. */
export const Commands = z.record(commandName, Command).prefault({});

export type Rule = z.output<typeof Rule>;
export type RuleThen = z.output<typeof RuleThen>;
export type RuleCommand = z.output<typeof Command>;
