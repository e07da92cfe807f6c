// What requires proof stays required, whatever happens to the files that say so: they are damaged, misspelt, replaced, cut,
// moved, or no longer listed, while the daemon runs, before it is started again, and before it was ever started. A person
// sees what holds, relaxes it, and gets an attention item.
import { execFileSync } from 'node:child_process';
import { mkdirSync, readFileSync, renameSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { temporaryFolder, until } from '@svc/testkit';
import { expect, test } from 'vitest';
import { type TruthWorld, truthWorld } from './truth-world.ts';

const json = { 'Content-Type': 'application/json' };

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

/** A folder for projects, with those of the repositories. */
function projectsOf(all: readonly string[]) {
  const root = temporaryFolder();
  const folderOf = (repo: string): string => join(root, repo.slice(5));
  const fileIn = (repo: string): string => join(folderOf(repo), '.svc/config.json');
  return {
    folderOf,
    fileIn,
    files: {
      ...Object.fromEntries(all.map((repo) => [fileIn(repo), fileOf(repo)])),
      '.config/svc/config.json': { svc: { projects: all.map(folderOf) } },
    },
    damage: (name: string, repo: string): void => {
      const file = fileIn(repo);
      const text = damages[name]?.(readFileSync(file, 'utf8'), file, repo);
      if (text !== undefined) writeFileSync(file, text);
    },
  };
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
  const projects = projectsOf(repos);
  const world = await truthWorld(projects.files);
  expect(await world.policies()).toMatchObject(each(repos, 'required'));
  for (const [index, name] of names.entries()) projects.damage(name, repos[index] ?? '');
  const after = await world.policies();
  const found = names.map((name, index) => [name, after[repos[index] ?? '']]);
  expect(Object.fromEntries(found)).toEqual(each(names, 'required'));
  expect(await merges(world, repos, 100)).toEqual(each(repos, 'waits'));
  await world.restart();
  expect(await world.policies()).toMatchObject(each(repos, 'required'));
  expect(await merges(world, repos, 300)).toEqual(each(repos, 'waits'));
});

// Each alone: one unreadable project makes every repository without a policy unknown.
test.each([
  'the repository twice, skipped first',
  'the repository with .git',
  'svc twice',
  'svc in capitals',
  'svc left out',
  'deploy at the top',
  'deploy null',
  '__proto__',
  'the file gone',
  'the project gone',
])('%s, before the first start', async (name) => {
  const projects = projectsOf(['acme/web']);
  const world = await truthWorld(projects.files, {}, () => projects.damage(name, 'acme/web'));
  expect(await merges(world, ['acme/web'], 1)).toEqual({ 'acme/web': 'waits' });
});

test('whatever becomes of the list of projects', async () => {
  const projects = projectsOf(['acme/web']);
  const { folderOf } = projects;
  const world = await truthWorld(projects.files);
  const list = join(world.home, '.config/svc/config.json');
  const listed = (value: unknown, key = 'projects') => JSON.stringify({ svc: { [key]: value } });
  const folder = folderOf('acme/web');
  const back = (): void => world.write(list, listed([folder]));
  const changes: [name: string, change: () => void, undo?: () => void][] = [
    ['gone', () => rmSync(list)],
    ['broken', () => writeFileSync(list, '<<<<<<< HEAD')],
    ['cut', () => writeFileSync(list, listed([folder]).slice(0, -4))],
    ['misspelt', () => writeFileSync(list, listed([folder], 'project'))],
    ['a text', () => writeFileSync(list, listed(folder))],
    ['with ~', () => writeFileSync(list, listed(['~/web']))],
    ['empty', () => writeFileSync(list, '{}')],
    [
      'its folder gone',
      () => renameSync(folder, `${folder}-moved`),
      () => renameSync(`${folder}-moved`, folder),
    ],
    [
      'a lax clone first',
      () => {
        const clone = folderOf('acme/clone');
        world.write(join(clone, '.svc/config.json'), {
          svc: { projectKey: 'clone', deploy: { 'acme/web': { skipDeployVerification: true } } },
        });
        writeFileSync(list, listed([clone, folder]));
      },
    ],
  ];
  const found: Record<string, unknown> = {};
  let number = 1;
  for (const [name, change, undo] of changes) {
    change();
    const live = (await world.policies())['acme/web'];
    const merged = await merges(world, ['acme/web'], (number += 1));
    await world.restart();
    found[name] = [live, merged['acme/web'], (await world.policies())['acme/web']];
    undo?.();
    back();
  }
  expect(found).toEqual(
    Object.fromEntries(changes.map(([name]) => [name, ['required', 'waits', 'required']])),
  );
});

