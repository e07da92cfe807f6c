// The whole configuration as one tree. Every field lists the files that may hold it.
import { z } from 'zod';
import { Archive, Briefing, Monitor, Otel, Retention, Summaries, Team } from './monitor.ts';
import { Notify } from './notify.ts';
import { Orchestration, Worktree } from './orchestration.ts';
import {
  Analytics,
  Deploy,
  ErrorTracking,
  Feedback,
  Project,
  projectKey,
  projects,
  Repository,
  Search,
  Thoughts,
  Tracker,
} from './project.ts';
import { Commands, rules } from './rules.ts';

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
      retention: Retention,
      team: Team,
      projects,
    })
    .prefault({}),
  ai: Briefing,
  otel: Otel,
  archive: Archive,
});

export type Config = z.output<typeof Config>;
