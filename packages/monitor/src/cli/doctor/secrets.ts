// The modes of the files that hold secrets, and of the folders of configuration and data. Nothing of what they hold
// is read.

import { chmod, readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { doctorFinding } from '@svc/core';
import { systemErrorCode } from '@svc/lib/errors';
import { hookMemoryFile } from '../../codehost/hook-memory.ts';
import type { Machine } from '../../config/environment.ts';
import { secretFilesIn } from '../../config/locate.ts';
import { modeOf, readableByOthers } from '../setup-checks/secrets.ts';
import { type Found, fixableBy } from './check.ts';

export async function checkSecretFiles({ configDir, dataDir }: Machine): Promise<Found[]> {
  const names = await readdir(configDir).catch((error: unknown) => {
    if (systemErrorCode(error) === 'ENOENT') return [];
    throw error;
  });
  const configs = names
    .filter((name) => /^config(?:-.*)?\.json$/.test(name))
    .map((name) => join(configDir, name));
  const files = [...configs, ...secretFilesIn(configDir), hookMemoryFile(dataDir)];
  const wide = (await readableByOthers(files)).map(({ path, mode }) =>
    fixableBy(
      doctorFinding('secrets', 'broken', `others may read ${path}`, {
        evidence: `mode ${mode.toString(8)}, it must be 600`,
        remedy: `Run: chmod 600 '${path}'`,
      }),
      () => setMode(path, 0o600),
    ),
  );
  const folders = [...(await checkFolder(configDir)), ...(await checkFolder(dataDir))];
  if (wide.length + folders.length > 0) return [...wide, ...folders];
  return [doctorFinding('secrets', 'ok', 'nobody else can read the files with secrets')];
}

async function checkFolder(path: string): Promise<Found[]> {
  const mode = await modeOf(path);
  if (mode === undefined || (mode & 0o077) === 0) return [];
  const [grade, may] =
    (mode & 0o022) === 0 ? (['warning', 'look into'] as const) : (['broken', 'change the files in'] as const);
  const finding = doctorFinding('secrets', grade, `others may ${may} ${path}`, {
    evidence: `mode ${mode.toString(8)}, it must be 700`,
    remedy: `Run: chmod 700 '${path}'`,
  });
  return [fixableBy(finding, () => setMode(path, 0o700))];
}

async function setMode(path: string, mode: number): Promise<string> {
  await chmod(path, mode);
  return `set the mode of ${path} to ${mode.toString(8)}`;
}