test('a person sees what holds and why, relaxes what no file states any more, and gets one attention item', async () => {
  const projects = projectsOf(['acme/web', 'acme/api']);
  const world = await truthWorld(projects.files);
  const attention = async () =>
    (await world.board()).attention.filter(({ reason }) => reason.startsWith('policy-relaxed'));
  const problems = async (): Promise<string[]> => {
    const { body } = await world.daemon().get('/api/health');
    return (body['configuration'] as { problems: { text: string }[] }).problems.map(({ text }) => text);
  };
  const refused = await world.svc('deploy', 'policy', 'relax', 'acme/web');
  expect(refused.code).not.toBe(0);
  expect(refused.err).toContain('svc config set svc.deploy.acme/web.skipDeployVerification true');
  expect((await world.svc('deploy', 'policy', 'acme/web')).out).toContain(
    `The file of ${projects.folderOf('acme/web')} requires it.`,
  );
  expect((await world.svc('deploy', 'policy', 'acme/other')).out).toContain('No project names it.');

  // Its project is no longer served: it still requires proof, and health says so with the fix.
  world.write('.config/svc/config.json', { svc: { projects: [projects.folderOf('acme/api')] } });
  const left = await until(async () => (await problems()).find((text) => text.includes('no longer served')));
  expect(left).toContain('acme/web still requires a verified deployment');
  expect(await merges(world, ['acme/web'], 1)).toEqual({ 'acme/web': 'waits' });
  expect((await world.svc('deploy', 'policy', 'acme/web')).out).toContain('required it.');

  expect(await world.svc('deploy', 'policy', 'relax', 'acme/web', '--note', 'moved')).toMatchObject({
    code: 0,
  });
  const [item] = await until(async () => {
    const items = await attention();
    return items.length > 0 ? items : undefined;
  });
  expect(item).toMatchObject({ reason: 'policy-relaxed-acme-web', remedy: 'svc deploy policy acme/web' });
  expect(item?.message).toContain('acme/web no longer requires a verified deployment');
  await until(async () => (await problems()).every((text) => !text.includes('no longer served')));
  expect((await world.svc('deploy', 'policy', 'relax', 'acme/web')).code).not.toBe(0);
  // For later merges only.
  expect(await merges(world, ['acme/web', 'acme/api'], 10)).toEqual({
    'acme/web': 'done',
    'acme/api': 'waits',
  });
  expect(await world.verdict(1)).toBe('waits');
  await world.restart();
  await world.policies();
  expect(await world.verdict(1)).toBe('waits');
  expect(await attention()).toHaveLength(1);

  // A valid file that says so relaxes its repository too, with an attention item.
  world.write(projects.fileIn('acme/api'), {
    svc: { projectKey: 'api', deploy: { 'acme/api': { skipDeployVerification: true } } },
  });
  await until(async () => (await attention()).some(({ reason }) => reason === 'policy-relaxed-acme-api'));
  expect(await merges(world, ['acme/api'], 20)).toEqual({ 'acme/api': 'done' });
});

test('the phase done moves no ticket of a repository that requires proof, until it is proved', async () => {
  const world = await truthWorld({}, { 'acme/web': { skipDeployVerification: false } });
  for (const number of [1, 2]) world.addIssue(number);
  await world.workers([['ABC-1', { branch: 'b1', pr: { number: 1 } }]]);
  await world.merge('acme/web', 1);
  await world.settled();
  const why = 'acme/web requires a verified deployment, and none was seen';
  for (const phase of ['done', 'merge-pr']) {
    const { code, out, err } = await world.svc('ticket', 'phase', phase, 'ABC-1');
    expect({ code, said: out + err }).toEqual({ code: 0, said: expect.stringContaining(why) });
  }
  expect(await world.daemon().post('/api/tickets/ABC-1/phase', '{"phase":"done"}', json)).toMatchObject({
    status: 200,
    body: { outcome: 'held', from: null, to: null, why },
  });
  // No worker and no pull request is known of it: it may be of that repository.
  expect((await world.svc('ticket', 'phase', 'done', 'ABC-2')).out).toContain(
    'its repository requires a verified deployment, and none was seen',
  );
  await world.settled();
  expect([world.trackerState(1), world.trackerState(2)]).toEqual(['Backlog', 'Backlog']);
  // Other phases are not held.
  expect((await world.svc('ticket', 'phase', 'inReview', 'ABC-1')).code).toBe(0);
  expect(world.trackerState(1)).toBe('In Review');
  await world.deployed('acme/web', 1, world.shaOf('merge acme/web1'), 'success');
  await until(() => world.trackerState(1) === 'Done');
  expect((await world.svc('ticket', 'phase', 'inReview', 'ABC-1')).code).toBe(0);
  expect((await world.svc('ticket', 'phase', 'done', 'ABC-1')).code).toBe(0);
  expect(world.trackerState(1)).toBe('Done');
});
