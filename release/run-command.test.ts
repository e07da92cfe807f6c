import { expect, it } from 'vitest';
import { mustRun, ownEnvironment, run } from './run-command.ts';

const node = (script: string, timeoutMs?: number) =>
  run(process.execPath, ['--eval', script], { cwd: '/', ...(timeoutMs === undefined ? {} : { timeoutMs }) });

it('returns how a program ended, and its output', async () => {
  expect(await node('console.log("a"); console.error("b"); process.exit(3)')).toEqual({
    code: 3,
    stdout: 'a\n',
    stderr: 'b\n',
  });
});

it('ends a program that takes too long', async () => {
  expect(await node('setInterval(() => {}, 1_000)', 200)).toMatchObject({ code: 124 });
});

it('throws with the last output of a program that must not fail', async () => {
  const words = ['--eval', 'console.error("the reason"); process.exit(1)'];
  await expect(mustRun(process.execPath, words, { cwd: '/' })).rejects.toThrow('the reason');
});

it('keeps the settings of the user, and drops those of `npm run`', () => {
  const environment = {
    HOME: '/home/somebody',
    npm_config_cache: '/cache',
    npm_config_registry: 'https://registry.example',
    npm_config_local_prefix: '/repository',
    npm_lifecycle_event: 'release',
    npm_package_json: '/repository/package.json',
    INIT_CWD: '/repository',
  };
  expect(Object.keys(ownEnvironment(environment))).toEqual([
    'HOME',
    'npm_config_cache',
    'npm_config_registry',
  ]);
});
