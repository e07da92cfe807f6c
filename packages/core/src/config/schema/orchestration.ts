import { z } from 'zod';
import {
  DEFAULT_WORKER_COMMAND,
  workerCommandForm,
  workerCommandPattern,
} from '../../orchestrate/worker-command.ts';
import { field, kinds, optionalField, orNull, wholeNumber } from '../field.ts';

const layers = ['project'] as const;

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

const tests = (scope: string) =>
  field(kinds.list, {
    layers,
    description: `Test types that a ${scope} change must have`,
    default: ['unit'],
  });

export const Worktree = z
  .object({
    setup: optionalField(kinds.list, {
      layers,
      description: 'Commands run in order in a new worktree; when absent the setup is detected',
    }),
  })
  .prefault({});

export const Orchestration = z
  .object({
    worktreeDir: field(orNull(kinds.text), {
      layers,
      description: 'Base directory of worktrees (null: ~/svc/wt/<projectKey>)',
      default: null,
    }),
    maxParallel: field(wholeNumber(1), { layers, description: 'Maximum of concurrent workers', default: 3 }),
    hooks: z
      .object({
        setup: field(kinds.list, {
          layers,
          description: 'Commands run after worktree creation',
          default: [],
        }),
        teardown: field(kinds.list, {
          layers,
          description: 'Commands run before worktree removal',
          default: [],
        }),
      })
      .prefault({}),
    workerCommand: field(workerCommand, {
      layers,
      description: 'Skill that a worker session runs',
      default: DEFAULT_WORKER_COMMAND,
    }),
    agent: field(kinds.list, {
      layers,
      description: 'Program and arguments of a worker; ${PROMPT} is the worker command with its ticket',
      default: DEFAULT_AGENT,
    }),
    agentEnv: field(kinds.list, {
      layers,
      description: 'Environment variables that a worker gets besides the ordinary ones',
      default: ['ANTHROPIC_API_KEY', 'CLAUDE_CODE_OAUTH_TOKEN', 'GH_TOKEN', 'GITHUB_TOKEN'],
    }),
    stallAfterSec: field(wholeNumber(1), {
      layers,
      description:
        'Seconds without output or a change of its signal file after which a worker counts as hanging',
      default: 1800,
    }),
    maxAwaitingReview: field(orNull(wholeNumber(1)), {
      layers,
      description: 'Holds dispatch while more pull requests than this wait for a person (null: never)',
      default: null,
    }),
    testCommand: optionalField(kinds.text, {
      layers,
      description: 'Command that tests a merged commit; when absent it is detected',
    }),
    workerModel: field(kinds.text, { layers, description: 'Model of worker sessions', default: 'opus' }),
    testRequirements: z
      .object({ backend: tests('backend'), frontend: tests('frontend'), fullstack: tests('fullstack') })
      .prefault({}),
    verifyBeforeMerge: field(kinds.flag, {
      layers,
      description: 'Run adversarial verification on merged commits',
      default: true,
    }),
    allowSelfReportedCompletion: field(kinds.flag, {
      layers,
      description: 'True: verification failures are advisory. False: they block the wave',
      default: false,
    }),
  })
  .prefault({});
