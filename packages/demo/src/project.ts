// The project of the recorded day: a small product that books berths in harbours and places for the winter.

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

/** What its `.svc/config.json` has under `svc`. */
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
