// Removes a folder with all its content, even if package managers or tests left read-only folders in it. Links are
// removed, never followed.
import { chmod, lstat, readdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { systemErrorCode } from '@svc/lib/errors';

export async function removeTree(path: string): Promise<void> {
  try {
    await rm(path, { recursive: true, force: true });
  } catch (error) {
    const code = systemErrorCode(error);
    if (code !== 'EACCES' && code !== 'EPERM' && code !== 'ENOTEMPTY') throw error;
    await makeWritable(path);
    await rm(path, { recursive: true, force: true, maxRetries: 5 });
  }
}

async function makeWritable(folder: string): Promise<void> {
  if (!(await lstat(folder)).isDirectory()) return;
  await chmod(folder, 0o700);
  for (const entry of await readdir(folder, { withFileTypes: true }))
    if (entry.isDirectory()) await makeWritable(join(folder, entry.name));
}
