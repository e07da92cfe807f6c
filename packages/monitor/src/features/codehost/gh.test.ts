// The real client program against the fake code host.
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type Command, runCommand } from '@svc/lib/process';
import {
  codehostForTest,
  type FakeCodehost,
  ghEnvironment,
  temporaryFolder,
  testToken,
  until,
  WAIT_MS,
} from '@svc/testkit';
import { describe, expect, test } from 'vitest';
import { createCallBudget } from './call-budget.ts';
import { createGh, type GhOptions } from './gh.ts';

const hooks = 'repos/acme/web/hooks';

async function codehostWithRepo(): Promise<FakeCodehost> {
  const codehost = await codehostForTest();
  codehost.cloud.addRepo('acme/web');
  return codehost;
}

function ghFor(codehost: FakeCodehost, more: Partial<GhOptions> = {}) {
  return createGh({
    environment: ghEnvironment(codehost, testToken),
    run: runCommand,
    now: Date.now,
    timeoutMs: WAIT_MS,
    listTimeoutMs: WAIT_MS,
    ...more,
  });
}

describe('answers', () => {
  test('a list of 250 in three pages is one list', async () => {
    const codehost = await codehostWithRepo();
    for (let n = 1; n <= 250; n += 1)
      codehost.cloud.addHook('acme/web', { events: ['release'], config: { url: `https://x.example/${n}` } });
    const gh = ghFor(codehost);
    const listed = await gh.list(`${hooks}?per_page=100`);
    expect(listed.ok && listed.value).toHaveLength(250);
    expect(codehost.calls()).toHaveLength(3);
    expect(gh.figures().calls).toBe(3);
    expect(gh.figures().quotas['core']).toMatchObject({ limit: 5000, remaining: 4997 });
  });

  test('an empty list is a list', async () => {
    expect(await ghFor(await codehostWithRepo()).list(hooks)).toEqual({ ok: true, value: [] });
  });

  test('a body goes through standard input', async () => {
    const codehost = await codehostWithRepo();
    const body = { config: { url: 'http://127.0.0.1:9/x', secret: 'sekrit' } };
    const made = await ghFor(codehost).request({ method: 'POST', path: hooks, body });
    expect(made).toMatchObject({ ok: true, value: { status: 201 } });
    expect(codehost.requests()[0]?.body).toBe(JSON.stringify(body));
  });

  test('an answer without a body', async () => {
    const codehost = await codehostWithRepo();
    const { id } = codehost.cloud.addHook('acme/web', { config: { url: 'https://x.example' } });
    const gone = await ghFor(codehost).request({ method: 'DELETE', path: `${hooks}/${id}` });
    expect(gone).toMatchObject({ ok: true, value: { status: 204, json: null } });
  });

  test('GraphQL with errors for a part still has the rest', async () => {
    const codehost = await codehostWithRepo();
    const query = `query($o: String!) {
      a: repository(owner: $o, name: "web") { nameWithOwner }
      b: repository(owner: $o, name: "gone") { nameWithOwner }
    }`;
    expect(await ghFor(codehost).graphql(query, { o: 'acme' })).toMatchObject({
      ok: true,
      value: {
        data: { a: { nameWithOwner: 'acme/web' }, b: null },
        errors: [{ type: 'NOT_FOUND', path: ['b'] }],
      },
    });
  });
});

