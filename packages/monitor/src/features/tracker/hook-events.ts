// What the hook of a repository has to report.
import { codehostEventTypes } from '../codehost/map-codehost.ts';
import type { Config } from '../config.ts';
import { issueEventTypes } from './map-issues.ts';
import { trackedRepo, trackedRepos } from './tracker-of.ts';

/** The ten types, and those about issues where these are the tickets of a project. */
export function hookEventsFor(configs: readonly Config[], repo: string): readonly string[] {
  const isTracked = trackedRepo(trackedRepos(configs), repo) !== undefined;
  return isTracked ? [...codehostEventTypes, ...issueEventTypes] : codehostEventTypes;
}
