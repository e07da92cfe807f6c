// Whether the client program is installed and logged in. `gh auth status` reports that, but old versions report an
// unreachable code host as an invalid token, and one broken login of several as all broken: if it reports a failure,
// the code host itself is asked once.
import type { RunCommand } from '@svc/lib/process';
import type { Environment } from '../../kernel/config/resolved-value.ts';
import { plainWords } from './api-answer.ts';
import { createGh, done, environmentForGh, failed, type GhResult } from './gh.ts';

const TIMEOUT_MS = 10_000;
const MAX_BYTES = 1024 * 1024;
const LEAST_MS = 1_000;

export type GhLogin = {
  /** `account at host`, if the client reports it. */
  account: string | undefined;
};

export async function checkGhLogin(options: {
  environment: Environment;
  run: RunCommand;
  now: () => number;
  signal?: AbortSignal;
  timeoutMs?: number;
}): Promise<GhResult<GhLogin>> {
  const { run, now, signal, timeoutMs = TIMEOUT_MS } = options;
  const environment = environmentForGh(options.environment);
  const { GH_HOST: host = '' } = environment;
  const started = performance.now();
  const end = await run({
    file: 'gh',
    args: ['auth', 'status', ...(host === '' ? [] : ['--hostname', host])],
    environment,
    timeoutMs,
    maxBytes: MAX_BYTES,
    signal,
  });
  switch (end.ended) {
    case 'not-started':
      return failed({ kind: 'gh-missing', message: end.reason });
    case 'timeout':
      return failed({ kind: 'unavailable', message: `no answer within ${timeoutMs / 1000} s` });
    case 'too-large':
    case 'stopped':
      return failed({ kind: 'unavailable', message: `gh auth status: ${end.ended}` });
    case 'exit':
      if (end.exitCode === 0) return done({ account: accountIn(end.stdout + end.stderr) });
  }
  const left = Math.max(Math.round(timeoutMs - (performance.now() - started)), LEAST_MS);
  const gh = createGh({
    environment: options.environment,
    run,
    now,
    timeoutMs: left,
    ...(signal && { signal }),
  });
  const asked = await gh.request({ path: 'rate_limit' });
  return asked.ok ? done({ account: undefined }) : asked;
}

/** The first account; nothing else of the output is kept, because it can contain tokens. */
function accountIn(output: string): string | undefined {
  const [, host, account] = /Logged in to (\S+) (?:as|account) (\S+)/.exec(output) ?? [];
  return host === undefined || account === undefined ? undefined : plainWords(`${account} at ${host}`);
}
