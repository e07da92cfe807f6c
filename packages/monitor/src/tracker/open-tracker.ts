// Opens the tracker that a project is configured for. Nothing else in the product knows which providers there are.
import { type Config, type ConfiguredTracker, trackerOf } from '@svc/core';
import type { ConfigFiles } from '../config/load.ts';
import { Failure } from '../errors.ts';
import { createLinearClient, type LinearClient, type LinearClientOptions } from './linear/client.ts';
import { createLinearFiling } from './linear/filing.ts';
import { notSetUp, type Tracker } from './tracker.ts';

export type TrackerMeans = Omit<LinearClientOptions, 'token'>;

export function openTracker({ token, teamKey, teamId }: ConfiguredTracker, means: TrackerMeans): Tracker {
  const client = createLinearClient({ ...means, token });
  const filing =
    teamKey === undefined
      ? notSetUp('svc.tracker.teamKey is not set', 'Set it: svc config set svc.tracker.teamKey <key>')
      : createLinearFiling(client, { teamKey, teamId });
  return { ...client, filing };
}

/** A project; with its files, a failure names the one to change. */
type Project = { config: Config; files?: ConfigFiles };

/** For what cannot be done without a tracker: fails if the project has none. */
export function requireTracker(project: Project, means: TrackerMeans): Tracker {
  return openTracker(chosenIn(project), means);
}

/** For what only this provider has: its own webhooks. */
export function requireLinear(project: Project, means: TrackerMeans): LinearClient {
  return createLinearClient({ ...means, token: chosenIn(project).token });
}

function chosenIn({ config, files }: Project): ConfiguredTracker {
  const chosen = trackerOf(config);
  if (chosen.provider !== undefined) return chosen;
  const place = files === undefined ? '' : ` in ${files.secrets.ownFile ?? files.global}`;
  throw new Failure(
    'not-configured',
    `The issue tracker cannot be asked: ${chosen.why}${place}.`,
    chosen.remedy,
  );
}
