// Links that lead out of a checkout. A repository can hold one: what is read or written through it would be a file of the
// user's that the repository has chosen.
import { lstatSync, realpathSync } from 'node:fs';
import { dirname, sep } from 'node:path';
import { Failure } from '../errors.ts';

/** Whether the file, or the place where it would be made, lies outside of the root. */
export function leadsOut(root: string, path: string): boolean {
  const realRoot = realpathSync(root);
  for (let at = path; ; at = dirname(at)) {
    try {
      const real = realpathSync(at);
      return real !== realRoot && !real.startsWith(realRoot + sep);
    } catch {
      // Not there yet, so that its folder decides; or a link to what is not there.
      if (lstatSync(at, { throwIfNoEntry: false }) !== undefined || dirname(at) === at) return true;
    }
  }
}

export function refuseLeadingOut(root: string, path: string): void {
  if (leadsOut(root, path))
    throw new Failure(
      'file-unusable',
      `${path} is a link that leads out of ${root}, and is not used.`,
      'Remove the link; if the file is meant to be there, copy it.',
    );
}
