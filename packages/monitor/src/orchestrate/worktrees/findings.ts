// What worktrees and runs need of the findings that wait in a folder. `feedback` has it.
import type { EventDraft } from '@svc/core';

export type FiledFindings = {
  /** The folder whose queues were looked at. */
  project: string;
  filed: number;
  /** Findings that still wait. */
  left: number;
  /** Why they do; null when none does. */
  why: string | null;
};

export type Findings = {
  /** One for each finding that waits: its title, or the text of a line that cannot be read. */
  waiting: (project: string) => Promise<string[]>;
  /** The folder of all queues. */
  folder: (project: string) => string;
  /** Files them where the project has consent. What is not filed stays where it is. */
  file: (given: {
    /** The folder of the project, or its place in a worktree. */
    project: string;
    scope: EventDraft['scope'];
    signal: AbortSignal;
  }) => Promise<FiledFindings>;
};
