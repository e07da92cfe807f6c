// Keys of `svc.retention`.
import { z } from 'zod';
import { field, inGlobal, kinds, orNull, wholeNumber } from '../../kernel/config/field.ts';

/** Only in the user's own file: a committed file must not remove anything of this machine. */
const keptFor = (what: string) =>
  field(orNull(wholeNumber(1)), {
    layers: inGlobal,
    description: `Age in days after which \`svc retention\` removes ${what}; null: never`,
    default: null,
  });

const Retention = z
  .object({
    automatic: field(kinds.flag, {
      layers: inGlobal,
      description: 'Let the daemon remove by itself what `svc retention` lists for a day',
      default: false,
    }),
    worktreeDays: keptFor('the worktree of an ended run, if it is clean and pushed'),
    runDays: keptFor('the files of an ended run, if they are archived'),
    journalDays: keptFor("the output of an ended run's agents, if it is archived"),
    logDays: keptFor('a rotated log of the daemon'),
  })
  .prefault({});

export const retentionKeys = { retention: Retention };
