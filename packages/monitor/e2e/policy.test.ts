// What requires proof stays required, whatever happens to the files that say so: they are damaged, misspelt, replaced, cut,
// moved, or no longer listed, while the daemon runs, before it is started again, and before it was ever started. A person
// sees what holds, relaxes it, and is told.
import { execFileSync } from 'node:child_process';
import { mkdirSync, readFileSync, renameSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type { BoardView } from '@svc/core';
import { until } from '@svc/testkit';
import { expect, test } from 'vitest';
import { type TruthWorld, truthWorld } from './truth-world.ts';

type File = { svc: { deploy: Record<string, Record<string, unknown>> } & Record<string, unknown> };

/** The project's file, for a repository that it requires proof for. */
const fileOf = (repo: string): string =>
  JSON.stringify(
    { svc: { projectKey: repo.slice(5), deploy: { [repo]: { skipDeployVerification: false } } } },
    null,
    2,
  );

/** A valid file with something else in it. */
const edited =
  (edit: (svc: File['svc'], repo: string) => void) =>
  (text: string, _: string, repo: string): string => {
    const file = JSON.parse(text) as File;
    edit(file.svc, repo);
    return JSON.stringify(file);
  };
const replaced =
  (from: string | RegExp, to: string) =>
  (text: string): string =>
    text.replace(from, to);
const always = (text: string) => (): string => text;

/** Returns the new text, or changes the file itself. */
type Damage = (text: string, file: string, repo: string) => string | Buffer | void;

const damages: Record<string, Damage> = {
  'a byte order mark': (text) => `\uFEFF${text}`,
  'UTF-16': (text) => Buffer.from(`\uFEFF${text}`, 'utf16le'),
  'a key twice': replaced(': false', ': false, "skipDeployVerification": true'),
  'a section twice': replaced('"deploy": {', '"deploy": {}, "deploy": {'),
  'svc twice': replaced(/\}\s*$/, ', "svc": { "projectKey": "other" } }'),
  'the repository twice, skipped': edited((svc, repo) => {
    svc.deploy[repo.toUpperCase()] = { skipDeployVerification: true };
  }),
  'the repository twice, skipped first': edited((svc, repo) => {
    svc.deploy = { [repo.toUpperCase()]: { skipDeployVerification: true }, ...svc.deploy };
  }),
  'skip 0': replaced(': false', ': 0'),
  'skip in lower case': replaced('skipDeployVerification', 'skipdeployverification'),
  'deploy in capitals': replaced('"deploy"', '"Deploy"'),
  'deploy at the top': (text) => {
    const { svc } = JSON.parse(text) as File;
    return JSON.stringify({ svc: { projectKey: svc['projectKey'] }, deploy: svc.deploy });
  },
  'deploy as a list': edited((svc) => Object.assign(svc, { deploy: [svc.deploy] })),
  'deploy null': edited((svc) => Object.assign(svc, { deploy: null })),
  'a repository null': edited((svc, repo) => Object.assign(svc.deploy, { [repo]: null })),
  ...Object.fromEntries(
    (
      [
        ['with .git', (repo) => `${repo}.git`],
        ['as URL', (repo) => `https://github.com/${repo}`],
        ['without owner', (repo) => repo.slice(5)],
        ['with a blank', (repo) => `${repo} `],
      ] as [string, (repo: string) => string][]
    ).map(([how, name]) => [
      `the repository ${how}`,
      edited((svc, repo) => Object.assign(svc, { deploy: { [name(repo)]: svc.deploy[repo] } })),
    ]),
  ),
  'owner and name nested': edited((svc, repo) =>
    Object.assign(svc, { deploy: { acme: { [repo.slice(5)]: svc.deploy[repo] } } }),
  ),
  'values without a repository': edited((svc) =>
    Object.assign(svc, { deploy: { skipDeployVerification: false } }),
  ),
  'svc in capitals': replaced('"svc"', '"SVC"'),
  'svc left out': (text) => JSON.stringify((JSON.parse(text) as File).svc),
  'a negative time': replaced(': false', ': false, "timeoutSec": -1'),
  'an infinite time': replaced(': false', ': false, "timeoutSec": 1e400'),
  'an empty environment': replaced(': false', ': false, "productionEnvironment": ""'),
  'a trailing comma': replaced(/\}\s*$/, ',}'),
  'a comment': (text) => `// file\n${text}`,
  blanks: always(' \n'),
  null: always('null'),
  'a text': always('"x"'),
  'null bytes': (text) => `${text}\0\0`,
  '2 MB': (text) => text.replace('{', `{${' '.repeat(2 ** 21)}`),
  '200 levels': edited((svc) => Object.assign(svc, { other: JSON.parse('['.repeat(200) + ']'.repeat(200)) })),
  __proto__: (text, _, repo) =>
    replaced(
      /"deploy"[\s\S]*/,
      `"__proto__": { "deploy": { "${repo}": { "skipDeployVerification": false } } } } }`,
    )(text),
  'a link to a file outside': (_, file) => {
    const outside = `${dirname(dirname(file))}.json`;
    writeFileSync(outside, '{}');
    rmSync(file);
    symlinkSync(outside, file);
  },
  'the file gone': (_, file) => rmSync(file),
  'its folder gone': (_, file) => rmSync(dirname(file), { recursive: true }),
  'its folder a file': (_, file) => {
    rmSync(dirname(file), { recursive: true });
    writeFileSync(dirname(file), 'x');
  },
  'the project gone': (_, file) => renameSync(dirname(dirname(file)), `${dirname(dirname(file))}-moved`),
  'a pipe': (_, file) => {
    rmSync(file);
    execFileSync('mkfifo', [file]);
  },
  'a link to itself': (_, file) => {
    rmSync(file);
    symlinkSync('config.json', file);
  },
  'the earlier folder takes over': (_, file) => {
    rmSync(file);
    const earlier = join(dirname(dirname(file)), '.claude');
    mkdirSync(earlier);
    writeFileSync(join(earlier, 'config.json'), '{"svc":{"projectKey":"x"}}');
  },
  // As of a branch from before the section.
  'no section any more': edited((svc) => Object.assign(svc, { deploy: {} })),
  'a valid empty file': always('{}'),
};
const names = Object.keys(damages);
const repos = names.map((_, index) => `acme/r${index}`);
const pathOf = (repo: string): string => `${repo.slice(5)}/.svc/config.json`;

