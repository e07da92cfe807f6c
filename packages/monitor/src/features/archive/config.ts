// Keys of `archive`.
import { z } from 'zod';
import { field, inGlobal, kinds, orNull, wholeNumber } from '../../kernel/config/field.ts';

const Archive = z
  .object({
    root: field(kinds.text, {
      layers: inGlobal,
      description: 'Folder for archived runs, with one subfolder per orchestrator id',
      env: 'SVC_ARCHIVE_ROOT',
      default: '~/svc/archives',
    }),
    syncToThoughts: field(kinds.flag, {
      layers: inGlobal,
      description: 'Also copy the summary to thoughts/shared/handoffs/',
      default: false,
    }),
    retention: z
      .object({
        days: field(orNull(wholeNumber(1)), {
          layers: inGlobal,
          description: 'Age in days after which `svc archive prune` removes an archive; null: never',
          default: null,
        }),
      })
      .prefault({}),
  })
  .prefault({});

/** Outside of `svc`. */
export const archiveRootKeys = { archive: Archive };
