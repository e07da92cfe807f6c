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
    description: `Test types required for a ${scope} change`,
    default: ['unit'],
  });

export const Worktree = z
  .object({
    setup: optionalField(kinds.list, {
      layers,
      description: 'Commands to run in order in a new worktree; if absent, the setup is detected',
    }),
  })
  .prefault({});

export const Orchestration = z
  .object({
    worktreeDir: field(orNull(kinds.text), {
      layers,
      description: 'Base directory for worktrees; null: ~/svc/wt/<projectKey>',
      default: null,
    }),
    maxParallel: field(wholeNumber(1), { layers, description: 'Maximum concurrent workers', default: 3 }),
    hooks: z
      .object({
        setup: field(kinds.list, {
          layers,
          description: 'Commands to run after a worktree is created',
          default: [],
        }),
        teardown: field(kinds.list, {
          layers,
          description: 'Commands to run before a worktree is removed',
          default: [],
        }),
      })
      .prefault({}),
    workerCommand: field(workerCommand, {
      layers,
      description: 'Skill that each worker session runs',
      default: DEFAULT_WORKER_COMMAND,
    }),
    agent: field(kinds.list, {
      layers,
      description: 'Program and arguments of a worker; ${PROMPT} is the worker command with its ticket',
      default: DEFAULT_AGENT,
    }),
    agentEnv: field(kinds.list, {
      layers,
      description: 'Environment variables to pass to a worker in addition to the standard ones',
      default: ['ANTHROPIC_API_KEY', 'CLAUDE_CODE_OAUTH_TOKEN', 'GH_TOKEN', 'GITHUB_TOKEN'],
    }),
    stallAfterSec: field(wholeNumber(1), {
      layers,
      description: 'Seconds without output or a signal file change after which a worker counts as stalled',
      default: 1800,
    }),
    maxAwaitingReview: field(orNull(wholeNumber(1)), {
      layers,
      description: 'Pause dispatch while more pull requests than this wait for a person; null: never',
      default: null,
    }),
    testCommand: optionalField(kinds.text, {
      layers,
      description: 'Command that tests a merged commit; if absent, it is detected',
    }),
    workerModel: field(kinds.text, { layers, description: 'Model for worker sessions', default: 'opus' }),
    testRequirements: z
      .object({ backend: tests('backend'), frontend: tests('frontend'), fullstack: tests('fullstack') })
      .prefault({}),
    verifyBeforeMerge: field(kinds.flag, {
      layers,
      description: 'Run adversarial verification on each merged commit',
      default: true,
    }),
    allowSelfReportedCompletion: field(kinds.flag, {
      layers,
      description: 'Treat verification failures as advisory; when false, they block the wave',
      default: false,
    }),
  })
  .prefault({});
