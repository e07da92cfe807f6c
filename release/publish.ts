// `npm run release:publish`, the step of .github/workflows/release.yml that publishes what `npm run release -- --tag` has
// packed and checked: the packages with their provenance, then the release page with the same files. It imports no
// package, so that no other code runs where publishing is allowed. It can be repeated: what is there is left as it is.
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { releasedNotes } from './changelog.ts';
import { billName, packages, tarballName } from './packages.ts';
import { mustRun, run } from './run-command.ts';
import { currentVersion, root, tagProblem } from './versions.ts';

const cwd = join(root, 'release', 'out');
const version = currentVersion();
const tag = `v${version}`;
const files = [...packages.map((each) => tarballName(each, version)), billName(version)];
const notes = releasedNotes(readFileSync(join(root, 'CHANGELOG.md'), 'utf8'), version);
const problems = [
  tagProblem(process.env['GITHUB_REF_NAME'], version) ?? [],
  notes === undefined ? `CHANGELOG.md has no section for ${version}. Run: npm run release` : [],
  files.filter((file) => !existsSync(join(cwd, file))).map((file) => `release/out/${file} is missing`),
].flat();

if (notes === undefined || problems.length > 0) {
  for (const problem of problems) console.error(problem);
  console.error('Nothing was published.');
  process.exitCode = 2;
} else {
  for (const each of packages) await publish(each.name, `./${tarballName(each, version)}`);
  await createPage(notes);
}

async function publish(name: string, tarball: string): Promise<void> {
  const { stdout } = await run('npm', ['view', `${name}@${version}`, 'version'], { cwd });
  if (stdout.trim() === version) return console.log(`${name} ${version} is already published`);
  await mustRun('npm', ['publish', '--provenance', '--access', 'public', tarball], { cwd });
  console.log(`${name} ${version} is published`);
}

async function createPage(text: string): Promise<void> {
  const { code } = await run('gh', ['release', 'view', tag], { cwd });
  if (code === 0) return console.log(`the page of ${tag} is already there`);
  writeFileSync(join(cwd, 'notes.md'), `${text}\n`);
  const words = ['release', 'create', tag, '--verify-tag', '--title', tag, '--notes-file', 'notes.md'];
  await mustRun('gh', [...words, ...files], { cwd });
  console.log(`the page of ${tag} is created`);
}
