import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { temporaryFolder, testTerminal } from '@svc/testkit';
import { build } from 'rolldown';
import { describe, expect, test } from 'vitest';
import { runCommandLine } from '../run.ts';
import { installLines, shells } from './scripts.ts';

const monitor = join(import.meta.dirname, '../../..');

test.each(shells)('prints the script for %s, which asks svc and nothing else', async (shell) => {
  const terminal = testTerminal();
  expect(await runCommandLine(terminal, ['completion', shell])).toBe(0);
  expect(terminal.printed()).toContain(`${shell} completion for svc`);
  expect(terminal.printed()).toContain('command svc complete -- ');
  expect(terminal.printed()).not.toMatch(/\beval\b|compgen/);
});

test('an unknown shell is a usage error that names the known ones', async () => {
  const terminal = testTerminal();
  expect(await runCommandLine(terminal, ['completion', 'tcsh'])).toBe(2);
  expect(terminal.complained()).toContain('Allowed choices are bash, zsh, fish.');
  expect(terminal.printed()).toBe('');
});

test('help shows how to install each script', async () => {
  const terminal = testTerminal();
  await runCommandLine(terminal, ['completion', '--help']);
  for (const shell of shells)
    for (const line of installLines[shell]) expect(terminal.printed()).toContain(line);
});

describe('svc complete', () => {
  const complete = (words: string[], environment: Record<string, string> = {}) =>
    spawnSync(process.execPath, [join(monitor, 'src/cli/start.ts'), 'complete', ...words], {
      encoding: 'utf8',
      env: { HOME: temporaryFolder(), ...environment },
    });

  test('answers, with the two dashes or without', () => {
    const stdout = 'restart\tRestart the daemon with this version and environment\n:4\n';
    expect(complete(['--', 'monitor', 'resta'])).toMatchObject({ status: 0, stdout, stderr: '' });
    expect(complete(['monitor', 'resta'])).toMatchObject({ status: 0, stdout });
  });

  test('is silent without a daemon, and reports an invalid setting', () => {
    expect(complete(['--', 'why', ''])).toMatchObject({ status: 0, stdout: ':4\n', stderr: '' });
    const broken = complete(['--', 'why', ''], { SVC_MONITOR_PORT: 'many' });
    expect(broken).toMatchObject({ status: 0, stdout: ':4\n' });
    expect(broken.stderr).toContain('SVC_MONITOR_PORT must be a port number');
  });

  test('loads little: no other verb, no dependency, and the client of the daemon only when needed', async () => {
    const { output } = await build({
      cwd: monitor,
      input: { complete: 'src/cli/completion/main.ts' },
      platform: 'node',
      external: [/make-vocabulary/],
      write: false,
    });
    const chunks = output.filter((file) => file.type === 'chunk');
    const [entry] = chunks.filter(({ isEntry }) => isEntry);
    expect(entry?.imports.filter((name) => !name.startsWith('node:'))).toEqual([]);
    expect(entry?.moduleIds.filter((id) => !id.includes('/src/cli/completion/'))).toEqual([]);
    const all = chunks.flatMap(({ moduleIds }) => moduleIds);
    // What reads the configuration and what calls the daemon, both only where the daemon is asked.
    expect(all.filter((id) => /node_modules\/(?!zod\/|eventsource-parser\/)/.test(id))).toEqual([]);
    expect(
      all.filter((id) => /\/src\/(?:http|state|orchestrate|outbox)\//.test(id) && id.includes('/monitor/')),
    ).toEqual([]);
  });
});
