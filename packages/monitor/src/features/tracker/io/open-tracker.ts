// Opens the tracker that a project is configured for. Nothing else in the product knows which providers there are.
import type { ConfigFiles } from '../../../kernel/config/load.ts';
import { Failure } from '../../../kernel/failure.ts';
import type { Gh } from '../../codehost/gh.ts';
import type { Config } from '../../config.ts';
import { type ConfiguredTracker, trackerOf } from '../tracker-of.ts';
import { createGithubTracker } from './github/github.ts';
import { createLinearClient, type LinearClient, type LinearClientOptions } from './linear/client.ts';
import { createLinearFiling } from './linear/filing.ts';
import { notSetUp, type Tracker } from './tracker.ts';

export type TrackerMeans = Omit<LinearClientOptions, 'token'> & {
  /** Called only if the project's tickets are at the code host. */
  gh: () => Gh;
};

export function openTracker(chosen: ConfiguredTracker, means: TrackerMeans): Tracker {
  if (chosen.provider === 'github')
    return createGithubTracker(chosen, { gh: means.gh(), now: () => means.clock.now() });
  const client = createLinearClient({ ...means, token: chosen.token });
  const { teamKey, teamId } = chosen;
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
export function requireLinear(project: Project, means: Omit<TrackerMeans, 'gh'>): LinearClient {
  const chosen = chosenIn(project);
  if (chosen.provider === 'linear') return createLinearClient({ ...means, token: chosen.token });
  throw new Failure(
    'not-configured',
    `The tickets of this project are the issues of ${chosen.teamId}: the hook of the code host reports them, and no other webhook is needed.`,
    'Set that up: svc setup-webhooks',
  );
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
