// The real client program against the fake code host, and scripted ones for what the fake does not cover.
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { runCommand } from '@svc/lib/process';
import { codehostForTest, ghEnvironment, temporaryFolder, testToken, WAIT_MS } from '@svc/testkit';
import { expect, test } from 'vitest';
import { checkGhLogin } from './gh-login.ts';

function login(environment: Record<string, string>, timeoutMs = WAIT_MS) {
  return checkGhLogin({ environment, run: runCommand, now: Date.now, timeoutMs });
}

/** A client program of a few lines of shell; its arguments are in `$*`. */
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
])('%s is logged out, and no token is shown', async (_, token) => {
  const answer = await login(ghEnvironment(await codehostForTest(), token));
  expect(answer).toMatchObject({ ok: false, problem: { kind: 'logged-out' } });
  expect(JSON.stringify(answer)).not.toContain('gho_');
});

test('an unreachable code host is not reported as an expired login', async () => {
  const codehost = await codehostForTest();
  const environment = ghEnvironment(codehost, testToken);
  await codehost.close();
  expect(await login(environment)).toMatchObject({ ok: false, problem: { kind: 'unavailable' } });
});

test('without the program', async () => {
  const answer = await login({ PATH: temporaryFolder() });
  expect(answer).toMatchObject({ ok: false, problem: { kind: 'gh-missing', message: 'ENOENT' } });
});

test('a program that hangs is given up in time', async () => {
  const answer = await login(scripted('sleep 600'), 100);
  expect(answer).toMatchObject({ ok: false, problem: { kind: 'unavailable' } });
});

test.each([
  ['old', '  ✓ Logged in to code.example as ann (oauth_token)'],
  ['new', '  ✓ Logged in to code.example account ann (keyring)'],
])('the account in the output of an %s client; the token in its output is not kept', async (_, words) => {
  const answer = await login(scripted(`echo '${words}'; echo '  - Token: gho_secret'`));
  expect(answer).toEqual({ ok: true, value: { account: 'ann at code.example' } });
});

test('the host in the environment is used', async () => {
  const only = scripted('test "$*" = "auth status --hostname code.example"');
  expect(await login({ ...only, GH_HOST: 'code.example' })).toMatchObject({ ok: true });
});
