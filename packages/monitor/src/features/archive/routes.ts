// The archived runs.

import { api } from '@svc/core';
import { type Routes, route } from '../../http/route.ts';
import { type ArchiveIndex, listRuns } from './archive-index.ts';
import { archivedManifest } from './restore.ts';

/** Opens the archive for the duration of the work. */
type WithArchive = <T>(work: (archive: { root: string; index: ArchiveIndex }) => Promise<T>) => Promise<T>;

export function archiveRoutes(withArchive: WithArchive): Routes {
  return (app) => {
    route(app, api.listArchivedRuns, ({ query: { after, state, limit } }) =>
      withArchive((archive) => listRuns({ ...archive, after, state, limit })),
    );
    route(app, api.getArchivedRun, ({ params: { run } }) =>
      withArchive(({ root }) => archivedManifest(root, run)),
    );
  };
}
