// Fills unset secret variables from the secret files, for a daemon about to be started: a service manager does not have
// the shell's environment. A secret is put only into the environment of the daemon.
import { systemErrorCode } from '@svc/lib/errors';
import { type Reading, readFile, reasonOf } from '@svc/lib/paths';
import { relayReadKeyFile, webhookSecretFile } from '../config/locate.ts';
import type { Environment } from '../config/resolved-value.ts';

const feedsWithSecrets = ['codehost', 'tracker'] as const;
type ByFeed = Record<(typeof feedsWithSecrets)[number], readonly string[]>;
/** The variables that the configuration names, by feed: for the HMAC secret and for the channel's read key. */
export type SecretVariables = ByFeed & { readKeys: ByFeed };
export type FilledSecrets = { environment: Environment; warnings: string[] };

export async function fillSecrets(
  configDir: string,
  environment: Environment,
  variables: SecretVariables,
): Promise<FilledSecrets> {
  const filled: Record<string, string> = {};
  const warnings: string[] = [];
  const files = feedsWithSecrets.flatMap((feed) => [
    { file: webhookSecretFile(configDir, feed), names: variables[feed] },
    { file: relayReadKeyFile(configDir, feed), names: variables.readKeys[feed] },
  ]);
  for (const { file, names } of files) {
    const read = await readSecret(file);
    if (read.warning !== undefined) warnings.push(read.warning);
    if (read.secret === undefined) continue;
    for (const name of names) {
      const given = environment[name] ?? '';
      if (given === '') filled[name] = read.secret;
      else if (given !== read.secret) warnings.push(staleText(name, file));
    }
  }
  return { environment: { ...environment, ...filled }, warnings };
}

const LARGEST_FILE = 64 * 1024;

type SecretFile = { secret?: string; warning?: string };

async function readSecret(file: string): Promise<SecretFile> {
  let read: Reading;
  try {
    read = await readFile(file, { most: LARGEST_FILE });
  } catch (error) {
    if (systemErrorCode(error) === 'ENOENT') return {};
    return { warning: `${file} was not used: it ${reasonOf(error)}` };
  }
  const mode = Number(read.stats.mode) & 0o777;
  if ((mode & 0o177) !== 0) {
    return {
      warning: `${file} was not used: its mode ${mode.toString(8)} is wider than 600. Run: chmod 600 '${file}'`,
    };
  }
  const secret = read.bytes.toString('utf8').trim();
  if (/^[^\0\r\n]+$/.test(secret)) return { secret };
  return { warning: `${file} was not used: it must hold the secret on one line.` };
}

function staleText(variable: string, file: string): string {
  return `${variable} differs from the secret in ${file}; the variable wins. After a rotation run: export ${variable}="$(cat '${file}')" and svc monitor restart`;
}
