// The behaviours that are broken on purpose, by subject of the specification. Rows whose loss would hurt most come
// first in each subject; no row stands twice.
import type { Mutation } from './mutation.ts';
import { archive } from './rows/archive.ts';
import { board } from './rows/board.ts';
import { codehost } from './rows/codehost.ts';
import { commands } from './rows/commands.ts';
import { configuration } from './rows/configuration.ts';
import { daemon } from './rows/daemon.ts';
import { deliveries } from './rows/deliveries.ts';
import { deploys } from './rows/deploys.ts';
import { eventLog } from './rows/event-log.ts';
import { findings } from './rows/findings.ts';
import { orchestration } from './rows/orchestration.ts';
import { service } from './rows/service.ts';
import { settings } from './rows/settings.ts';
import { summaries } from './rows/summaries.ts';
import { tracker } from './rows/tracker.ts';
import { waits } from './rows/waits.ts';

export const mutations: readonly Mutation[] = [
  ...deliveries,
  ...eventLog,
  ...configuration,
  ...settings,
  ...codehost,
  ...tracker,
  ...deploys,
  ...board,
  ...orchestration,
  ...findings,
  ...summaries,
  ...archive,
  ...daemon,
  ...service,
  ...commands,
  ...waits,
];
