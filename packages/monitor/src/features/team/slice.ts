// What the board knows of the team.
import { dropSettled, type Slices } from '../../kernel/board/slice.ts';
import type { CommandEntry, TeamMachine, TeamRecord } from './records.ts';

declare module '../../kernel/board/board.ts' {
  interface Entities {
    /** The machines of the team, by id. */
    members: TeamMachine;
    /** What the others have published, by `<machine>/<kind>/<key>`. */
    team: TeamRecord;
    /** Commands from this machine and to it, by `<machine that asks>/<id>`. */
    commands: CommandEntry;
  }
}

const MOST_RECORDS = 100_000;
/** Longer than a command is valid, whatever the clocks show: one that is shown again is known. */
const COMMANDS_KEPT_DAYS = 3;

export const teamSlices = {
  members: { keyOf: ({ id }) => id },
  team: {
    keyOf: ({ id }) => id,
    clean: ({ team }, now) => dropSettled(team, now, MOST_RECORDS, ({ value }) => value === null),
  },
  commands: {
    keyOf: ({ key }) => key,
    clean: ({ commands }, now) =>
      dropSettled(
        commands,
        now,
        Number.MAX_SAFE_INTEGER,
        ({ state }) => state !== 'open',
        COMMANDS_KEPT_DAYS,
      ),
  },
} as const satisfies Partial<Slices>;
