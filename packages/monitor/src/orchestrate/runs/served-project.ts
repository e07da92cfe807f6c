// The folder in which a run may be begun: that of a project which the daemon serves, and no other. Whoever names the
// folder chooses the program that is started there, and the port asks nobody who they are.
import { realpath } from 'node:fs/promises';
import { Failure, systemErrorCode } from '../../errors.ts';

/** The folders of the projects that are served, as the files say now. */
export type ServedFolders = () => Promise<readonly string[]>;

/** The real folder of the project. A path that is not served is never looked at on the disk. */
export async function servedProject(asked: string, served: ServedFolders): Promise<string> {
  for (const folder of await served()) {
    const real = await realFolder(folder);
    if (real !== undefined && (asked === folder || asked === real)) return real;
  }
  throw new Failure(
    'unknown-project',
    `The daemon serves no project in the folder ${JSON.stringify(asked.slice(0, 200))}.`,
    'Register it: run check-project-setup.sh, or svc orchestrate start, in that folder.',
  );
}

/** Undefined when it has gone since it was registered. */
async function realFolder(folder: string): Promise<string | undefined> {
  try {
    return await realpath(folder);
  } catch (error) {
    if (systemErrorCode(error) === undefined) throw error;
    return undefined;
  }
}
