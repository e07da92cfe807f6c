// svc resolve-tracker-ids

import type { CommandUnknownOpts } from '@commander-js/extra-typings';
import { openSession, requireConfig } from '../../../cli/kit/session.ts';
import { AnswerIsNo, printJson, printTable, type Terminal } from '../../../cli/kit/terminal.ts';
import { counted } from '../../../cli/kit/text.ts';
import { verb } from '../../../cli/kit/verb.ts';
import { createConfigStore } from '../../../kernel/config/store.ts';
import { requireTracker } from '../io/open-tracker.ts';
import { type ResolvedIds, resolveTrackerIds } from '../io/resolve-ids.ts';
import { trackerMeans } from './tracker-means.ts';

export function resolveTrackerIdsVerb(terminal: Terminal): CommandUnknownOpts {
  return verb('resolve-tracker-ids', {
    summary: 'Store the tracker’s team and state ids in the project',
    example: ['svc resolve-tracker-ids', 'svc resolve-tracker-ids --force'],
  })
    .option('--force', 'ask the tracker again, after workflow states changed')
    .option('--json', 'print JSON')
    .option('--project <folder>', 'project folder (default: found from here upwards)')
    .action(async (options) => {
      const session = openSession(terminal, options);
      const loaded = await requireConfig(terminal, session);
      const ids = await resolveTrackerIds({
        loaded,
        store: createConfigStore({ locks: session.locks, files: loaded.files }),
        force: options.force === true,
        connect: () => requireTracker(loaded, trackerMeans(terminal, session.machine)),
      }).catch((error: unknown) => {
        throw terminal.interrupted.aborted ? new AnswerIsNo() : error;
      });
      if (options.json) printJson(terminal, ids);
      else printIds(terminal, ids);
      for (const { phase, name } of ids.unknown) {
        terminal.err(
          `warning: svc.tracker.stateMap.${phase} is ${JSON.stringify(name)}, but the team has no such state. Name one that it has, or null: svc config set svc.tracker.stateMap.${phase} <state>`,
        );
      }
    });
}

function printIds(terminal: Terminal, { asked, file, teamId, stateIds }: ResolvedIds): void {
  terminal.out(
    asked
      ? `Wrote the ids of the team and of ${counted(Object.keys(stateIds).length, 'state')} to ${file}`
      : `The ids are already in ${file}; the tracker was not asked. If workflow states changed, add --force.`,
  );
  // Names come from outside and must not control the terminal.
  const states = Object.entries(stateIds).map(([name, id]) => [name.replaceAll(/\p{Cc}/gu, '?'), id]);
  printTable(terminal, [['team', teamId], ...states]);
}
