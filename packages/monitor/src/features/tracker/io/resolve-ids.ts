// Fills the cache of the tracker's ids in the project file: the team's UUID and its workflow states by display name.
// One query, one write; nothing if both are cached.
import { nearest } from '@svc/lib/nearest';
import type { LoadedConfig } from '../../../kernel/config/load.ts';
import type { ConfigStore } from '../../../kernel/config/store.ts';
import { Failure } from '../../../kernel/failure.ts';
import { stateIdsOf, type UnknownState, unknownStates } from '../ticket-phase.ts';
import { trackerOf } from '../tracker-of.ts';
import type { Tracker } from './tracker.ts';

export type ResolveIdsOptions = {
  loaded: Pick<LoadedConfig, 'files' | 'values'> & { config: NonNullable<LoadedConfig['config']> };
  /** Called only if the tracker has to be asked. */
  connect: () => Tracker;
  store: Pick<ConfigStore, 'setMany'>;
  force: boolean;
};

export type ResolvedIds = {
  /** False if the ids were cached and the tracker was not asked. */
  asked: boolean;
  file: string;
  teamId: string;
  stateIds: Record<string, string>;
  /** Phases of `stateMap` whose state the team does not have. */
  unknown: UnknownState[];
};

export async function resolveTrackerIds({
  loaded,
  connect,
  store,
  force,
}: ResolveIdsOptions): Promise<ResolvedIds> {
  const { tracker, project } = loaded.config.svc;
  const { teamId, stateIds, stateMap } = tracker;
  const chosen = trackerOf(loaded.config);
  // The issues of a repository are known by its name.
  const teamKey = chosen.provider === 'github' ? chosen.teamId : tracker.teamKey;
  const isCached = teamId !== null && (chosen.provider !== 'github' || teamId === chosen.teamId);
  if (!force && isCached && stateIds !== null && Object.keys(stateIds).length > 0) {
    const unknown = unknownStates(stateMap, Object.keys(stateIds));
    return { asked: false, file: loaded.files.project.file, teamId, stateIds, unknown };
  }
  demandProject(loaded);
  if (teamKey === undefined) {
    throw new Failure(
      'not-configured',
      `The project file names no team (svc.tracker.teamKey in ${loaded.files.project.file}).`,
      `Name it: svc config set svc.tracker.teamKey ${project.ticketPrefix ?? '<KEY>'}`,
    );
  }
  const client = connect();
  const team = await client.teamStates(teamKey);
  if (!team && chosen.provider === 'github') throw noSuchRepository(teamKey);
  if (!team) throw await noSuchTeam(client, teamKey);
  const ids = stateIdsOf(team.states);
  const group = trackerGroup(loaded);
  const file = await store.setMany('project', [
    { path: [...group, 'teamId'], value: team.id },
    { path: [...group, 'stateIds'], value: ids },
  ]);
  return {
    asked: true,
    file,
    teamId: team.id,
    stateIds: ids,
    unknown: unknownStates(stateMap, Object.keys(ids)),
  };
}

function demandProject({ files }: ResolveIdsOptions['loaded']): void {
  if (files.project.folder !== undefined) return;
  throw new Failure(
    'not-configured',
    `No project here: none of these files exists: ${files.project.lookedAt.join(', ')}.`,
    'Run this in a project, or create one: svc config set svc.projectKey <name>',
  );
}

async function noSuchTeam(client: Tracker, teamKey: string): Promise<Failure> {
  const keys = (await client.listTeams()).map(({ key }) => key).toSorted();
  const likely = nearest(teamKey, keys) ?? '<KEY>';
  return new Failure(
    'config-invalid',
    keys.length === 0
      ? `The owner of the API token cannot see any team in the issue tracker, so ${teamKey} was not found.`
      : `The issue tracker has no team with the key ${teamKey}. Its teams: ${keys.join(', ')}.`,
    `Name the right one: svc config set svc.tracker.teamKey ${likely}`,
  );
}

function noSuchRepository(repo: string): Failure {
  return new Failure(
    'config-invalid',
    `The code host has no repository ${repo} that gh can see.`,
    'Name the right one: svc config set svc.repository.name <name>, or log in: gh auth login',
  );
}

/** The group of the project file that contains the team, in the file's own spelling, so no second group is added. */
export function trackerGroup({ values, files }: Pick<LoadedConfig, 'files' | 'values'>): string[] {
  const written = ['svc.tracker.teamId', 'svc.tracker.stateIds', 'svc.tracker.teamKey'].flatMap((key) => {
    const source = values.find((value) => value.key === key)?.source;
    return source?.kind === 'file' && source.file === files.project.file ? [source.writtenAs] : [];
  });
  return (written[0] ?? 'svc.tracker.teamKey').split('.').slice(0, -1);
}
