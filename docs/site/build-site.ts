// Builds the site into a folder that is made anew.
import { rmSync, writeFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import { Eleventy } from '@11ty/eleventy';
import { configure } from './eleventy-config.ts';
import { allPages, repository } from './pages.ts';
import { searchScript } from './search-index.ts';

export async function buildSite(output: string): Promise<void> {
  // Eleventy reads its paths from the current folder.
  process.chdir(repository);
  rmSync(output, { recursive: true, force: true });
  const pages = allPages();
  const site = new Eleventy('docs', relative(repository, output), {
    quietMode: true,
    // No file of this name is looked for: the configuration is given here.
    configPath: undefined,
    config: (config) => configure(config, pages),
  });
  await site.write();
  writeFileSync(join(output, 'search.js'), searchScript(pages));
}
