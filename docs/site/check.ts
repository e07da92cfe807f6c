// npm run docs:check: builds the site into a temporary folder and names what is wrong with it, with the Markdown files
// of the whole repository and with the generated reference. Exit code 1 when something is.
import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { buildSite } from './build-site.ts';
import { deadLinks, headingProblems, navigationProblems, readAll } from './check-markdown.ts';
import { pageProblems } from './check-pages.ts';
import { allPages, repository } from './pages.ts';

const output = mkdtempSync(join(tmpdir(), 'svc-docs-'));
try {
  await buildSite(output);
  const files = readAll(repository);
  const pages = allPages();
  const problems = [
    ...deadLinks(repository, files),
    ...[...files].filter(([file]) => pages.has(file)).flatMap(([file, read]) => headingProblems(file, read)),
    ...navigationProblems(pages, files),
    ...pageProblems(output),
    ...referenceDrift(),
  ];
  for (const problem of problems) process.stderr.write(`${problem}\n`);
  process.stdout.write(`${files.size} files, ${pages.size} pages, ${problems.length} problems\n`);
  if (problems.length > 0) process.exitCode = 1;
} finally {
  rmSync(output, { recursive: true, force: true });
}

function referenceDrift(): string[] {
  const generator = join(repository, 'docs/reference/generate/write-reference.ts');
  const { status, stderr } = spawnSync(process.execPath, [generator, '--check'], { encoding: 'utf8' });
  return status === 0 ? [] : [stderr.trim()];
}
