// Files a ticket once, and where a project's findings can be filed.
import { setTimeout as pause } from 'node:timers/promises';
import { type Config, type Environment, trackerOf } from '@svc/core';
import { runCommand } from '@svc/lib/process';
import { createGh, type Gh } from '../codehost/gh.ts';
import { createIssueApi } from '../codehost/issues.ts';
import { createCodehostDestination } from '../tracker/github/filing.ts';
import { openTracker } from '../tracker/open-tracker.ts';
import {
  type FiledTicket,
  type NewTicket,
  NotFiled,
  notSetUp,
  type TicketDestination,
} from '../tracker/tracker.ts';

/**
 * Files a ticket once. An earlier attempt may have created it, and the answer to this one may be lost: then it is
 * searched for before another attempt.
 */
export async function fileOnce(
  destination: Pick<TicketDestination, 'create' | 'find'>,
  ticket: NewTicket,
  { attemptedAt, now }: { attemptedAt: number | undefined; now: () => number },
): Promise<FiledTicket> {
  const earlier = attemptedAt === undefined ? undefined : await destination.find(ticket.key, attemptedAt);
  if (earlier !== undefined) return earlier;
  const startedAt = now();
  try {
    return await destination.create(ticket);
  } catch (error) {
    if (!(error instanceof NotFiled) || error.certain) throw error;
    return (await destination.find(ticket.key, startedAt)) ?? (await destination.create(ticket));
  }
}

// Where a project's findings can be filed: the tracker first, then the code host. Running calls are not cancelled when
// the user interrupts, because then their result would be unknown; they are short.

export function openDestinations(options: {
  config: Config;
  trackerApiUrl: string;
  environment: Environment;
  now: () => number;
}): TicketDestination[] {
  const { config, environment, now } = options;
  const gh = createGh({ environment, run: runCommand, now });
  const codehost = createCodehostDestination({
    repo: config.svc.feedback.codehostRepo,
    issues: createIssueApi(gh),
    now,
    sleep: (milliseconds) => pause(milliseconds),
  });
  return [trackerFiling(config, { apiUrl: options.trackerApiUrl, now, gh }), codehost];
}

function trackerFiling(
  config: Config,
  { apiUrl, now, gh }: { apiUrl: string; now: () => number; gh: Gh },
): TicketDestination {
  const chosen = trackerOf(config);
  if (chosen.provider === undefined) return notSetUp(chosen.why, chosen.remedy);
  return openTracker(chosen, { apiUrl, fetch, clock: { now }, gh: () => gh }).filing;
}
