import { z } from 'zod';
import {
  amount,
  field,
  inGlobal,
  inProject,
  kinds,
  oneOf,
  optionalField,
  orNull,
  repoSlug,
  wholeNumber,
} from '../../kernel/config/field.ts';
import { secretKind } from '../../kernel/config/secret-shapes.ts';
import { AgentName } from '../agents/schemas.ts';
import { DEFAULT_WORKER_COMMAND, workerCommandForm, workerCommandPattern } from '../agents/worker-command.ts';

/** On the PATH, or an absolute path: what a relative path means depends on the folder. */
export function isProgram(text: string): boolean {
  return text.startsWith('/') || !text.includes('/');
}

/** A user's own limit comes before the project's. */
const budget = (what: string) =>
  field(orNull(amount), {
    layers: ['global', 'project'],
    description: `What the agents of ${what} may cost, in US dollars; null: no limit`,
    default: null,
  });

const DEFAULT_AGENT = [
  'claude',
  '-p',
  '${PROMPT}',
  '--model',
  '${MODEL}',
  '--output-format',
  'stream-json',
  '--verbose',
];

const workerCommand = {
  schema: z.string().regex(workerCommandPattern, 'not /<plugin>:<skill>'),
  expects: workerCommandForm,
};

// An agent is a program on this machine, so the user's own file comes before the project's.
const agentLayers = ['global', 'project'] as const;

/** The value is shown by `svc config`, so a secret must be passed by the name of its variable. */
const agentEnvironment = {
  schema: z
    .record(
      z
        .string()
        .regex(/^(?!SVC_)[A-Za-z_][A-Za-z0-9_]{0,199}$/, 'not the name of a variable that an agent may get'),
      z.string().max(10_000),
    )
    .refine(
      (variables) =>
        Object.entries(variables).every(([name, value]) => secretKind(name, value) === undefined),
      'a secret',
    ),
  expects:
    'an object of variables and their values, none of them a secret (a secret is passed by its name in svc.orchestration.agentEnv)',
};

const Agent = z.object({
  command: optionalField(
    {
      schema: z.string().min(1).refine(isProgram, 'a relative path'),
      expects: 'a program on the PATH or its absolute path',
    },
    { layers: agentLayers, description: 'Program that speaks the Agent Client Protocol' },
  ),
  args: optionalField(kinds.list, { layers: agentLayers, description: 'Arguments of the program' }),
  env: optionalField(agentEnvironment, {
    layers: agentLayers,
    description: 'Variables that only this agent gets; they are added to those of a built-in agent',
  }),
  mode: optionalField(orNull(kinds.text), {
    layers: agentLayers,
    description: 'Id of its permission mode, see svc agents check; null: the agent’s own default',
  }),
  model: optionalField(orNull(kinds.text), {
    layers: agentLayers,
    description: 'Model, as the agent names it; null: the agent’s own default',
  }),
});

/** Only in the user's own file: a committed file must not decide what an agent may do on this machine. */
const permission = (what: string) =>
  field(oneOf(['ask', 'allow', 'reject']), {
    layers: inGlobal,
    description: `Answer to an agent that asks to ${what}`,
    default: 'ask',
  });

const person = z.string().min(1).max(100);

/** People are logins of the code host, or ids of the other tracker. */
export const DispatchEntry = z
  .strictObject({
    repo: repoSlug.describe('the repository of a served project, exactly as its file names it'),
    label: z.string().min(1).max(100).optional().describe('the label that starts a run'),
    assignee: person.optional().describe('the person whose assignment starts a run'),
    authors: z
      .array(person)
      .min(1)
      .max(100)
      .describe('who may set the label or the assignee, and who may have written the ticket'),
  })
  .refine(
    ({ label, assignee }) => label !== undefined || assignee !== undefined,
    'has no label and no assignee',
  );

export type DispatchEntry = z.output<typeof DispatchEntry>;

const agentName = { schema: AgentName, expects: 'the name of an agent, see svc agents list' };

const tests = (scope: string) =>
  field(kinds.list, {
    layers: inProject,
    description: `Test types required for a ${scope} change`,
    default: ['unit'],
  });

