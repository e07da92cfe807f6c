// Archived runs.
import { z } from 'zod';
import { ArchiveManifest as Manifest } from '../archive/manifest.ts';
import { apiRoute, RunName, Time, text } from './route.ts';

export type ArchiveList = z.infer<typeof ArchiveList>;
const ArchiveList = z
  .object({
    root: z.string().describe('The folder of the archive'),
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
    next: z.string().nullable().describe('The name to go on behind; null at the end'),
    unindexed: z.int().describe('Archives that the index does not know; a sweep mends it'),
  })
  .meta({ id: 'ArchiveList' });

export const archiveRoutes = {
  listArchivedRuns: apiRoute({
    method: 'GET',
    path: '/api/archive',
    tag: 'archive',
    summary: 'The archived runs, a page at a time',
    query: z.strictObject({
      limit: z.int().min(1).max(500).default(100).describe('default: 100'),
      after: text(120).optional().describe('`next` of the last answer'),
      state: Manifest.shape.state.optional(),
    }),
    answer: ArchiveList,
    failures: ['usage', 'file-unusable'],
  }),
  getArchivedRun: apiRoute({
    method: 'GET',
    path: '/api/archive/{run}',
    tag: 'archive',
    summary: 'The manifest of an archived run',
    params: z.strictObject({ run: RunName.describe('The name of the run') }),
    query: z.strictObject({}),
    answer: Manifest.meta({ id: 'ArchiveManifest' }),
    failures: ['usage', 'unknown-run', 'file-unusable'],
  }),
};
