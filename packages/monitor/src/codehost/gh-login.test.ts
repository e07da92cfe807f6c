// The real client program against the fake code host, and scripted ones for what the fake does not tell.
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { runCommand } from '@svc/lib/process';
import { codehostForTest, ghEnvironment, temporaryFolder, testToken, WAIT_MS } from '@svc/testkit';
import { expect, test } from 'vitest';
import { checkGhLogin } from './gh-login.ts';

function login(environment: Record<string, string>, timeoutMs = WAIT_MS) {
  return checkGhLogin({ environment, run: runCommand, now: Date.now, timeoutMs });
}

/** A client program of a few lines of shell; what it is asked is in `$*`. */
function scripted(lines: string): Record<string, string> {
  const folder = temporaryFolder();
  writeFileSync(join(folder, 'gh'), `#!/bin/sh\n${lines}\n`, { mode: 0o755 });
  return { PATH: `${folder}:/usr/bin:/bin`, HOME: folder };
}

test('a token that the code host accepts is a login', async () => {
  const codehost = await codehostForTest();
  expect(await login(ghEnvironment(codehost, testToken))).toEqual({
    ok: true,
    value: { account: undefined },
  });
});

test.each([
  ['no token', undefined],
  ['a token that is not accepted', 'gho_revoked00000000'],
])('%s is logged out, and no token is told', async (_, token) => {
  const answer = await login(ghEnvironment(await codehostForTest(), token));
  expect(answer).toMatchObject({ ok: false, problem: { kind: 'logged-out' } });
  expect(JSON.stringify(answer)).not.toContain('gho_');
});

test('a code host that cannot be reached is not a login that has ended', async () => {
  const codehost = await codehostForTest();
  const environment = ghEnvironment(codehost, testToken);
  await codehost.close();
  expect(await login(environment)).toMatchObject({ ok: false, problem: { kind: 'unavailable' } });
});

test('without the program', async () => {
  const answer = await login({ PATH: temporaryFolder() });
  expect(answer).toMatchObject({ ok: false, problem: { kind: 'gh-missing', message: 'ENOENT' } });
});

test('one that does not end is waited for only so long', async () => {
  const answer = await login(scripted('sleep 600'), 100);
  expect(answer).toMatchObject({ ok: false, problem: { kind: 'unavailable' } });
});

test.each([
  ['old', '  ✓ Logged in to code.example as ann (oauth_token)'],
  ['new', '  ✓ Logged in to code.example account ann (keyring)'],
])(
  'who is logged in, in the words of an %s client; the token in its output is not kept',
  async (_, words) => {
    const answer = await login(scripted(`echo '${words}'; echo '  - Token: gho_secret'`));
    expect(answer).toEqual({ ok: true, value: { account: 'ann at code.example' } });
  },
);

test('the host that the environment names is the one that counts', async () => {
  const only = scripted('test "$*" = "auth status --hostname code.example"');
  expect(await login({ ...only, GH_HOST: 'code.example' })).toMatchObject({ ok: true });
});
