import { expect, test } from 'vitest';
import { resolveConfig } from '../configure.ts';
import { type ProjectAnswers, projectChanges, type ValueChange } from './project-changes.ts';

const answers: ProjectAnswers = {
  repository: 'acme/web',
  projectKey: 'web',
  tracker: 'linear',
  ticketPrefix: 'ABC',
  environment: 'production',
  states: { inReview: 'Code review' },
};

function configOf(data: unknown) {
  const file = { path: 'f', layers: ['project'], reads: ['project'], data, lineOf: () => undefined } as const;
  const { config } = resolveConfig([file], {});
  if (config === undefined) throw new Error('no configuration');
  return config;
}

/** The file after the changes. */
function fileOf(changes: readonly ValueChange[]): object {
  const root: Record<string, unknown> = {};
  for (const { path, value } of changes) {
    let place = root;
    for (const name of path.slice(0, -1)) place = (place[name] ??= {}) as Record<string, unknown>;
    place[path.at(-1) ?? ''] = value;
  }
  return root;
}

const written = {
  svc: {
    projectKey: 'web',
    repository: { org: 'acme', name: 'web' },
    project: { ticketPrefix: 'ABC' },
    tracker: { teamKey: 'ABC', stateMap: { inReview: 'Code review' } },
    monitor: { github: { watchRepos: ['acme/web'] } },
    deploy: { 'acme/web': { productionEnvironment: 'production', skipDeployVerification: false } },
  },
};

test('an empty file gets everything; the same answers again change nothing', () => {
  const changes = projectChanges(configOf({}), answers);
  expect(fileOf(changes)).toEqual(written);
  expect(projectChanges(configOf(written), answers)).toEqual([]);
});

test('without a tracker and without deploys their keys are not written', () => {
  const bare = { ...answers, ticketPrefix: undefined, environment: null, states: {} };
  expect(fileOf(projectChanges(configOf({}), bare))).toEqual({
    svc: {
      projectKey: 'web',
      repository: { org: 'acme', name: 'web' },
      monitor: { github: { watchRepos: ['acme/web'] } },
    },
  });
});

test('another team clears its ids; another environment, or none, is written; other repositories stay', () => {
  const config = configOf({
    svc: {
      ...written.svc,
      monitor: { github: { watchRepos: ['acme/api', 'Acme/Web'] } },
      tracker: { ...written.svc.tracker, teamId: 'id', stateIds: { Done: 'id' } },
    },
  });
  const other = { ...answers, ticketPrefix: 'XYZ', environment: 'eu' };
  expect(projectChanges(config, other)).toEqual([
    { path: ['svc', 'project', 'ticketPrefix'], value: 'XYZ' },
    { path: ['svc', 'tracker', 'teamKey'], value: 'XYZ' },
    { path: ['svc', 'tracker', 'teamId'], value: null },
    { path: ['svc', 'tracker', 'stateIds'], value: null },
    { path: ['svc', 'deploy', 'acme/web', 'productionEnvironment'], value: 'eu' },
  ]);
  expect(projectChanges(config, { ...answers, environment: null })).toEqual([
    { path: ['svc', 'deploy', 'acme/web', 'skipDeployVerification'], value: true },
  ]);
});
