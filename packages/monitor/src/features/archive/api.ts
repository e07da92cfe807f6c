// Archived runs.
import { z } from 'zod';
import { apiRoute, RunName, Time, text } from '../../kernel/http/api-route.ts';
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
