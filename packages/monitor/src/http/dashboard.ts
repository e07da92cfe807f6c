// Finds the built web app: beside the bundled program, or in its own package when the daemon runs from source.
import { basename, join } from 'node:path';
import type { Logger } from 'pino';
import { loadStaticFiles, type StaticFiles } from './load-static-files.ts';

/** `folder` is the folder of this file: `…/dist` in a build. */
export function dashboardFolder(folder: string = import.meta.dirname): string {
  return basename(folder) === 'dist'
    ? join(folder, 'dashboard')
    : join(folder, '..', '..', '..', 'dashboard', 'dist');
}

/** Resolves to undefined when the web app is not built or cannot be read; the daemon runs without it. */
export async function loadDashboard(
  logger: Logger,
  folder = dashboardFolder(),
): Promise<StaticFiles | undefined> {
  try {
    const files = await loadStaticFiles(folder);
    if (files === undefined) logger.warn({ folder }, 'the dashboard is not built; run npm run build');
    return files;
  } catch (error) {
    logger.error({ err: error, folder }, 'the dashboard cannot be read');
    return undefined;
  }
}
