// The scripts in bin/, run as a person runs them: from anywhere, through links, before and after a build.
import { execFile } from 'node:child_process';
import { cpSync, mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { temporaryFolder } from '@svc/testkit';
import { expect, test } from 'vitest';

const bin = join(import.meta.dirname, '..', '..', '..', 'bin');
const run = promisify(execFile);

async function outcome(
  program: string,
  words: string[],
  options: { cwd: string; env?: Record<string, string> },
) {
  const env = { HOME: options.cwd, PATH: process.env['PATH'] ?? '', ...options.env };
  try {
    return { code: 0, ...(await run(program, words, { cwd: options.cwd, env })) };
  } catch (error) {
    const { code, stdout, stderr } = error as { code: number; stdout: string; stderr: string };
    return { code, stdout, stderr };
  }
}

test('svc works from any folder and through links to links', async () => {
  const folder = temporaryFolder();
  symlinkSync(join(bin, 'svc'), join(folder, 'one'));
  symlinkSync('one', join(folder, 'two words'));
  const { code, stdout } = await outcome(join(folder, 'two words'), ['--version'], { cwd: folder });
  const version = readFileSync(join(bin, '..', 'version.txt'), 'utf8');
  expect({ code, stdout }).toEqual({ code: 0, stdout: version });
});

test('the helpers reach their verbs and pass on every argument unchanged', async () => {
  const folder = temporaryFolder();
  const path = 'plans/a "b" $(c) *.md';
  symlinkSync(join(bin, 'workflow-context.sh'), join(folder, 'context'));
  expect(
    await outcome(join(folder, 'context'), ['add', 'plans', path, 'ABC-1'], { cwd: folder }),
  ).toMatchObject({ code: 0 });
  const { stdout } = await outcome(join(bin, 'workflow-context.sh'), ['recent', 'plans'], { cwd: folder });
  expect(stdout).toBe(`${path}\n`);
  expect(await outcome(join(bin, 'feedback-consent.sh'), ['check'], { cwd: folder })).toMatchObject({
    code: 1,
  });
});

test('every name of the interface exists and answers --help', async () => {
  const names = readdirSync(bin).filter((name) => name.endsWith('.sh'));
  expect(names).toEqual(
    expect.arrayContaining([
      'svc-monitor.sh',
      'setup-webhooks.sh',
      'resolve-tracker-ids.sh',
      'add-finding.sh',
      'feedback-consent.sh',
      'workflow-context.sh',
      'check-project-setup.sh',
    ]),
  );
  const folder = temporaryFolder();
  for (const name of names) {
    const { code, stdout } = await outcome(join(bin, name), ['--help'], { cwd: folder });
    expect({ name, code }).toEqual({ name, code: 0 });
    expect(stdout).toContain('Usage: svc');
  }
});

test('the version is that of the version.txt beside bin, and without a plugin cache none is newer', async () => {
  const clone = temporaryFolder();
  cpSync(bin, join(clone, 'bin'), { recursive: true });
  mkdirSync(join(clone, 'packages/monitor'), { recursive: true });
  symlinkSync(join(bin, '..', 'packages/monitor/dist'), join(clone, 'packages/monitor/dist'));
  writeFileSync(join(clone, 'version.txt'), '7.8.9\n');
  const { code, stdout } = await outcome(join(clone, 'bin/svc-monitor.sh'), ['status', '--json'], {
    cwd: clone,
  });
  expect(code).toBe(1);
  expect(JSON.parse(stdout)).toMatchObject({
    running: false,
    runningVersion: '7.8.9',
    latestAvailableVersion: null,
    isStale: false,
  });
});

test('without a build it explains what to run', async () => {
  const clone = temporaryFolder();
  cpSync(bin, join(clone, 'bin'), { recursive: true });
  const { code, stderr } = await outcome(join(clone, 'bin', 'svc'), [], { cwd: clone });
  expect(code).toBe(6);
  expect(stderr).toContain(`(cd '${clone}' && npm ci && npm run build)`);
});

test.each([
  ['new according to the file beside it: it is started once', '24', 1],
  ['old according to a file that is left of an earlier one: it is asked', '20', 2],
  ['of an unknown version: it is asked', null, 2],
])('a Node that is %s', async (_, major, starts) => {
  const folder = temporaryFolder();
  const [log, node] = [join(folder, 'starts'), join(folder, 'bin/node')];
  mkdirSync(join(folder, 'bin'));
  writeFileSync(node, `#!/bin/sh\necho started >> '${log}'\nexec '${process.execPath}' "$@"\n`, {
    mode: 0o755,
  });
  if (major !== null) {
    mkdirSync(join(folder, 'include/node'), { recursive: true });
    const version = `#ifndef A\n#define NODE_MAJOR_VERSION ${major}\n#define NODE_MINOR_VERSION 1\n`;
    writeFileSync(join(folder, 'include/node/node_version.h'), version);
  }
  const env = { SVC_NODE: node };
  expect(await outcome(join(bin, 'svc'), ['--version'], { cwd: folder, env })).toMatchObject({ code: 0 });
  // The Node that is asked for its version, and the one that runs svc; no other, although one may be new.
  expect(readFileSync(log, 'utf8').trim().split('\n')).toHaveLength(starts);
});

test('without a recent Node it reports that in one sentence', async () => {
  const clone = temporaryFolder();
  cpSync(bin, join(clone, 'bin'), { recursive: true });
  mkdirSync(join(clone, 'packages/monitor/dist'), { recursive: true });
  writeFileSync(join(clone, 'packages/monitor/dist/svc.js'), '');
  const old = join(clone, 'old-node');
  writeFileSync(old, '#!/bin/sh\nexit 1\n', { mode: 0o755 });
  const { code, stderr } = await outcome(join(clone, 'bin', 'svc'), [], {
    cwd: clone,
    env: { SVC_NODE: old, PATH: '/usr/bin:/bin' },
  });
  const systemNodeIsNew = code === 0;
  if (!systemNodeIsNew) {
    expect(code).toBe(6);
    expect(stderr.trim().split('\n')).toHaveLength(1);
    expect(stderr).toContain('svc needs Node 24 or newer');
  }
});
