// The tracker's token, by a question that only a token of the team's workspace answers.
import { type Config, type DoctorFinding, doctorFinding } from '@svc/core';
import type { Machine } from '../../config/environment.ts';
import { createTrackerClient } from '../../tracker/client.ts';
import { TrackerError } from '../../tracker/tracker-error.ts';
import type { DoctorTools } from './check.ts';
import type { DoctorProjects } from './projects.ts';

const SPARE_MS = 500;
const STORE = 'Store one: svc config set svc.tracker.apiToken - < token.txt';

export async function checkTrackerTokens(
  { configs }: DoctorProjects,
  machine: Machine,
  tools: DoctorTools,
  now: () => Date,
): Promise<DoctorFinding[]> {
  const byTeam = new Map<string, Config['svc']['tracker']>();
  for (const { svc } of configs) {
    const team = svc.tracker.teamKey ?? svc.tracker.teamId;
    if (team !== undefined && team !== null) byTeam.set(`${team} ${svc.tracker.apiToken ?? ''}`, svc.tracker);
  }

  async function look({ teamKey, teamId, apiToken }: Config['svc']['tracker']): Promise<DoctorFinding> {
    const team = teamKey ?? teamId ?? '';
    if (apiToken === undefined)
      return doctorFinding(
        'tracker',
        'warning',
        `team ${team} has no API token: its tickets are not followed`,
        {
          remedy: STORE,
        },
      );
    try {
      const client = createTrackerClient({
        token: apiToken,
        apiUrl: machine.trackerApiUrl,
        fetch: tools.fetch,
        clock: { now: () => now().getTime() },
        timeoutMs: Math.max(tools.patienceMs - SPARE_MS, 1),
      });
      const found = await client.teamStates(team);
      if (found !== undefined) return doctorFinding('tracker', 'ok', `the token can read team ${found.key}`);
      return doctorFinding('tracker', 'broken', `the tracker has no team ${team} that the token can read`, {
        remedy: 'Correct it: svc config set svc.tracker.teamKey <KEY>, then resolve-tracker-ids.sh --force',
      });
    } catch (error) {
      if (!(error instanceof TrackerError)) throw error;
      // In the daemon's words, so that what both find is told once.
      return doctorFinding('tracker', 'broken', `team ${team} cannot be asked: ${error.message}`, {
        remedy: error.remedy ?? null,
      });
    }
  }

  return Promise.all([...byTeam.values()].map(look));
}
