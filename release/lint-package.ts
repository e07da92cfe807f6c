// What publint says of a package: whether the fields of its package.json lead to files that are there, in the
// formats that they promise.
import { publint } from 'publint';
import { formatMessage } from 'publint/utils';
import type { Tarball } from './pack.ts';

/** Suggestions count too: each is either followed or turned into a reason not to. */
export async function lintProblems({ folder, manifest }: Tarball): Promise<string[]> {
  // The folder is what was in the tarball: there is nothing to pack again.
  const { messages } = await publint({ pkgDir: folder, pack: false, strict: true });
  return messages.map((message) => formatMessage(message, manifest, { color: false }) ?? message.code);
}
