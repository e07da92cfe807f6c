// The archived runs.
import { type Routes, route } from '../../kernel/http/route.ts';
import { api } from '../api.ts';
import { type ArchiveIndex, listRuns } from './io/archive-index.ts';
import { archivedManifest } from './io/restore.ts';

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