describe('problems', () => {
  test.each<[string, (codehost: FakeCodehost) => void, object]>([
    [
      '401',
      (codehost) => codehost.removeToken(testToken),
      { kind: 'logged-out', message: 'HTTP 401: Bad credentials' },
    ],
    ['403', (codehost) => codehost.failNext({ kind: 'no-admin' }), { kind: 'no-admin' }],
    ['404', (codehost) => codehost.cloud.removeRepo('acme/web'), { kind: 'not-found' }],
    [
      '500',
      (codehost) => codehost.failNext({ kind: 'server-error', status: 500 }),
      { kind: 'unavailable', message: 'HTTP 500: Server Error' },
    ],
    ['502', (codehost) => codehost.failNext({ kind: 'server-error', status: 502 }), { kind: 'unavailable' }],
    [
      'a connection that ends',
      (codehost) => codehost.failNext({ kind: 'cut', when: 'before' }, { times: 5 }),
      { kind: 'unavailable' },
    ],
    [
      'an answer that ends',
      (codehost) => codehost.failNext({ kind: 'cut', when: 'within' }, { times: 5 }),
      { kind: 'malformed' },
    ],
    [
      'not JSON',
      (codehost) => codehost.failNext({ kind: 'body', text: '<html>maintenance</html>' }),
      { kind: 'malformed' },
    ],
    [
      'not a list',
      (codehost) => codehost.failNext({ kind: 'body', text: '{"message":"HTTP/1.1 200 OK"}' }),
      { kind: 'malformed' },
    ],
  ])('%s', async (_name, prepare, problem) => {
    const codehost = await codehostWithRepo();
    codehost.cloud.addHook('acme/web', { config: { url: 'https://x.example' } });
    prepare(codehost);
    expect(await ghFor(codehost).list(hooks)).toMatchObject({ ok: false, problem });
  });

  test('a rate limit has its end time', async () => {
    const codehost = await codehostWithRepo();
    codehost.failNext({ kind: 'rate-limited', retryAfter: 90 });
    const before = Date.now();
    const limited = await ghFor(codehost).request({ path: hooks });
    expect(limited).toMatchObject({ ok: false, problem: { kind: 'rate-limited' } });
    const end = !limited.ok && limited.problem.kind === 'rate-limited' ? limited.problem.until : 0;
    expect(end).toBeGreaterThanOrEqual(before + 90_000);
    expect(end).toBeLessThanOrEqual(Date.now() + 90_000);
  });

  test.each<[string, Parameters<FakeCodehost['failNext']>[0]]>([
    ['fails', { kind: 'server-error', status: 502 }],
    ['is cut off', { kind: 'cut', when: 'within' }],
    ['is not JSON', { kind: 'body', text: '<html></html>' }],
    ['is not a list', { kind: 'body', text: '{"message":"oh"}' }],
    ['is refused', { kind: 'no-admin' }],
  ])('a page in the middle that %s makes the whole list fail', async (_name, fault) => {
    const codehost = await codehostWithRepo();
    for (let n = 1; n <= 250; n += 1)
      codehost.cloud.addHook('acme/web', { events: ['release'], config: { url: `https://x.example/${n}` } });
    codehost.failNext(fault, { on: 'page=2', times: 5 });
    expect((await ghFor(codehost).list(`${hooks}?per_page=100`)).ok).toBe(false);
  });

  test('a slow answer is cancelled, and nothing is left running', async () => {
    const codehost = await codehostWithRepo();
    codehost.failNext({ kind: 'slow', ms: 10 * WAIT_MS });
    const slow = await ghFor(codehost, { timeoutMs: 500 }).request({ path: hooks });
    expect(slow).toEqual({ ok: false, problem: { kind: 'unavailable', message: 'no answer within 0.5 s' } });
    await until(() => processesOf(codehost.folder).length === 0);
  });

  test('a too large answer is rejected', async () => {
    const codehost = await codehostWithRepo();
    codehost.failNext({ kind: 'body', text: JSON.stringify(['x'.repeat(100_000)]) });
    const large = await ghFor(codehost, { maxBytes: 10_000 }).request({ path: hooks });
    expect(large).toMatchObject({ ok: false, problem: { kind: 'malformed', message: 'it is too large' } });
  });

  test('gh is not installed', async () => {
    const codehost = await codehostWithRepo();
    const gh = ghFor(codehost, { environment: ghEnvironment(codehost, testToken, temporaryFolder()) });
    expect(await gh.list(hooks)).toEqual({ ok: false, problem: { kind: 'gh-missing', message: 'ENOENT' } });
  });

  test('gh is not logged in: no token at all', async () => {
    const codehost = await codehostWithRepo();
    const { GH_HOST: _host, ...loggedOut } = ghEnvironment(codehost);
    const gh = ghFor(codehost, { environment: loggedOut });
    expect(await gh.list(hooks)).toEqual({ ok: false, problem: { kind: 'logged-out', message: 'no token' } });
    expect(codehost.calls()).toEqual([]);
  });

  test('gh is not logged in at this host', async () => {
    const codehost = await codehostWithRepo();
    const gh = ghFor(codehost, { environment: ghEnvironment(codehost) });
    expect(await gh.list(hooks)).toMatchObject({ ok: false, problem: { kind: 'logged-out' } });
  });

  test('nothing listens there', async () => {
    const codehost = await codehostWithRepo();
    await codehost.close().then(() => undefined);
    const listed = await ghFor(codehost).list(hooks);
    expect(listed).toMatchObject({ ok: false, problem: { kind: 'unavailable' } });
  });
});

