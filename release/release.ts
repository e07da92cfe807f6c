// `npm run release -- --version 0.2.0`: updates the version and the changelog, then builds, packs and checks the
// packages. Nothing is published or tagged: the commands for that are printed at the end. If a check fails, the files
// are restored. With `--dry-run` no file changes, and the output of `npm run build` is packed and checked; so it is with
// `--tag v0.2.0`, after the tag was compared with the version.
import { readFileSync, writeFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import { parseArgs } from 'node:util';
import { releaseChangelog } from './changelog.ts';
import { checkRelease } from './check.ts';
import { buildPackage, type Tarball } from './pack.ts';
import { packages } from './packages.ts';
import { mustRun } from './run-command.ts';
import {
  changedVersions,
  currentVersion,
  isNoStepBack,
  readVersionFiles,
  root,
  tagProblem,
} from './versions.ts';

const USAGE = 'Usage: npm run release -- [--version x.y.z] [--dry-run] | --tag vx.y.z';
const EXIT_USAGE = 2;

const { version, isDry, tag } = readWords();
if (tag === undefined) await release();
else {
  const problem = tagProblem(tag, currentVersion());
  if (problem !== undefined) refuse(problem);
  finish((await checkRelease()).problems);
}

async function release(): Promise<void> {
  const edits = planEdits(version);
  if ('problem' in edits) refuse(edits.problem);
  const { files, notes } = edits;
  if (!isDry) await refuseUncommitted();
  for (const path of files.keys()) console.log(`${isDry ? 'would change' : 'changes'} ${path}`);
  if (isDry) {
    console.log(`\nThe section [${version}] would be:\n\n${notes}\n`);
    finish((await checkRelease()).problems);
    return;
  }
  const before = new Map([...files.keys()].map((path) => [path, read(path)]));
  process.once('SIGINT', () => {
    writeAll(before);
    process.exit(130);
  });
  writeAll(files);
  try {
    // The version is part of the build.
    for (const each of packages) await buildPackage(each);
    const { tarballs, problems } = await checkRelease();
    finish(problems);
    if (problems.length === 0) console.log(nextCommands(tarballs));
    else {
      writeAll(before);
      console.log(`The files are restored. The build still has ${version}; run: npm run build`);
    }
  } catch (error) {
    writeAll(before);
    throw error;
  }
}

function readWords(): { version: string; isDry: boolean; tag: string | undefined } {
  try {
    const { values } = parseArgs({
      options: { version: { type: 'string' }, 'dry-run': { type: 'boolean' }, tag: { type: 'string' } },
    });
    const { 'dry-run': dryRun = false, ...given } = values;
    return { version: given.version ?? currentVersion(), isDry: dryRun, tag: given.tag };
  } catch (error) {
    return refuse(`${error instanceof Error ? error.message : String(error)}\n${USAGE}`);
  }
}

/** The new content of every file that the release changes. */
function planEdits(next: string): { files: Map<string, string>; notes: string } | { problem: string } {
  const last = currentVersion();
  if (!isNoStepBack(next, last))
    return {
      problem: `The version is ${last}: the next one must be three numbers, and not below it\n${USAGE}`,
    };
  const changelog = releaseChangelog(read('CHANGELOG.md'), next, new Date().toISOString().slice(0, 10));
  if ('problem' in changelog) return changelog;
  const edited = changedVersions(readVersionFiles(), next);
  return { files: new Map([['CHANGELOG.md', changelog.text], ...edited]), notes: changelog.notes };
}

async function refuseUncommitted(): Promise<void> {
  const { stdout } = await mustRun('git', ['status', '--porcelain'], { cwd: root });
  if (stdout.trim() !== '') refuse(`There are uncommitted changes:\n${stdout}Commit them first.`);
}

function finish(problems: readonly string[]): void {
  for (const problem of problems) console.error(`FAIL  ${problem}`);
  const found = problems.length === 1 ? '1 problem' : `${problems.length} problems`;
  console.log(problems.length === 0 ? 'every check passed' : `${found}; nothing is released`);
  if (problems.length > 0) process.exitCode = 1;
}

function nextCommands(tarballs: readonly Tarball[]): string {
  const publish = tarballs.map(({ path }) => `  npm publish --access public ./${relative(root, path)}`);
  return [
    '\nNow review the diff, and then run:\n',
    `  git commit --all --message 'Release ${version}'`,
    `  git tag --annotate v${version} --message 'Release ${version}'`,
    '  git push --follow-tags',
    '\nThe workflow of the tag publishes it (.github/workflows/release.yml). Without the workflow, run:\n',
    ...publish,
  ].join('\n');
}

function refuse(words: string): never {
  console.error(words);
  process.exit(EXIT_USAGE);
}

function read(path: string): string {
  return readFileSync(join(root, path), 'utf8');
}

function writeAll(texts: ReadonlyMap<string, string>): void {
  for (const [path, text] of texts) writeFileSync(join(root, path), text);
}
