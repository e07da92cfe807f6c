import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { temporaryFolder } from '@svc/testkit';
import { expect, test } from 'vitest';
import { loadProjects } from '../../features/configure.ts';
import { readMachine } from './environment.ts';

/** The projects of a home with this global file, and with these files of projects. */
async function load(global: (home: string) => unknown, files: Record<string, unknown> = {}) {
  const home = temporaryFolder();
  const machine = readMachine({}, home);
  mkdirSync(machine.configDir, { recursive: true });
  const file = join(machine.configDir, 'config.json');
  const content = global(home);
  writeFileSync(file, typeof content === 'string' ? content : JSON.stringify(content));
  for (const [name, project] of Object.entries(files)) {
    mkdirSync(join(home, name, '.svc'), { recursive: true });
    writeFileSync(join(home, name, '.svc/config.json'), JSON.stringify(project));
  }
  return { home, file, ...(await loadProjects(machine, {}, home)) };
}

const deploy = (skipDeployVerification: boolean) => ({
  svc: { projectKey: 'demo', deploy: { 'acme/web': { skipDeployVerification } } },
});

test('a list in a file with an error is unknown', async () => {
  expect(await load(() => ({}))).toMatchObject({ isListKnown: true, projects: [] });
  for (const broken of [
    () => '{"svc":{"projects":["/src/web"]',
    () => ({ svc: { project: ['/src/web'] } }),
    () => ({ svc: { projects: '/src/web' } }),
    () => ({ svc: { projets: ['/src/web'] } }),
  ])
    expect(await load(broken)).toMatchObject({ isListKnown: false });
});

test.each([
  ['at the top', { projects: ['/src/web'] }],
  ['misspelt', { svc: { projets: ['/src/web'] } }],
  ['misspelt, and empty', { svc: { projets: [] } }],
  ['under any name', { svc: { repositories: ['~/web'] } }],
  ['below another key', { workspace: { served: { projects: [] } } }],
  ['below an unknown key of svc', { svc: { folders: { web: ['/src/web', '/src/api'] } } }],
])(
  'a list of projects that stands elsewhere (%s) is an error, and the list is unknown',
  async (_, global) => {
    const { isListKnown, problems, file } = await load(() => global);
    expect(isListKnown).toBe(false);
    expect(problems).toMatchObject([
      { severity: 'error', file, remedy: 'Write the list under svc.projects, or remove the key.' },
    ]);
  },
);

test('an unknown key that holds no folders leaves the list known', async () => {
  const { isListKnown } = await load(() => ({ svc: { colours: ['red', 'blue'] }, labels: { a: ['b/c'] } }));
  expect(isListKnown).toBe(true);
});

test('a path that is not absolute is named, and leaves the list unknown', async () => {
  const { isListKnown, problems, file } = await load(() => ({ svc: { projects: ['~/web'] } }));
  expect(isListKnown).toBe(false);
  expect(problems).toMatchObject([
    {
      severity: 'error',
      file,
      key: 'svc.projects',
      remedy: 'Write the whole path of the folder, without ~.',
    },
  ]);
});

test('a file that listed projects and is gone is missing: they stay served, and the list is unknown', async () => {
  const home = temporaryFolder();
  const known = new Map([[join(home, 'web'), { by: 'list' as const, lastGood: new Map() }]]);
  const { isListKnown, folders, problems } = await loadProjects(readMachine({}, home), {}, home, known);
  expect([isListKnown, folders]).toEqual([false, [join(home, 'web')]]);
  expect(problems).toContainEqual(
    expect.objectContaining({ message: expect.stringContaining('is missing. It listed') }),
  );
  expect(await loadProjects(readMachine({}, home), {}, home)).toMatchObject({ isListKnown: true });
});

test('a listed folder that does not exist is a project that cannot be read', async () => {
  const { projects, problems } = await load((home) => ({ svc: { projects: [join(home, 'gone')] } }));
  expect(projects).toMatchObject([{ applied: { deploy: {}, others: 'unknown' } }]);
  expect(problems).toMatchObject([{ severity: 'error', message: expect.stringContaining('gone') }]);
});

test('two projects that disagree about a repository', async () => {
  const list = (home: string) => ({ svc: { projects: [join(home, 'lax'), join(home, 'strict')] } });
  const { problems, home } = await load(list, { lax: deploy(true), strict: deploy(false) });
  expect(problems).toMatchObject([
    {
      severity: 'error',
      file: join(home, 'lax/.svc/config.json'),
      key: 'svc.deploy.acme/web',
      message: expect.stringContaining('The stricter one counts.'),
    },
  ]);
  expect((await load(list, { lax: deploy(false), strict: deploy(false) })).problems).toEqual([]);
});
