// Rules: when a matching event arrives, do this. They and their commands may only be in the global file: a rule can
// run a program on this machine, and a committed file must never be able to do that.
import { z } from 'zod';
import { field, inGlobal, optionalField, repoSlug } from '../../kernel/config/field.ts';
import { Severity } from '../attention/severity.ts';
import { isProgram } from '../runs/config.ts';

/** Used in event details, in attention reasons and in environment variables. */
const ruleName = z
  .string()
  .regex(/^[a-z][a-z0-9-]{0,39}$/, 'expected a-z, 0-9 and dashes, at most 40 characters, a letter first');
const commandName = z
  .string()
  .regex(/^[A-Za-z0-9][A-Za-z0-9._-]{0,99}$/, 'expected letters, digits, dots, dashes, underscores');
const message = z
  .string()
  .min(1)
  .max(400)
  .describe('{event}, {ticket}, {repo}, {pr} and others are replaced by the values of the event');
const severity = Severity.default('medium');

export const RuleThen = z
  .strictObject({
    notify: z.strictObject({ message, severity }).optional().describe('notify as svc.notify says'),
    attention: z
      .strictObject({ message, severity, remedy: z.string().min(1).max(200).optional() })
      .optional()
      .describe('open an attention item'),
    run: commandName.optional().describe('name of a command in svc.commands'),
  })
  .refine(
    ({ notify, attention, run }) => notify !== undefined || attention !== undefined || run !== undefined,
    'expected notify, attention or run',
  );

export const Rule = z.strictObject({
  name: ruleName,
  enabled: z.boolean().default(false).describe('a rule does nothing until it is enabled'),
  when: z.strictObject({
    event: z.string().min(1).max(200).describe('topic, or a pattern for topics: codehost.pr.*'),
    ticket: z.string().min(1).max(200).optional(),
    repo: repoSlug.optional(),
    filter: z.string().min(1).max(4000).optional().describe('jq filter; true for matching events'),
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
    .describe('maximum number of times the rule fires for one ticket in a period'),
});

const rules = field(
  { schema: z.array(Rule).max(100), expects: 'a list of rules, see docs/guide/rules.md' },
  { layers: inGlobal, description: 'Automations: what to do when a matching event arrives', default: [] },
);

/** Never a shell: the program gets exactly these arguments, and nothing from the event. */
const argv = {
  schema: z
    .array(z.string().min(1).max(4000))
    .min(1)
    .max(100)
    .refine(
      ([program = '']) => isProgram(program),
      'expected a program on the PATH or an absolute path first',
    ),
  expects: 'a list: a program on the PATH or its absolute path, then its arguments',
};

const Command = z.object({
  argv: optionalField(argv, { layers: inGlobal, description: 'Program and arguments that a rule can run' }),
  timeoutSeconds: field(
    { schema: z.int().min(1).max(600), expects: 'a whole number from 1 to 600' },
    { layers: inGlobal, description: 'Seconds after which the program is killed', default: 60 },
  ),
});

/** Keyed by the name that a rule's `then.run` uses. */
const Commands = z.record(commandName, Command).prefault({});

export type Rule = z.output<typeof Rule>;
export type RuleThen = z.output<typeof RuleThen>;
export type RuleCommand = z.output<typeof Command>;

export const rulesKeys = { rules, commands: Commands };
