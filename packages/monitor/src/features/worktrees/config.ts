// Keys of `svc.worktree`.
import { z } from 'zod';
import { inProject, kinds, optionalField } from '../../kernel/config/field.ts';

const Worktree = z
  .object({
    setup: optionalField(kinds.list, {
      layers: inProject,
      description: 'Commands to run in order in a new worktree; if absent, the setup is detected',
    }),
  })
  .prefault({});

export const worktreesKeys = { worktree: Worktree };
