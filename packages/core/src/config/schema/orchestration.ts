import { z } from 'zod';
import { field, kinds, optionalField, orNull, wholeNumber } from '../field.ts';

const layers = ['project'] as const;
const DEFAULT_WORKER_COMMAND = '/svc-dev:oneshot';

const workerCommand = {
  schema: z.string().regex(/^\/[a-z0-9][a-z0-9_-]*:[a-z0-9][a-z0-9_-]*$/i, 'not /<plugin>:<skill>'),
  expects: `/<plugin>:<skill>, for example ${DEFAULT_WORKER_COMMAND}`,
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
