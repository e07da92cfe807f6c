// Which tracker the tickets of a project are in, and how they are named. Everything that needs a tracker asks here.
import type { Config } from '../config/schema/config.ts';

/** `teamKey` is the prefix of its tickets; `teamId` is null until it was looked up. */
export type ConfiguredTracker = {
  provider: 'linear';
  token: string;
  teamKey: string | undefined;
  teamId: string | null;
};

export type TrackerChoice = ConfiguredTracker | { provider: undefined; why: string; remedy: string };

export function trackerOf(config: Config): TrackerChoice {
  const { apiToken: token, teamId } = config.svc.tracker;
  if (token !== undefined) return { provider: 'linear', token, teamKey: ticketPrefixOf(config), teamId };
  return {
    provider: undefined,
    why: 'svc.tracker.apiToken is not set',
    remedy: 'Store one: svc config set svc.tracker.apiToken - < token.txt',
  };
}

/** The `ABC` of `ABC-12`; undefined if the project has no tickets. */
export function ticketPrefixOf({ svc }: Config): string | undefined {
  return svc.project.ticketPrefix ?? svc.tracker.teamKey;
}
