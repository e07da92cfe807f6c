// Names of the interface whose work is not part of this version. They say so, and do nothing.
import type { CommandUnknownOpts } from '@commander-js/extra-typings';
import { Failure } from '../../errors.ts';
import { verb } from '../verb.ts';

const planned = [
  ['add-finding', 'Add a finding to the queue'],
  ['check-project-setup', 'Check what a project needs before a run'],
] as const;

export function notYetVerbs(): CommandUnknownOpts[] {
  return planned.map(([name, summary]) =>
    verb(name, { summary: `${summary} (not in this version)`, example: `${name}.sh` })
      .argument('[words...]')
      .allowUnknownOption()
      .action(() => {
        throw new Failure(
          'not-in-this-version',
          `${name} is not part of this version of svc.`,
          'See CHANGELOG.md for what is.',
        );
      }),
  );
}
