import { mkdirSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { temporaryFolder } from '@svc/testkit';
import { expect, test } from 'vitest';
import { readMachine } from '../../../kernel/config/environment.ts';
import { checkSecretFiles } from './secrets.ts';

test.each<[string, (path: string) => void, string]>([
  ['a link to itself', (path) => symlinkSync(path, path), 'is a link that leads in a circle (ELOOP)'],
  ['a folder', (path) => mkdirSync(path), 'is not a regular file'],
  ['a link to a device', (path) => symlinkSync('/dev/zero', path), 'is not a regular file'],
])('%s for a secret is named, others are checked too, and its mode stays', async (_, damage, reason) => {
  const machine = readMachine({}, temporaryFolder());
  mkdirSync(machine.configDir, { recursive: true, mode: 0o700 });
  const secret = join(machine.configDir, 'webhook-secret');
  const config = join(machine.configDir, 'config.json');
  damage(secret);
  writeFileSync(config, '{}', { mode: 0o644 });
  const found = await checkSecretFiles(machine);
  expect(found.map((result) => ('finding' in result ? result.finding : result))).toMatchObject([
    { grade: 'broken', what: `other users can read ${config}` },
    {
      grade: 'broken',
      what: `${secret} ${reason}`,
      remedy: `Move it away: mv '${secret}' '${secret}.damaged'`,
    },
  ]);
  expect(statSync('/dev/zero').mode & 0o777).toBe(0o666);
});
