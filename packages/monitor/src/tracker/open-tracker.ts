// The tracker of a project: the client with the token from its secrets file.
import type { Config } from '@svc/core';
import type { ConfigFiles } from '../config/load.ts';
import { Failure } from '../errors.ts';
import { createTrackerClient, type TrackerClient, type TrackerClientOptions } from './client.ts';

export function openTracker({
  config,
  files,
  ...options
}: { config: Config; files: ConfigFiles } & Omit<TrackerClientOptions, 'token'>): TrackerClient {
  const token = config.svc.tracker.apiToken;
  if (token !== undefined) return createTrackerClient({ ...options, token });
  throw new Failure(
    'not-configured',
    `There is no API token for the issue tracker (svc.tracker.apiToken in ${files.secrets.ownFile ?? files.global}).`,
    'Create an API key in the tracker and store it: svc config set svc.tracker.apiToken - < token.txt',
  );
}
