// The project of the recorded day: a small product for booking harbour berths and winter storage.

export const TICKET_PREFIX = 'TID';
export const repos = ['tideline/web', 'tideline/api'] as const;

const policy = {
  productionEnvironment: 'production',
  stagingEnvironment: 'staging',
  skipDeployVerification: false,
  acceptDescendants: true,
};

export const deployPolicies = {
  'tideline/web': { timeoutSec: 3_600, ...policy },
  'tideline/api': { timeoutSec: 5_400, ...policy },
};

/** The `svc` section of its `.svc/config.json`. */
export const projectSettings = {
  projectKey: 'tideline',
  project: { ticketPrefix: TICKET_PREFIX, name: 'Tideline' },
  repository: { org: 'tideline', name: 'web' },
  tracker: {
    teamKey: TICKET_PREFIX,
    teamId: 'team-TID',
    stateIds: {
      Backlog: 'state-backlog',
      Todo: 'state-todo',
      'In Progress': 'state-in-progress',
      'In Review': 'state-in-review',
      Done: 'state-done',
      Canceled: 'state-canceled',
    },
  },
  monitor: { github: { watchRepos: [...repos] } },
  deploy: deployPolicies,
};
