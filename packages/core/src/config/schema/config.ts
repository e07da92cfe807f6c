// The whole configuration as one tree. Every field says in which files it may stand.
import { z } from 'zod';
import { Archive, Otel } from './backends.ts';
import { Deploy } from './deploy.ts';
import { Feedback } from './feedback.ts';
import { Analytics, ErrorTracking, Search } from './integrations.ts';
import { Briefing, Summaries } from './models.ts';
import { Monitor } from './monitor.ts';
import { Notify } from './notify.ts';
import { Orchestration, Worktree } from './orchestration.ts';
import { Project, projectKey, projects, Repository, Thoughts } from './project.ts';
import { Commands, rules } from './rules.ts';
import { Tracker } from './tracker.ts';

export const Config = z.object({
  svc: z
    .object({
      projectKey,
      repository: Repository,
      project: Project,
      tracker: Tracker,
      thoughts: Thoughts,
      errorTracking: ErrorTracking,
      analytics: Analytics,
      search: Search,
      ai: Summaries,
      monitor: Monitor,
      deploy: Deploy,
      worktree: Worktree,
      orchestration: Orchestration,
      feedback: Feedback,
      notify: Notify,
      rules,
      commands: Commands,
      projects,
    })
    .prefault({}),
  ai: Briefing,
  otel: Otel,
  archive: Archive,
});

export type Config = z.output<typeof Config>;
