// Where a project's findings can go: the tracker first, then the code host. Calls that are under way are not
// broken off when the person interrupts, because then nobody would know what became of them; they are short.
import { setTimeout as sleep } from 'node:timers/promises';
import type { Config, Environment } from '@svc/core';
import { runCommand } from '@svc/lib/process';
import { createGh } from '../codehost/gh.ts';
import { createIssueApi } from '../codehost/issues.ts';
import { createTrackerClient } from '../tracker/client.ts';
import { createCodehostDestination } from './codehost-destination.ts';
import { NotFiled, type TicketDestination } from './destination.ts';
import { createTrackerDestination } from './tracker-destination.ts';

export function openDestinations(options: {
  config: Config;
  trackerApiUrl: string;
  environment: Environment;
  now: () => number;
}): TicketDestination[] {
  const { config, environment, now } = options;
  const codehost = createCodehostDestination({
    repo: config.svc.feedback.codehostRepo,
    issues: createIssueApi(createGh({ environment, run: runCommand, now })),
    now,
    sleep: (milliseconds) => sleep(milliseconds),
  });
  return [trackerOf(config, options), codehost];
}

function trackerOf(
  { svc }: Config,
  { trackerApiUrl: apiUrl, now }: { trackerApiUrl: string; now: () => number },
): TicketDestination {
  const { teamKey, teamId, apiToken: token } = svc.tracker;
  if (teamKey === undefined) return notSetUp('teamKey', '<key>');
  if (token === undefined) return notSetUp('apiToken', '- < token.txt');
  const client = createTrackerClient({ token, apiUrl, fetch, clock: { now } });
  return createTrackerDestination({ team: { teamKey, teamId }, client });
}

/** A tracker that nobody has set up fails like one that is down. */
function notSetUp(key: string, value: string): TicketDestination {
  const remedy = `Set it: svc config set svc.tracker.${key} ${value}`;
  const refuse = (): Promise<never> =>
    Promise.reject(new NotFiled(`svc.tracker.${key} is not set`, { certain: true, remedy }));
  return {
    name: 'tracker',
    words: 'the issue tracker',
    atOnce: 1,
    prepare: refuse,
    create: refuse,
    find: refuse,
  };
}
