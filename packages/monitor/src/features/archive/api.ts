// Archived runs.
import { z } from 'zod';
import { apiRoute, by, RunName, Time, text } from '../../kernel/http/api-route.ts';
import { retentionKinds } from '../retention/topics.ts';
import { ArchiveManifest as Manifest } from './manifest.ts';

export type ArchiveList = z.infer<typeof ArchiveList>;
const ArchiveList = z
  .object({
    root: z.string().describe('The archive folder'),
    runs: z.array(
      z.object({
        orchestrator: z.string(),
        archivedAt: Time,
        state: Manifest.shape.state,
        files: z.int(),
        bytes: z.int(),
        storedBytes: z.int(),
      }),
    ),
    next: z.string().nullable().describe('Pass as `after` for the next page; null on the last page'),
    unindexed: z.int().describe('Archives missing from the index; `svc archive sweep` adds them'),
  })
  .meta({ id: 'ArchiveList' });

export const archiveRoutes = {
  listArchivedRuns: apiRoute({
    method: 'GET',
    path: '/api/archive',
    tag: 'archive',
    summary: 'List archived runs, page by page',
    query: z.strictObject({
      limit: z.int().min(1).max(500).default(100).describe('default: 100'),
      after: text(120).optional().describe('`next` of the previous page'),
      state: Manifest.shape.state.optional(),
    }),
    answer: ArchiveList,
    failures: ['usage', 'file-unusable'],
  }),
  getArchivedRun: apiRoute({
    method: 'GET',
    path: '/api/archive/{run}',
    tag: 'archive',
    summary: 'Show the manifest of an archived run',
    params: z.strictObject({ run: RunName.describe('The run name') }),
    query: z.strictObject({}),
    answer: Manifest.meta({ id: 'ArchiveManifest' }),
    failures: ['usage', 'unknown-run', 'file-unusable'],
  }),
};

// Old data: what the policy removes, what it keeps and why.

const kind = z.enum(retentionKinds);
const bytes = z.int().nullable().describe('Null: unknown');

export type RetentionItem = z.infer<typeof RetentionItem>;
const RetentionItem = z
  .object({
    kind,
    name: z.string(),
    path: z.string(),
    bytes,
    changedAt: Time.nullable().describe('Null: unknown'),
    remove: z.boolean().describe('The policy removes it'),
    reason: z.string().describe('Why it is removed or kept'),
  })
  .meta({ id: 'RetentionItem' });

const RetentionEnd = z.object({
  removed: z.array(RetentionItem),
  failed: z.array(RetentionItem).describe('Not removed although the policy removes them, with the reason'),
});
export type RetentionEnd = z.infer<typeof RetentionEnd>;

export type Retention = z.infer<typeof Retention>;
const Retention = z
  .object({
    automatic: z.boolean().describe('Whether the daemon removes by itself'),
    totals: z.array(
      z.object({
        kind,
        setting: z.string().nullable().describe('The key of the policy; null: it is never removed'),
        days: z.int().nullable().describe('Removed when unchanged for so long; null: never'),
        items: z.int(),
        bytes,
      }),
    ),
    items: z.array(RetentionItem),
    last: z
      .object({ at: Time, removed: z.int(), failed: z.array(RetentionItem) })
      .nullable()
      .describe('The last removal since the daemon started'),
  })
  .meta({ id: 'Retention' });

export const retentionRoutes = {
  getRetention: apiRoute({
    method: 'GET',
    path: '/api/retention',
    tag: 'retention',
    summary: 'List worktrees, runs, journals, archives and logs, and which of them the policy removes',
    verbs: ['svc retention', 'svc doctor'],
    query: z.strictObject({}),
    answer: Retention,
    failures: ['usage', 'state-not-ready'],
  }),
  applyRetention: apiRoute({
    method: 'POST',
    path: '/api/retention',
    tag: 'retention',
    summary: 'Remove what the policy removes; each is checked again right before',
    verbs: ['svc retention'],
    body: z.strictObject({ by }),
    answer: RetentionEnd,
    failures: ['usage', 'state-not-ready'],
  }),
};