function damage(world: Pick<TruthWorld, 'home'>, name: string, repo: string): void {
  const file = join(world.home, pathOf(repo));
  const text = damages[name]?.(readFileSync(file, 'utf8'), file, repo);
  if (text !== undefined) writeFileSync(file, text);
}

/** Merges of a new ticket in each repository, without any deployment; what each came to. */
async function merges(
  world: TruthWorld,
  all: readonly string[],
  first: number,
): Promise<Record<string, string>> {
  const given = all.map((repo, index) => ({ repo, number: first + index }));
  for (const { number } of given) world.addIssue(number);
  await world.workers(
    given.map(({ repo, number }) => [`ABC-${number}`, { repo, branch: `b${number}`, pr: { number } }]),
  );
  await Promise.all(given.map(({ repo, number }) => world.merge(repo, number)));
  await world.settled();
  const verdicts = await Promise.all(given.map(({ number }) => world.verdict(number)));
  return Object.fromEntries(given.map(({ repo }, index) => [repo, verdicts[index] ?? '']));
}

const each = (all: readonly string[], value: string) => Object.fromEntries(all.map((repo) => [repo, value]));

test('whatever becomes of the file of a project, while the daemon runs and at its next start', async () => {
  const folders = repos.map((repo) => repo.slice(5));
  const world = await truthWorld({
    ...Object.fromEntries(repos.map((repo) => [pathOf(repo), fileOf(repo)])),
    '.config/svc/config.json': { svc: { projects: folders.map((folder) => `HOME/${folder}`) } },
  });
  expect(await world.policies()).toMatchObject(each(repos, 'required'));
  for (const [index, name] of names.entries()) damage(world, name, repos[index] ?? '');
  const required = Object.fromEntries(names.map((name, index) => [name, repos[index] ?? '']));
  const after = await world.policies();
  expect(Object.fromEntries(names.map((name) => [name, after[required[name] ?? '']]))).toEqual(
    each(names, 'required'),
  );
  expect(await merges(world, repos, 100)).toEqual(each(repos, 'waits'));
  await world.restart();
  expect(await world.policies()).toMatchObject(each(repos, 'required'));
  expect(await merges(world, repos, 300)).toEqual(each(repos, 'waits'));
});
