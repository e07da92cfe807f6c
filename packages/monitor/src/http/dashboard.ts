// Where the built web app lies: beside the bundled program, or in its own package when the daemon runs from source.
import { basename, join } from 'node:path';
import type { Logger } from 'pino';
import { loadStaticFiles, type StaticFiles } from './load-static-files.ts';

/** `folder` is that of this file: `…/dist` in a build. */
export function dashboardFolder(folder: string = import.meta.dirname): string {
  return basename(folder) === 'dist'
    ? join(folder, 'dashboard')
    : join(folder, '..', '..', '..', 'dashboard', 'dist');
}

/** Resolves to undefined when it is not built or cannot be read; the daemon goes on without it. */
export async function loadDashboard(
  logger: Logger,
  folder = dashboardFolder(),
): Promise<StaticFiles | undefined> {
  try {
    const files = await loadStaticFiles(folder);
    if (files === undefined) logger.warn({ folder }, 'the dashboard is not built: npm run build');
    return files;
  } catch (error) {
    logger.error({ err: error, folder }, 'the dashboard cannot be read');
    return undefined;
  }
}
