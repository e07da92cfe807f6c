// The record of a worktree that was created here. Its states:
//   making    being created; if no process holds the lock of the name, the creation was interrupted
//   ready     handed over
//   removing  everything worth keeping has been saved; the rest may be deleted
import { z } from 'zod';

export const WorktreeRecord = z.object({
  version: z.literal(1),
  name: z.string(),
  branch: z.string(),
  /** Whether the branch was created with the worktree, and is therefore removed with it. */
  madeBranch: z.boolean(),
  /** The branch that it was created from. */
  base: z.string(),
  /** The commit that it started at. */
  start: z.string(),
  createdAt: z.string(),
  state: z.enum(['making', 'ready', 'removing']),
  /** The process group of the current step, with the mark of its start. */
  step: z.object({ pid: z.int().positive(), mark: z.string() }).nullable().default(null),
});

export type WorktreeRecord = z.infer<typeof WorktreeRecord>;
