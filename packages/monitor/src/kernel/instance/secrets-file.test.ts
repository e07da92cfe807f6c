import { chmodSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { temporaryFolder } from '@svc/testkit';
import { describe, expect, test } from 'vitest';
import { fillSecrets } from './secrets-file.ts';

const readKeys = { codehost: ['CODEHOST_KEY'], tracker: ['TRACKER_KEY'] };
const variables = { codehost: ['CODEHOST'], tracker: ['TRACKER'], readKeys };

function configDir(files: Record<string, { text: string; mode?: number }>): string {
  const folder = temporaryFolder();
  for (const [name, { text, mode = 0o600 }] of Object.entries(files)) {
    writeFileSync(join(folder, name), text);
    chmodSync(join(folder, name), mode);
  }
  return folder;
}

test('an unset or empty variable is filled, each from its own file', async () => {
  const folder = configDir({
    'webhook-secret': { text: 'hush\n' },
    'linear-webhook-secret': { text: 'quiet' },
  });
  expect(await fillSecrets(folder, { PATH: '/bin', TRACKER: '' }, variables)).toEqual({
    environment: { PATH: '/bin', CODEHOST: 'hush', TRACKER: 'quiet' },
    warnings: [],
  });
});

test('the read keys of the channels are filled as well, each from its own file', async () => {
  const folder = configDir({
    'relay-read-key': { text: 'one\n' },
    'linear-relay-read-key': { text: 'other', mode: 0o644 },
  });
  const { environment, warnings } = await fillSecrets(folder, {}, variables);
  expect(environment).toEqual({ CODEHOST_KEY: 'one' });
  expect(warnings).toEqual([expect.stringMatching(/linear-relay-read-key was not used: its mode 644/)]);
});

test('every variable that a project names is filled', async () => {
  const folder = configDir({ 'webhook-secret': { text: 'hush' } });
  const { environment } = await fillSecrets(folder, {}, { codehost: ['ONE', 'TWO'], tracker: [], readKeys });
  expect(environment).toEqual({ ONE: 'hush', TWO: 'hush' });
});

test('without files nothing is filled, without a warning', async () => {
  expect(await fillSecrets(join(temporaryFolder(), 'absent'), { CODEHOST: 'mine' }, variables)).toEqual({
    environment: { CODEHOST: 'mine' },
    warnings: [],
  });
});

test('a set variable wins; a difference is reported without either value', async () => {
  const folder = configDir({ 'webhook-secret': { text: 'rotated' } });
  const { environment, warnings } = await fillSecrets(folder, { CODEHOST: 'before' }, variables);
  expect(environment).toEqual({ CODEHOST: 'before' });
  expect(warnings).toHaveLength(1);
  expect(warnings[0]).toContain('CODEHOST differs from the secret in');
  expect(warnings[0]).not.toMatch(/rotated|before/);
  expect((await fillSecrets(folder, { CODEHOST: 'rotated' }, variables)).warnings).toEqual([]);
});

describe('a file that is not used, and why', () => {
  test.each([
    ['readable by others', 'hush', 0o644, 'its mode 644 is wider than 600'],
    ['readable by the group', 'hush', 0o640, 'its mode 640 is wider than 600'],
    ['empty', '\n', 0o600, 'must hold the secret on one line'],
    ['of two lines', 'hush\nhush', 0o600, 'must hold the secret on one line'],
    ['with a null character', 'hu\0sh', 0o600, 'must hold the secret on one line'],
  ])('%s', async (_, text, mode, reason) => {
    const folder = configDir({ 'webhook-secret': { text, mode } });
    const { environment, warnings } = await fillSecrets(folder, {}, variables);
    expect(environment).toEqual({});
    expect(warnings).toEqual([expect.stringContaining(reason)]);
    expect(warnings[0]).not.toContain('hush');
  });

  test('a folder', async () => {
    const folder = configDir({});
    mkdirSync(join(folder, 'webhook-secret'));
    expect((await fillSecrets(folder, {}, variables)).warnings).toEqual([
      expect.stringContaining('is a folder, not a regular file'),
    ]);
  });

  test('a stricter mode is fine', async () => {
    const folder = configDir({ 'webhook-secret': { text: 'hush', mode: 0o400 } });
    expect((await fillSecrets(folder, {}, variables)).environment).toEqual({ CODEHOST: 'hush' });
  });
});
