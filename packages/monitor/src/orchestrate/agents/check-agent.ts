// The agents on this machine: where their programs are, and what they answer when they are asked.
import { access, constants, stat } from 'node:fs/promises';
import { delimiter, isAbsolute, join } from 'node:path';
import type { KnownAgent } from '@svc/core';
import { systemErrorCode } from '@svc/lib/errors';

/** The program's full path, found in the PATH that the agent would get; null: not installed. Runs nothing. */
export async function locateAgent(
  { command, env }: Pick<KnownAgent, 'command' | 'env'>,
  environment: Readonly<Record<string, string>>,
): Promise<string | null> {
  if (isAbsolute(command)) return (await isExecutable(command)) ? command : null;
  const { PATH = '' } = { ...environment, ...env };
  // What a relative folder means depends on where the agent is started.
  for (const folder of PATH.split(delimiter).filter(isAbsolute)) {
    const path = join(folder, command);
    if (await isExecutable(path)) return path;
  }
  return null;
}

async function isExecutable(path: string): Promise<boolean> {
  try {
    await access(path, constants.X_OK);
    return (await stat(path)).isFile();
  } catch (error) {
    if (systemErrorCode(error) === undefined) throw error;
    return false;
  }
}
