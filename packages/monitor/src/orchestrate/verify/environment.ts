// What the setup and the tests of a merged commit see of the environment: what a tool needs to be found and to work, and no
// secret of any kind. Nobody has looked at that commit yet.
import type { Environment } from '@svc/core';
import { Failure } from '../../errors.ts';

const wanted = [
  /^(?:PATH|HOME|USER|LOGNAME|SHELL|TERM|LANG|LANGUAGE|LC_[A-Z]+|TZ|TMPDIR)$/,
  /^XDG_(?:CONFIG_HOME|DATA_HOME|CACHE_HOME|STATE_HOME|RUNTIME_DIR)$/,
  /^(?:JAVA_HOME|GOPATH|GOROOT|GOMODCACHE|GOCACHE|CARGO_HOME|RUSTUP_HOME|NVM_DIR|VOLTA_HOME|PNPM_HOME)$/,
  /^(?:PYENV_ROOT|RBENV_ROOT|ASDF_DIR|ASDF_DATA_DIR|DOTNET_ROOT|ANDROID_HOME|PLAYWRIGHT_BROWSERS_PATH)$/,
  /^(?:SSL_CERT_FILE|SSL_CERT_DIR|NODE_EXTRA_CA_CERTS)$/,
];

export function testEnvironment(
  inherited: Environment,
  own: { worktree: string; ticket: string; sha: string },
): Record<string, string> {
  const given: Record<string, string> = {};
  for (const [name, value] of Object.entries(inherited))
    if (value !== undefined && wanted.some((pattern) => pattern.test(name))) given[name] = value;
  if (given['PATH'] === undefined) throw new Failure('not-configured', 'The environment has no PATH.');
  return {
    ...given,
    // Test programs that would otherwise wait for changes or for an answer end by themselves.
    CI: 'true',
    NO_COLOR: '1',
    WORKTREE_PATH: own.worktree,
    TICKET_ID: own.ticket,
    SVC_VERIFY_SHA: own.sha,
  };
}