describe('budget', () => {
  const rules = {
    callsPerHour: 3,
    reserve: 0.1,
    failuresToTrip: 2,
    firstPauseMs: 30_000,
    longestPauseMs: 60_000,
  };

  test('used up: no calls until the hour is over', async () => {
    const codehost = await codehostWithRepo();
    let now = Date.now();
    const budget = createCallBudget({ now: () => now, rules });
    const gh = ghFor(codehost, { now: () => now, budget });
    for (let n = 0; n < 3; n += 1) expect((await gh.list(hooks)).ok).toBe(true);
    expect(await gh.list(hooks)).toMatchObject({ ok: false, problem: { kind: 'throttled' } });
    expect(codehost.calls()).toHaveLength(3);
    expect(gh.figures()).toMatchObject({ calls: 3, callsInLastHour: 3, callsPerHour: 3 });
    now += 3_600_000;
    expect((await gh.list(hooks)).ok).toBe(true);
  });

  test('the code host’s quota is nearly used up: people come first', async () => {
    const codehost = await codehostWithRepo();
    codehost.setQuota('core', { remaining: 400, resetAt: Date.now() + 60_000 });
    let now = Date.now();
    const gh = ghFor(codehost, { now: () => now });
    expect((await gh.list(hooks)).ok).toBe(true);
    expect(await gh.list(hooks)).toMatchObject({ ok: false, problem: { kind: 'throttled' } });
    now += 62_000;
    expect((await gh.list(hooks)).ok).toBe(true);
  });

  test('the breaker opens after failures, and one success closes it', async () => {
    const codehost = await codehostWithRepo();
    let now = Date.now();
    const gh = ghFor(codehost, {
      now: () => now,
      budget: createCallBudget({ now: () => now, rules: { ...rules, callsPerHour: 100 } }),
    });
    codehost.failNext({ kind: 'server-error', status: 500 }, { times: 2 });
    await gh.list(hooks);
    await gh.list(hooks);
    expect(gh.figures().pausedUntil).toBe(new Date(now + 30_000).toISOString());
    expect(await gh.list(hooks)).toMatchObject({
      ok: false,
      problem: { kind: 'throttled', until: now + 30_000 },
    });
    now += 30_000;
    expect((await gh.list(hooks)).ok).toBe(true);
    expect(gh.figures().pausedUntil).toBeNull();
  });

  test('the code host asks for a pause and gets it', async () => {
    const codehost = await codehostWithRepo();
    let now = Date.now();
    const gh = ghFor(codehost, { now: () => now });
    codehost.failNext({ kind: 'rate-limited', retryAfter: 120 });
    await gh.list(hooks);
    await gh.list(hooks);
    expect(codehost.calls()).toHaveLength(1);
    now += 121_000;
    expect((await gh.list(hooks)).ok).toBe(true);
  });

  test('a used-up quota of GraphQL leaves REST alone', async () => {
    const codehost = await codehostWithRepo();
    codehost.setQuota('graphql', { remaining: 0 });
    const gh = ghFor(codehost);
    const ask = () => gh.graphql('{ viewer { login } }', {});
    expect(await ask()).toMatchObject({ ok: false, problem: { kind: 'rate-limited', resource: 'graphql' } });
    expect(await ask()).toMatchObject({ ok: false, problem: { kind: 'throttled' } });
    expect((await gh.list(hooks)).ok).toBe(true);
  });
});

