// Keys of `svc.team`.
import { z } from 'zod';
import { field, inGlobal, kinds } from '../../kernel/config/field.ts';
import { commandVerbs } from './command.ts';

/** Only in the user's file: no repository decides what members of the team may do on this machine. */
const Team = z
  .object({
    allow: field(
      {
        schema: z.record(z.string().min(1).max(120), z.array(z.enum(commandVerbs))),
        expects: `an object of id:<id>, machine:<name>, person:<name> or * with lists of ${commandVerbs.join(', ')}`,
      },
      {
        layers: inGlobal,
        description:
          'What members of the team may do on this machine, by id:<id>, machine:<name>, person:<name> or * for all',
        default: { '*': ['hand-over'] },
      },
    ),
    shareTitles: field(kinds.flag, {
      layers: inGlobal,
      description: 'Whether members of the team see the titles of the tickets that this machine works on',
      default: false,
    }),
  })
  .prefault({});

export const teamKeys = { team: Team };