const Orchestration = z
  .object({
    worktreeDir: field(orNull(kinds.text), {
      layers: inProject,
      description: 'Base directory for worktrees; null: ~/svc/wt/<projectKey>',
      default: null,
    }),
    maxParallel: field(wholeNumber(1), {
      layers: inProject,
      description: 'Most agents of a run at a time',
      default: 3,
    }),
    hooks: z
      .object({
        setup: field(kinds.list, {
          layers: inProject,
          description: 'Commands to run after a worktree is created',
          default: [],
        }),
        teardown: field(kinds.list, {
          layers: inProject,
          description: 'Commands to run before a worktree is removed',
          default: [],
        }),
      })
      .prefault({}),
    workerCommand: field(workerCommand, {
      layers: inProject,
      description: 'Skill that each agent runs',
      default: DEFAULT_WORKER_COMMAND,
    }),
    agent: field(kinds.list, {
      layers: inProject,
      description: 'Program and arguments of an agent; ${PROMPT} is the worker command with its ticket',
      default: DEFAULT_AGENT,
    }),
    agentEnv: field(kinds.list, {
      layers: inProject,
      description: 'Environment variables to pass to an agent in addition to the standard ones',
      default: ['ANTHROPIC_API_KEY', 'CLAUDE_CODE_OAUTH_TOKEN', 'GH_TOKEN', 'GITHUB_TOKEN'],
    }),
    /** Keyed by the name of the agent; see `builtInAgents`. */
    agents: z.record(AgentName, Agent).prefault({}),
    permissions: z
      .object({
        read: permission('read files'),
        edit: permission('change files'),
        delete: permission('delete files'),
        move: permission('move files'),
        search: permission('search'),
        execute: permission('run a command'),
        think: permission('use a tool that only thinks'),
        fetch: permission('read from the network'),
        switch_mode: permission('change its permission mode'),
        other: permission('use any other tool'),
      })
      .prefault({}),
    /** Only in the user's own file: a committed file must not let people start agents on this machine. */
    dispatch: field(
      {
        schema: z.array(DispatchEntry).max(100),
        expects: 'a list of { "repo", "label" or "assignee", "authors" }, see docs/guide/orchestration.md',
      },
      {
        layers: inGlobal,
        description: 'Labels and assignments in the tracker that start a run, by repository and author',
        default: [],
      },
    ),
    stallAfterSec: field(wholeNumber(1), {
      layers: inProject,
      description: 'Seconds without output or a signal file change after which an agent counts as stalled',
      default: 1800,
    }),
    idleAgentMinutes: field(orNull(wholeNumber(1)), {
      layers: agentLayers,
      description:
        'Minutes after which an agent that has nothing to do is ended; its next message starts it again with its conversation; null: never',
      default: 30,
    }),
    maxAwaitingReview: field(orNull(wholeNumber(1)), {
      layers: inProject,
      description: 'Pause dispatch while more pull requests than this wait for a person; null: never',
      default: null,
    }),
    budget: z
      .object({
        ticketUsd: budget('each ticket of a run'),
        runUsd: budget('each run'),
        dayUsd: budget('all runs of the project on one day (UTC)'),
      })
      .prefault({}),
    testCommand: optionalField(kinds.text, {
      layers: inProject,
      description: 'Command that tests a merged commit; if absent, it is detected',
    }),
    workerModel: field(kinds.text, {
      layers: inProject,
      description: 'Model of the agents',
      default: 'opus',
    }),
    testRequirements: z
      .object({ backend: tests('backend'), frontend: tests('frontend'), fullstack: tests('fullstack') })
      .prefault({}),
    verifyBeforeMerge: field(kinds.flag, {
      layers: inProject,
      description: 'Run adversarial verification on each merged commit',
      default: true,
    }),
    verifier: field(orNull(agentName), {
      layers: inProject,
      description: 'Agent that tries to refute that a merged ticket is done; null: none',
      default: null,
    }),
    verifierTimeoutSec: field(wholeNumber(1), {
      layers: inProject,
      description: 'Seconds after which an answer of the verifier is not awaited any longer',
      default: 1800,
    }),
    allowSelfReportedCompletion: field(kinds.flag, {
      layers: inProject,
      description: 'Treat verification failures as advisory; when false, they block the wave',
      default: false,
    }),
  })
  .prefault({});

export const runsKeys = { orchestration: Orchestration };
