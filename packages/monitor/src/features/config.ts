// The whole configuration as one tree. Every field lists the files that may hold it.
import { z } from 'zod';
import { Notify } from './attention/config.ts';
import { Archive, Briefing, Monitor, Otel, Retention, Summaries, Team } from './feeds/config.ts';
import { Commands, rules } from './rules/config.ts';
import { Orchestration, Worktree } from './runs/config.ts';
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
} from './tracker/config.ts';

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
