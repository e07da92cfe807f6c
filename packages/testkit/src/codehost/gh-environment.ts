// The environment in which the real client program talks to the fake, and to nothing else.
import { join } from 'node:path';
import type { FakeCodehost } from './fake-codehost.ts';

/** Without a token the client is logged out. `path` is where programs are looked for. */
export function ghEnvironment(
  codehost: Pick<FakeCodehost, 'port' | 'authorityFile' | 'folder'>,
  token?: string,
  path = '/usr/bin:/bin',
): Record<string, string> {
  return {
    PATH: path,
    HOME: codehost.folder,
    GH_HOST: `localhost:${codehost.port}`,
    GH_CONFIG_DIR: join(codehost.folder, 'gh'),
    GH_PROMPT_DISABLED: '1',
    SSL_CERT_FILE: codehost.authorityFile,
    ...(token !== undefined && { GH_ENTERPRISE_TOKEN: token }),
  };
}