describe('secrets', () => {
  const secret = 'aa55'.repeat(16);
  const body = { config: { url: 'http://127.0.0.1:9/x', secret } };

  test('never appear in arguments or environment, not even while the call runs', async () => {
    const codehost = await codehostWithRepo();
    codehost.failNext({ kind: 'slow', ms: 200 });
    const commands: Command[] = [];
    const gh = ghFor(codehost, {
      environment: { ...ghEnvironment(codehost, testToken), SVC_WEBHOOK_SECRET: secret, GH_DEBUG: 'api' },
      run: (command) => {
        commands.push(command);
        return runCommand(command);
      },
    });
    const running = gh.request({ method: 'POST', path: hooks, body, secrets: [secret] });
    const seen = await until(() => {
      const found = processesOf(codehost.folder);
      return found.length > 0 ? found : undefined;
    });
    expect(seen.join('\n')).toContain('gh\0api');
    expect(seen.join('\n')).not.toContain(secret);
    expect((await running).ok).toBe(true);
    expect(
      JSON.stringify(commands.map(({ file, args, environment }) => [file, args, environment])),
    ).not.toContain(secret);
    expect(commands[0]?.args).toEqual(['api', '--include', '-X', 'POST', hooks, '--input', '-']);
  });

  test('never appear in a problem, even if the code host repeats them', async () => {
    const codehost = await codehostWithRepo();
    const repeating: GhOptions['run'] = async () => ({
      ended: 'exit',
      exitCode: 1,
      stdout: `HTTP/1.1 422 No\r\n\r\n${JSON.stringify({ message: `bad ${secret} for ${testToken}` })}`,
      stderr: `gh: bad ${secret}`,
    });
    const refused = await ghFor(codehost, { run: repeating }).request({
      method: 'POST',
      path: hooks,
      body,
      secrets: [secret],
    });
    expect(refused).toMatchObject({
      ok: false,
      problem: { kind: 'refused', message: 'HTTP 422: bad [removed] for [removed]' },
    });
  });
});

test('no more than three programs run at once', async () => {
  const codehost = await codehostWithRepo();
  let running = 0;
  let most = 0;
  const gh = ghFor(codehost, {
    run: async (command) => {
      running += 1;
      most = Math.max(most, running);
      await until(() => most >= 3);
      const end = await runCommand(command);
      running -= 1;
      return end;
    },
  });
  const all = await Promise.all(Array.from({ length: 8 }, () => gh.request({ path: 'repos/acme/web' })));
  expect(all.every(({ ok }) => ok)).toBe(true);
  expect(most).toBe(3);
});

/** Command line and environment of every program that runs with this home. */
function processesOf(home: string): string[] {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name) && Number(name) !== process.pid)
    .map((pid) => `${textOf(`/proc/${pid}/cmdline`)}\n${textOf(`/proc/${pid}/environ`)}`)
    .filter((text) => text.includes(`HOME=${home}`) && text.startsWith('gh'));
}

function textOf(path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    // The process ended, or is not ours.
    return '';
  }
}

test('a broken gh is distinguished from a missing one', async () => {
  const codehost = await codehostWithRepo();
  const folder = temporaryFolder();
  mkdirSync(join(folder, 'bin'));
  writeFileSync(join(folder, 'bin', 'gh'), 'not a program', { mode: 0o644 });
  const gh = ghFor(codehost, { environment: ghEnvironment(codehost, testToken, join(folder, 'bin')) });
  expect(await gh.list(hooks)).toEqual({ ok: false, problem: { kind: 'gh-missing', message: 'EACCES' } });
});
