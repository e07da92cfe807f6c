import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { codehostForTest, ghEnvironment, temporaryFolder, testTerminal, testToken } from '@svc/testkit';
import { expect, test } from 'vitest';
import { personOf } from './person.ts';

/** The PATH of the test has git and gh. */
async function world(given: { gitName?: string; token?: string; user?: string }) {
  const home = temporaryFolder();
  if (given.gitName !== undefined)
    writeFileSync(join(home, '.gitconfig'), `[user]\n\tname = ${JSON.stringify(given.gitName)}\n`);
  const { GH_ENTERPRISE_TOKEN: _, ...gh } = ghEnvironment(await codehostForTest(), testToken);
  const environment = {
    ...gh,
    HOME: home,
    PATH: process.env['PATH'] ?? '',
    GIT_CONFIG_NOSYSTEM: '1',
    ...(given.token !== undefined && { GH_ENTERPRISE_TOKEN: given.token }),
    ...(given.user !== undefined && { USER: given.user }),
  };
  return { ...testTerminal({ environment }), home, folder: home };
}

test.each([
  ['the name in git', { gitName: 'Kim Lee', token: testToken, user: 'kim-at-home' }, 'Kim Lee'],
  ['the account at the code host', { token: testToken, user: 'kim-at-home' }, 'kim'],
  ['the user of the system', { token: 'wrong', user: 'kim-at-home' }, 'kim-at-home'],
  ['a name that cannot be one', { gitName: '\u202eevil', user: 'kim-at-home' }, 'kim-at-home'],
])('who runs it: %s', async (_, given, name) => {
  expect(await personOf(await world(given))).toBe(name);
});

test('nobody is called unknown', async () => {
  await expect(personOf(await world({ token: 'wrong' }))).rejects.toMatchObject({
    code: 'usage',
    message: expect.stringContaining('It is not known who you are'),
    remedy: 'Name yourself: --person <name>',
  });
});
