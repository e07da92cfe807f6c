// Findings for worktrees without any; `verbs/worktree.test.ts` has the real ones.
import { join } from 'node:path';
import type { FiledFindings, Findings } from '../../findings/io/run-end.ts';

export const nothing: FiledFindings = { project: '', filed: 0, left: 0, why: null };

export const noFindings: Findings = {
  waiting: async () => [],
  folder: (project) => join(project, '.svc', 'findings'),
  file: async () => nothing,
};
