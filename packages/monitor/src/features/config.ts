// The whole configuration as one tree. Every field lists the files that may hold it.
import { z } from 'zod';
import { archiveRootKeys } from './archive/config.ts';
import { attentionKeys } from './attention/config.ts';
import { configurationKeys } from './configuration/config.ts';
import { contextKeys } from './context/config.ts';
import { deployKeys } from './deploy/config.ts';
import { feedsKeys } from './feeds/config.ts';
import { findingsKeys } from './findings/config.ts';
import { otelRootKeys } from './otel/config.ts';
import { retentionKeys } from './retention/config.ts';
import { rulesKeys } from './rules/config.ts';
import { runsKeys } from './runs/config.ts';
import { summariesKeys, summariesRootKeys } from './summaries/config.ts';
import { teamKeys } from './team/config.ts';
import { trackerKeys } from './tracker/config.ts';
import { worktreesKeys } from './worktrees/config.ts';

export const Config = z.object({
  svc: z
    .object({
      ...configurationKeys,
      ...trackerKeys,
      ...contextKeys,
      ...summariesKeys,
      ...feedsKeys,
      ...deployKeys,
      ...worktreesKeys,
      ...runsKeys,
      ...findingsKeys,
      ...attentionKeys,
      ...rulesKeys,
      ...retentionKeys,
      ...teamKeys,
    })
    .prefault({}),
  ...summariesRootKeys,
  ...otelRootKeys,
  ...archiveRootKeys,
});

export type Config = z.output<typeof Config>;

declare module '../kernel/config/configuration.ts' {
  interface Config extends z.output<typeof Config> {}
}
