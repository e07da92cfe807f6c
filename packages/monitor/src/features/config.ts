// The whole configuration as one tree. Every field lists the files that may hold it.
import { z } from 'zod';
import { Archive } from './archive/config.ts';
import { Notify } from './attention/config.ts';
import { Project, projectKey, projects, Repository } from './configuration/config.ts';
import { Analytics, ErrorTracking, Search, Thoughts } from './context/config.ts';
import { Deploy } from './deploy/config.ts';
import { Monitor } from './feeds/config.ts';
import { Feedback } from './findings/config.ts';
import { Otel } from './otel/config.ts';
import { Retention } from './retention/config.ts';
import { Commands, rules } from './rules/config.ts';
import { Orchestration } from './runs/config.ts';
import { Briefing, Summaries } from './summaries/config.ts';
import { Team } from './team/config.ts';
import { Tracker } from './tracker/config.ts';
import { Worktree } from './worktrees/config.ts';

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
