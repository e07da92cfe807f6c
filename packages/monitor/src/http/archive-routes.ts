// GET /api/archive: the archived runs, a page at a time. GET /api/archive/:run: the manifest of one.
import { type ApiAnswer, type ArchivedRunState, ArchiveManifest, api, safeSegment } from '@svc/core';
import type { FastifyPluginCallback } from 'fastify';
import type { ArchiveIndex } from '../archive/archive-index.ts';
import { listRuns } from '../archive/list-runs.ts';
import { archivedManifest } from '../archive/restore.ts';
import { Failure } from '../errors.ts';
import { fieldsOf, textOf } from './request-fields.ts';

const DEFAULT_LIMIT = 100;
const MOST = 500;

export function archiveRoutes(options: {
  /** Opens the archive for as long as the work takes. */
  withIndex: <T>(work: (archive: { root: string; index: ArchiveIndex }) => Promise<T>) => Promise<T>;
}): FastifyPluginCallback {
  return (app, _options, done) => {
    app.get('/api/archive', (request): Promise<ApiAnswer<typeof api.listArchivedRuns>> => {
      const given = fieldsOf(request.query, api.listArchivedRuns.query);
      const after = textOf('after', given.after, api.listArchivedRuns.query.shape.after);
      const state = stateOf(given.state);
      const limit = limitOf(given.limit);
      return options.withIndex((archive) => listRuns({ ...archive, after, state, limit }));
    });
    app.get<{ Params: { run: string } }>('/api/archive/:run', (request): Promise<ArchiveManifest> => {
      const { run } = request.params;
      if (!safeSegment(run))
        throw new Failure('usage', `${JSON.stringify(run.slice(0, 200))} is not the name of a run.`);
      return options.withIndex(({ root }) => archivedManifest(root, run));
    });
    done();
  };
}

function stateOf(value: unknown): ArchivedRunState | undefined {
  if (value === undefined) return undefined;
  const parsed = ArchiveManifest.shape.state.safeParse(value);
  if (parsed.success) return parsed.data;
  throw new Failure('usage', `state: expected one of ${ArchiveManifest.shape.state.options.join(', ')}.`);
}

function limitOf(value: unknown): number {
  if (value === undefined) return DEFAULT_LIMIT;
  const number = typeof value === 'string' && /^\d{1,4}$/.test(value) ? Number(value) : 0;
  if (number >= 1 && number <= MOST) return number;
  throw new Failure('usage', `limit: expected a whole number from 1 to ${MOST}.`);
}
