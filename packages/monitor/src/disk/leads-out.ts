// Links that lead out of a checkout. A repository can contain one: reading or writing through it would access a file of
// the user that the repository has chosen.
import { lstatSync, realpathSync } from 'node:fs';
import { dirname, sep } from 'node:path';
import { Failure } from '../errors.ts';

/** Whether the file, or the location where it would be created, is outside the root. */
export function leadsOut(root: string, path: string): boolean {
  const realRoot = realpathSync(root);
  for (let at = path; ; at = dirname(at)) {
    try {
      const real = realpathSync(at);
      return real !== realRoot && !real.startsWith(realRoot + sep);
    } catch {
      // It does not exist yet, so its folder decides; or it is a dangling link.
      if (lstatSync(at, { throwIfNoEntry: false }) !== undefined || dirname(at) === at) return true;
    }
  }
}

export function refuseLeadingOut(root: string, path: string): void {
  if (leadsOut(root, path))
    throw new Failure(
      'file-unusable',
      `${path} is a link to a file outside ${root}, so it is not used.`,
      'Remove the link, or replace it with a copy of the file.',
    );
}
