// What is known of a worktree that was made here. Its states:
//   making    a create is under way; when nobody holds the lock of the name any more, it is half made
//   ready     handed over
//   removing  everything to be kept is kept; what is left may go
import { z } from 'zod';

export const WorktreeRecord = z.object({
  version: z.literal(1),
  name: z.string(),
  branch: z.string(),
  /** Whether the branch was made with the worktree, so that it also goes with it. */
  madeBranch: z.boolean(),
  /** The branch that it was made from. */
  base: z.string(),
  /** The commit that it began at. */
  start: z.string(),
  createdAt: z.string(),
  state: z.enum(['making', 'ready', 'removing']),
  /** The process group of the step under way, with the mark of its start. */
  step: z.object({ pid: z.int().positive(), mark: z.string() }).nullable().default(null),
});

export type WorktreeRecord = z.infer<typeof WorktreeRecord>;
