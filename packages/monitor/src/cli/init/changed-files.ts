// Which of some files changed while something was done. Their contents are compared as digests: some hold secrets.
import { createHash } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { systemErrorCode } from '../../errors.ts';

export async function watchFiles(files: readonly string[]): Promise<() => Promise<string[]>> {
  const before = await Promise.all(files.map(digestOf));
  return async () => {
    const after = await Promise.all(files.map(digestOf));
    return files.filter((_, index) => before[index] !== after[index]);
  };
}

async function digestOf(file: string): Promise<string | undefined> {
  try {
    return createHash('sha256')
      .update(await readFile(file))
      .digest('hex');
  } catch (error) {
    if (systemErrorCode(error) === 'ENOENT') return undefined;
    throw error;
  }
}
