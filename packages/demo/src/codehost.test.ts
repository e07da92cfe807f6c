import { execFile } from 'node:child_process';
import { chmodSync } from 'node:fs';
import { join } from 'node:path';
import { temporaryFolder } from '@svc/testkit';
import { CodehostHook, newHookBody } from 'svc-monitor/src/features/codehost/hook-plan.ts';
import { describe, expect, it, onTestFinished } from 'vitest';
import { createAnswers, startScriptedCodehost } from './clouds.ts';
import { makeHome, writePrograms } from './home.ts';

describe('the code host', () => {
  const hook = JSON.stringify(newHookBody('http://127.0.0.1:9/channel', 'the-secret'));

  it('keeps hooks, and never returns a secret', () => {
    const answer = createAnswers();
    expect(answer('GET', '/repos/acme/web/hooks?per_page=100', '')).toEqual({ status: 200, body: [] });
    const made = answer('POST', '/repos/acme/web/hooks', hook);
    expect([made.status, CodehostHook.safeParse(made.body).success]).toEqual([201, true]);
    const listed = answer('GET', '/repos/acme/web/hooks?per_page=100', '');
    expect(listed.body).toEqual([made.body]);
    expect(JSON.stringify([made, listed])).not.toContain('the-secret');
    expect(answer('GET', '/repos/acme/api/hooks', '').body).toEqual([]);
  });

  it('has no news', () => {
    const answer = createAnswers();
    const variables = { o0: 'acme', n0: 'web', o1: 'acme', n1: 'api' };
    const { body } = answer('POST', '/graphql', JSON.stringify({ query: '…', variables }));
    expect(body).toEqual({
      data: {
        r0: { nameWithOwner: 'acme/web', newest: { nodes: [] } },
        r1: { nameWithOwner: 'acme/api', newest: { nodes: [] } },
      },
    });
    expect(answer('GET', '/repos/acme/web/deployments?sha=1', '').body).toEqual([]);
    expect(answer('GET', '/repos/acme/web/compare/1...2', '').status).toBe(404);
  });
});

describe('its client program', () => {
  async function gh(words: readonly string[], input = '') {
    const codehost = await startScriptedCodehost();
    onTestFinished(codehost.close);
    const home = makeHome(temporaryFolder("it's "), process.pid);
    writePrograms(home, undefined);
    const program = join(home.path, 'bin/gh');
    chmodSync(program, 0o700);
    return new Promise<{ code: number; printed: string }>((resolve) => {
      const child = execFile(program, words, { env: { GH_HOST: codehost.host } }, (error, printed) =>
        resolve({ code: error === null ? 0 : Number(error.code), printed }),
      );
      child.stdin?.end(input);
    });
  }

  it('prints status, headers, and a list as one line of JSON per item', async () => {
    const { code, printed } = await gh([
      'api',
      '--include',
      '-X',
      'GET',
      'repos/acme/web/hooks',
      '--paginate',
      '--jq',
      '.',
    ]);
    expect(code).toBe(0);
    expect(printed).toMatch(/^HTTP\/1\.1 200 OK\n(?:[a-z-]+: .*\n)+\n$/);
    expect(printed).toMatch(/^date: /m);
  });

  it('sends its standard input', async () => {
    const query = JSON.stringify({ query: '…', variables: { o0: 'acme', n0: 'web' } });
    const { printed } = await gh(['api', '--include', 'graphql', '--input', '-'], query);
    expect(printed).toContain('"nameWithOwner":"acme/web"');
  });

  it('exits with 1 on an error response, and is logged in', async () => {
    const { code, printed } = await gh(['api', '--include', '-X', 'GET', 'repos/acme/web/nothing']);
    expect([code, printed.split('\n')[0]]).toEqual([1, 'HTTP/1.1 404 Not Found']);
    expect((await gh(['auth', 'status'])).printed).toContain('account demo');
    expect((await gh(['repo', 'delete'])).code).toBe(1);
  });
});
