// The archived runs, in the daemon.
import type { OpenFeature } from '../../kernel/feature.ts';
import { rootFrom, withArchiveIndex } from './io/archive-index.ts';
import { archiveRoutes } from './routes.ts';

export const openArchive: OpenFeature = ({ machine, machineWide }) => ({
  routes: archiveRoutes((work) => {
    const root = rootFrom(machineWide().archive.root, machine.home);
    return withArchiveIndex(machine.databaseFile, root, (index) => work({ root, index }));
  }),
});
